import {
  AuthenticationError,
  BadResponseError,
  Client,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServiceError,
  SvcError,
} from "../../client";
import { findKey, KEY_FORMS, keyName, keySource, type KeySource } from "../../contract/apiKey";
import { isLoopback } from "../../contract/loopback";
import {
  ENVIRONMENT,
  resolveSettings,
  SETTING_NAMES,
  type ReadSetting,
  type SettingName,
  type Settings,
} from "../../contract/settings";
import { type Configuration, fromProgram } from "../stack/configuration";
import { failure, ok, skipped, warning, type Check } from "./check";
import type { StoredProvider } from "./stack";

/** Who uses what the last up stored. */
const USERS = "pulumi refresh, pulumi destroy and pulumi-svc drift use it";
const STORE =
  "Run `pulumi up`: it stores the current settings. Until then, add --run-program to `pulumi refresh` and `pulumi destroy`.";
const STORE_FIRST = "Before you delete the old key, run `pulumi up`: it stores the current settings.";
/** Of a stored name that has no value here. */
const GIVE_VALUE =
  "Give it one where these commands run. If another name is configured by now, run `pulumi up`: it stores that name.";
const STORE_OF_PROVIDER =
  "If the key was rotated, give the provider the new one and run `pulumi up`: it stores the key.";
const OTHER_ACCOUNT = "Use a key of the account that the project belongs to.";

const LONGEST_READ_MS = 6_000;
/** Asked for where no project is known: whether the key is refused shows before whether the project exists. */
const NO_PROJECT = "prj-of-pulumi-svc-doctor";

const MISSING_PROJECT = "Check its id (`prj-…`, not its name), and that the key belongs to the same account.";
/** A key that is stored encrypted works: this is a hint. */
const BY_NAME =
  "The stack stores this key, encrypted. `pulumi config set svc:apiKeyEnv NAME` (then `pulumi config rm svc:apiKey`) stores the name of a variable alone, and a rotation needs no `pulumi up`.";
const BY_NAME_IN_PROVIDER =
  "The stack stores this key, encrypted. apiKeyEnv or apiKeyFile of the svc.Provider stores a name alone, and a rotation needs no `pulumi up`.";

const REFUSED_KEY =
  "Set the key again where the line `API key` says that it comes from: with `pulumi config set --secret svc:apiKey`, in the variable or file that is named, or as SVC_API_KEY in the environment. The stack's configuration takes precedence.";

/**
 * Each setting and where it comes from, never its value; then what the service says to the key of the configuration, and to
 * those that the state holds.
 */
export async function serviceChecks(
  configuration: Configuration | undefined,
  providers: readonly StoredProvider[],
  project: string | undefined,
): Promise<Check[]> {
  if (configuration === undefined) {
    const why = "the stack's configuration could not be read";
    return ["settings", "service", "credentials", "projects"].map((name) => skipped(name, why));
  }
  const explicit = providers.filter(({ isDefault }) => !isDefault);
  const ofDefault = providers.filter(({ isDefault }) => isDefault);
  const sourceOf = sourcesIn(configuration);
  // Where each resource has an `svc.Provider`, the program gives what is not configured.
  const hasKey = KEY_FORMS.some((form) => sourceOf(form) !== undefined);
  const isLacking = !hasKey || sourceOf("baseUrl") === undefined;
  const own = isLacking && ofDefault.length === 0 ? explicit : [];
  const configured = fromProgram(process.cwd(), (name) => configuration.get(name)?.value);
  // The forms of a key are one setting: two of them are an error.
  const isGiven = (name: SettingName): boolean => (isKeyForm(name) ? hasKey : sourceOf(name) !== undefined);
  const read: ReadSetting = (name) => configured(name) ?? (isGiven(name) ? undefined : own[0]?.read(name));
  const { settings, problems } = resolveSettings(read);
  const checks = sourceChecks(configuration, { sourceOf, read, problems });

  const askedOf = ({ projects }: StoredProvider): readonly string[] =>
    project === undefined ? projects : projects.filter((id) => id === project);
  const isOfExplicit = explicit.some((provider) => askedOf(provider).length > 0);
  const elsewhere = project === undefined || isOfExplicit ? [] : [project];
  if (settings === undefined) {
    const why = "not checked: the settings are incomplete";
    checks.push(...["service", "credentials", "projects"].map((name) => skipped(name, why)));
  } else if (own.length > 0) {
    const names = own.map(({ name }) => `"${name}"`).join(", ");
    const why = `every resource of the stack uses an explicit svc.Provider (${names}), and the configuration lacks the key or the base URL`;
    checks.push(skipped("credentials", why), proxyCheck());
  } else {
    const asked = [...new Set([...ofDefault.flatMap(askedOf), ...elsewhere])];
    checks.push(proxyCheck(), ...(await askedChecks(settings, asked, isOfExplicit)));
  }
  const isDown = checks.some(({ name, status }) => name === "service" && status === "failure");
  for (const provider of ofDefault) checks.push(await storedKeyCheck(provider, settings, isDown));
  for (const provider of explicit)
    checks.push(
      ...(await explicitChecks(provider, own.length > 0 ? [...askedOf(provider), ...elsewhere] : askedOf(provider))),
    );
  return checks;
}

