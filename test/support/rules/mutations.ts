import type { Properties } from "../../../src/contract/hiddenKeys";
import type { EmulatorOptions } from "../../../src/emulator";
import { authIntegration } from "../../../src/resources/authIntegration/lifecycle";
import { authKeys } from "../../../src/resources/authKeys/lifecycle";
import { authOwnershipTransfer } from "../../../src/resources/authOwnershipTransfer/lifecycle";
import { authUser } from "../../../src/resources/authUser/lifecycle";
import { computeEndpoint } from "../../../src/resources/computeEndpoint/lifecycle";
import { emailServer } from "../../../src/resources/emailServer/lifecycle";
import { oauthProvider } from "../../../src/resources/oauthProvider/lifecycle";
import { whitelist } from "../../../src/resources/whitelist/whitelistLifecycle";
import { whitelistDomain } from "../../../src/resources/whitelist/whitelistDomainLifecycle";
import { DEMO_PRIMARY } from "../computeCases";
import { CANARY, PROJECT, withIntegration, type Harness, type Json, type State } from "../harness";
import { scene, type Scene } from "./hostile";
import { outcomeOf } from "./steps";

export const ENDPOINTS = "/projects/{project_id}/endpoints";
export const ENDPOINT = `${ENDPOINTS}/{endpoint_id}`;
export const CREATE_INTEGRATION = "/projects/auth/create";
export const INTEGRATIONS = "/projects/{project_id}/auth/integrations";
export const INTEGRATION = "/projects/{project_id}/auth/integration/{auth_provider}";
export const KEYS = "/projects/auth/keys";
export const CREATE_USER = "/projects/auth/user";
export const USER = "/projects/{project_id}/auth/users/{auth_user_id}";
const TRANSFER = "/projects/auth/transfer_ownership";
export const OAUTH = "/projects/{project_id}/auth/oauth_providers";
export const OAUTH_PROVIDER = `${OAUTH}/{oauth_provider_id}`;
export const DOMAINS = "/projects/{project_id}/auth/domains";
export const EMAIL = "/projects/{project_id}/auth/email_server";

/** Seconds: what waits for something that cannot come must not make the tests slow. */
const PATIENCE = { __timeouts: { create: 4, update: 4, delete: 4 } };

export const COMPUTE = { projectId: PROJECT, branchId: "br-dev", size: 2, ...PATIENCE };
export const REPLICA = { ...COMPUTE, branchId: "br-main", type: "read_only" };
export const INTEGRATED = { projectId: PROJECT, branchId: "br-main", databaseName: "appdb", ...PATIENCE };
export const IN_PROJECT = { projectId: PROJECT, ...PATIENCE };
export const USER_ARGS = { ...IN_PROJECT, email: "ann@example.com", name: "Ann" };
export const OAUTH_SHARED = { ...IN_PROJECT, providerId: "microsoft" };
export const OAUTH_STANDARD = { ...OAUTH_SHARED, clientId: "own-id", clientSecret: `${CANARY}-secret` };
export const DOMAIN_ARGS = { ...IN_PROJECT, domain: "https://app.example.com" };
export const WHITELIST_ARGS = { ...IN_PROJECT, domains: ["https://app.example.com"] };
export const EMAIL_STANDARD = {
  ...IN_PROJECT,
  type: "standard",
  host: "smtp.example.com",
  port: 587,
  username: "mailer",
  password: `${CANARY}-smtp`,
  senderEmail: "auth@example.com",
  senderName: "Example",
};

export const computeScene = (options?: EmulatorOptions) => scene(computeEndpoint, options);
export const integrationScene = (options?: EmulatorOptions) => scene(authIntegration, options);

const inIntegration =
  (open: (options: EmulatorOptions) => Promise<Scene>) =>
  async (options: EmulatorOptions = {}): Promise<Scene> => {
    // Secrets that can be read back would prove what no real service need show.
    const opened = await open({ secretAnswers: "absent", ...options });
    await withIntegration(opened.given);
    return opened;
  };
export const userScene = inIntegration((options) => scene(authUser, options));
export const keysScene = inIntegration((options) => scene(authKeys, options));
export const transferScene = inIntegration((options) => scene(authOwnershipTransfer, options));
export const oauthScene = inIntegration((options) => scene(oauthProvider, options));
export const domainScene = inIntegration((options) => scene(whitelistDomain, options));
export const whitelistScene = inIntegration((options) => scene(whitelist, options));
export const emailScene = inIntegration((options) => scene(emailServer, options));

