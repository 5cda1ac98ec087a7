import { PATCH } from "../exchanges";
import { needed, secretForms } from "../findings";
import type { LiveKind } from "../LiveKind";
import { canary, emailOf, REFUSABLE, stepIf } from "../run";

const PATH = "/projects/{project_id}/auth/email_server";

export const live: LiveKind = {
  byHand: ({ projectId }) => `PATCH /projects/${projectId}/auth/email_server ${JSON.stringify({ type: "shared" })}`,
  steps: [
    stepIf(REFUSABLE, "mail", "set an e-mail server that does not exist, change its sender, and reset it", (run) => {
      const { objects, token } = run;
      const server = { type: "standard", host: `${token}.example.com`, port: 587, username: token };
      const args = { ...server, password: canary(), senderEmail: emailOf(run), senderName: "pulumi-svc live" };
      return objects.tryOut("EmailServer", "mail", args, { senderName: "pulumi-svc live 2" });
    }),
  ],
  statements: {
    "Email server": [
      needed(
        "mail-password",
        "The password may come back in full, masked or not at all (observed)",
        secretForms([PATCH.to(PATH)], "password"),
      ),
    ],
  },
};