/** As contract/settings finds them: the stack's configuration, then the environment. */
function sourcesIn(configuration: Configuration): (name: SettingName) => string | undefined {
  return (name) => {
    if ((configuration.get(name)?.value ?? "").trim() !== "") return `the stack's configuration (svc:${name})`;
    const variable = name === "apiKeyEnv" ? undefined : ENVIRONMENT[name];
    return variable === undefined || (process.env[variable] ?? "").trim() === ""
      ? undefined
      : `the environment (${variable})`;
  };
}

/** Which key is used, and by which name. One that has no value is a problem of the settings. */
function keyCheck(read: ReadSetting, sourceOf: Sources["sourceOf"]): Check[] {
  const source = keySource(read);
  if (source === undefined || findKey(read).key === undefined) return [];
  const { isConfigured, form } = source;
  const place = sourceOf(form);
  // Of a Provider of the program, which has a line of its own.
  if (place === undefined) return [];
  if (form !== "apiKey") {
    return [ok("API key", `${keyName(source)} holds it, by its name in ${place}, for pulumi up and preview`)];
  }
  return [ok("API key", `from ${place}, for pulumi up and preview`, isConfigured ? BY_NAME : undefined)];
}

const isKeyForm = (name: SettingName): boolean => KEY_FORMS.some((form) => form === name);

interface Sources {
  readonly sourceOf: (name: SettingName) => string | undefined;
  readonly read: ReadSetting;
  readonly problems: readonly string[];
}

function sourceChecks(configuration: Configuration, { sourceOf, read, problems }: Sources): Check[] {
  const checks: Check[] = [];
  const clear = configuration.get("apiKey")?.secret === false;
  if (clear) {
    const message = "is stored in plain text in the stack's configuration (svc:apiKey), and therefore in its state";
    const remedy =
      "Set it again with `pulumi config set --secret svc:apiKey`, or remove it and name the variable that holds it with `pulumi config set svc:apiKeyEnv`; run `pulumi up`, then rotate the key.";
    checks.push(warning("API key", message, remedy));
  } else checks.push(...keyCheck(read, sourceOf));
  const ofAddress = sourceOf("baseUrl");
  const address = (configuration.get("baseUrl")?.value ?? "").trim() || (process.env[ENVIRONMENT.baseUrl] ?? "").trim();
  if (ofAddress !== undefined && URL.canParse(address))
    checks.push(ok("address", `${hostAndPort(address)}, from ${ofAddress}`));
  if (problems.length > 0) {
    const remedy = "Correct it with `pulumi config set`, or in the environment.";
    return [...checks, failure("settings", problems.join("; "), remedy)];
  }
  const others = SETTING_NAMES.filter((name) => !isKeyForm(name) && name !== "baseUrl");
  const set = others.flatMap((name) => sourceOf(name) ?? []);
  return [...checks, ok("settings", set.length > 0 ? `also set: ${set.join(", ")}` : "nothing else is set")];
}

