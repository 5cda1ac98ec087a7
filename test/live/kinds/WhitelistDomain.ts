import { domainForm } from "../../../src/contract/redirectDomains";
import { DELETE, type List, sentField } from "../exchanges";
import { either, emptyDeletions, handled, isAccepted, ofAnswer, ofGood, untried } from "../findings";
import type { LiveKind } from "../LiveKind";
import { probeInside } from "../requests";
import { originOf, REFUSABLE, step, stepIf } from "../run";

const PATH = "/projects/{project_id}/auth/domains";
const DOMAINS: List = {
  name: "domains",
  template: PATH,
  field: "domains",
  added: {
    template: PATH,
    isIt: ({ domain }, accepted) => domainForm(String(domain)) === sentField(accepted, "domain"),
  },
};

/** The request that removes them, for a person. */
export const deleteDomains = (place: { projectId: string; authProvider: string }, list: readonly string[]): string => {
  const body = { auth_provider: place.authProvider, domains: list.map((domain) => ({ domain })) };
  return `DELETE /projects/${place.projectId}/auth/domains ${JSON.stringify(body)}`;
};

export const live: LiveKind = {
  byHand: (object) => deleteDomains(object, [object.rest]),
  steps: [
    step("domain", "add a redirect domain, and read it", async (run) => {
      await run.objects.create("WhitelistDomain", "domain", { domain: originOf(run, "app") });
      await run.objects.find("domain");
    }),
    stepIf(REFUSABLE, "app-domain", "add the address of an app as a redirect domain", ({ objects, token }) =>
      objects.tryOut("WhitelistDomain", "app", { domain: `${token}://callback` }),
    ),
  ],
  // Until then the domain shows a later run whose the integration is.
  lastSteps: [
    stepIf({ needs: ["domain"] }, "domain-delete", "delete the redirect domain, and one never added", async (run) => {
      await run.objects.remove(run.objects.named("domain"));
      run.exchanges.step = "unlisted-domain";
      const domains = [{ domain: originOf(run, "none") }];
      await probeInside(run, "DELETE", PATH, { auth_provider: run.authProvider, domains });
    }),
  ],
  lists: [DOMAINS],
  statements: {
    Responses: [
      handled(
        "empty-deletion",
        "200 without a body for deleting an integration or domains",
        ofGood([DELETE.to(PATH)], emptyDeletions),
      ),
    ],
    "Redirect domains": [
      untried("origin-schemes", "The scheme is http or https (observed)", "app-domain tries another scheme"),
      either("app-domains", "a service may list them, and accepts or refuses new ones (assumed)"),
      either("domain-spelling", "may store another spelling than was sent (case, default port; assumed)"),
      handled(
        "unlisted-domain",
        "A deletion ignores domains that are not listed (assumed",
        ofAnswer(DELETE.in("unlisted-domain"), isAccepted),
      ),
    ],
  },
};
