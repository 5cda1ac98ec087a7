import { createRequire } from "node:module";
import type * as client from "../../client";
import { isLoopback } from "../../contract/loopback";
import { ENVIRONMENT, resolveSettings, type ReadSetting, type Settings } from "../../contract/settings";
import type { Configured } from "../stackConfiguration";
import { failure, ok, skipped, warning, type Check } from "./check";

type Name = keyof typeof ENVIRONMENT;

const LONGEST_READ_MS = 6_000;
/** Asked for where no project is known: whether the key is refused shows before whether the project exists. */
const NO_PROJECT = "prj-of-pulumi-svc-doctor";

const MISSING_PROJECT = "Check its id (`prj-…`, not its name), and that the key is that of its account.";
const REFUSED_KEY =
  "Set the key anew with `pulumi config set --secret svc:apiKey`, or as SVC_API_KEY in the environment; the stack's configuration wins.";

/** Each setting and where it comes from, never its value; then what the service says. */
export async function serviceChecks(
  configuration: ReadonlyMap<string, Configured> | undefined,
  projects: readonly string[],
): Promise<Check[]> {
  if (configuration === undefined) {
    const why = "the stack's configuration could not be read";
    return ["settings", "service", "credentials", "projects"].map((name) => skipped(name, why));
  }
  const read: ReadSetting = (name) => configuration.get(name)?.value;
  const { settings, problems } = resolveSettings(read);
  const checks = sourceChecks(configuration, problems);
  if (settings === undefined) {
    const why = "not asked: the settings are not complete";
    return [...checks, ...["service", "credentials", "projects"].map((name) => skipped(name, why))];
  }
  return [...checks, proxyCheck(), ...(await askedChecks(settings, projects))];
}

/** As contract/settings finds them: the stack's configuration, then the environment. */
function sourceChecks(configuration: ReadonlyMap<string, Configured>, problems: readonly string[]): Check[] {
  const sourceOf = (name: Name): string | undefined => {
    if ((configuration.get(name)?.value ?? "").trim() !== "") return `the stack's configuration (svc:${name})`;
    return (process.env[ENVIRONMENT[name]] ?? "").trim() === "" ? undefined : `the environment (${ENVIRONMENT[name]})`;
  };
  const checks: Check[] = [];
  const ofKey = sourceOf("apiKey");
  const clear = configuration.get("apiKey")?.secret === false;
  if (clear) {
    const says = "stands in clear in the stack's configuration (svc:apiKey), and so in its state";
    const remedy = "Set it anew with `pulumi config set --secret svc:apiKey`, run `pulumi up`, then rotate the key.";
    checks.push(warning("API key", says, remedy));
  } else if (ofKey !== undefined) checks.push(ok("API key", `from ${ofKey}`));
  const ofAddress = sourceOf("baseUrl");
  const address = (configuration.get("baseUrl")?.value ?? "").trim() || (process.env[ENVIRONMENT.baseUrl] ?? "").trim();
  if (ofAddress !== undefined && URL.canParse(address))
    checks.push(ok("address", `${hostAndPort(address)}, from ${ofAddress}`));
  if (problems.length > 0) {
    const remedy = "Correct it with `pulumi config set`, or in the environment.";
    return [...checks, failure("settings", problems.join("; "), remedy)];
  }
  const others = (Object.keys(ENVIRONMENT) as Name[]).filter((name) => name !== "apiKey" && name !== "baseUrl");
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
    return ok("proxy", `${named}, and no_proxy leaves this machine out`);
  return warning(
    "proxy",
    `${named} names a proxy, and no_proxy lacks 127.0.0.1: the Pulumi SDK would ask the proxy for the engine, too`,
    "Set no_proxy=127.0.0.1,localhost in the environment, beside what it holds already.",
  );
}

