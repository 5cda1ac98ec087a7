import { listed } from "../exchanges";
import { judged, needed, notTried } from "../findings";
import type { LiveKind } from "../LiveKind";
import { probe } from "../requests";
import { step } from "../run";
import { deleteIntegration, INTEGRATION_STEP, INTEGRATIONS } from "./AuthIntegration";

export const live: LiveKind = {
  part: "auth",
  // Nothing is left of it once its integration is deleted.
  byHand: deleteIntegration,
  steps: [
    step("transfer", "ask twice for the URL of an ownership transfer, which nobody opens", async (run) => {
      for (const args of [{}, { triggers: [2] }]) await run.objects.tryOut("AuthOwnershipTransfer", "transfer", args);
      await probe(run, "GET", INTEGRATIONS.template);
    }),
  ],
  needs: INTEGRATION_STEP,
  statements: {
    "Ownership transfer": [
      needed("second-transfer", "Another request is harmless (assumed", (exchanges) => {
        const lists = exchanges.where({ step: "transfer" }).map((each) => listed(each, INTEGRATIONS));
        const shown = lists
          .filter((list) => list !== undefined)
          .map((list) => JSON.stringify(list.map((each) => [each["auth_provider_project_id"], each["owned_by"]])));
        if (exchanges.good({ method: "POST", step: "transfer" }).length < 2 || shown.length === 0) return notTried();
        const isSame = new Set(shown).size === 1;
        return judged(isSame, isSame ? "the integration did not change" : "the integration changed");
      }),
    ],
  },
};
