import { hashed } from "../../src/emulator/model/records";
import { declaration, type EmailServerShape } from "../../src/resources/emailServer/emailServerDeclaration";
import { emailServer } from "../../src/resources/emailServer/emailServerLifecycle";
import { STANDARD, THEIRS } from "../support/emailServers";
import { UNKNOWN, type Json } from "../support/harness";
import { EMAIL, inProject, INTEGRATIONS, mailOf, removedWithIntegration } from "../support/rules/routes";
import fc from "fast-check";
import { anyLifecycle, PATIENCE, SECRETS, type KindCase } from "./KindCase";
import { address, canary, CANARY, letters, line, lists, objects, oneOf, segment, text } from "./rules";

export const EMAIL_STANDARD = { ...STANDARD, ...PATIENCE };
const ELSEWHERE = { ...EMAIL_STANDARD, host: "smtp.other.example.com" };

export const kindCase: KindCase<EmailServerShape> = {
  kind: "EmailServer",
  declaration,
  lifecycle: anyLifecycle(emailServer),
  inIntegration: true,

  arguments: {
    projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
    type: { value: "standard", other: "shared", change: "updates", rule: oneOf("shared", "standard") },
    host: {
      value: STANDARD.host,
      other: ELSEWHERE.host,
      change: "updates",
      rule: text(
        letters(30).map((name) => `${name}.example`),
        fc.constantFrom(`https://${CANARY}`, `a b${CANARY}`, `${CANARY}:25`),
      ),
    },
    port: {
      value: STANDARD.port,
      other: 25,
      change: "updates",
      rule: {
        good: fc.integer({ min: 1, max: 65_535 }),
        bad: fc.oneof(
          canary,
          lists,
          objects,
          fc.boolean(),
          fc.constantFrom(0, -1, 65_536, 25.5, "25", Number.NaN, 1e308),
        ),
      },
    },
    username: { value: STANDARD.username, other: "other", change: "updates", rule: line },
    password: { value: STANDARD.password, other: "other", change: "updates", rule: text(canary) },
    senderEmail: { value: STANDARD.senderEmail, other: "other@example.com", change: "updates", rule: address },
    senderName: { value: STANDARD.senderName, other: "Other", change: "updates", rule: line },
  },
  least: ({ projectId }) => ({ projectId, type: "shared" }),
  unknowns: { type: UNKNOWN, host: UNKNOWN, password: UNKNOWN },
  // A project's only configuration is always adopted, and the plan announces it.
  adopts: {},
  coexists: false,

  secretArguments: { password: (secret) => secret },
  byReference: ["password"],
  secretOutputs: [],
  idIn: (projectId) => projectId,
  sendsNothing: [],

  list: EMAIL,
  planLists: [INTEGRATIONS, EMAIL],
  deletion: { method: "PATCH", path: EMAIL, readsFirst: true },
  // The emulator stores a project's configuration under this name.
  standing: ({ email_server }, { id }) => ((email_server as Json)["type"] === "standard" ? [id] : []),
  vanish: removedWithIntegration,
  plant: (call, { projectId }) => call("PATCH", inProject(EMAIL, projectId), THEIRS),
  look: ({ email_server }) => email_server,

  mutations: [
    {
      title: "configuring a mail server",
      method: "PATCH",
      path: EMAIL,
      to: EMAIL_STANDARD,
      happened: async (given) => (await mailOf(given))["host"] === STANDARD.host,
      argument: /type|host/,
      configures: true,
      secret: true,
    },
    {
      title: "changing a mail server",
      method: "PATCH",
      path: EMAIL,
      from: EMAIL_STANDARD,
      to: ELSEWHERE,
      happened: async (given) => (await mailOf(given))["host"] === ELSEWHERE.host,
      argument: /host/,
      secret: true,
    },
    {
      title: "deleting a mail server",
      method: "PATCH",
      path: EMAIL,
      from: EMAIL_STANDARD,
      to: undefined,
      happened: async (given) => (await mailOf(given))["type"] === "shared",
    },
  ],
  updates: [{ title: "a mail server", args: ELSEWHERE, method: "PATCH", path: EMAIL }],
  lost: undefined,
  takeovers: [],
  creations: [],
  twins: [
    {
      title: "an e-mail server",
      one: ({ projectId }) => ({ projectId, type: "shared" }),
      two: ({ projectId }) => ({ ...STANDARD, projectId }),
    },
  ],
  distinct: (place, elsewhere) => [place, elsewhere].map(({ projectId }) => ({ projectId, type: "shared" })),
  heldTwice: [{ title: "an e-mail server", inputs: ({ projectId }) => ({ ...STANDARD, projectId }) }],
  several: undefined,

  campaign: {
    lists: [],
    program: ({ round, project }) => `new svc.EmailServer("email", {
  projectId: "${project}", type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  password: pulumi.secret("${SECRETS.smtp}"), senderEmail: "auth@example.com", senderName: "Round ${round}",
});`,
    declared: ({ round }) => [`e-mail server Round ${round} ${hashed(SECRETS.smtp)}`],
    shown: ({ project }) => {
      // The emulator stores a project's configuration under this name.
      const { type, sender_name, password } = project["email_server"] as Json;
      return type === "shared" ? [] : [{ text: `e-mail server ${sender_name} ${password}` }];
    },
  },
};
