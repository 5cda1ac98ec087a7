import { DELETE, POST, fieldOf, isGood, type List, listed } from "../exchanges";
import {
  emptyDeletions,
  handled,
  isRefused,
  judged,
  ofAnswer,
  ofAny,
  ofGood,
  unique,
  untried,
  word,
} from "../findings";
import type { LiveKind } from "../LiveKind";
import { probe, probeCreation, probeInside } from "../requests";
import { REFUSABLE, type Run, step, stepIf } from "../run";

const INTEGRATION = "integration";

export const CREATE = "/projects/auth/create";
export const INTEGRATIONS: List = {
  name: "integrations",
  template: "/projects/{project_id}/auth/integrations",
  field: "data",
  added: {
    template: CREATE,
    isIt: ({ auth_provider_project_id: id }, { json }) => id === fieldOf(json, "auth_provider_project_id"),
  },
};

async function create({ objects }: Run, branchId: string): Promise<void> {
  await objects.create("AuthIntegration", INTEGRATION, { branchId });
  await objects.noteOwnProviders();
}

export const live: LiveKind = {
  byHand: ({ projectId, authProvider }) => `DELETE /projects/${projectId}/auth/integration/${authProvider}`,
  steps: [
    stepIf(
      { ...REFUSABLE, needs: [], option: "authBranchId" },
      "integration-elsewhere",
      "create an auth integration on the branch of --branch, which a service may refuse if it is not the default one",
      (run) => create(run, run.branchId),
    ),
    step("integration-create", "create an auth integration, and read it", async (run) => {
      const { objects, authBranchId, branchId } = run;
      if (!objects.left.some(({ name }) => name === INTEGRATION)) await create(run, authBranchId ?? branchId);
      await objects.find(INTEGRATION);
    }),
    step("second-integration", "ask for a second integration, which the service should refuse", async (run) => {
      const { objects, projectId: project_id, authProvider: auth_provider } = run;
      const { branchId: branch_id } = objects.named(INTEGRATION).outs;
      const send = () => probeInside(run, "POST", CREATE, { project_id, auth_provider, branch_id });
      const { status } = await probeCreation(run, "AuthIntegration", send);
      if (isGood(status)) await objects.take("AuthIntegration", "second integration", `${project_id}/${auth_provider}`);
    }),
  ],
  lastSteps: [
    step("integration-delete", "delete the integration with everything in it", async (run) => {
      const { objects } = run;
      for (const made of objects.left.filter(({ kind }) => kind !== "ComputeEndpoint")) await objects.remove(made);
      run.exchanges.step = "integration-gone";
      await probe(run, "GET", INTEGRATIONS.template);
    }),
    stepIf(
      { ...REFUSABLE, needs: ["integration-delete"] },
      "integration-again",
      "create an integration again in the same place, and delete it",
      async (run) => {
        await create(run, run.authBranchId ?? run.branchId);
        run.exchanges.step = "integration-again-delete";
        await run.objects.remove(run.objects.named(INTEGRATION));
      },
    ),
  ],
  needs: "integration-create",
  lists: [INTEGRATIONS],
  statements: {
    "Auth integration": [
      handled("owner", "`svc` while the service manages it; `user` after a transfer (observed)", ({ all }) => {
        const records = all.flatMap((each) => listed(each, INTEGRATIONS) ?? []);
        const isSo = records.every(({ owned_by: owner }) => owner === "svc");
        return ofAny(records, () => judged(isSo, unique(records.map(({ owned_by: owner }) => word(owner)))));
      }),
      untried("delete-data", "`{ delete_data: boolean }` (observed)", "the provider never sends it: it deletes data"),
      handled(
        "integration-deletion",
        "200 without a body (observed)",
        ofGood([DELETE.to("/projects/{project_id}/auth/integration/{auth_provider}")], emptyDeletions),
      ),
      handled(
        "kept-schema",
        "creation can then answer 409 that names the schema (observed)",
        ofAnswer(POST.in("integration-again"), ({ status }) =>
          judged(isGood(status) || status === 409, status === 409 ? "the schema stays: 409" : `status ${status}`),
        ),
      ),
    ],
    "Not known": [
      handled(
        "auth-branch",
        "whether an integration can use a branch that is not the default",
        ofAnswer(POST.in("integration-elsewhere"), isRefused),
      ),
    ],
  },
};
