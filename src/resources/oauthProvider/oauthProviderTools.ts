import type { OAuthProviderRecord } from "../../client";
import { presentId } from "../../contract/oauthProviderId";
import type { ProjectObject, Tools } from "../shared/tools";

export const oauthProvider: Tools = {
  list: async ({ client, projectId, options }) =>
    (await client.auth.oauthProviders(projectId).list(options)).map((record) => found(record, projectId)),
  // A provider that is declared absent, but exists, is in the state nevertheless: that is drift.
  objectId: (id) => presentId(id).id,
  byHand: new Map([
    [
      "absent",
      "this resource declares that the provider does not exist: remove it, and declare the provider with adopt: true",
    ],
  ]),
};

function found({ id, type }: OAuthProviderRecord, projectId: string): ProjectObject {
  const isShared = type === "shared";
  return {
    kind: "OAuthProvider",
    id: `${projectId}/${id}`,
    describe: `OAuth provider ${id} with ${isShared ? "the service's shared keys" : "credentials of its own"}`,
    adopt: isShared ? "adopt: true" : "adopt: true, with its clientId and clientSecret",
    identity: { providerId: id },
    names: () => [id],
    word: "oauth",
    ...(!isShared && {
      hidden: new Map([
        ["clientId", false],
        ["clientSecret", true],
      ]),
    }),
  };
}
