import { ask, fieldOf, isGood } from "../exchanges";
import { handled, hasStatus, ofAnswer } from "../findings";
import type { LiveKind } from "../LiveKind";
import { probeInside } from "../requests";
import { emailOf, step } from "../run";
import { INTEGRATION_STEP } from "./AuthIntegration";

const NEW_USER = "/projects/auth/user";

export const live: LiveKind = {
  part: "auth",
  byHand: ({ projectId, rest }) => `DELETE /projects/${projectId}/auth/users/${rest}`,
  steps: [
    step("user", "create a user, ask for another with the same address, and delete it", async (run) => {
      const { objects, projectId, authProvider, token: name, exchanges } = run;
      const made = await objects.create("AuthUser", "user", { email: emailOf(run), name });
      exchanges.step = "second-user";
      const body = { project_id: projectId, auth_provider: authProvider, email: emailOf(run), name };
      const { status, json } = await probeInside(run, "POST", NEW_USER, body);
      const userId = fieldOf(json, "id");
      const id = `${projectId}/${String(userId)}`;
      if (isGood(status) && typeof userId === "string" && id !== made.id)
        objects.adopt({ ...made, name: "second user", id, outs: { ...made.outs, userId } });
      exchanges.step = "user-delete";
      await objects.remove(made);
    }),
  ],
  needs: INTEGRATION_STEP,
  statements: {
    "Auth users": [
      handled(
        "existing-user",
        "An address that exists may answer 409 (observed)",
        ofAnswer(ask.post(NEW_USER, "second-user"), hasStatus(409)),
      ),
    ],
  },
};
