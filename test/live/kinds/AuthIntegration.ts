import { ask, fieldOf, isGood, type List, listed } from "../exchanges";
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
import { probe, probeCreation, probeInside, textIn } from "../requests";
import { REFUSABLE, type Run, step, stepIf } from "../run";

export const INTEGRATION = "integration";
/** The step that everything in the integration needs. */
export const INTEGRATION_STEP = "integration-create";

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

export const deleteIntegration = ({ projectId, authProvider }: { projectId: string; authProvider: string }): string =>
  `DELETE /projects/${projectId}/auth/integration/${authProvider}`;

export const live: LiveKind = {
  part: "auth",
  byHand: ({ projectId, rest }) => deleteIntegration({ projectId, authProvider: rest }),
  steps: [
    stepIf(
      {
        ...REFUSABLE,
        needs: [],
        leftOut: ({ authBranchId: other }) => (other === undefined ? "--auth-branch names no other branch" : undefined),
      },
      "integration-elsewhere",
      "create an auth integration on the branch of --branch, which a service may refuse if it is not the default one",
      (run) => create(run, run.branchId),
    ),
    step(INTEGRATION_STEP, "create an auth integration, and read it", async (run) => {
      const { objects, authBranchId, branchId } = run;
      if (!objects.has(INTEGRATION)) await create(run, authBranchId ?? branchId);
      await objects.find(INTEGRATION);
    }),
    step("second-integration", "ask for a second integration, which the service should refuse", async (run) => {
      const { objects, projectId: project_id, authProvider: auth_provider } = run;
      const branch_id = textIn(objects.named(INTEGRATION).outs, "branchId");
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
  needs: INTEGRATION_STEP,
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
        ofGood([ask.del("/projects/{project_id}/auth/integration/{auth_provider}")], emptyDeletions),
      ),
      handled(
        "kept-schema",
        "creation can then answer 409 that names the schema (observed)",
        ofAnswer(ask.post(CREATE, "integration-again"), ({ status }) =>
          judged(isGood(status) || status === 409, status === 409 ? "the schema stays: 409" : `status ${status}`),
        ),
      ),
    ],
    "Not known": [
      handled(
        "auth-branch",
        "whether an integration can use a branch that is not the default",
        ofAnswer(ask.post(CREATE, "integration-elsewhere"), isRefused),
      ),
    ],
  },
};
