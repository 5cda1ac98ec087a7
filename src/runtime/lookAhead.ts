/**
 * What a plan reads from the service (docs/design/rules.md, 5). If it creates or updates something, the lists of the
 * service show what blocks that, before anything is deployed. Each list is read once for all resources. A plan without
 * changes sends nothing.
 */
import {
  AuthenticationError,
  behind,
  type Client,
  Deadline,
  hiddenProjectAdvice,
  NO_TLS,
  NotFoundError,
  PermissionError,
  saysProjectIsMissing,
  type SvcError,
  undefinedIfNotShown,
} from "../client";
import { messageOf } from "../contract/untrusted";
import type { Finding, Look } from "./lifecycle";
import type { Claims } from "./run/claims";
import type { Kind } from "../contract/pointer";
import type { Settings } from "../contract/settings";

/** The total time limit for the looks of a plan. */
const LOOKS_MS = 10_000;
const SHOWN_AFTER_MS = 1_000;
/**
 * After this many attempts of one read without a connection, the plan stops waiting: a refused connection seldom
 * recovers in seconds.
 */
const MOST_UNREACHED = 4;

/** The plan's report for one resource. */
export interface Verdict {
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
  /** The service was read: the warnings say what a creation would do to an existing object, if there is one. */
  readonly hasLooked: boolean;
}

type Asking = Pick<Look<object>, "reading" | "isComplete">;

interface Question {
  readonly kind: Kind;
  /** The resource's name, for a failure that is found when another one is compared. */
  readonly name: string;
  readonly client: Client;
  readonly settings: Settings;
  readonly keyAdvice: string;
  readonly projectId: string;
  readonly onProgress: (text: string) => void;
  /** The lifecycle's look. */
  readonly look: (asking: Asking) => Promise<readonly Finding[] | undefined>;
}

export const NOTHING: Verdict = { failures: [], warnings: [], hasLooked: false };

export const obstacle = (message: string): Finding => ({ message, isObstacle: true });
export const effect = (message: string): Finding => ({ message, isObstacle: false });

/** An object that exists where another is to be created, with the message of the creation. */
export const inTheWay = (words: string): Finding =>
  obstacle(`pulumi up will fail here, unless the same run removes this first: ${words}`);

/** An obstacle that stays. */
export const staysInTheWay = (words: string): Finding => obstacle(`pulumi up will fail here: ${words}`);

/** An obstacle that stays unless it belongs to a resource that is compared later. */
export const mayLeave = (words: string, { isComplete }: Pick<Look<object>, "isComplete">): Finding =>
  isComplete ? staysInTheWay(words) : { ...inTheWay(words), mayLeave: true };

const missingProject = (projectId: string): Finding =>
  obstacle(
    `project ${projectId} does not exist, or this key may not see it. Check "projectId" (an id, not a name). ${hiddenProjectAdvice(projectId)}`,
  );

export class LookAhead {
  /** The service did not answer. That is reported once. */
  #isOver = false;
  /** One time limit for all looks. It runs during each look, even while the service asks to wait. */
  #leftMs: number;
  #clock: Deadline | undefined;
  #underWay = 0;
  /** Projects for which the service answers 404. */
  readonly #unlisted = new Map<string, readonly Finding[] | undefined>();
  /** Strict plans only: obstacles that a resource that is compared later may remove. */
  #open: Question[] = [];

  constructor(
    private readonly claims: Pick<Claims, "hasComparedAll">,
    longestMs = LOOKS_MS,
  ) {
    this.#leftMs = longestMs;
  }

