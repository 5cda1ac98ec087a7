import { hashed } from "../../src/emulator/model/records";
import fc from "fast-check";
import { declaration, type OAuthProviderShape } from "../../src/resources/oauthProvider/oauthProviderDeclaration";
import { oauthProvider } from "../../src/resources/oauthProvider/oauthProviderLifecycle";
import { PROJECT, UNKNOWN, type Harness, type Json } from "../support/harness";
import { SHARED, STANDARD } from "../support/oauthProviders";
import {
  inProject,
  INTEGRATIONS,
  listedById,
  OAUTH,
  OAUTH_PROVIDER,
  providerOf,
  recordsOf,
  removedById,
} from "../support/rules/routes";
import { anyLifecycle, PATIENCE, SECRETS, type Creation, type KindCase } from "./KindCase";
import { canary, flag, letters, line, segment, text } from "./rules";

export const OAUTH_SHARED = { ...SHARED, ...PATIENCE };
export const OAUTH_STANDARD = { ...STANDARD, ...PATIENCE };

const THEIRS = { client_id: "theirs", client_secret: "theirs" };
const byColleague = (body: Json) => (given: Harness) => given.post(inProject(OAUTH, PROJECT), body);
const hasOurs = async (given: Harness): Promise<boolean> => (await providerOf(given))?.["client_id"] === "own-id";

const creation: Pick<Creation, "path" | "list" | "nameOf"> = {
  path: OAUTH,
  // A new integration has two that nobody declared.
  list: async (given) =>
    (await recordsOf(given, "oauth_providers")).filter(({ id }) => id !== "google" && id !== "github"),
  nameOf: ({ id }) => String(id),
};

