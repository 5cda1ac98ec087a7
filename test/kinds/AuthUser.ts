import { declaration, type AuthUserShape } from "../../src/resources/authUser/authUserDeclaration";
import { authUser } from "../../src/resources/authUser/authUserLifecycle";
import { PROJECT, PROVIDER, UNKNOWN, type Harness, type Json } from "../support/harness";
import {
  CREATE_USER,
  holdsOne,
  INTEGRATIONS,
  isEmpty,
  listedById,
  recordsOf,
  removedWithIntegration,
  USER,
} from "../support/rules/routes";
import { anyLifecycle, PATIENCE, SECRETS, type KindCase } from "./KindCase";
import { address, counted, segment } from "./rules";

export const USER_ARGS = { projectId: PROJECT, ...PATIENCE, email: "ann@example.com", name: "Ann" };

const byColleague = (email: string) => (given: Harness) =>
  given.post(CREATE_USER, { project_id: PROJECT, auth_provider: PROVIDER, email });

export const kindCase: KindCase<AuthUserShape> = {
  kind: "AuthUser",
  declaration,
  lifecycle: anyLifecycle(authUser),
  inIntegration: true,

  arguments: {
    projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
    email: { value: USER_ARGS.email, other: "other@example.com", change: "replaces", rule: address },
    name: { value: USER_ARGS.name, other: "Other", change: "excludes", rule: counted(255) },
    authProvider: { value: PROVIDER, other: "another", change: "excludes", rule: segment },
  },
  least: ({ projectId }) => ({ projectId, email: USER_ARGS.email }),
  unknowns: { email: UNKNOWN, name: UNKNOWN },
  adopts: undefined,
  coexists: false,

  // A name is encrypted in the state. In a message of the service it cannot be distinguished from other words.
  secretArguments: {},
  byReference: [],
  secretOutputs: [],
  idIn: (projectId) => `${projectId}/thing-1`,
  sendsNothing: ["update"],

  list: INTEGRATIONS,
  planLists: [INTEGRATIONS],
  deletion: { method: "DELETE", path: USER, readsFirst: true },
  standing: listedById("users"),
  // No list of users can show a deletion, but the list of integrations can.
  vanish: removedWithIntegration,
  plant: (call, { projectId }) =>
    call("POST", CREATE_USER, { project_id: projectId, auth_provider: PROVIDER, email: USER_ARGS.email }),
  // The emulator's state has this list.
  look: ({ users }) => (users as Json[]).map(({ id }) => id),

  mutations: [
    {
      title: "creating a user",
      method: "POST",
      path: CREATE_USER,
      to: USER_ARGS,
      happened: holdsOne("users"),
      onlyAnswered: true,
    },
    {
      title: "deleting a user",
      method: "DELETE",
      path: USER,
      from: USER_ARGS,
      to: undefined,
      happened: isEmpty("users"),
      unlisted: true,
      bodiless: true,
      // Another address is another user.
      campaignSteps: ["change", "destroy"],
    },
  ],
  updates: [],
  lost: /another id/,
  takeovers: [],
  creations: [
    {
      title: "a user",
      path: CREATE_USER,
      args: USER_ARGS,
      list: (given) => recordsOf(given, "users"),
      nameOf: ({ email }) => String(email),
      isFound: false,
      lookalikes: [
        { title: "another user", make: byColleague("theirs@example.com"), isNamed: false },
        { title: "a user with our address", make: byColleague(USER_ARGS.email), isNamed: false },
      ],
      // None is listed, so no conflict can name one.
      conflicts: [],
    },
  ],
  twins: [
    {
      title: "a user",
      one: ({ projectId }) => ({ projectId, email: "a@example.com" }),
      two: ({ projectId }) => ({ projectId, email: "a@example.com", name: "A" }),
    },
  ],
  distinct: ({ projectId }, elsewhere) => [
    { projectId, email: "a@example.com" },
    { projectId, email: "b@example.com" },
    { projectId: elsewhere.projectId, email: "a@example.com" },
  ],
  heldTwice: [{ title: "a user", inputs: ({ projectId }) => ({ projectId, email: "a@example.com" }) }],
  several: undefined,

  campaign: {
    lists: ["users"],
    program: ({ round, project }) =>
      `new svc.AuthUser("user", { projectId: "${project}", email: "user${round}@example.com", name: pulumi.secret("${SECRETS.name}") });`,
    declared: ({ round }) => [`user${round}@example.com ${SECRETS.name}`],
    shown: ({ own }) => own("users").map(({ id, email, name }) => ({ text: `${email} ${name}`, id })),
  },
};
