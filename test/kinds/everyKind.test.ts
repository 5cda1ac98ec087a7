import { inspect } from "node:util";
import { EACH_CASE } from ".";
import { DEMO, othersIn, wholeIn, type KindCase } from "./KindCase";
import { started as startedKind } from "./started";
import { hashed } from "../../src/emulator/model/records";
import { cheapDigests } from "../support/cheapDigests";
import { until } from "../support/emulator";
import {
  CANARY,
  expectNoSecrets,
  harness,
  notes,
  planAfterRefresh,
  PROJECT,
  thrownBy,
  UNKNOWN,
  urnOf,
  withIntegration,
  type Harness,
  type State,
} from "../support/harness";

/* Tests of every resource. Tests of a single resource are in test/resources. */

cheapDigests();

describe.each(EACH_CASE)("$kind", (kindCase: KindCase) => {
  const { lifecycle, unknowns, inIntegration, deletion, secretOutputs } = kindCase;
  const inputs = wholeIn(kindCase, DEMO);
  const removedWhen = inIntegration ? "its integration is" : "it was deleted by hand";
  const remove = (given: Harness, state: State): Promise<void> =>
    inIntegration ? given.edit({ kind: "integration", delete: true }) : kindCase.vanish(given, state);
  const started = (...more: [options?: object, client?: object]): Promise<Harness> => startedKind(kindCase, ...more);
  const entriesOf = (...changes: Parameters<typeof othersIn>[2][]): [string, unknown][] =>
    Object.entries(othersIn(kindCase, DEMO, ...changes));
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

  test("outs without a pointer are a change that stores it and sends nothing", async () => {
    const given = await started();
    const { id, outs } = await given.create(inputs);
    const { __provider: pointer, ...others } = outs;
    await given.forgetRequests();
    expect(await given.diff({ id, outs: others }, inputs)).toMatchObject({ changes: true, replaces: [] });
    expect((await given.update({ id, outs: others }, inputs)).outs).toEqual({ ...others, __provider: pointer });
    expect(await given.mutations()).toEqual([]);
  });

  const { byReference, secretArguments } = kindCase;
  if (byReference.length > 0)
    describe("with its secrets by reference", () => {
      const NAME = "SVC_TEST_EVERY_KIND";
      const [VALUE, ROTATED] = [`${CANARY}-value`, `${CANARY}-rotated`];
      const referring = {
        ...inputs,
        ...Object.fromEntries(byReference.map((name) => [name, secretArguments[name]?.({ fromEnv: NAME })])),
      };
      beforeEach(() => (process.env[NAME] = VALUE));
      afterEach(() => delete process.env[NAME]);
      const digestsIn = ({ outs }: State): string[] => Object.values(outs["__applied"] as Record<string, string>);
      const expectHidden = (given: Harness, ...shown: unknown[]): void => {
        expectNoSecrets(given);
        expect(JSON.stringify(shown)).not.toContain(CANARY);
      };

      test("it sends the values, and keeps digests that differ from those of another resource", async () => {
        const given = await started();
        const state = await given.create(referring);
        expect(JSON.stringify(await given.mutations())).toContain(hashed(VALUE));
        const other = await (await started()).create(referring);
        expect(digestsIn(state)).toHaveLength(byReference.length);
        expect(Object.keys(state.outs["__applied"] as object)).toEqual(Object.keys(other.outs["__applied"] as object));
        expect(digestsIn(state).filter((digest) => digestsIn(other).includes(digest))).toEqual([]);
        given.restart();
        const { changes, found } = await planAfterRefresh(given, state, referring);
        expect(changes).toBe(false);
        expect(found.inputs).toMatchObject(referring);
        expectHidden(given, state, found);
      });

      test("a rotated value is sent, and no failure of that shows it", async () => {
        const given = await started();
        const state = await given.create(referring);
        process.env[NAME] = ROTATED;
        given.restart();
        await given.check(referring, referring);
        expect(await given.diff(state, referring)).toMatchObject({ changes: true, replaces: [] });
        const errors: string[] = [];
        for (const method of ["GET", "PATCH"]) {
          const fault = { status: 400, body: { code: "x", message: `no ${ROTATED}` }, times: 0 };
          await given.fault({ method, ...fault });
          errors.push(inspect(await thrownBy(given.update(state, referring)), { depth: Infinity, showHidden: true }));
          await given.clearFaults();
        }
        expect(errors.filter((error) => error.includes("[the service's message repeats a secret]"))).toHaveLength(2);
        await given.forgetRequests();
        const next = await given.update(state, referring);
        expect(JSON.stringify(await given.mutations())).toContain(hashed(ROTATED));
        expectHidden(given, errors, next);
      });
    });

  test.each([
    ...entriesOf("replaces").map((entry) => [...entry, "is created first", false] as const),
    ...entriesOf("excludes").map((entry) => [...entry, "is created once the old one is deleted", true] as const),
  ])("another value of %s replaces it: what has the value %j %s", async (name, value, _order, deletesFirst) => {
    const given = await started();
    const state = await given.create(inputs);
    const { changes, replaces, deleteBeforeReplace } = await given.diff(state, { ...inputs, [name]: value });
    expect(changes).not.toBe(false);
    expect({ replaces, deleteBeforeReplace }).toEqual({
      replaces: [name],
      deleteBeforeReplace: deletesFirst,
    });
  });

  const UPDATES = entriesOf("updates", "restarts", "stored");
  if (UPDATES.length > 0)
    test.each(UPDATES)("another value of %s is an update, and replaces nothing", async (name, value) => {
      const given = await started();
      const state = await given.create(inputs);
      const { changes, replaces } = await given.diff(state, { ...inputs, [name]: value });
      expect(changes).not.toBe(false);
      expect(replaces).toEqual([]);
    });

  const KEPT = entriesOf("nothing");
  if (KEPT.length > 0)
    test.each(KEPT)("a value of %s that comes after the creation changes nothing", async (name, value) => {
      const given = await started();
      const state = await given.create(inputs);
      expect(await given.diff(state, { ...inputs, [name]: value })).toMatchObject({ changes: false, replaces: [] });
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

  test("it is not changed once another resource of the same run has taken it over", async () => {
    const given = await started();
    const { id, outs } = await given.create(inputs);
    given.restart();
    await given.forgetRequests();
    const objects = lifecycle.objects(id, outs);
    // An object that cannot be deleted cannot be adopted either: each creation makes another one.
    expect(objects.length > 0).toBe(deletion !== undefined);
    for (const object of objects) given.session.memory.ownership.takeOver(object, urnOf(lifecycle.kind, "other"));
    if (deletion === undefined) return;
    // An unfinished change sends more than a plan shows.
    const error = await thrownBy(given.update({ id, outs: { ...outs, __unfinished: "update" } }, inputs));
    expect(error.message).toContain(`Could not update ${lifecycle.kind} ${id} ("thing"): `);
    expect(error.message).toMatch(/"other" of this program took over .* in the same run/);
    expect(await given.requests()).toEqual([]);
  });

  if (deletion?.readsFirst === true) {
    test("it is not deleted when another resource has it by the time its deletion would leave", async () => {
      const given = await started();
      const { id, outs } = await given.create(inputs);
      given.restart();
      await given.forgetRequests();
      await given.fault({ method: "GET", delayMs: 200 });
      const other = { __urn: urnOf(lifecycle.kind, "other") };
      const deleting = given.provider.delete(id, outs);
      // While it checks whether its integration still exists.
      await until(given.requests, (all) => all.length > 0);
      await given.provider.check(inputs, { ...inputs, ...other });
      await given.provider.diff(id, { ...outs, ...other }, { ...inputs, ...other });
      await deleting;
      expect(await given.mutations()).toEqual([]);
      expect(notes(given)).toEqual([expect.stringMatching(/"other"|another resource manages (it|them) now/)]);
    });
  }

  if (deletion !== undefined) {
    test("its deletion is not sent again when another resource has taken it over since the first attempt", async () => {
      const given = await started();
      const { id, outs } = await given.create(inputs);
      given.restart();
      await given.forgetRequests();
      // The delay leaves time for events during the first attempt.
      await given.fault({ method: deletion.method, status: 503, delayMs: 300, times: 1 });
      const other = { __urn: urnOf(lifecycle.kind, "other") };
      const deleting = given.provider.delete(id, outs);
      await until(given.mutations, (all) => all.length > 0);
      await given.provider.check(inputs, { ...inputs, ...other });
      await given.provider.diff(id, { ...outs, ...other }, { ...inputs, ...other });
      await deleting;
      expect(await given.mutations()).toHaveLength(1);
      expect(kindCase.standing(await given.state(), { id, outs })).not.toEqual([]);
      expect(notes(given).at(-1)).toEqual(expect.stringMatching(/"other"|another resource manages (it|them) now/));
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

  test("looking it up by anything but an id of its form says which form it has, and sends nothing", async () => {
    const given = await harness(lifecycle);
    const { id } = kindCase.lifecycle;
    const [form = "", example = ""] = [id?.form, id?.example];
    const parts = form.split("/").length;
    const wrong = [
      "https://console.example.com/projects/prj-demo/endpoints/ep-1?tab=auth",
      "projects/prj-demo/endpoints/ep-1/settings",
      "/prj-demo",
      "prj demo",
      ...Array.from({ length: parts - 1 }, (_, at) => example.split("/", at + 1).join("/")),
      ...(parts > 1 ? [`${PROJECT}/`] : [`${PROJECT}/x`]),
    ].filter((one) => kindCase.kind !== "WhitelistDomain" || !one.startsWith("projects/"));
    for (const one of wrong) {
      const { message } = await thrownBy(given.provider.read(one, {}));
      expect(message).toContain(`the id must have the form ${form}, such as ${example}`);
      expect(message.includes("the address of a page is no id")).toBe(one.startsWith("https://"));
    }
    expect(await given.requests()).toEqual([]);
    // What it says does exist.
    const { message } = await thrownBy(given.provider.read(example, {}));
    expect(message).not.toContain("must have the form");
  });

  if (inIntegration) childCases(kindCase);
});

/**
 * Tests of every object that belongs to an auth integration (docs/design/decisions.md, Replacing, moving, adopting).
 */
function childCases(kindCase: KindCase): void {
  const { lifecycle, deletion } = kindCase;
  const inputs = wholeIn(kindCase, DEMO);
  const started = (): Promise<Harness> => startedKind(kindCase);

  test("a project that is not known yet is one whose integration is being replaced: the child is replaced as well", async () => {
    const given = await started();
    const state = await given.create(inputs);
    expect(await given.check({ ...inputs, projectId: UNKNOWN })).toEqual([]);
    expect(await given.diff(state, { ...inputs, projectId: UNKNOWN })).toMatchObject({
      replaces: ["projectId"],
      // Until the project is known, it may be the same one.
      deleteBeforeReplace: deletion !== undefined,
    });
  });

  test("it is gone when another integration stands in the place of its own", async () => {
    const given = await started();
    const state = await given.create(inputs);
    await given.edit({ kind: "integration", delete: true });
    await withIntegration(given);
    given.restart();
    expect(await given.read(state)).toBeUndefined();
  });

  test("deleting it succeeds when it is gone, and then the whole integration", async () => {
    const given = await started();
    const state = await given.create(inputs);
    await given.delete(state);
    await given.edit({ kind: "integration", delete: true });
    await given.delete(state);
  });

  test("without an integration it is not made, and the error says what to do", async () => {
    const given = await harness(lifecycle);
    const error = await thrownBy(given.create(inputs));
    expect(error.message).toMatch(/404.*declare an AuthIntegration and pass its "projectId" output/);
    expect(error).not.toHaveProperty("id");
  });
}
