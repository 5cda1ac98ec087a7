import { KNOWN_OAUTH_PROVIDERS } from "../../../src/resources/oauthProvider/oauthProviderDeclaration";
import { DELETE, PATCH, POST, type List, listed, sentField } from "../exchanges";
import { either, handled, hasStatus, isAccepted, judged, needed } from "../findings";
import { ofAnswer, ofAny, ofGood, secretForms, untried } from "../findings";
import type { LiveKind } from "../LiveKind";
import { probeInside } from "../requests";
import { canary, REFUSABLE, type Run, step, stepIf } from "../run";

const PATH = "/projects/{project_id}/auth/oauth_providers";
const ROUTE = `${PATH}/{oauth_provider_id}`;
const PROVIDERS: List = {
  name: "providers",
  template: PATH,
  field: "providers",
  added: { template: PATH, isIt: ({ id }, accepted) => id === sentField(accepted, "id") },
};

/** The known ids that the integration does not have by itself, those of the description first. */
function freeProviders({ objects }: Run): readonly [described: string, other: string] {
  const free = KNOWN_OAUTH_PROVIDERS.filter((id) => !objects.ownProviders.has(id));
  const described = free.find((id) => ["google", "github", "microsoft"].includes(id)) ?? free[0];
  const other = free.findLast((id) => id !== described);
  if (described === undefined || other === undefined) throw new Error("every known OAuth provider exists already");
  return [described, other];
}

const credentials = ({ token }: Run) => ({ clientId: `${token}-id`, clientSecret: canary() });

export const live: LiveKind = {
  byHand: ({ projectId, rest }) => `DELETE /projects/${projectId}/auth/oauth_providers/${rest}`,
  steps: [
    step("provider", "create an OAuth provider with credentials, read it, change its secret", async (run) => {
      await run.objects.create("OAuthProvider", "provider", { providerId: freeProviders(run)[0], ...credentials(run) });
      await run.objects.find("provider");
      await run.objects.update("provider", { clientSecret: canary() });
    }),
    stepIf({ needs: ["provider"] }, "second-provider", "ask for it again, and delete it", async (run) => {
      const made = run.objects.named("provider");
      await probeInside(run, "POST", PATH, { id: made.args["providerId"] });
      run.exchanges.step = "provider-delete";
      await run.objects.remove(made);
    }),
    stepIf(REFUSABLE, "other-provider", "create one that the API description does not name", (run) =>
      run.objects.tryOut("OAuthProvider", "other", { providerId: freeProviders(run)[1], ...credentials(run) }),
    ),
  ],
  lists: [PROVIDERS],
  statements: {
    "OAuth providers": [
      untried("half-credentials", "neither of the credentials (assumed", "the package sends no half of a pair"),
      handled(
        "other-provider-ids",
        "The others that editors offer and the emulator accepts are assumed",
        ofAnswer(POST.in("other-provider"), isAccepted),
      ),
      handled("provider-deletion", "204, 200 (observed)", ofGood([DELETE.to(ROUTE)], hasStatus(200, 204))),
      handled("listed-credentials", "A list that shows a client id is accepted (assumed)", ({ all }) => {
        const records = all.flatMap((each) => listed(each, PROVIDERS) ?? []).filter(({ type }) => type === "standard");
        const fields = ["client_id", "client_secret"];
        const shown = fields.filter((name) => records.some((each) => (each[name] ?? "") !== ""));
        const told = shown.length === 0 ? "no credentials" : `shows ${shown.join(" and ")}`;
        return ofAny(records, () => judged(shown.length === 0, told));
      }),
      needed(
        "client-secret",
        "A secret may come back in full, masked (empty, `****`) or not at all (observed)",
        secretForms([POST.to(PATH), PATCH.to(ROUTE)], "client_secret"),
      ),
      either("shared-providers", "`shared` entries for google and github often exist from the start (observed)"),
    ],
  },
};
