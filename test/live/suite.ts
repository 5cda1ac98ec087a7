import { randomBytes } from "node:crypto";
import { Client, type ClientOptions } from "../../src/client";
import { hostAndPort } from "../../src/contract/hostAndPort";
import { type ReadSetting, requestTrace, resolveSettings } from "../../src/contract/settings";
import { Session, type SessionOptions } from "../../src/host/session";
import { type Before, lookBefore, PREFIX, type Target } from "./before";
import { Exchanges } from "./exchanges";
import { generalSteps } from "./general";
import { kindSteps } from "./kinds";
import { Objects } from "./objects";
import { judge, type LiveReport, stepLine } from "./report";
import { isAsked, type Run, runSteps, type Step } from "./run";
import { sweep } from "./sweep";

/** Short delays for tests. */
export interface Delays extends Pick<SessionOptions, "digests"> {
  readonly client?: Partial<ClientOptions>;
  readonly pollMs?: number;
  readonly patienceMs?: number;
  readonly stepSeconds?: number;
}

/** A run that may begin. Only lists were read. */
export interface Prepared {
  readonly run: Run;
  readonly steps: readonly Step[];
  /** What it will make and cost, for the user. */
  readonly plan: string;
}

/** @throws a message for the user if the run may not begin. */
export async function prepare(target: Target, read: ReadSetting, delays: Delays = {}): Promise<Prepared> {
  const run = runOf(target, read, delays);
  const before = await lookBefore(run.client, target);
  if (before.obstacles.length > 0) throw new Error(["nothing was changed", ...before.obstacles].join("\n"));
  const steps = [...generalSteps, ...kindSteps(target.parts)];
  return { run, steps, plan: planText(run, steps, target, before) };
}

/** Runs the steps and removes what they have made, whatever happens. `tell` shows progress. */
export async function perform(
  { run, steps }: Pick<Prepared, "run" | "steps">,
  stop: AbortSignal,
  tell: (text: string) => Promise<void> | void,
): Promise<LiveReport> {
  const results = await runSteps(run, steps, stop, (result) => tell(stepLine(result)));
  const left = await sweep(run, tell);
  return { isStopped: stop.aborted, steps: results, statements: judge(run.exchanges), left };
}

/** `token`: what each name that the run chooses contains. */
export function runOf(
  { projectId, branchId = "", authBranchId, moveTo }: Target,
  read: ReadSetting,
  { client: times = {}, pollMs = 250, patienceMs = 60_000, stepSeconds = 300, digests }: Delays,
  token = PREFIX + randomBytes(4).toString("hex"),
): Run {
  const { settings, problems } = resolveSettings(read);
  if (settings === undefined) throw new Error(problems.join("\n"));
  const { baseUrl, authProvider } = settings;
  const exchanges = new Exchanges();
  const options: Partial<ClientOptions> = { ...times, trace: requestTrace(), observe: (one) => exchanges.add(one) };
  // What the provider tells the engine is about a program, which this run does not have.
  const start = (): Session =>
    new Session(() => undefined, { client: options, ...(digests !== undefined && { digests }) });
  // Less than a program waits, so that a stuck service does not cost for long.
  const timeouts = { create: stepSeconds, update: stepSeconds, delete: stepSeconds };
  const session = start();
  const { client } = session.account(read);
  return {
    service: hostAndPort(baseUrl),
    projectId,
    branchId,
    authBranchId: authBranchId === branchId ? undefined : authBranchId,
    moveTo,
    authProvider,
    token,
    client,
    strangerClient: () => new Client({ ...options, baseUrl, apiKey: `${token}-no-key` }),
    objects: new Objects({ projectId, session, start, read, client, token, timeouts }),
    exchanges,
    pollMs,
    patienceMs,
  };
}

/** What a run will make, change and cost: told before anything is sent. */
function planText(run: Run, steps: readonly Step[], { parts }: Target, { notes }: Before): string {
  const { projectId, service, branchId, authBranchId = branchId, moveTo } = run;
  const costs = {
    compute: [
      `- computes on branch ${branchId}: one primary of 0.25 and then 0.5 CU, which runs for most of the time, and two read replicas of 0.25 CU, which start only if the service starts them. About 3 to 10 minutes`,
      ...(moveTo === undefined ? [] : [`- the primary is moved to branch ${moveTo} before it is deleted`]),
    ],
    auth: [
      `- an auth integration on branch ${authBranchId}, with a user, OAuth providers, redirect domains and an e-mail server that do not exist. About 1 minute, no compute`,
      "- the service creates the schema svc_auth in the database of that branch, and may keep it when the integration is deleted",
    ],
  };
  return [
    `test:live: project ${projectId} at ${service}. What it makes and costs:`,
    ...parts.flatMap((part) => costs[part]),
    "\nIn this order:",
    ...steps.filter((one) => isAsked(run, one)).map(({ does }) => `- ${does}`),
    `\nAfterwards it deletes everything that it made, also after a failure or a signal, and nothing else. Each name contains ${PREFIX}`,
    ...notes.map((note) => `Note: ${note}`),
    "",
  ].join("\n");
}
