import { presentId } from "../../contract/oauthProviderId";
import type { Tools } from "../shared/tools";

export const oauthProvider: Tools = {
  // A provider that is declared absent, but exists, is in the state nevertheless: that is drift.
  objectId: (id) => presentId(id).id,
  byHand: new Map([
    [
      "absent",
      "this resource declares that the provider does not exist: remove it, and declare the provider with adopt: true",
    ],
  ]),
};
