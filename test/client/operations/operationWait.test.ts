import {
  Deadline,
  NotFoundError,
  NotStartingError,
  OperationFailedError,
  SvcError,
  TimeoutError,
  WaitTimeoutError,
} from "../../../src/client";
import { Redactor } from "../../../src/client/http/redact";
import { DeletionWait, EndpointWait, hasFailedChange } from "../../../src/client/operations/waits";
import type { Snapshot } from "../../../src/client/operations/watch";
import type { ClientTimings } from "../../../src/client/clientOptions";
import { fakeClock } from "../../support/fakeClock";
import { compute, init, operation } from "../../support/scene";

// A wait alone: its result for each check and the time of the next check, on a clock that only the tests move.
fakeClock({ startsAtMs: 100_000 });

const pass = (ms: number): void => jest.advanceTimersByTime(ms);

const LAG = 3_000;
const CEILING = 2_000;
const MARGIN = 15;
const settings = { lagMs: LAG, pollCeilingMs: CEILING } as ClientTimings;
const account = { settings, redactor: new Redactor("test-key") };

type Fields = Record<string, unknown>;
/** A check at the present time. `operations: null`: the service has no such route. */
function look({ operations, endpoints }: { operations?: object[] | null; endpoints?: object[] }): Snapshot {
  const listed = operations === null ? undefined : operations;
  const read = { operations: operations === undefined ? undefined : { listed }, endpoints };
  return { readAt: performance.now(), ...read } as Snapshot;
}

const running = operation("running");
const finished = operation("finished");
const active = compute();
const idle = compute({ current_state: "idle" });

const endpointWait = (change: Fields = {}, durations: Record<string, number> = {}): EndpointWait =>
  new EndpointWait(account, new Map(Object.entries(durations)), {
    endpointId: "ep-1",
    changed: true,
    idleIsReady: false,
    ...(change as object),
  });
const deletionWait = (change: Fields = {}, durations: Record<string, number> = {}): DeletionWait =>
  new DeletionWait(account, new Map(Object.entries(durations)), {
    endpointId: "ep-1",
    untilQuiet: () => true,
    ...(change as object),
  });

/** When the next look is due, counted from now. */
const dueIn = (wait: EndpointWait | DeletionWait, roundTripMs = 50): number =>
  wait.dueAt(roundTripMs) - performance.now();

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("what a wait asks for next", () => {
  test("the operations, while one is under way whose end is not foreseen", () => {
    const wait = endpointWait({ operations: [running] });
    expect(wait.needs).toBe("operations");
    pass(LAG);
    expect(wait.needs).toBe("operations");
    // Somebody may have deleted it.
    pass(1);
    expect(wait.needs).toBe("both");
    wait.check(look({ operations: [running], endpoints: [compute(init)] }));
    expect(wait.needs).toBe("operations");
  });

  test("both lists, where the response named no operations, or none that is unfinished", () => {
    expect(endpointWait().needs).toBe("both");
    expect(endpointWait({ operations: [] }).needs).toBe("both");
    expect(endpointWait({ operations: undefined, endpoint: active }).needs).toBe("both");
  });

  test("the computes alone, once their operations have ended well", () => {
    expect(endpointWait({ operations: [finished] }).needs).toBe("endpoints");
    const wait = endpointWait({ operations: [running] });
    wait.check(look({ operations: [finished] }));
    expect(wait.needs).toBe("endpoints");
    // They have been read since, and something else seems to be under way.
    wait.check(look({ endpoints: [compute(init)] }));
    expect(wait.needs).toBe("both");
  });

  test("both lists with the look that arrives when its operations should have ended", () => {
    const wait = endpointWait({ operations: [running] }, { start_compute: 1_000 });
    wait.dueAt(50);
    pass(949);
    expect(wait.needs).toBe("operations");
    pass(1);
    expect(wait.needs).toBe("both");
  });

  test("for a deletion, the computes alone while lists may lag, where nobody waits for its operations", () => {
    const wait = deletionWait({ operations: [running], untilQuiet: () => false });
    expect(wait.needs).toBe("endpoints");
    wait.check(look({ endpoints: [active] }));
    pass(LAG - 1);
    wait.check(look({ endpoints: [active] }));
    expect(wait.needs).toBe("endpoints");
    pass(1);
    wait.check(look({ endpoints: [active] }));
    expect(wait.needs).toBe("both");
    expect(deletionWait({ operations: [running] }).needs).toBe("operations");
  });
});

