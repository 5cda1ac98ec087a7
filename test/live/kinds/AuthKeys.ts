import { POST, fieldOf } from "../exchanges";
import { judged, needed, ofGood, unique, untried, word } from "../findings";
import type { LiveKind } from "../LiveKind";
import { step } from "../run";
import { CREATE } from "./AuthIntegration";

export const live: LiveKind = {
  steps: [step("keys", "create another key set", ({ objects }) => objects.tryOut("AuthKeys", "keys", {}))],
  statements: {
    "Auth keys": [
      untried(
        "older-keys",
        "Earlier sets stay valid (observed)",
        "only the auth provider can say whether a key is valid",
      ),
      needed(
        "users-table",
        "A look-up without a key set has the defaults (assumed",
        // An integration comes with a key set.
        ofGood([POST.to(CREATE), POST.to("/projects/auth/keys")], (good) => {
          const names = ["schema_name", "table_name"];
          const tables = good.map(({ json }) => names.map((name) => word(fieldOf(json, name))).join("."));
          return judged(unique(tables) === "svc_auth.users_sync", unique(tables));
        }),
      ),
    ],
  },
};
