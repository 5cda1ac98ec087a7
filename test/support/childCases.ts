import type { Lifecycle } from "../../src/host/lifecycle";
import type { Properties } from "../../src/contract/hiddenKeys";
import {
  expectNoSecrets,
  harness,
  MISBEHAVIOURS,
  planAfterRefresh,
  PROJECT,
  thrownBy,
  UNKNOWN,
  urnOf,
  withIntegration,
} from "./harness";

interface Child<Args extends object, Outputs extends object> {
  lifecycle: Lifecycle<Args, Outputs>;
  /** A good program. */
  inputs: Properties;
  /** Other values of the arguments that replace it, beside projectId. */
  replacedBy: Properties;
  /** Arguments whose unknown value is a change, but no replacement. */
  unknowns?: Properties;
}

/** What holds for everything that lives in an auth integration (docs/design/decisions.md, Replacing, moving, adopting). */
export function childCases<Args extends object, Outputs extends object>({
  lifecycle,
  inputs,
  replacedBy,
  unknowns = {},
}: Child<Args, Outputs>): void {
  const started = async (...more: [options?: object, client?: object]) => {
    const given = await harness(lifecycle, ...more);
    await withIntegration(given);
    return given;
  };

  test("a plan without changes sends nothing, and so does one with values that are not known yet", async () => {
    const child = await started();
    const state = await child.create(inputs);
    await child.forgetRequests();
    expect(await child.check(inputs)).toEqual([]);
    expect(await child.diff(state, inputs)).toMatchObject({ changes: false, replaces: [] });
    const unknown = { ...inputs, ...unknowns };
    expect(await child.check(unknown)).toEqual([]);
    if (Object.keys(unknowns).length > 0) {
      expect(await child.diff(state, unknown)).toMatchObject({ replaces: [] });
    }
    expect(await child.requests()).toEqual([]);
  });

  test("a project that is not known yet is one whose integration is being replaced: the child is replaced as well", async () => {
    const child = await started();
    const state = await child.create(inputs);
    expect(await child.check({ ...inputs, projectId: UNKNOWN })).toEqual([]);
    expect(await child.diff(state, { ...inputs, projectId: UNKNOWN })).toMatchObject({
      replaces: ["projectId"],
      deleteBeforeReplace: lifecycle.deleteBeforeReplace,
    });
  });

  test.each(Object.entries({ projectId: "prj-other", ...replacedBy }))(
    "another value of %s replaces it",
    async (name, value) => {
      const child = await started();
      const state = await child.create(inputs);
      const { changes, replaces } = await child.diff(state, { ...inputs, [name]: value });
      expect(changes).not.toBe(false);
      expect(replaces).toEqual([name]);
    },
  );

  test("after a refresh of what stands the plan is empty, and the refresh changes nothing", async () => {
    const child = await started();
    const state = await child.create(inputs);
    await child.forgetRequests();
    child.restart();
    const { changes, replaces, found } = await planAfterRefresh(child, state, inputs);
    expect({ changes, replaces }).toEqual({ changes: false, replaces: [] });
    expect(found.outs).toEqual(state.outs);
    expect(found.inputs).toEqual({
      ...inputs,
      __urn: urnOf(lifecycle.kind),
      __provider: "pointer",
    });
    expect(await child.mutations()).toEqual([]);
  });

  test("it is gone when its integration is", async () => {
    const child = await started();
    const state = await child.create(inputs);
    await child.edit({ kind: "integration", delete: true });
    child.restart();
    expect(await child.read(state)).toBeUndefined();
  });

  test("it is gone when another integration stands in the place of its own", async () => {
    const child = await started();
    const state = await child.create(inputs);
    await child.edit({ kind: "integration", delete: true });
    await withIntegration(child);
    child.restart();
    expect(await child.read(state)).toBeUndefined();
  });

  test.each(MISBEHAVIOURS)(
    "a refresh that is answered with %s fails in words and drops nothing",
    async (_how, fault, words) => {
      const child = await started({}, { readDeadlineMs: 2_000 });
      const state = await child.create(inputs);
      await child.fault(fault);
      child.restart();
      const error = await thrownBy(child.read(state));
      expect(error.message).toMatch(new RegExp(`^Could not read ${lifecycle.kind} .*: `));
      expect(error.message).toMatch(words);
      expect(error).not.toHaveProperty("id");
      expectNoSecrets(child);
    },
  );

  test("deleting it succeeds, also when it is gone and when the whole integration is", async () => {
    const child = await started();
    const state = await child.create(inputs);
    await child.delete(state);
    await child.delete(state);
    await child.edit({ kind: "integration", delete: true });
    await child.delete(state);
    expectNoSecrets(child);
  });

  test("without an integration it is not made, and the error says what to do", async () => {
    const child = await harness(lifecycle);
    const error = await thrownBy(child.create(inputs));
    expect(error.message).toMatch(/404.*declare an AuthIntegration and pass its "projectId" output/);
    expect(error).not.toHaveProperty("id");
  });

  test("a project id of the wrong shape and an unknown argument are found together, without their values", async () => {
    const child = await started();
    const problems = await child.check({ ...inputs, projectId: "no such/thing", tags: "canary-Zq8" });
    expect(problems).toHaveLength(2);
    expect(problems.join("\n")).toMatch(/projectId: must be .*\n?/);
    expect(problems.join("\n")).toMatch(/tags: is not an argument of .*transformation/);
    expect(await child.requests()).toEqual([]);
    expectNoSecrets(child, ["no such/thing"]);
  });

  test("looking it up by its id needs no arguments and manages nothing", async () => {
    const child = await started();
    const { id } = await child.create(inputs);
    const found = await child.read({ id, outs: {} });
    expect(found?.outs).toMatchObject({ projectId: PROJECT });
  });
}