describe("when a wait looks next", () => {
  test("at once where nothing is known to be under way", () => {
    expect(dueIn(endpointWait())).toBe(0);
    expect(dueIn(endpointWait({ operations: [finished] }))).toBe(0);
  });

  test("so that it arrives when operations of that kind ended the last time", () => {
    const wait = endpointWait({ operations: [running] }, { start_compute: 1_000, other: 5 });
    expect(dueIn(wait, 50)).toBe(1_000 + MARGIN - 50);
    expect(dueIn(wait, 200)).toBe(1_000 + MARGIN - 200);
    pass(500);
    wait.check(look({ operations: [running] }));
    expect(dueIn(wait, 50)).toBe(500 + MARGIN - 50);
    // It takes longer this time.
    pass(500);
    wait.check(look({ operations: [running], endpoints: [compute(init)] }));
    expect(dueIn(wait, 50)).toBe(100);
  });

  test("of a restart's two operations the second one begins when the first one has ended", () => {
    const both = [operation("running", { action: "suspend_compute" }), operation("scheduling", { id: "op-2" })];
    const known = { suspend_compute: 300, start_compute: 1_000 };
    expect(dueIn(endpointWait({ operations: both }, known), 0)).toBe(1_300 + MARGIN);
    // One of them was never seen: the sum says nothing.
    expect(dueIn(endpointWait({ operations: both }, { start_compute: 1_000 }), 0)).toBe(100);
  });

  test("a deletion: soon the first time, where its operations need not end", () => {
    const wait = deletionWait({ operations: [running], untilQuiet: () => false });
    expect(dueIn(wait)).toBe(50);
    pass(50);
    wait.check(look({ endpoints: [active] }));
    expect(dueIn(wait)).toBe(100);
    expect(dueIn(deletionWait({ operations: [running] }))).toBe(100);
  });

  test("how long an operation took is learnt from those that ended well", () => {
    const durations = new Map<string, number>();
    const follow = (change: object): void => {
      const wait = new EndpointWait(account, durations, {
        endpointId: "ep-1",
        changed: true,
        idleIsReady: false,
        operations: [running as never],
      });
      wait.check(look({ operations: [operation("finished", change)] }));
    };
    follow({});
    follow({ total_duration_ms: 0 });
    expect([...durations]).toEqual([]);
    follow({ total_duration_ms: 70 });
    expect([...durations]).toEqual([["start_compute", 70]]);
    const failing = new EndpointWait(account, durations, {
      endpointId: "ep-1",
      changed: true,
      idleIsReady: false,
      operations: [running as never],
    });
    const failed = look({ operations: [operation("failed", { total_duration_ms: 9 })] });
    expect(thrownBy(() => failing.check(failed))).toBeInstanceOf(OperationFailedError);
    expect([...durations]).toEqual([["start_compute", 70]]);
  });
});

describe("the response alone", () => {
  test.each<[string, Fields, boolean]>([
    ["an active compute without operations", { endpoint: active, operations: [] }, true],
    ["an active compute whose operations have ended", { endpoint: active, operations: [finished] }, true],
    ["an active compute with one under way", { endpoint: active, operations: [finished, running] }, false],
    ["one with a pending state", { endpoint: compute({ pending_state: "active" }), operations: [] }, false],
    ["an idle one without operations", { endpoint: idle, operations: [] }, true],
    ["one that starts", { endpoint: compute({ current_state: "init" }), operations: [] }, false],
    ["an answer that names no operations", { endpoint: active }, false],
    ["an answer without a compute", { operations: [] }, false],
  ])("%s", (_, change, isReady) => {
    const ready = endpointWait(change).checkResponse();
    expect(ready).toEqual(isReady ? { done: change.endpoint } : undefined);
  });

  test("with an operation that has failed already", () => {
    const wait = endpointWait({
      endpoint: active,
      operations: [operation("failed", { error: "full\ntest-key" })],
    });
    expect(String(thrownBy(() => wait.checkResponse()))).toBe(
      "OperationFailedError: operation op-9 start_compute failed: [the service's message repeats a secret]",
    );
  });
});

