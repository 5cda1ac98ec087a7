import { authIntegration } from "../../src/resources/authIntegration/authIntegrationLifecycle";
import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { EACH_KIND } from "../kinds";
import { INPUTS } from "../support/authIntegrations";
import { LEAST } from "../support/computeCases";
import { harness, thrownBy, UNKNOWN, urnOf, type Harness, type State } from "../support/harness";

/** `deletionProtection` in process: what each call refuses, and what it sends. With the real engine: test/engine/deletionProtection.test.ts. */

const ON = { deletionProtection: true };
const OFF = { deletionProtection: false };

/** Each kind that has it, a change that replaces, and one that does not. */
const CASES = [
  ["AuthIntegration", () => harness(authIntegration), INPUTS, { databaseName: "other" }, undefined],
  ["ComputeEndpoint", () => harness(computeEndpoint), LEAST, { projectId: "prj-other" }, { size: 2 }],
] as const;

/** Created with these arguments; the requests are counted from here on. */
async function standing(make: () => Promise<Harness>, inputs: object): Promise<{ given: Harness; state: State }> {
  const given = await make();
  const state = await given.create({ ...inputs });
  given.restart();
  await given.forgetRequests();
  return { given, state };
}

/** What a program that is planned says, and what it fails with. */
async function planned(given: Harness, state: State, olds: object, news: object) {
  const before = given.log.length;
  const refused = await given.check({ ...news }, { ...olds });
  const failure = await given.diff(state, { ...news }).then(
    ({ changes, replaces }) => ({ changes, replaces }),
    (error: Error) => error.message,
  );
  return { refused, failure, said: given.log.slice(before).map(({ message }) => message) };
}

test("the kinds that have it are these", () => {
  const having = EACH_KIND.filter(([, { declaration }]) => "deletionProtection" in declaration.args);
  expect(having.map(([kind]) => kind)).toEqual(CASES.map(([kind]) => kind));
});

