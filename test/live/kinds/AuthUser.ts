import { POST } from "../exchanges";
import { handled, hasStatus, ofAnswer } from "../findings";
import type { LiveKind } from "../LiveKind";
import { probeInside } from "../requests";
import { emailOf, step } from "../run";

const NEW_USER = "/projects/auth/user";

export const live: LiveKind = {
  byHand: ({ projectId, rest }) => `DELETE /projects/${projectId}/auth/users/${rest}`,
  steps: [
    step("user", "create a user, ask for another with the same address, and delete it", async (run) => {
      const { objects, projectId: project_id, authProvider: auth_provider, token: name, exchanges } = run;
      const user = { email: emailOf(run), name };
      const made = await objects.create("AuthUser", "user", user);
      exchanges.step = "second-user";
      // If the service creates it, it is deleted with the integration.
      await probeInside(run, "POST", NEW_USER, { project_id, auth_provider, ...user });
      exchanges.step = "user-delete";
      await objects.remove(made);
    }),
  ],
  statements: {
    "Auth users": [
      handled(
        "existing-user",
        "An address that exists may answer 409 (observed)",
        ofAnswer(POST.in("second-user"), hasStatus(409)),
      ),
    ],
  },
};
