import type { EmulatorEdit } from "./controlTypes";

/** The state at the start and after a reset. It is validated when the emulator starts. */
export interface EmulatorSeed {
  /** As in the bodies of `POST /_emulator/projects`. @default prj-demo */
  projects?: readonly {
    id?: string;
    name?: string;
    region_id?: string;
    branches?: readonly { id: string; name?: string; default?: boolean; compute?: boolean }[];
  }[];
  /** Further objects of the projects: as in the bodies of `POST /_emulator/edit`, applied in this order. */
  edits?: readonly EmulatorEdit[];
}

/** Options of a local emulator. Each option that imitates a variant of the real service is off by default. */
export interface EmulatorOptions {
  /** Address to listen on. @default "127.0.0.1" */
  host?: string;
  /** Port to listen on; 0 takes any free one. @default 0 */
  port?: number;
  /** The only key that requests may use: printable ASCII without spaces. @default "test-key" */
  apiKey?: string;
  /** Keys of other accounts: every project is unknown to them (404). @default none */
  otherApiKeys?: readonly string[];
  /** The only supported auth provider. @default "supported_provider" */
  authProvider?: string;
  /** How long a compute takes to start, in milliseconds; a suspend takes a third of it. @default 1500 */
  activationMs?: number;
  /** Delay before each response, in milliseconds. @default 0 */
  latencyMs?: number;
  /** Suspend a compute this long after it became active, in milliseconds; 0 = never. @default 0 */
  idleAfterMs?: number;
  /** Refuse changes of computes with 423 while an operation of the same project is unfinished. @default false */
  lockProjects?: boolean;
  /** With `lockProjects`: the status of these refusals. @default 423 */
  lockStatus?: 423 | 409;
  /** Only the routes that the API document describes, without those that were observed. @default false */
  seedOnly?: boolean;
  /** File that the state is loaded from and saved to. */
  data?: string;
  /** The ids of the initial projects, which have the standard branches. @default ["prj-demo"] */
  projects?: readonly string[];
  /** The initial projects with their objects. If the file of `data` exists, its state is used instead. @default none */
  seed?: EmulatorSeed;
  /** The number of requests for each second and route before responses with status 429; 0 = no limit. @default 0 */
  ratePerSecond?: number;
  /**
   * The number of requests within 60 seconds, over all routes, before responses with status 429; 0 = no limit. @default
   * 0
   */
  ratePerMinute?: number;
  /** Lists omit records that are younger than this, in milliseconds. @default 0 */
  listLagMs?: number;
  /** How many objects a list shows at once, with a cursor for the others; 0 = all. @default 0 */
  pageSize?: number;
  /** How responses show client secrets and SMTP passwords. @default "echo" */
  secretAnswers?: "echo" | "masked" | "absent";
  /** An integration may belong to any branch, not only the default branch. @default false */
  anyAuthBranch?: boolean;
  /** An OAuth provider may have any id, not only the service's known ids. @default false */
  anyOAuthProvider?: boolean;
  /** The known ids of OAuth providers; others are refused. @default google, github, microsoft and other common ones */
  oauthProviderIds?: readonly string[];
  /** A redirect domain may be the address of an app, such as `myapp://callback`, not only an http(s) origin. @default false */
  appDomains?: boolean;
  /**
   * The computes accept connections: each branch has a Postgres of its own, which the emulator makes with the programs
   * that are installed on this machine (15 or later). @default false
   */
  postgres?: boolean;
  /** Port of the gate for connections to the computes; 0 takes any free one. @default 0 */
  postgresPort?: number;
  /** With `postgres`: how many times faster a compute's suspend timeout passes than at the service. @default 1 */
  timeScale?: number;
  /** `POST /_emulator/mail` may send to servers on other machines, and so perhaps to real people. @default false */
  mailRemote?: boolean;
  /** Gets a line for each request and each connection, without secrets. @default none */
  log?: (line: string) => void;
  /** Other plausible behaviour of the service, for tests against each variant. @default none */
  variants?: EmulatorVariants;
}