describe.each(CASES)("%s", (kind, make, least, replacing, other) => {
  test("a deletion is refused before anything is sent, with a message, by every process, until an up has turned it off", async () => {
    const { given, state } = await standing(make, { ...least, ...ON });
    for (const time of [1, 2]) {
      const { message } = await thrownBy(given.delete(state));
      expect([time, message]).toEqual([time, expect.stringContaining(`Could not delete ${kind} ${state.id}`)]);
      expect(message).toContain('its "deletionProtection" is on, so nothing was sent, and it is kept');
      expect(message).toContain('Give it "deletionProtection: false" in the program, and run pulumi up');
    }
    expect(await given.requests()).toEqual([]);

    const off = await given.update(state, { ...least, ...OFF });
    expect(await given.requests()).toEqual([]);
    await given.delete(off);
    expect(await given.requests("DELETE")).toHaveLength(1);
  });

  test("a plan that replaces it by itself cannot turn it off, and the message says what to leave out", async () => {
    const { given, state } = await standing(make, { ...least, ...ON });
    // `--replace`, or `pulumi state taint`: no old inputs, and no comparison.
    await given.check({ ...least, ...OFF }, {});
    const { message } = await thrownBy(given.delete(state));
    expect(message).toContain("This plan replaces it, which does not turn the protection off");
    expect(message).toContain("pulumi state untaint");
    expect(await given.requests()).toEqual([]);
  });

  test.each([
    ["given as false", OFF],
    ["left out", {}],
  ])("turned off, %s: a change of the state alone, said in the plan, that sends nothing", async (_form, off) => {
    const { given, state } = await standing(make, { ...least, ...ON });
    const plan = await planned(given, state, { ...least, ...ON }, { ...least, ...off });
    expect(plan).toMatchObject({ refused: [], failure: { replaces: [] } });
    expect(plan.failure).not.toMatchObject({ changes: false });
    expect(plan.said).toEqual([
      `"deletionProtection" of ${kind} ${state.id} ("thing") is turned off: it can be deleted and replaced from then on`,
    ]);
    const { outs } = await given.update(state, { ...least, ...off });
    expect(await given.requests()).toEqual([]);
    // Nothing else moved, so the next plan is empty and a refresh shows nothing.
    const { deletionProtection: _now, __args: _names, ...rest } = outs;
    const { deletionProtection: _before, __args: _earlier, ...before } = state.outs;
    expect(rest).toEqual(before);
    expect(await given.diff({ ...state, outs }, { ...least, ...off })).toMatchObject({ changes: false });
    const read = await given.read({ ...state, outs });
    expect(read?.inputs["deletionProtection"]).toBe("deletionProtection" in off ? false : undefined);
  });

  test("turned on later: of a state that knows nothing of it, sent nowhere, and kept by a refresh", async () => {
    const { given, state } = await standing(make, least);
    expect(state.outs).not.toHaveProperty("deletionProtection");
    expect(await given.diff(state, { ...least })).toMatchObject({ changes: false });
    const on = await given.update(state, { ...least, ...ON });
    expect(await given.requests()).toEqual([]);
    const found = await given.read(on);
    expect(found).toMatchObject({ inputs: ON, outs: ON });
    expect(await given.diff({ id: state.id, outs: found?.outs ?? {} }, { ...least, ...ON })).toMatchObject({
      changes: false,
    });
    expect((await thrownBy(given.delete({ id: state.id, outs: found?.outs ?? {} }))).message).toMatch(/is on/);
  });

  test.each([
    ["it is on", ON, ON],
    ["the same up turns it off", ON, OFF],
    ["the same up leaves it out", ON, {}],
    ["the same up turns it on", {}, ON],
  ])("the plan of a replacement fails where %s, and says what would replace it", async (_when, before, now) => {
    const { given, state } = await standing(make, { ...least, ...before });
    const news = { ...least, ...replacing, ...now };
    const { failure, said } = await planned(given, state, { ...least, ...before }, news);
    const [name] = Object.keys(replacing);
    expect(failure).toContain(
      `${kind} ${state.id} ("thing") is not replaced, although the change of "${name}" requires it`,
    );
    expect(failure).toContain('first turn the protection off. Give it "deletionProtection: false"');
    // What would be lost is reported, too.
    expect(said).toEqual([expect.stringContaining("is replaced, because")]);
    expect(await given.mutations()).toEqual([]);
  });

  test("a value that is not known yet refuses nothing before it is", async () => {
    const { given, state } = await standing(make, { ...least, ...ON });
    const [name = ""] = Object.keys(replacing);
    const { failure, said } = await planned(given, state, { ...least, ...ON }, { ...least, ...ON, [name]: UNKNOWN });
    expect(failure).toMatchObject({ replaces: [] });
    expect(said).toEqual([expect.stringContaining(`may be replaced when "${name}" is known`)]);
    // The same for the protection itself.
    const open = await planned(given, state, { ...least, ...ON }, { ...least, deletionProtection: UNKNOWN });
    expect(open.failure).toMatchObject({ replaces: [] });
  });

  test("what a refresh compares fails by nothing, and a report of drift says that a repair is refused", async () => {
    const { given, state } = await standing(make, { ...least, ...ON });
    // No program has been checked by this process.
    expect(await given.diff(state, { ...least, ...replacing, ...ON })).toMatchObject({
      replaces: Object.keys(replacing),
    });
    const repair = given.provider.repair(state.id, state.outs, { ...least, ...replacing, ...ON });
    expect(repair.action).toBe("replace");
    expect(repair.messages.at(-1)).toBe(`pulumi up refuses that: "deletionProtection" of ${kind} ${state.id} is on`);
  });

  test.each(["true", "false", 1, 0, null, [], {}, "yes"])(
    "%j is no boolean, and refused by the plan",
    async (value) => {
      const given = await make();
      const refused = await given.check({ ...least, deletionProtection: value });
      // As everywhere, null is an argument that is left out.
      expect(refused).toEqual(
        value === null ? [] : [expect.stringContaining("deletionProtection: must be true or false")],
      );
    },
  );

  test("a state that was edited to hold another type deletes nothing", async () => {
    const { given, state } = await standing(make, { ...least, ...ON });
    const edited = { ...state, outs: { ...state.outs, deletionProtection: "false" } };
    expect((await thrownBy(given.delete(edited))).message).toContain(
      'a value of the wrong type for "deletionProtection"',
    );
    expect(await given.requests()).toEqual([]);
  });

  test("an unfinished update continues, also where the protection alone changes", async () => {
    const { given, state } = await standing(make, { ...least, ...ON });
    await given.update({ ...state, outs: { ...state.outs, __unfinished: "update" } }, { ...least, ...OFF });
    expect((await given.requests("GET")).length).toBeGreaterThan(0);
  });

  if (other !== undefined) {
    test("another change beside it is sent, and the protection is not", async () => {
      const { given, state } = await standing(make, { ...least, ...ON });
      const { outs } = await given.update(state, { ...least, ...other, ...OFF });
      expect(outs).toMatchObject({ ...other, ...OFF });
      const sent = await given.mutations();
      expect(sent).toHaveLength(1);
      expect(JSON.stringify(sent)).not.toMatch(/protection/i);
    });
  }
});

test("a creation sends nothing of it", async () => {
  for (const [, make, least] of CASES) {
    const given = await make();
    await given.create({ ...least, ...ON });
    expect(JSON.stringify(await given.mutations())).not.toMatch(/protection/i);
  }
});

test("what another resource of the program has taken over is not deleted, so it is not refused either", async () => {
  const { given, state } = await standing(() => harness(computeEndpoint), { ...LEAST, ...ON });
  const { provider } = given;
  const renamed = { ...LEAST, adopt: true, __urn: urnOf("ComputeEndpoint", "renamed"), __provider: "pointer" };
  const taken = await provider.create(renamed);
  expect(taken.id).toBe(state.id);
  await provider.delete(state.id, state.outs);
  expect(await given.requests("DELETE")).toEqual([]);
});