async function askedChecks(settings: Settings, projects: readonly string[]): Promise<Check[]> {
  // Loaded here: it brings axios and zod along, which the other commands do not need.
  const api = createRequire(__filename)("../../client") as typeof client;
  const { baseUrl, apiKey } = settings;
  const account = new api.Client({ baseUrl, apiKey, readDeadlineMs: LONGEST_READ_MS, heldOffMs: LONGEST_READ_MS });
  account.limitRequests(settings.maxRequestsPerMinute);

  const answers = new Map<string, string | Error>();
  for (const id of projects.length > 0 ? projects : [NO_PROJECT]) {
    const answer = await contentOf(account, id).catch((error: unknown) =>
      error instanceof Error ? error : new Error(),
    );
    answers.set(id, answer);
    const isAnswered = [api.NotFoundError, api.PermissionError].some((kind) => answer instanceof kind);
    if (typeof answer === "string" || isAnswered) continue;
    // What does not hold for one project alone ends it.
    const unasked = projects.map((other) => skipped(`project ${other}`, "not asked"));
    if (answer instanceof api.AuthenticationError) {
      const refused = failure("credentials", "the service refuses the key (401)", REFUSED_KEY);
      return [ok("service", `${hostAndPort(baseUrl)} answers`), refused, ...unasked];
    }
    const words = answer instanceof api.SvcError ? answer.withoutAdvice : "an unexpected failure";
    return [failure("service", words, remedyOf(api, answer, baseUrl)), skipped("credentials", "not asked"), ...unasked];
  }
  const checks = [ok("service", `${hostAndPort(baseUrl)} answers`)];
  const forbidden = [...answers].filter(([, answer]) => answer instanceof api.PermissionError).map(([id]) => id);
  if (projects.length === 0) {
    const why = "no project is known: name one with --project";
    const credentials =
      forbidden.length > 0 ? skipped("credentials", why) : ok("credentials", "the key is not refused");
    return [...checks, credentials, skipped("projects", why)];
  }
  const remedy = "Use a key of the account that the project belongs to.";
  checks.push(
    forbidden.length > 0
      ? failure("credentials", `the key may not read ${forbidden.join(", ")} (403)`, remedy)
      : ok("credentials", "the service takes the key"),
  );
  for (const [id, answer] of answers) {
    const name = `project ${id}`;
    if (typeof answer === "string") checks.push(ok(name, answer));
    else if (forbidden.includes(id)) checks.push(skipped(name, "the key may not read it"));
    else checks.push(failure(name, "the account of this key has no such project", MISSING_PROJECT));
  }
  return checks;
}

/** What a project holds, in words. */
async function contentOf(account: client.Client, projectId: string): Promise<string> {
  const computes = await account.computes.list(projectId);
  const branches = await account.projects.branches(projectId);
  const names = branches?.map((branch) => (branch.default === true ? `${branch.id} (default)` : branch.id));
  const listed = names === undefined ? "the service does not list its branches" : `branches ${names.join(", ")}`;
  return `${listed}; computes: ${computes.length}`;
}

/** By fields of the error, never by its words. */
function remedyOf(api: typeof client, error: unknown, baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const named = isLoopback(hostname) ? [] : proxies(["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"]);
  const ofProxy =
    named.length === 0
      ? ""
      : ` The environment names a proxy (${named.join(", ")}): it has to let this through, or NO_PROXY has to name ${hostname}.`;
  return adviceOn(api, error) + ofProxy;
}

function adviceOn(api: typeof client, error: unknown): string {
  const { advice, status } = error instanceof api.SvcError ? error : {};
  if (advice !== undefined) return `${advice}.`;
  if (status === 407) return "Something in between is a proxy that wants a user name and a password of its own.";
  if (error instanceof api.BadResponseError)
    return "Something else than the service answers: check the base URL, and whether a proxy or a login page is in between.";
  if (error instanceof api.RateLimitError || error instanceof api.ServiceError) return "Run it again in some minutes.";
  return "Check the base URL, the network, and whether a firewall is in between.";
}