describe("a compute is ready", () => {
  const both = (operations: object[] | null, endpoints: object[]): Snapshot => look({ operations, endpoints });

  test("with its operations, not before: also those that the list lacks while it may lag", () => {
    const wait = endpointWait({ operations: [running], endpoint: compute(init) });
    pass(LAG - 1);
    expect(wait.check(both([], [active]))).toBeUndefined();
    pass(1);
    // From now on they count as over.
    expect(wait.check(both([], [active]))).toEqual({ done: active });
  });

  test("with all of its operations, each followed by its id", () => {
    const second = operation("running", { id: "op-2" });
    const wait = endpointWait({ operations: [running, second], endpoint: compute(init) });
    expect(wait.check(both([finished, second], [active]))).toBeUndefined();
    expect(wait.needs).toBe("operations");
    expect(wait.check(both([operation("finished", { id: "op-2" }), finished], [active]))).toEqual({ done: active });
  });

  test("at once on a service that lists no operations", () => {
    const wait = endpointWait({ operations: [running], endpoint: compute(init) });
    pass(10);
    expect(wait.check(both(null, [active]))).toEqual({ done: active });
  });

  test("with operations that the response did not name: those under way, and those that began after the change", () => {
    const before = "2026-01-01T00:00:10Z";
    const earlier = operation("failed", { id: "op-1", created_at: "2026-01-01T00:00:10Z" });
    const later = operation("running", { id: "op-2", created_at: "2026-01-01T00:00:11Z" });
    const others = operation("running", { id: "op-3", endpoint_id: "ep-2" });
    const wait = endpointWait({ updatedAtBefore: before, endpoint: active });
    pass(LAG);
    expect(wait.check(both([others, later, earlier], [active]))).toBeUndefined();
    const failed = operation("failed", { id: "op-2", created_at: "2026-01-01T00:00:11Z" });
    expect(String(thrownBy(() => wait.check(both([failed], [active]))))).toContain("op-2 start_compute failed");
    // Also where it was not seen before its end; those of other computes, and of before the change, do not belong to it.
    const at = { created_at: "2026-01-01T00:00:11Z" };
    const ended = endpointWait({ updatedAtBefore: before, endpoint: active, changed: false });
    expect(() => ended.check(both([operation("failed", at)], [active]))).toThrow("op-9 start_compute failed");
    const theirs = operation("failed", { ...at, endpoint_id: "ep-2" });
    const undated = operation("failed", { id: "op-4" });
    for (const listed of [[theirs], [undated]])
      expect(
        endpointWait({ updatedAtBefore: before, endpoint: active, changed: false }).check(both(listed, [active])),
      ).toBeDefined();
    // Without a time of before the change, only what is under way counts.
    const noTime = endpointWait({ endpoint: active, changed: false });
    expect(noTime.check(both([operation("failed", at)], [active]))).toBeDefined();
    expect(
      endpointWait({ updatedAtBefore: before, endpoint: active, changed: false }).check(both([earlier], [active])),
    ).toBeDefined();
  });

  test("not while the list may be older than an accepted change that named no operations", () => {
    const wait = endpointWait({ updatedAtBefore: "2026-01-01T00:00:10Z" });
    pass(LAG - 1);
    expect(wait.check(both([], [active]))).toBeUndefined();
    pass(1);
    expect(wait.check(both([], [active]))).toEqual({ done: active });
    expect(endpointWait({ changed: false }).check(both([], [active]))).toEqual({ done: active });
  });

  test("not while the list shows the compute as it was before the response", () => {
    const at = (updated_at: string, fields = {}): object => compute({ updated_at, ...fields });
    const make = (): EndpointWait =>
      endpointWait({ operations: [finished], endpoint: at("2026-01-01T00:00:05Z", init) });
    const wait = make();
    pass(LAG - 1);
    const old = at("2026-01-01T00:00:04Z");
    expect(wait.check(both([finished], [old]))).toBeUndefined();
    const same = at("2026-01-01T00:00:05Z");
    expect(make().check(both([finished], [same]))).toEqual({ done: same });
    // A clock of the service that goes back does not make a wait endless.
    pass(1);
    expect(wait.check(both([finished], [old]))).toEqual({ done: old });
  });

  test("not with a pending state, nor in a state that nobody knows", () => {
    const wait = endpointWait({ operations: [finished] });
    expect(wait.check(both([finished], [compute({ pending_state: "idle" })]))).toBeUndefined();
    expect(wait.check(both([finished], [compute({ current_state: "warming" })]))).toBeUndefined();
    expect(wait.check(both([finished], []))).toBeUndefined();
    expect(wait.check(both([finished], [compute({ id: "ep-2" })]))).toBeUndefined();
    expect(wait.check(both([finished], [active]))).toEqual({ done: active });
  });

  test("when idle only where nothing makes it start", () => {
    const ready = (change: Fields, operations: object[] | null): unknown =>
      endpointWait(change).check(both(operations, [idle]));
    expect(ready({ operations: [running], idleIsReady: true }, [finished])).toBeUndefined();
    expect(ready({ operations: [finished], idleIsReady: true }, [finished])).toEqual({ done: idle });
    expect(ready({ operations: [] }, [])).toEqual({ done: idle });
    expect(ready({ changed: false }, [])).toEqual({ done: idle });
    // Its operation cannot be followed, and it was not idle before.
    expect(ready({ operations: [running], endpoint: compute(init) }, null)).toBeUndefined();
    expect(ready({ operations: [running], endpoint: idle }, null)).toBeUndefined();
  });

  test("when idle as before, once lists show a change whose operations cannot be followed", () => {
    const after = (response: object): unknown => {
      const wait = endpointWait({ operations: [running], endpoint: response });
      pass(LAG);
      return wait.check(both(null, [idle]));
    };
    expect(after(idle)).toEqual({ done: idle });
    expect(after(active)).toBeUndefined();
    expect(after(compute({ current_state: "idle", pending_state: "active" }))).toBeUndefined();
  });

  test("when idle with the look after the one that shows the end of its operations: that one may be of before it", () => {
    const wait = endpointWait({ operations: [running] });
    expect(wait.check(both([finished], [idle]))).toBeUndefined();
    expect(wait.check(look({ endpoints: [idle] }))).toEqual({ done: idle });
    const started = endpointWait({ operations: [running] });
    expect(started.check(both([finished], [active]))).toEqual({ done: active });
  });
});

