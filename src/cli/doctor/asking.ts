/** The service's response to a key: for each project, or without a project. */
import {
  AuthenticationError,
  BadResponseError,
  Client,
  NotFoundError,
  PermissionError,
  ProxyError,
  RateLimitError,
  ServiceError,
  SvcError,
} from "../../client";
import { routeTo } from "../../contract/proxy";
import { requestTrace, type Settings } from "../../contract/settings";
import { failure, ok, skipped, type Check } from "./check";

const LONGEST_READ_MS = 6_000;
/** Requested if no project is known: the service refuses a bad key before it looks for the project. */
const NO_PROJECT = "prj-of-pulumi-svc-doctor";

export const OTHER_ACCOUNT = "Use a key of the account that the project belongs to.";
const MISSING_PROJECT = "Check its id (`prj-…`, not its name), and that the key belongs to the same account.";

export interface Answered {
  /** The content of each project, or the error that prevented reading it. */
  readonly answers: ReadonlyMap<string, string | Error>;
  /** An error that does not concern one project only. It stops the requests. */
  readonly failed: Error | undefined;
  /**
   * What a response proves. Without a known project, a 404 proves that the key is accepted, and a 403 proves nothing.
   */
  readonly tells: "projects" | "key" | "nothing";
}

/** Asks each account about each project once. */
export class Asking {
  readonly #answers = new Map<string, Promise<string | Error>>();

  async ask(settings: Settings, projects: readonly string[]): Promise<Answered> {
    const answers = new Map<string, string | Error>();
    for (const id of projects.length > 0 ? projects : [NO_PROJECT]) {
      const answer = await this.#answerOf(settings, id);
      if (answer instanceof Error && !isAboutProject(answer)) return { answers, failed: answer, tells: "key" };
      answers.set(id, answer);
    }
    const isForbidden = answers.get(NO_PROJECT) instanceof PermissionError;
    return { answers, failed: undefined, tells: projects.length > 0 ? "projects" : isForbidden ? "nothing" : "key" };
  }

  #answerOf({ baseUrl, apiKey, maxRequestsPerMinute }: Settings, id: string): Promise<string | Error> {
    const key = JSON.stringify([baseUrl, apiKey, id]);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const times = { readDeadlineMs: LONGEST_READ_MS, throttledMs: LONGEST_READ_MS };
    const account = new Client({ baseUrl, apiKey, ...times, trace: requestTrace() });
    account.limitRequests(maxRequestsPerMinute);
    const answer = contentOf(account, id).catch((error: unknown) => (error instanceof Error ? error : new Error()));
    this.#answers.set(key, answer);
    return answer;
  }
}

const isAboutProject = (answer: Error): boolean => answer instanceof NotFoundError || answer instanceof PermissionError;

/** The content of a project, as text for users. */
async function contentOf(account: Client, projectId: string): Promise<string> {
  const computes = await account.computes.list(projectId);
  const branches = await account.projects.branches(projectId);
  const names = branches?.map((branch) => (branch.default === true ? `${branch.id} (default)` : branch.id));
  const listed = names === undefined ? "the service does not list its branches" : `branches ${names.join(", ")}`;
  return `${listed}; computes: ${computes.length}`;
}

const projectsWith = (kind: typeof PermissionError | typeof NotFoundError, answers: Answered["answers"]): string[] =>
  [...answers].flatMap(([id, answer]) => (id !== NO_PROJECT && answer instanceof kind ? id : []));

/** The projects that the key may not read. */
export const forbiddenIn = (answers: Answered["answers"]): string[] => projectsWith(PermissionError, answers);

/** The projects that the key's account does not have. */
export const missingIn = (answers: Answered["answers"]): string[] => projectsWith(NotFoundError, answers);

export function projectChecks(answers: Answered["answers"]): Check[] {
  return [...answers].map(([id, answer]) => {
    const name = `project ${id}`;
    if (typeof answer === "string") return ok(name, answer);
    if (answer instanceof PermissionError) return skipped(name, "the key may not read it");
    return failure(name, "the account of this key has no such project", MISSING_PROJECT);
  });
}

export const isRefused = (failed: Error | undefined): boolean => failed instanceof AuthenticationError;

export const wordsOf = (failed: Error): string =>
  failed instanceof SvcError ? failed.withoutAdvice : "an unexpected failure";

/** Chosen by the fields of the error, never by its message. */
export function remedyOf(error: unknown, baseUrl: string): string {
  const route = routeTo(baseUrl);
  // The advice on the proxy itself names its variable.
  if (route.through !== "proxy" || error instanceof ProxyError) return adviceOn(error);
  const { where, variable } = route.proxy;
  return `${adviceOn(error)} The connection goes through the proxy ${where} (from ${variable}): it must allow this, or NO_PROXY must contain ${new URL(baseUrl).hostname}.`;
}

function adviceOn(error: unknown): string {
  const { advice, status } = error instanceof SvcError ? error : {};
  if (advice !== undefined) return `${advice}.`;
  if (status === 407) return "Give the user name and the password in the address of the proxy.";
  if (error instanceof BadResponseError)
    return "The response does not come from the service: check the base URL, and whether a proxy or a login page is in between.";
  if (error instanceof RateLimitError || error instanceof ServiceError) return "Run it again in a few minutes.";
  return "Check the base URL, the network, and whether a firewall blocks the connection.";
}
