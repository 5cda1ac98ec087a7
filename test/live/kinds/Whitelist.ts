import type { LiveKind } from "../LiveKind";
import { originOf, step } from "../run";
import { deleteDomains } from "./WhitelistDomain";

export const live: LiveKind = {
  // It was made by this run, with these domains.
  byHand: (object) => deleteDomains(object, object.args["domains"] as string[]),
  steps: [
    step("whitelist", "set its list of redirect domains to one domain, read it, and empty it", async (run) => {
      // A Whitelist removes what it does not declare.
      const others = await run.client.auth.domains(run.projectId).list({ since: performance.now() });
      if (others.length > 0) throw new Error("the new integration has redirect domains already");
      await run.objects.tryOut("Whitelist", "whitelist", { domains: [originOf(run, "list")] });
    }),
  ],
};