describe("a wait ends badly", () => {
  test("when the compute is off the list for as long as lists may lag", () => {
    const wait = endpointWait({ operations: [running] });
    expect(wait.check(look({ operations: [running], endpoints: [] }))).toBeUndefined();
    pass(LAG - 1);
    expect(wait.check(look({ operations: [running], endpoints: [] }))).toBeUndefined();
    pass(1);
    const error = thrownBy(() => wait.check(look({ operations: [running], endpoints: [] })));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(String(error)).toContain("it was deleted during the wait: the list of computes no longer shows it");
  });

  test("when nothing is under way that would start it, once lists have had the time to show it", () => {
    const stopped = compute({ current_state: "init" });
    const failed = operation("failed", { error: "no capacity", created_at: "2026-01-01T00:00:00Z" });
    const check = (id: string, background: object): unknown => {
      const wait = endpointWait({ changed: false });
      const shown = look({ operations: [background, failed], endpoints: [compute({ current_state: "init", id })] });
      wait.check(shown);
      pass(LAG);
      return thrownBy(() => wait.check({ ...shown, readAt: performance.now() }));
    };
    const background = operation("failed", { id: "op-1", action: "check_availability", error: "not this one" });
    const error = check("ep-1", background);
    expect(error).toBeInstanceOf(NotStartingError);
    expect(String(error)).toBe(
      'NotStartingError: still "init", and no operation is running that would change that; operation op-9 start_compute failed: no capacity',
    );
    // The newest one ended well: no reason is known.
    expect(String(check("ep-1", operation("finished", { id: "op-7" })))).toBe(
      'NotStartingError: still "init", and no operation is running that would change that',
    );
    // One that the response named and that no list shows may still be running.
    const untraced = endpointWait({ operations: [running] });
    for (const waited of [LAG, LAG, LAG]) {
      pass(waited);
      expect(untraced.check(look({ operations: [], endpoints: [stopped] }))).toBeUndefined();
    }
    const traced = endpointWait({ operations: [finished] });
    traced.check(look({ operations: [finished], endpoints: [stopped] }));
    pass(LAG);
    expect(thrownBy(() => traced.check(look({ operations: [finished], endpoints: [stopped] })))).toBeInstanceOf(
      NotStartingError,
    );
  });

  test.each<[string, object, object[]]>([
    ["a change is pending", compute(init), []],
    ["an operation runs", compute({ current_state: "init" }), [running]],
    ["it is ready by then", active, []],
    ["it is suspended", idle, []],
  ])("not while %s", (_, endpoint, operations) => {
    const wait = endpointWait({ changed: false });
    wait.check(look({ operations, endpoints: [endpoint] }));
    pass(2 * LAG);
    expect(() => wait.check(look({ operations, endpoints: [endpoint] }))).not.toThrow();
  });

  test.each<[string, Fields, object[] | undefined, string]>([
    [
      "of what the response showed",
      { endpoint: compute(init), operations: [running] },
      undefined,
      'still "init" after 60 s (operation op-9 start_compute running)',
    ],
    ["of what was seen last", { operations: [] }, [compute({ current_state: "init" })], 'still "init" after 60 s'],
    [
      "of what is pending at one that runs",
      { operations: [] },
      [compute({ pending_state: "idle" })],
      'still "active" with "idle" pending after 60 s',
    ],
    [
      "of what is pending at an idle one",
      { operations: [] },
      [compute({ current_state: "idle", pending_state: "active" })],
      'still "idle" with "active" pending after 60 s',
    ],
    ["without what is pending at one that starts", { operations: [] }, [compute(init)], 'still "init" after 60 s'],
    ["of a compute that no list had", { operations: [] }, undefined, "not seen in any list after 60 s"],
  ])("with its deadline, in the words %s", (_, change, endpoints, words) => {
    const wait = endpointWait(change);
    if (endpoints !== undefined) wait.check(look({ operations: [], endpoints }));
    const error = wait.timedOut(new Deadline(60_000), undefined);
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error.message).toBe(words);
    const after = wait.timedOut(new Deadline(60_000), new TimeoutError("no response within 10 s"));
    expect(after.message).toBe(`${words}; the last read failed: no response within 10 s`);
  });
});