export interface EmulatorVariants {
  /** The status for deleting a compute that was already deleted. @default 204 */
  goneEndpointDelete?: 204 | 404;
  /** A deleted integration leaves its schema: creating it again fails with 409 until a reset. @default false */
  keepSchemas?: boolean;
  /** Responses have additional, undocumented fields. @default false */
  extraFields?: boolean;
  /**
   * A new read replica starts immediately, like a primary; otherwise it stays idle until it is queried. @default false
   */
  startReplicas?: boolean;
  /**
   * A change that an active compute applies also restarts it: `apply_config`, `suspend_compute`, `start_compute`.
   * @default false
   */
  restartToApply?: boolean;
  /** A 429 does not say when to come back. @default false */
  noRetryAfter?: boolean;
  /** The service stores this suspend timeout, whatever a request says: 0 on the free plan. @default as it was sent */
  fixedSuspendTimeout?: number | undefined;
  /** Settings of Postgres that the service adds to each compute that is created or changed. @default none */
  addedPgSettings?: Readonly<Record<string, string>>;
  /** The service stores a Postgres setting such as `128MB` in kB: `131072kB`. @default false */
  pgSettingsInKb?: boolean;
  /** The largest size of the account's plan, in CU: a request with a larger one fails with 412; 0 = no limit. @default 0 */
  maxSizeCu?: number;
}

export interface ResolvedOptions extends Required<Omit<EmulatorOptions, "data" | "log" | "projects" | "seed">> {
  data: string | undefined;
  log: EmulatorOptions["log"];
  variants: Required<EmulatorVariants>;
}

/** The first three are documented, the others assumed (docs/design/api.md, OAuth providers). */
const KNOWN_OAUTH_PROVIDERS: readonly string[] = [
  ...["google", "github", "microsoft"],
  ...["apple", "bitbucket", "discord", "facebook", "gitlab", "linkedin", "spotify", "twitch"],
];

/** Everybody knows it. */
export const DEFAULT_KEY = "test-key";

/** setTimeout fires immediately for anything longer. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

const wholeNumber = (name: string, value: number, highest: number): number => {
  if (!Number.isInteger(value) || value < 0 || value > highest) {
    throw new RangeError(`emulator option ${name} must be a whole number from 0 to ${highest}`);
  }
  return value;
};

const atLeastOne = (name: string, value: number, highest: number): number => {
  if (value === 0) throw new RangeError(`emulator option ${name} must be at least 1`);
  return wholeNumber(name, value, highest);
};

const size = (name: string, value: number): number => {
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`emulator option ${name} must be a number of CU`);
  return value;
};

const nonEmpty = (name: string, value: string): string => {
  if (value === "") throw new RangeError(`emulator option ${name} must not be empty`);
  return value;
};

/** For messages. */
export const KEY_RULE = "must be printable ASCII without spaces";
/** It is sent in an HTTP header, and as a password that no client may change (SASLprep). */
export const isKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

const key = (name: string, value: string): string => {
  if (!isKey(nonEmpty(name, value))) throw new RangeError(`emulator option ${name} ${KEY_RULE}`);
  return value;
};

const oneOf = <T>(name: string, value: T, allowed: readonly T[]): T => {
  if (!allowed.includes(value)) throw new RangeError(`emulator option ${name} must be one of ${allowed.join(", ")}`);
  return value;
};

/** A caller without types, or with the flag of an earlier version, may give the URL of a server. */
function withoutAddress(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new RangeError("emulator option postgres takes no address: the emulator makes a Postgres of its own");
}

/** Options that only affect `postgres`, with their defaults: without a Postgres they have no effect. */
const OF_POSTGRES = { postgresPort: 0, timeScale: 1 };