/** One list of the demo project, as the emulator keeps it. */
export async function recordsOf(given: Harness, list: string): Promise<Json[]> {
  // The state of the emulator is checked by its own tests.
  return (await given.state())[list] as Json[];
}

/** The computes beside the one that the demo project begins with. */
export const computesOf = async (given: Harness): Promise<Json[]> =>
  (await recordsOf(given, "endpoints")).filter(({ id }) => id !== DEMO_PRIMARY);
export const providerOf = async (given: Harness, id = "microsoft"): Promise<Json | undefined> =>
  (await recordsOf(given, "oauth_providers")).find((provider) => provider["id"] === id);
/** The state of the emulator holds one configuration. */
export const mailOf = async (given: Harness): Promise<Json> => (await given.state())["email_server"] as Json;

/** One route that changes something, and a step of the engine that uses it. */
export interface Mutation {
  title: string;
  method: string;
  path: string;
  open: () => Promise<Scene>;
  /** What stands before. Nothing, when it is left out. */
  from?: Properties;
  /** Makes what stands before, where creating is not enough. */
  prepare?: (given: Harness) => Promise<State>;
  /** What the program declares then; nothing: it is deleted. */
  to: Properties | undefined;
  /** Whether the service has done what was asked. */
  happened: (given: Harness) => Promise<boolean>;
  /** What must be in the words, where the service goes on showing what was there before. */
  argument?: RegExp;
  /** What the answer alone tells: an id, keys, an address. */
  onlyAnswered?: true;
  /** What it creates stands anyway and is only configured: an unfinished one may be kept. */
  configures?: true;
  /** No list shows whether it happened. */
  unlisted?: true;
  /** Something was sent that no list shows: only an answer of the right shape, or an empty one, tells that it is set. */
  secret?: true;
}

const isEmpty = (list: string) => async (given: Harness) => (await recordsOf(given, list)).length === 0;
const holdsOne = (list: string) => async (given: Harness) => (await recordsOf(given, list)).length === 1;

/** A compute that its first start has left `init`. */
async function unstarted(given: Harness): Promise<State> {
  await given.fault({ operation: { action: "start_compute", status: "failed" } });
  const outcome = await outcomeOf(() => given.create(COMPUTE));
  if (outcome.ended === "well" || outcome.kept === undefined) throw new Error("the failed start was not kept");
  return outcome.kept;
}