function hostAndPort(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

/** The names of the variables alone: an address of a proxy may hold a password. */
function proxies(names: readonly string[]): string[] {
  return names.filter((name) => (process.env[name] ?? "") !== "");
}

/** What the SDK's gRPC heeds (lower case only): without an exception for this machine it asks the proxy for the engine. */
function proxyCheck(): Check {
  const [named] = proxies(["grpc_proxy", "https_proxy", "http_proxy"]);
  if (named === undefined) return ok("proxy", "none between the Pulumi SDK and the engine");
  const excepted = (process.env["no_grpc_proxy"] ?? process.env["no_proxy"] ?? "").split(",");
  if (excepted.some((host) => host.trim() === "127.0.0.1"))
    return ok("proxy", `${named} is set, and no_proxy excludes this machine`);
  return warning(
    "proxy",
    `${named} is set, and no_proxy does not contain 127.0.0.1: the Pulumi SDK would connect to the engine through the proxy`,
    "Set no_proxy=127.0.0.1,localhost in the environment, in addition to its present value.",
  );
}

interface Asked {
  /** What each project holds, or why it cannot be told. */
  readonly answers: ReadonlyMap<string, string | Error>;
  /** What does not hold for one project alone: nothing was asked after it. */
  readonly failed: Error | undefined;
}

async function ask({ baseUrl, apiKey, maxRequestsPerMinute }: Settings, projects: readonly string[]): Promise<Asked> {
  const account = new Client({ baseUrl, apiKey, readDeadlineMs: LONGEST_READ_MS, throttledMs: LONGEST_READ_MS });
  account.limitRequests(maxRequestsPerMinute);
  const answers = new Map<string, string | Error>();
  for (const id of projects.length > 0 ? projects : [NO_PROJECT]) {
    const answer = await contentOf(account, id).catch((error: unknown) =>
      error instanceof Error ? error : new Error(),
    );
    const isAnswered = answer instanceof NotFoundError || answer instanceof PermissionError;
    if (answer instanceof Error && !isAnswered) return { answers, failed: answer };
    answers.set(id, answer);
  }
  return { answers, failed: undefined };
}

/** `knowsOthers`: projects are asked for with other settings. */
async function askedChecks(settings: Settings, projects: readonly string[], knowsOthers: boolean): Promise<Check[]> {
  const { baseUrl } = settings;
  const { answers, failed } = await ask(settings, projects);
  if (failed !== undefined) {
    const unasked = projects.map((other) => skipped(`project ${other}`, "not checked"));
    if (failed instanceof AuthenticationError) {
      const refused = failure("credentials", "the service refuses the key (401)", REFUSED_KEY);
      return [ok("service", `${hostAndPort(baseUrl)} answers`), refused, ...unasked];
    }
    const check = failure("service", messageOf(failed), remedyOf(failed, baseUrl));
    return [check, skipped("credentials", "not checked"), ...unasked];
  }
  const checks = [ok("service", `${hostAndPort(baseUrl)} answers`)];
  const forbidden = forbiddenIn(answers);
  if (projects.length === 0) {
    const why = "no project is known: name one with --project";
    const credentials =
      forbidden.length > 0 ? skipped("credentials", why) : ok("credentials", "the key is not refused");
    return [...checks, credentials, ...(knowsOthers ? [] : [skipped("projects", why)])];
  }
  checks.push(
    forbidden.length > 0
      ? failure("credentials", `the key may not read ${forbidden.join(", ")} (403)`, OTHER_ACCOUNT)
      : ok("credentials", "the service accepts the key"),
  );
  return [...checks, ...projectChecks(answers)];
}

const messageOf = (failed: Error): string =>
  failed instanceof SvcError ? failed.withoutAdvice : "an unexpected failure";

const forbiddenIn = (answers: Asked["answers"]): string[] =>
  [...answers].filter(([, answer]) => answer instanceof PermissionError).map(([id]) => id);

function projectChecks(answers: Asked["answers"]): Check[] {
  const forbidden = forbiddenIn(answers);
  return [...answers].map(([id, answer]) => {
    const name = `project ${id}`;
    if (typeof answer === "string") return ok(name, answer);
    if (forbidden.includes(id)) return skipped(name, "the key may not read it");
    return failure(name, "the account of this key has no such project", MISSING_PROJECT);
  });
}

/** What the commands use that do not run the program. Without the key: only whether it is the configured one. */
async function storedKeyCheck(
  { read, projects }: StoredProvider,
  configured: Settings | undefined,
  isDown: boolean,
): Promise<Check> {
  const name = "stored key";
  const { settings, problems } = resolveSettings(read);
  if (settings === undefined) return incomplete(name, read, problems);
  const { baseUrl, apiKey } = settings;
  const isSame = configured?.apiKey === apiKey && configured.baseUrl === baseUrl;
  const keptName = storedName(keySource(read));
  if (isSame && keptName !== undefined)
    return ok(name, `the last pulumi up stored no key, but the name of ${keptName}; ${USERS}`);
  if (isSame) return ok(name, `the last pulumi up stored the same key; ${USERS}`);
  if (isDown && configured?.baseUrl === baseUrl) return skipped(name, "not checked");
  const refused = refusalOf(settings, await ask(settings, projects.slice(0, 1)), STORE);
  if (refused !== undefined) return failure(name, ...refused);
  const different = configured?.apiKey === apiKey ? `another address (${hostAndPort(baseUrl)})` : "another key";
  const message = `the last pulumi up stored ${different}, which is not the configured one; it works, and ${USERS}`;
  return warning(name, message, STORE_FIRST);
}

/** Of an `svc.Provider` of the program: what the last `up` stored is all that can be seen of it. */
async function explicitChecks({ name, read }: StoredProvider, projects: readonly string[]): Promise<Check[]> {
  const check = `provider ${name}`;
  const { settings, problems } = resolveSettings(read);
  if (settings === undefined) return [incomplete(check, read, problems)];
  const { answers, failed } = await ask(settings, projects);
  const unasked = projects.filter((id) => !answers.has(id)).map((id) => skipped(`project ${id}`, "not checked"));
  const refused = refusalOf(settings, { answers, failed }, STORE_OF_PROVIDER);
  if (refused !== undefined) return [failure(check, ...refused), ...unasked];
  const source = keySource(read);
  const keptName = storedName(source);
  const which = keptName === undefined ? "the key that the last" : `the key of ${keptName}, whose name the last`;
  const hint = source?.isConfigured === true && keptName === undefined ? BY_NAME_IN_PROVIDER : undefined;
  const taken = ok(check, `${hostAndPort(settings.baseUrl)} accepts ${which} pulumi up stored; ${USERS}`, hint);
  return [taken, ...(projects.length > 0 ? projectChecks(answers) : [])];
}

function incomplete(check: string, read: ReadSetting, problems: readonly string[]): Check {
  const lacksValue = storedName(keySource(read)) !== undefined && findKey(read).key === undefined;
  const message = `what the last pulumi up stored is incomplete, and ${USERS}: ${problems.join("; ")}`;
  return failure(check, message, lacksValue ? GIVE_VALUE : STORE);
}

/** The variable or the file whose name is stored in place of a key; undefined where the key itself is stored, or nothing of it. */
function storedName(source: KeySource | undefined): string | undefined {
  return source?.isConfigured === true && source.form !== "apiKey" ? keyName(source) : undefined;
}

type Refusal = readonly [message: string, remedy: string];

/** Why stored settings do not work. */
function refusalOf({ baseUrl }: Settings, { answers, failed }: Asked, rotated: string): Refusal | undefined {
  const place = hostAndPort(baseUrl);
  if (failed instanceof AuthenticationError)
    return [`${place} refuses the key that the last pulumi up stored (401), and ${USERS}`, rotated];
  if (failed !== undefined) return [`${messageOf(failed)}, and ${USERS}`, remedyOf(failed, baseUrl)];
  const forbidden = forbiddenIn(answers).filter((id) => id !== NO_PROJECT);
  if (forbidden.length === 0) return undefined;
  return [`the key that the last pulumi up stored may not read ${forbidden.join(", ")} (403)`, OTHER_ACCOUNT];
}

/** What a project holds, for a person. */
async function contentOf(account: Client, projectId: string): Promise<string> {
  const computes = await account.computes.list(projectId);
  const branches = await account.projects.branches(projectId);
  const names = branches?.map((branch) => (branch.default === true ? `${branch.id} (default)` : branch.id));
  const listed = names === undefined ? "the service does not list its branches" : `branches ${names.join(", ")}`;
  return `${listed}; computes: ${computes.length}`;
}

/** By fields of the error, never by its words. */
function remedyOf(error: unknown, baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const named = isLoopback(hostname) ? [] : proxies(["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"]);
  const ofProxy =
    named.length === 0
      ? ""
      : ` The environment sets a proxy (${named.join(", ")}): it must allow this connection, or NO_PROXY must contain ${hostname}.`;
  return adviceOn(error) + ofProxy;
}

function adviceOn(error: unknown): string {
  const { advice, status } = error instanceof SvcError ? error : {};
  if (advice !== undefined) return `${advice}.`;
  if (status === 407) return "A proxy in between requires a user name and a password.";
  if (error instanceof BadResponseError)
    return "The response does not come from the service: check the base URL, and whether a proxy or a login page is in between.";
  if (error instanceof RateLimitError || error instanceof ServiceError) return "Run it again in a few minutes.";
  return "Check the base URL, the network, and whether a firewall blocks the connection.";
}
