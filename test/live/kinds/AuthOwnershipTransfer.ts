import { GET, recordsIn } from "../exchanges";
import { judged, needed, ofAnswer, unique, word } from "../findings";
import type { LiveKind } from "../LiveKind";
import { probe } from "../requests";
import { step } from "../run";
import { INTEGRATIONS } from "./AuthIntegration";

export const live: LiveKind = {
  steps: [
    step("transfer", "ask twice for the URL of an ownership transfer, which nobody opens", async (run) => {
      for (const args of [{}, { triggers: [2] }]) await run.objects.tryOut("AuthOwnershipTransfer", "transfer", args);
      await probe(run, "GET", INTEGRATIONS.template);
    }),
  ],
  statements: {
    "Ownership transfer": [
      needed(
        "second-transfer",
        "Another request is harmless (assumed",
        ofAnswer(GET.in("transfer"), ({ json }) => {
          const owners = unique(recordsIn(json, INTEGRATIONS.field).map((each) => word(each["owned_by"])));
          return judged(owners === "svc", `the owner is ${owners}`);
        }),
      ),
    ],
  },
};