describe("the progress messages", () => {
  const told = (change: Fields, ...looks: Parameters<typeof look>[0][]): string[] => {
    const lines: string[] = [];
    const wait = endpointWait({ ...change, onProgress: (text: string) => lines.push(text) });
    for (const shown of looks) {
      pass(1_400);
      wait.check(look(shown));
    }
    return lines;
  };

  test("the operation, its status, and the time in seconds", () => {
    const starting = { operations: [running], endpoints: [compute(init)] };
    expect(told({ operations: [running] }, starting, starting)).toEqual([
      "starting, start_compute running, 1 s",
      "starting, start_compute running, 3 s",
    ]);
  });

  test("that a running one takes a change over, and that one is suspended", () => {
    const pending = compute({ pending_state: "active" });
    expect(told({ operations: [] }, { operations: [], endpoints: [pending] })).toEqual(["applying, 1 s"]);
    const suspending = compute({ pending_state: "idle" });
    expect(told({ operations: [] }, { operations: [], endpoints: [suspending] })).toEqual(["suspending, 1 s"]);
  });

  test("by what the response showed, while only operations are read", () => {
    const change = { endpoint: compute(init), operations: [running] };
    expect(told(change, { operations: [running] })).toEqual(["starting, start_compute running, 1 s"]);
    expect(told({ operations: [running] }, { operations: [running] })).toEqual([]);
  });

  test.each<[string, Fields, string]>([
    ["failed before", { failures_count: 1 }, "failed once"],
    ["is tried again", { retry_at: "2026-03-01T12:03:59Z" }, "tried again at 12:03 UTC"],
    [
      "does both",
      { failures_count: 2, retry_at: "2026-03-01T13:03:00+01:00" },
      "failed 2 times, tried again at 12:03 UTC",
    ],
    ["shows odd values", { failures_count: 1.5, retry_at: "soon" }, ""],
    ["has not failed", { failures_count: 0, retry_at: "" }, ""],
  ])("that an operation %s", (_, fields, words) => {
    const retried = operation("running", fields);
    const step = ["start_compute running", ...(words === "" ? [] : [words])].join(", ");
    const shown = { operations: [retried], endpoints: [compute(init)] };
    expect(told({ operations: [retried] }, shown)).toEqual([`starting, ${step}, 1 s`]);
    const wait = endpointWait({ operations: [retried], endpoint: compute(init) });
    expect(wait.timedOut(new Deadline(60_000), undefined).message).toContain(`(operation op-9 ${step})`);
  });

  test("nothing of the service's as it is", () => {
    const odd = operation("test-key\u001b[2J");
    const lines = told({ operations: [odd] }, { operations: [odd], endpoints: [compute(init)] });
    expect(lines).toEqual(["starting, start_compute [secret], 1 s"]);
  });
});

