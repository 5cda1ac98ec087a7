import { declaration, type AuthIntegrationShape } from "../../src/resources/authIntegration/authIntegrationDeclaration";
import { authIntegration } from "../../src/resources/authIntegration/authIntegrationLifecycle";
import { INPUTS } from "../support/authIntegrations";
import { PROJECT, PROVIDER, UNKNOWN, type Harness, type Json } from "../support/harness";
import {
  BRANCHES,
  CREATE_INTEGRATION,
  holdsOne,
  INTEGRATION,
  INTEGRATIONS,
  isEmpty,
  recordsOf,
  removedWithIntegration,
} from "../support/rules/routes";
import { anyLifecycle, PATIENCE, type KindCase } from "./KindCase";
import { branch, counted, flag, segment } from "./rules";

export const INTEGRATED = { projectId: PROJECT, branchId: "br-main", databaseName: "appdb", ...PATIENCE };

const byColleague = (more: Json) => (given: Harness) =>
  given.post(CREATE_INTEGRATION, { project_id: PROJECT, auth_provider: PROVIDER, ...more });

export const kindCase: KindCase<AuthIntegrationShape> = {
  kind: "AuthIntegration",
  declaration,
  lifecycle: anyLifecycle(authIntegration),
  inIntegration: false,

  arguments: {
    projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
    branchId: { value: ({ main }) => main, other: ({ other }) => other, change: "excludes", rule: branch },
    databaseName: { value: INPUTS.databaseName, other: "other", change: "excludes", rule: counted(63) },
    roleName: { value: INPUTS.roleName, other: "other", change: "excludes", rule: counted(63) },
    authProvider: { value: PROVIDER, other: "another", change: "replaces", rule: segment },
    deletionProtection: { value: undefined, other: true, change: "stored", rule: flag },
    adopt: { value: undefined, other: true, change: "nothing", rule: flag },
  },
  least: ({ projectId, main }) => ({ projectId, branchId: main }),
  unknowns: { branchId: UNKNOWN, databaseName: UNKNOWN },
  adopts: { adopt: true },
  coexists: false,

  secretArguments: {},
  byReference: [],
  secretOutputs: ["secretServerKey"],
  idIn: (projectId) => `${projectId}/${PROVIDER}`,
  sendsNothing: [],

  list: INTEGRATIONS,
  planLists: [INTEGRATIONS, BRANCHES],
  deletion: { method: "DELETE", path: INTEGRATION, readsFirst: true },
  // An integration that replaces it may have the same name.
  standing: ({ integrations }, { outs: { authProviderProjectId: own } }) =>
    (integrations as Json[]).filter((one) => one["auth_provider_project_id"] === own).map(() => String(own)),
  vanish: removedWithIntegration,
  plant: (call, { projectId, main }) =>
    call("POST", CREATE_INTEGRATION, { project_id: projectId, auth_provider: PROVIDER, branch_id: main }),
  // The emulator's state has this list.
  look: ({ integrations }) => (integrations as Json[]).map((one) => one["auth_provider_project_id"]),

  mutations: [
    {
      title: "creating an integration",
      method: "POST",
      path: CREATE_INTEGRATION,
      to: INTEGRATED,
      happened: holdsOne("integrations"),
    },
    {
      title: "deleting an integration",
      method: "DELETE",
      path: INTEGRATION,
      from: INTEGRATED,
      to: undefined,
      happened: isEmpty("integrations"),
      bodiless: true,
    },
  ],
  updates: [],
  lost: /users.*keys|keys.*users/,
  takeovers: [
    {
      title: "an integration in another project",
      from: ({ projectId }) => ({ projectId, adopt: true }),
      to: (_place, { projectId }) => ({ projectId, adopt: true }),
    },
  ],
  creations: [
    {
      title: "an integration",
      path: CREATE_INTEGRATION,
      args: INTEGRATED,
      // Allows a colleague to use another branch.
      options: { anyAuthBranch: true },
      list: (given) => recordsOf(given, "integrations"),
      nameOf: ({ auth_provider }) => String(auth_provider),
      marks: ({ branch_id, db_name }) => [String(branch_id), String(db_name)],
      isFound: true,
      lookalikes: [
        {
          title: "an integration on another database",
          make: byColleague({ branch_id: "br-main", database_name: "theirs" }),
          isNamed: true,
        },
        {
          title: "an integration on another branch",
          make: byColleague({ branch_id: "br-dev", database_name: "appdb" }),
          isNamed: true,
        },
      ],
      conflicts: [
        { title: "integration", make: byColleague({ branch_id: "br-main", database_name: "theirs" }), isNamed: true },
      ],
    },
  ],
  twins: [
    { title: "an integration", one: ({ projectId }) => ({ projectId }), two: ({ projectId }) => ({ projectId }) },
    {
      title: "an integration whose auth provider one of them spells out",
      one: ({ projectId }) => ({ projectId }),
      two: ({ projectId }) => ({ projectId, authProvider: PROVIDER, adopt: true }),
    },
  ],
  distinct: (place, elsewhere) => [{ projectId: place.projectId }, { projectId: elsewhere.projectId }],
  heldTwice: [{ title: "an integration", inputs: ({ projectId }) => ({ projectId }) }],
  several: undefined,

  campaign: {
    lists: ["integrations"],
    program: () =>
      `const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo", databaseName: "shop", adopt: adopt.auth });
secrets.push(auth.secretServerKey);`,
    declared: () => ["integration on shop"],
    shown: ({ own }) => own("integrations").map(({ db_name }) => ({ text: `integration on ${db_name}` })),
  },
};