  /**
   * A refused key fails the plan. Any other failure to answer is reported once, by the first resource that finds it,
   * and nothing more is read.
   */
  async ask(question: Question): Promise<Verdict> {
    const { settings, keyAdvice, onProgress } = question;
    const { baseUrl, strictPlan, offlinePlan } = settings;
    if (this.#isOver || offlinePlan) return NOTHING;
    const { host } = new URL(baseUrl);
    const verdict = (findings: readonly Finding[], hasLooked: boolean): Verdict => {
      if (strictPlan && findings.some(({ mayLeave: isOpen }) => isOpen)) this.#open.push(question);
      const of = (fails: boolean): string[] =>
        // They may contain names from the service.
        findings
          .filter(
            ({ isObstacle, mayLeave: isOpen = false, loses = false }) =>
              (loses || (strictPlan && isObstacle && !isOpen)) === fails,
          )
          .map(({ message: says }) => messageOf(says));
      return { failures: of(true), warnings: of(false), hasLooked };
    };
    const timer = setTimeout(() => onProgress(`checking ${host} for conflicts`), SHOWN_AFTER_MS);
    const deadline = this.#startClock();
    try {
      const findings = await untilUnreached((onError) => this.#inProject(question, { deadline, onProgress, onError }));
      return verdict(findings ?? [], findings !== undefined);
    } catch (error) {
      if (this.#isOver) return NOTHING;
      this.#isOver = true;
      if (error instanceof AuthenticationError || error instanceof PermissionError)
        return { failures: [refusedKey(host, error, keyAdvice)], warnings: [], hasLooked: false };
      return verdict([obstacle(notAsked(host, error))], false);
    } finally {
      clearTimeout(timer);
      this.#stopClock();
    }
  }

  /** Once all resources of a kind were compared, the remaining obstacles stay. Returns why a strict plan then fails. */
  async settle(kind: Kind): Promise<string[]> {
    if (!this.claims.hasComparedAll(kind)) return [];
    const open = this.#open.filter((question) => question.kind === kind);
    this.#open = this.#open.filter((question) => question.kind !== kind);
    const verdicts = await Promise.all(open.map(async (one) => ({ one, verdict: await this.ask(one) })));
    return verdicts.flatMap(({ one, verdict }) => verdict.failures.map((text) => `"${one.name}": ${text}`));
  }

  async #inProject(
    { client, kind, projectId, look }: Question,
    reading: Look<object>["reading"],
  ): Promise<readonly Finding[] | undefined> {
    if (this.#unlisted.has(projectId)) return this.#unlisted.get(projectId);
    try {
      return await look({ reading, isComplete: this.claims.hasComparedAll(kind) });
    } catch (thrown) {
      const error = behind(thrown);
      if (!(error instanceof NotFoundError)) throw thrown;
      const isMissing = saysProjectIsMissing(error) || (await lacksProject(client, projectId, reading));
      // If the project exists and only a list is missing, only the creation can judge that.
      const findings = isMissing ? [missingProject(projectId)] : undefined;
      this.#unlisted.set(projectId, findings);
      return findings;
    }
  }

  #startClock(): Deadline {
    this.#underWay += 1;
    return (this.#clock ??= new Deadline(this.#leftMs, false));
  }

  #stopClock(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0 || this.#clock === undefined) return;
    this.#leftMs = this.#clock.remainingMs();
    this.#clock = undefined;
  }
}

/** The result of the work, or the error of the last attempt that this waits for. The work itself continues. */
async function untilUnreached<Result>(work: (onError: (error: SvcError) => void) => Promise<Result>): Promise<Result> {
  let unreached = 0;
  return new Promise((resolve, reject) => {
    const onError = (error: SvcError): void => {
      if (error.beforeSending === true || error.reason === NO_TLS) unreached += 1;
      if (unreached >= MOST_UNREACHED) reject(error);
    };
    work(onError).then(resolve, reject);
  });
}

async function lacksProject(client: Client, projectId: string, reading: Look<object>["reading"]): Promise<boolean> {
  return (await undefinedIfNotShown(() => client.computes.list(projectId, reading))) === undefined;
}

function refusedKey(host: string, { withoutAdvice }: SvcError, keyAdvice: string): string {
  return `${host} refused a request of this plan: ${withoutAdvice}. ${keyAdvice}, or check svc:baseUrl (or SVC_BASE_URL)`;
}

function notAsked(host: string, error: unknown): string {
  return (
    `${host} could not be queried, so this plan does not show what would make pulumi up fail: ${messageOf(error)}. ` +
    "pulumi up needs the service. Run the plan again, or set svc:offlinePlan (SVC_OFFLINE_PLAN=1) to plan without it"
  );
}