describe("a deleted compute is gone", () => {
  const done = { done: undefined };

  test("when it is off the list, with its operations where they matter", () => {
    const quick = deletionWait({ operations: [running], untilQuiet: () => false });
    expect(quick.check(look({ endpoints: [] }))).toEqual(done);
    const patient = deletionWait({ operations: [running] });
    expect(patient.check(look({ operations: [running], endpoints: [] }))).toBeUndefined();
    expect(patient.check(look({ operations: [finished], endpoints: [compute({ id: "ep-2" })] }))).toEqual(done);
    // A list that was not read shows nothing.
    expect(deletionWait({ operations: [finished] }).check(look({ operations: [finished] }))).toBeUndefined();
  });

  test("also when an operation of it failed, but not while it is listed then", () => {
    const failed = operation("failed", { error: "busy" });
    expect(deletionWait({ operations: [running] }).check(look({ operations: [failed], endpoints: [] }))).toEqual(done);
    const wait = deletionWait({ operations: [running] });
    expect(wait.check(look({ operations: [failed] }))).toBeUndefined();
    const error = thrownBy(() => wait.check(look({ operations: [failed], endpoints: [active] })));
    expect(String(error)).toBe("OperationFailedError: operation op-9 start_compute failed: busy");
  });

  test("not when nothing is under way any more, and it is listed for as long as lists may lag", () => {
    const wait = deletionWait({ operations: [finished] });
    const listed = (): Snapshot => look({ operations: [finished], endpoints: [active] });
    expect(wait.check(listed())).toBeUndefined();
    pass(LAG);
    const error = thrownBy(() => wait.check(listed()));
    expect(error).toBeInstanceOf(SvcError);
    expect(String(error)).toBe(
      "SvcError: its deletion was accepted and no operation is running, but it is still listed",
    );
  });

  test.each<[string, object[] | null, object[]]>([
    ["an operation runs", [running], [active]],
    ["something is pending", [finished], [compute({ pending_state: "idle" })]],
    ["no operations can be read", null, [active]],
  ])("waits on while %s", (_, operations, endpoints) => {
    const wait = deletionWait({ operations: [running] });
    for (const waited of [0, LAG, LAG]) {
      pass(waited);
      expect(wait.check(look({ operations, endpoints }))).toBeUndefined();
    }
  });

  test("with its deadline, with a message about the last state", () => {
    const words = (shown?: Parameters<typeof look>[0]): string => {
      const wait = deletionWait({ operations: [running] });
      if (shown !== undefined) wait.check(look(shown));
      return wait.timedOut(new Deadline(60_000), undefined).message;
    };
    const tail = "after 60 s (operation op-9 start_compute running)";
    expect(words()).toBe("not confirmed as deleted after 60 s");
    expect(words({ operations: [running] })).toBe("not confirmed as deleted after 60 s");
    expect(words({ operations: [running], endpoints: [idle] })).toBe(`being deleted, still "idle" ${tail}`);
    expect(words({ operations: [running], endpoints: [] })).toBe(`being deleted, still "gone" ${tail}`);
  });

  test("and reports it during the wait", () => {
    const lines: string[] = [];
    const wait = deletionWait({ operations: [running], onProgress: (text: string) => lines.push(text) });
    pass(2_000);
    wait.check(look({ operations: [running], endpoints: [active] }));
    expect(lines).toEqual(["deleting, start_compute running, 2 s"]);
  });
});