export const MUTATIONS: readonly Mutation[] = [
  {
    title: "creating a compute",
    method: "POST",
    path: ENDPOINTS,
    open: computeScene,
    to: COMPUTE,
    happened: async (given) => (await computesOf(given)).some((found) => found["autoscaling_limit_max_cu"] === 2),
  },
  {
    title: "changing a compute",
    method: "PATCH",
    path: ENDPOINT,
    open: computeScene,
    from: COMPUTE,
    to: { ...COMPUTE, size: 4 },
    happened: async (given) => (await computesOf(given)).some((found) => found["autoscaling_limit_max_cu"] === 4),
    argument: /size/,
  },
  {
    title: "restarting a compute",
    method: "POST",
    path: `${ENDPOINT}/restart`,
    open: computeScene,
    from: { ...COMPUTE, restartTriggers: [1] },
    to: { ...COMPUTE, restartTriggers: [2] },
    happened: async (given) =>
      (await recordsOf(given, "operations")).some(
        ({ action, status }) => action === "suspend_compute" && status === "finished",
      ),
  },
  {
    title: "starting a compute",
    method: "POST",
    path: `${ENDPOINT}/start`,
    open: computeScene,
    prepare: unstarted,
    to: COMPUTE,
    happened: async (given) => (await computesOf(given)).some((found) => found["current_state"] === "active"),
  },
  {
    title: "deleting a compute",
    method: "DELETE",
    path: ENDPOINT,
    open: computeScene,
    from: COMPUTE,
    to: undefined,
    happened: async (given) => (await computesOf(given)).length === 0,
  },
  {
    title: "creating an integration",
    method: "POST",
    path: CREATE_INTEGRATION,
    open: integrationScene,
    to: INTEGRATED,
    happened: holdsOne("integrations"),
  },
  {
    title: "deleting an integration",
    method: "DELETE",
    path: INTEGRATION,
    open: integrationScene,
    from: INTEGRATED,
    to: undefined,
    happened: isEmpty("integrations"),
  },
  {
    title: "making keys",
    method: "POST",
    path: KEYS,
    open: keysScene,
    to: IN_PROJECT,
    happened: async (given) => (await recordsOf(given, "key_sets")).length > 1,
    onlyAnswered: true,
  },
  {
    title: "creating a user",
    method: "POST",
    path: CREATE_USER,
    open: userScene,
    to: USER_ARGS,
    happened: holdsOne("users"),
    onlyAnswered: true,
  },
  {
    title: "deleting a user",
    method: "DELETE",
    path: USER,
    open: userScene,
    from: USER_ARGS,
    to: undefined,
    happened: isEmpty("users"),
    unlisted: true,
  },
  {
    title: "asking for a transfer",
    method: "POST",
    path: TRANSFER,
    open: transferScene,
    to: IN_PROJECT,
    happened: async (given) =>
      (await recordsOf(given, "integrations")).some((found) => "transfer_token_hashes" in found),
    onlyAnswered: true,
  },
  {
    title: "adding an OAuth provider with shared keys",
    method: "POST",
    path: OAUTH,
    open: oauthScene,
    to: OAUTH_SHARED,
    happened: async (given) => (await providerOf(given)) !== undefined,
  },
  {
    title: "adding an OAuth provider with credentials",
    method: "POST",
    path: OAUTH,
    open: oauthScene,
    to: OAUTH_STANDARD,
    happened: async (given) => (await providerOf(given))?.["client_id"] === "own-id",
    secret: true,
  },
  {
    title: "giving an OAuth provider credentials",
    method: "PATCH",
    path: OAUTH_PROVIDER,
    open: oauthScene,
    from: OAUTH_SHARED,
    to: OAUTH_STANDARD,
    happened: async (given) => (await providerOf(given))?.["client_id"] === "own-id",
    argument: /client|credential|type/i,
    secret: true,
  },
  {
    title: "deleting an OAuth provider",
    method: "DELETE",
    path: OAUTH_PROVIDER,
    open: oauthScene,
    from: OAUTH_SHARED,
    to: undefined,
    happened: async (given) => (await providerOf(given)) === undefined,
  },
  {
    title: "adding a domain",
    method: "POST",
    path: DOMAINS,
    open: domainScene,
    to: DOMAIN_ARGS,
    happened: holdsOne("domains"),
  },
  {
    title: "deleting a domain",
    method: "DELETE",
    path: DOMAINS,
    open: domainScene,
    from: DOMAIN_ARGS,
    to: undefined,
    happened: isEmpty("domains"),
  },
  {
    title: "adding to a whitelist",
    method: "POST",
    path: DOMAINS,
    open: whitelistScene,
    to: WHITELIST_ARGS,
    happened: holdsOne("domains"),
    configures: true,
  },
  {
    title: "taking from a whitelist",
    method: "DELETE",
    path: DOMAINS,
    open: whitelistScene,
    from: WHITELIST_ARGS,
    to: { ...WHITELIST_ARGS, domains: [] },
    happened: isEmpty("domains"),
    argument: /domains|app\.example\.com/,
  },
  {
    title: "configuring a mail server",
    method: "PATCH",
    path: EMAIL,
    open: emailScene,
    to: EMAIL_STANDARD,
    happened: async (given) => (await mailOf(given))["host"] === "smtp.example.com",
    argument: /type|host/,
    configures: true,
    secret: true,
  },
  {
    title: "changing a mail server",
    method: "PATCH",
    path: EMAIL,
    open: emailScene,
    from: EMAIL_STANDARD,
    to: { ...EMAIL_STANDARD, host: "smtp.other.example.com" },
    happened: async (given) => (await mailOf(given))["host"] === "smtp.other.example.com",
    argument: /host/,
    secret: true,
  },
  {
    title: "deleting a mail server",
    method: "PATCH",
    path: EMAIL,
    open: emailScene,
    from: EMAIL_STANDARD,
    to: undefined,
    happened: async (given) => (await mailOf(given))["type"] === "shared",
  },
];
