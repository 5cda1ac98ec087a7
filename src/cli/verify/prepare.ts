import { randomBytes } from "node:crypto";
import { Client, type ClientOptions } from "../../client";
import { hostAndPort } from "../../contract/hostAndPort";
import { type ReadSetting, requestTrace, resolveSettings } from "../../contract/settings";
import { Session, type SessionOptions } from "../../host/session";
import { authSteps } from "./authSteps";
import { lookBefore, PREFIX, type Target } from "./before";
import { computeSteps } from "./computeSteps";
import { Exchanges } from "./exchanges";
import { PARTS, type VerifyFlags } from "./flags";
import { generalSteps } from "./generalSteps";
import { Objects, STEP_SECONDS } from "./objects";
import { planText } from "./plan";
import type { Run, Step } from "./run";

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
export async function prepare(flags: VerifyFlags, read: ReadSetting, delays: Delays = {}): Promise<Prepared> {
  const target: Target = {
    projectId: flags.project,
    branchId: flags.branch,
    authBranchId: flags.authBranch,
    moveTo: flags.moveTo,
    parts: flags.part === undefined ? PARTS : [flags.part],
  };
  const run = runOf(target, read, delays);
  const before = await lookBefore(run.client, target);
  if (before.obstacles.length > 0) throw new Error(["nothing was changed", ...before.obstacles].join("\n"));
  const steps = [...generalSteps, ...computeSteps, ...authSteps].filter(
    ({ part }) => part === undefined || target.parts.includes(part),
  );
  return { run, steps, plan: planText(run, steps, target, before) };
}

function runOf(
  { projectId, branchId, authBranchId, moveTo }: Target,
  read: ReadSetting,
  { client: times = {}, pollMs = 250, patienceMs = 60_000, stepSeconds = STEP_SECONDS, digests }: Delays,
): Run {
  const { settings, problems } = resolveSettings(read);
  if (settings === undefined) throw new Error(problems.join("\n"));
  const { baseUrl, authProvider } = settings;
  const exchanges = new Exchanges();
  const options: Partial<ClientOptions> = { ...times, trace: requestTrace(), observe: (one) => exchanges.add(one) };
  // What the provider tells the engine is about a program, which this run does not have.
  const start = (): Session =>
    new Session(() => undefined, { client: options, ...(digests !== undefined && { digests }) });
  const session = start();
  const { client } = session.account(read);
  const token = PREFIX + randomBytes(4).toString("hex");
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
    objects: new Objects({ projectId, session, start, read, client, token, seconds: stepSeconds }),
    exchanges,
    pollMs,
    patienceMs,
  };
}