describe("whether an effect of the last changes of a compute has failed", () => {
  const active = { id: "ep-1", current_state: "active" } as never;
  const idle = { id: "ep-1", current_state: "idle" } as never;
  const listed = (...operations: [action: string, status: string, endpoint_id?: string][]) =>
    // The newest first, as in the list; of the record, what counts.
    operations.map(([action, status, endpoint_id = "ep-1"], at) => ({
      id: `op-${at}`,
      action,
      status,
      endpoint_id,
    })) as never;

  test.each([
    [
      "followers that were cancelled say nothing",
      [
        ["start_compute", "cancelled"],
        ["suspend_compute", "cancelled"],
        ["apply_config", "failed"],
      ],
      true,
    ],
    [
      "a start of a compute that is active mends nothing",
      [
        ["start_compute", "finished"],
        ["apply_config", "failed"],
      ],
      true,
    ],
    [
      "an operation of the same effect that ended well mends it",
      [
        ["apply_config", "finished"],
        ["apply_config", "failed"],
      ],
      false,
    ],
    [
      "followers of a mended one say nothing either",
      [
        ["apply_config", "finished"],
        ["start_compute", "cancelled"],
        ["suspend_compute", "cancelled"],
        ["apply_config", "error"],
      ],
      false,
    ],
    [
      "a restart mends it: what starts has every value",
      [
        ["start_compute", "finished"],
        ["suspend_compute", "finished"],
        ["apply_config", "failed"],
      ],
      false,
    ],
    ["one that was cancelled by itself has failed", [["apply_config", "cancelled"]], true],
    ["a suspension that failed, of a compute that runs", [["suspend_compute", "failed"]], true],
    ["a start that failed, of a compute that runs", [["start_compute", "failed"]], false],
    ["a creation that failed", [["create_compute", "failed"]], true],
    [
      "a check in the background belongs to no change",
      [
        ["check_availability", "failed"],
        ["apply_config", "finished"],
      ],
      false,
    ],
    [
      "those of another compute say nothing",
      [
        ["apply_config", "failed", "ep-2"],
        ["apply_config", "finished"],
      ],
      false,
    ],
    ["none", [], false],
  ] as const)("%s", (_what, operations, failed) => {
    expect(hasFailedChange(active, listed(...(operations as never as [string, string][])))).toBe(failed);
  });

  test("of a compute that is idle, a suspension that failed is over, and a start that failed is not", () => {
    expect(hasFailedChange(idle, listed(["suspend_compute", "failed"]))).toBe(false);
    expect(hasFailedChange(idle, listed(["start_compute", "failed"]))).toBe(true);
    expect(hasFailedChange(idle, listed(["suspend_compute", "finished"], ["start_compute", "failed"]))).toBe(false);
  });
});
