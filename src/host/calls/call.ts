/** One call of a lifecycle: its deadline, its progress line, and how it ends. */
import { type Deadline, type Permission, READ_MS, SvcError, WaitTimeoutError } from "../../client";
import type { Properties, Timeouts } from "../../contract/hiddenKeys";
import type { Call } from "../lifecycle";
import { Progress } from "../progress";
import { SecretValues } from "../references";
import type { Asker } from "../run/others";
import type { Hosted } from "../session";

const DEFAULT_SECONDS: Required<Timeouts> = { create: 600, update: 600, delete: 600, read: READ_MS / 1_000 };

/** How long a call may exceed its deadline and its last request before it is abandoned. */
const GRACE_MS = 15_000;

export type Verb = keyof Timeouts;

const DONE = { create: "created", update: "changed", delete: "deleted", read: "read" } as const satisfies Record<
  Verb,
  string
>;

/** In place of the error of a call whose time was over because the run was interrupted. */
export class Interrupted extends Error {
  constructor(
    override readonly cause: unknown,
    verb: Verb,
    readonly hasBegun: boolean,
  ) {
    super(hasBegun ? "the wait for it was interrupted" : `interrupted, and nothing was ${DONE[verb]}`);
  }
}

export const timeoutMsOf = ({ timeouts }: { timeouts: Timeouts | undefined }, verb: Verb): number =>
  1_000 * (timeouts?.[verb] ?? DEFAULT_SECONDS[verb]);

export const digesting = <Args extends object, Outputs extends object>({
  resource,
  session,
}: Hosted<Args, Outputs>) => ({
  rules: resource.args,
  kind: resource.kind,
  digests: session.digests,
});

interface CallOptions<Outputs> extends Partial<Pick<Call<Outputs>, "checkpoint" | "sending" | "added">> {
  readonly verb: Verb;
  /** An earlier call has begun it. @default false */
  readonly hasBegun?: boolean;
  readonly urn: string | undefined;
  /** As whom it asks the memory of the run. @default urn */
  readonly by?: Asker;
  readonly deadline: Deadline;
  /** Values that may contain secrets: no message of the client repeats them. */
  readonly secrets: readonly Properties[];
  readonly onTakeOver?: (object: string) => void;
  /** Called when the run is interrupted. @default ends the deadline */
  readonly onInterrupt?: () => void;
}

export const nothing = (): void => undefined;

/** In a call that deletes nothing of its own. */
const nobodyAsked = (): Permission => {
  throw new Error("only a deletion may delete");
};

/** Prepares one call of a lifecycle; `finish` waits for its work. */
export function startCall<Args extends object, Outputs extends object>(
  { resource, session, readSetting }: Hosted<Args, Outputs>,
  {
    verb,
    hasBegun = false,
    urn,
    by = urn ?? "",
    deadline,
    secrets,
    onTakeOver = nothing,
    checkpoint = nothing,
    sending = nothing,
    added = nothing,
    onInterrupt = () => deadline.interrupt(),
  }: CallOptions<Outputs>,
): { call: Call<Outputs>; values: SecretValues; finish: <Result>(work: Promise<Result>) => Promise<Result> } {
  const { client, settings } = session.account(readSetting);
  client.learnSecrets(...secrets);
  const progress = new Progress(session.log, urn, settings.quiet);
  const { siblingStartsMs } = session;
  // The name `secret` marks it as a secret.
  const values = new SecretValues(resource.args, (secret) => client.learnSecrets({ secret }));
  return {
    values,
    call: {
      client,
      authProvider: settings.authProvider,
      deadline,
      onProgress: (text) => progress.show(text),
      run: session.memory.viewOf({ urn: urn ?? "", by, deadline, siblingStartsMs, onTakeOver }),
      mayDelete: nobodyAsked,
      resolve: (value) => values.valueOf(value),
      withValues: (args) => values.withValues(args),
      // Whoever wants quiet wants no moving lines: what has happened is not repeated by anything else.
      note: (message) => session.log({ severity: "info", message, urn, ephemeral: false }),
      checkpoint,
      sending,
      added,
    },
    finish: async (work) => {
      const done = session.onInterrupt(onInterrupt);
      try {
        return await withHardTimeout(deadline, client.longestAttemptMs + GRACE_MS, work);
      } catch (error) {
        const { isInterrupted, hasChanged, totalMs } = deadline;
        throw isInterrupted && isLate(error, totalMs) ? new Interrupted(error, verb, hasBegun || hasChanged) : error;
      } finally {
        done();
        progress.end();
      }
    },
  };
}

/**
 * A call that has not ended long after its deadline is abandoned, so that no defect can hang the engine (it waits for a
 * call for ever, even after Ctrl-C). The grace is longer than any request that must not be cut.
 */
function withHardTimeout<Result>(deadline: Deadline, graceMs: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const unsubscribe = deadline.onExpire(() => {
      const seconds = Math.round((deadline.totalMs + graceMs) / 1000);
      timer = setTimeout(() => reject(new Error(`no result after ${seconds} s; the call was abandoned`)), graceMs);
    });
    void work.then(resolve, reject).finally(() => {
      unsubscribe();
      clearTimeout(timer);
    });
  });
}

/** Whether its deadline ended the call. */
export const isLate = (thrown: unknown, totalMs: number): boolean =>
  thrown instanceof WaitTimeoutError || (thrown instanceof SvcError && thrown.deadlineMs === totalMs);