export const kindCase: KindCase<OAuthProviderShape> = {
  kind: "OAuthProvider",
  declaration,
  lifecycle: anyLifecycle(oauthProvider),
  inIntegration: true,

  arguments: {
    projectId: { value: ({ projectId }) => projectId, other: "prj-other", change: "replaces", rule: segment },
    providerId: {
      value: STANDARD.providerId,
      other: "gitlab",
      change: "replaces",
      rule: text(letters(60), canary, fc.constantFrom("..", "a/b", "Google", "2fa")),
    },
    clientId: { value: STANDARD.clientId, other: "other-id", change: "updates", rule: line },
    clientSecret: { value: STANDARD.clientSecret, other: "other", change: "updates", rule: text(canary) },
    adopt: { value: undefined, other: true, change: "nothing", rule: flag },
    absent: {
      value: undefined,
      other: true,
      change: "excludes",
      without: ["clientId", "clientSecret"],
      rule: flag,
    },
  },
  least: ({ projectId }) => ({ projectId, providerId: STANDARD.providerId }),
  unknowns: { clientId: UNKNOWN, clientSecret: UNKNOWN },
  adopts: { adopt: true },
  coexists: false,

  secretArguments: { clientSecret: (secret) => secret },
  byReference: ["clientSecret"],
  secretOutputs: [],
  idIn: (projectId) => `${projectId}/${STANDARD.providerId}`,
  sendsNothing: [],

  list: OAUTH,
  planLists: [INTEGRATIONS, OAUTH],
  deletion: { method: "DELETE", path: OAUTH_PROVIDER, readsFirst: true },
  standing: listedById("oauth_providers"),
  vanish: removedById("oauth_provider"),
  plant: (call, { projectId }) => call("POST", inProject(OAUTH, projectId), { id: STANDARD.providerId, ...THEIRS }),
  // The emulator's state has this list.
  look: ({ oauth_providers }) => (oauth_providers as Json[]).map(({ id }) => id),

  mutations: [
    {
      title: "adding an OAuth provider with shared keys",
      method: "POST",
      path: OAUTH,
      to: OAUTH_SHARED,
      happened: async (given) => (await providerOf(given)) !== undefined,
    },
    {
      title: "adding an OAuth provider with credentials",
      method: "POST",
      path: OAUTH,
      to: OAUTH_STANDARD,
      happened: hasOurs,
      secret: true,
    },
    {
      title: "giving an OAuth provider credentials",
      method: "PATCH",
      path: OAUTH_PROVIDER,
      from: OAUTH_SHARED,
      to: OAUTH_STANDARD,
      happened: hasOurs,
      argument: /client|credential|type/i,
      secret: true,
    },
    {
      title: "deleting an OAuth provider",
      method: "DELETE",
      path: OAUTH_PROVIDER,
      from: OAUTH_SHARED,
      to: undefined,
      happened: async (given) => (await providerOf(given)) === undefined,
      bodiless: true,
    },
  ],
  updates: [
    {
      title: "an OAuth provider",
      args: { ...OAUTH_STANDARD, clientId: "other-id" },
      method: "PATCH",
      path: OAUTH_PROVIDER,
    },
  ],
  lost: undefined,
  takeovers: [
    {
      title: "an OAuth provider",
      from: ({ projectId }) => ({ projectId, providerId: "google", adopt: true }),
      to: ({ projectId }) => ({ projectId, providerId: "github", adopt: true }),
    },
  ],
  creations: [
    {
      ...creation,
      title: "an OAuth provider with shared keys",
      args: OAUTH_SHARED,
      isFound: true,
      lookalikes: [
        { title: "another OAuth provider", make: byColleague({ id: "gitlab" }), isNamed: false },
        {
          title: "our OAuth provider with credentials where we want shared keys",
          make: byColleague({ id: STANDARD.providerId, ...THEIRS }),
          isNamed: true,
        },
      ],
      conflicts: [],
    },
    {
      ...creation,
      title: "an OAuth provider with credentials",
      args: OAUTH_STANDARD,
      isFound: false,
      lookalikes: [
        {
          title: "our OAuth provider with shared keys where we have credentials",
          make: byColleague({ id: STANDARD.providerId }),
          isNamed: true,
        },
        {
          title: "our OAuth provider with credentials that nobody can compare",
          make: byColleague({ id: STANDARD.providerId, ...THEIRS }),
          isNamed: true,
        },
      ],
      conflicts: [{ title: "OAuth provider", make: byColleague({ id: STANDARD.providerId }), isNamed: true }],
    },
  ],
  twins: [
    {
      title: "an OAuth provider",
      one: ({ projectId }) => ({ projectId, providerId: "google", adopt: true }),
      two: ({ projectId }) => ({ projectId, providerId: "google", clientId: "a", clientSecret: "b" }),
    },
  ],
  distinct: ({ projectId }, elsewhere) => [
    { projectId, providerId: "google", adopt: true },
    { projectId, providerId: "github", adopt: true },
    { projectId: elsewhere.projectId, providerId: "google", adopt: true },
  ],
  heldTwice: [{ title: "an OAuth provider", inputs: ({ projectId }) => ({ ...STANDARD, projectId }) }],
  several: {
    inputs: ({ projectId }, letter) => ({
      projectId,
      providerId: `p-${letter.toLowerCase()}`,
      clientId: letter,
      clientSecret: `secret of ${letter}`,
    }),
    // Adopted or created, each has its own credentials.
    letters: ({ oauth_providers }) =>
      // The emulator's state has this list.
      (oauth_providers as Json[])
        .filter(({ id, client_id }) => id === `p-${String(client_id).toLowerCase()}`)
        .map(({ client_id }) => String(client_id))
        .sort(),
  },

  campaign: {
    lists: ["oauth_providers"],
    program: ({ round, project }) => `new svc.OAuthProvider("oauth", {
  projectId: "${project}", providerId: "gitlab", clientId: "id-${round}", clientSecret: "${SECRETS.oauth}", adopt: true,
});`,
    declared: ({ round }) => [`gitlab id-${round} ${hashed(SECRETS.oauth)}`],
    shown: ({ own }) =>
      own("oauth_providers").map(({ id, client_id, client_secret }) => ({
        text: `${id} ${client_id} ${client_secret}`,
      })),
  },
};