function checkTogether(resolved: ResolvedOptions): ResolvedOptions {
  const idle = Object.entries(OF_POSTGRES).find(([name, standard]) => Reflect.get(resolved, name) !== standard);
  if (!resolved.postgres && idle !== undefined) {
    throw new RangeError(`emulator option ${idle[0]} has no effect without a Postgres: give --postgres as well`);
  }
  if (!resolved.lockProjects && resolved.lockStatus !== 423) {
    throw new RangeError("emulator option lockStatus has no effect without locks: give --lock-projects as well");
  }
  if (resolved.anyOAuthProvider && resolved.oauthProviderIds !== KNOWN_OAUTH_PROVIDERS) {
    throw new RangeError("emulator option oauthProviderIds has no effect if any id is accepted: leave out one of them");
  }
  if (resolved.otherApiKeys.includes(resolved.apiKey)) {
    throw new RangeError("emulator option otherApiKeys contains the key of the projects: give another one");
  }
  return resolved;
}

function resolveVariants(given: EmulatorVariants = {}): Required<EmulatorVariants> {
  return {
    goneEndpointDelete: oneOf("variants.goneEndpointDelete", given.goneEndpointDelete ?? 204, [204, 404]),
    keepSchemas: given.keepSchemas ?? false,
    extraFields: given.extraFields ?? false,
    startReplicas: given.startReplicas ?? false,
    restartToApply: given.restartToApply ?? false,
    noRetryAfter: given.noRetryAfter ?? false,
    fixedSuspendTimeout: given.fixedSuspendTimeout,
    addedPgSettings: given.addedPgSettings ?? {},
    pgSettingsInKb: given.pgSettingsInKb ?? false,
    maxSizeCu: size("variants.maxSizeCu", given.maxSizeCu ?? 0),
  };
}

export function resolveOptions(options: EmulatorOptions): ResolvedOptions {
  return checkTogether({
    host: nonEmpty("host", options.host ?? "127.0.0.1"),
    port: wholeNumber("port", options.port ?? 0, 65_535),
    apiKey: key("apiKey", options.apiKey ?? DEFAULT_KEY),
    otherApiKeys: (options.otherApiKeys ?? []).map((one) => key("otherApiKeys", one)),
    authProvider: nonEmpty("authProvider", options.authProvider ?? "supported_provider"),
    activationMs: wholeNumber("activationMs", options.activationMs ?? 1500, LONGEST_TIMER_MS),
    latencyMs: wholeNumber("latencyMs", options.latencyMs ?? 0, LONGEST_TIMER_MS),
    idleAfterMs: wholeNumber("idleAfterMs", options.idleAfterMs ?? 0, LONGEST_TIMER_MS),
    lockProjects: options.lockProjects ?? false,
    lockStatus: oneOf("lockStatus", options.lockStatus ?? 423, [423, 409]),
    seedOnly: options.seedOnly ?? false,
    data: options.data === undefined ? undefined : nonEmpty("data", options.data),
    ratePerSecond: wholeNumber("ratePerSecond", options.ratePerSecond ?? 0, 1_000_000),
    ratePerMinute: wholeNumber("ratePerMinute", options.ratePerMinute ?? 0, 1_000_000),
    listLagMs: wholeNumber("listLagMs", options.listLagMs ?? 0, LONGEST_TIMER_MS),
    pageSize: wholeNumber("pageSize", options.pageSize ?? 0, 1_000_000),
    secretAnswers: oneOf("secretAnswers", options.secretAnswers ?? "echo", ["echo", "masked", "absent"]),
    anyAuthBranch: options.anyAuthBranch ?? false,
    anyOAuthProvider: options.anyOAuthProvider ?? false,
    oauthProviderIds: options.oauthProviderIds ?? KNOWN_OAUTH_PROVIDERS,
    appDomains: options.appDomains ?? false,
    postgres: withoutAddress(options.postgres ?? false),
    postgresPort: wholeNumber("postgresPort", options.postgresPort ?? 0, 65_535),
    timeScale: atLeastOne("timeScale", options.timeScale ?? 1, 1_000_000),
    mailRemote: options.mailRemote ?? false,
    log: options.log,
    variants: resolveVariants(options.variants),
  });
}
