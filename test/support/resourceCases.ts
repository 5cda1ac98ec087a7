import type { Lifecycle } from "../../src/host/lifecycle";
import type { Properties } from "../../src/contract/hiddenKeys";
import { until } from "./emulator";
import {
  expectNoSecrets,
  harness,
  MISBEHAVIOURS,
  notes,
  planAfterRefresh,
  PROJECT,
  thrownBy,
  urnOf,
  type Harness,
  type State,
} from "./harness";

export interface ResourceCase<Args extends object, Outputs extends object> {
  lifecycle: Lifecycle<Args, Outputs>;
  /** A good program. */
  inputs: Properties;
  /** Other values of the arguments that replace it. */
  replacedBy: Properties;
  /** Arguments whose unknown value is a change, but no replacement. */
  unknowns?: Properties;
  /** What has to exist before it is created. */
  prepare?: (given: Harness) => Promise<void>;
  /** Deletes it behind the provider's back; `removedWhen` says how. */
  remove: (given: Harness, state: State) => Promise<void>;
  removedWhen?: string;
  /** Secret outputs, which no message may show. */
  secretOutputs?: readonly string[];
  /** False: its deletion sends nothing, or nothing before the deletion itself. @default true */
  looksBeforeDeletion?: boolean;
}

/** What holds for every resource that can be read back, or whose container can. Child resources: `childCases`. */
export function resourceCases<Args extends object, Outputs extends object>({
  lifecycle,
  inputs,
  replacedBy,
  unknowns = {},
  prepare = async () => undefined,
  remove,
  removedWhen = "it was deleted by hand",
  secretOutputs = [],
  looksBeforeDeletion = true,
}: ResourceCase<Args, Outputs>): void {
  const started = async (...more: [options?: object, client?: object]): Promise<Harness> => {
    const given = await harness(lifecycle, ...more);
    await prepare(given);
    return given;
  };
  const expectNoneShown = (given: Harness, { outs }: State): void =>
    expectNoSecrets(
      given,
      secretOutputs.map((name) => String(outs[name])),
    );

  test("a plan without changes sends nothing, and so does one with values that are not known yet", async () => {
    const given = await started();
    const state = await given.create(inputs);
    await given.forgetRequests();
    expect(await given.check(inputs)).toEqual([]);
    expect(await given.diff(state, inputs)).toMatchObject({ changes: false, replaces: [] });
    const unknown = { ...inputs, ...unknowns };
    expect(await given.check(unknown)).toEqual([]);
    if (Object.keys(unknowns).length > 0) {
      const { changes, replaces } = await given.diff(state, unknown);
      expect([changes, replaces]).toEqual([undefined, []]);
    }
    expect(await given.requests()).toEqual([]);
  });

  test.each(Object.entries(replacedBy))("another value of %s replaces it", async (name, value) => {
    const given = await started();
    const state = await given.create(inputs);
    const { changes, replaces, deleteBeforeReplace } = await given.diff(state, { ...inputs, [name]: value });
    expect(changes).not.toBe(false);
    expect({ replaces, deleteBeforeReplace }).toEqual({
      replaces: [name],
      deleteBeforeReplace: lifecycle.deleteBeforeReplace,
    });
  });

  test("after a refresh of an unchanged object the plan is empty, and the refresh changes nothing", async () => {
    const given = await started();
    const state = await given.create(inputs);
    await given.forgetRequests();
    given.restart();
    const { changes, replaces, found } = await planAfterRefresh(given, state, inputs);
    expect({ changes, replaces }).toEqual({ changes: false, replaces: [] });
    expect(found.outs).toEqual(state.outs);
    expect(found.inputs).toEqual({ ...inputs, __urn: urnOf(lifecycle.kind), __provider: "pointer" });
    expect(await given.mutations()).toEqual([]);
  });

  test(`it is gone when ${removedWhen}`, async () => {
    const given = await started();
    const state = await given.create(inputs);
    await remove(given, state);
    given.restart();
    expect(await given.read(state)).toBeUndefined();
  });

  test.each(MISBEHAVIOURS)(
    "a refresh that is answered with %s fails in words and drops nothing",
    async (_how, fault, words) => {
      const given = await started({}, { readDeadlineMs: 800, attemptTimeoutMs: 500, baseDelayMs: 1 });
      const state = await given.create(inputs);
      await given.fault(fault);
      given.restart();
      const error = await thrownBy(given.read(state));
      expect(error.message).toContain(`Could not read ${lifecycle.kind} ${state.id} ("thing"): `);
      expect(error.message).toMatch(words);
      expect(error).not.toHaveProperty("id");
      expectNoneShown(given, state);
    },
  );

  if (looksBeforeDeletion) {
    test("it is not deleted when another resource has it by the time its deletion would leave", async () => {
      const given = await started();
      const { id, outs } = await given.create(inputs);
      given.restart();
      await given.forgetRequests();
      await given.fault({ method: "GET", delayMs: 200 });
      const other = { __urn: urnOf(lifecycle.kind, "other") };
      const deleting = given.provider.delete(id, outs);
      // While it looks whether its integration still stands.
      await until(given.requests, (all) => all.length > 0);
      await given.provider.check(inputs, { ...inputs, ...other });
      await given.provider.diff(id, { ...outs, ...other }, { ...inputs, ...other });
      await deleting;
      expect(await given.mutations()).toEqual([]);
      expect(notes(given)).toEqual([expect.stringMatching(/"other"|another resource manages it now/)]);
    });
  }

  test("deleting it twice succeeds", async () => {
    const given = await started();
    const state = await given.create(inputs);
    await given.delete(state);
    await given.delete(state);
    expectNoneShown(given, state);
  });

  test(`deleting it succeeds when ${removedWhen}`, async () => {
    const given = await started();
    const state = await given.create(inputs);
    await remove(given, state);
    await given.delete(state);
    expectNoneShown(given, state);
  });

  test("a project id of the wrong shape and an unknown argument are found together, without their values", async () => {
    const given = await started();
    const problems = await given.check({ ...inputs, projectId: "no such/thing", tags: "canary-Zq8" });
    expect(problems).toHaveLength(2);
    expect(problems.join("\n")).toMatch(/projectId: must be .*\n?/);
    expect(problems.join("\n")).toMatch(/tags: is not an argument of .*transformation/);
    expect(await given.requests()).toEqual([]);
    expectNoSecrets(given, ["no such/thing"]);
  });

  test("looking it up by its id needs no arguments and manages nothing", async () => {
    const given = await started();
    const { id } = await given.create(inputs);
    const found = await given.read({ id, outs: {} });
    expect(found?.outs).toMatchObject({ projectId: PROJECT });
  });
}
