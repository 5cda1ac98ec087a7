/**
 * Rule 5: the resource's line announces everything that a plan will or may replace, restart or adopt. Plans go through
 * a stand-in for the engine (program.ts); the tests do not depend on how warnings are computed.
 */
import { records, until } from "../support/emulator";
import { EACH_CASE, EACH_KIND, KIND_CASES } from "../kinds";
import { othersIn, wholeIn, type KindCase } from "../kinds/KindCase";
import { changesIn, UNKNOWN, warningsOn, type Declared, type Program } from "../support/rules/program";
import { branch, expectDone, placeIn, world, type Json, type World } from "../support/rules/world";

const P = "prj-told";
const PLACE = placeIn(P);
const EACH = EACH_KIND.flatMap(([kind, kindCase]) =>
  Object.entries(othersIn(kindCase, PLACE, "replaces", "excludes")).map(
    ([name, other]) => [kind, name, kindCase, other] as const,
  ),
);

/** A stack with the deployed resource "thing". */
async function deployed(kindCase: KindCase, inputs: object = wholeIn(kindCase, PLACE)) {
  const { kind, inIntegration } = kindCase;
  const given = await world();
  await given.project(P, { integration: inIntegration });
  const stack = given.stack();
  const thing = (more: object = {}): Declared => ({ kind, name: "thing", inputs: { ...inputs, ...more } });
  expectDone(await stack.up([thing()]));
  const warnings = async (more: object): Promise<string[]> => {
    const plan = await stack.preview([thing(more)]);
    expect(plan.errors).toEqual([]);
    return warningsOn(plan, kind, "thing");
  };
  return { given, stack, thing, warnings };
}

test.each(EACH)(
  "%s: another value of %s is announced as a replacement, with what is lost",
  async (_kind, argument, kindCase, other) => {
    const { warnings } = await deployed(kindCase);
    const { without = [] } = kindCase.arguments[argument] ?? {};
    const said = await warnings({ ...Object.fromEntries(without.map((name) => [name, undefined])), [argument]: other });
    const [announcement = ""] = said.filter((text) => /replace/i.test(text));
    expect(announcement).toContain(`"${argument}"`);
    expect(announcement).not.toMatch(/may be replaced/);
    if (kindCase.lost !== undefined) expect(said.join("\n")).toMatch(kindCase.lost);
  },
);

test.each(EACH)(
  "%s: a value of %s that is not known yet is announced as a possible replacement",
  async (_kind, argument, kindCase) => {
    const { warnings } = await deployed(kindCase);
    const said = (await warnings({ [argument]: UNKNOWN })).filter((text) => /replace/i.test(text)).join("\n");
    expect(said).toContain(`"${argument}"`);
    expect(said).toMatch(/known/);
  },
);

test.each(EACH_KIND)(
  "%s: a plan without changes announces nothing, and neither does a refresh",
  async (_kind, kindCase) => {
    const { warnings, thing, stack } = await deployed(kindCase);
    expect(await warnings({})).toEqual([]);
    const { errors, log } = await stack.refresh();
    expect(errors).toEqual([]);
    expect(log.filter(({ severity }) => severity === "warning")).toEqual([]);
    expectDone(await stack.up([thing()]));
  },
);

test("an integration on a branch that is not known yet: the plan says that all users and keys may be lost", async () => {
  const { warnings } = await deployed(KIND_CASES.AuthIntegration);
  const said = (await warnings({ branchId: UNKNOWN })).join("\n");
  expect(said).toMatch(/may be replaced/);
  expect(said).toMatch(/users/);
  expect(said).toMatch(/keys/);
});

test("an OAuth provider that goes back to shared keys is announced as a replacement", async () => {
  const { warnings } = await deployed(KIND_CASES.OAuthProvider);
  const said = await warnings({ clientId: undefined, clientSecret: undefined });
  expect(said.join("\n")).toMatch(/replace|deleted and created again/);
});

describe("a takeover in a replacement is announced", () => {
  const TAKEOVERS = EACH_CASE.flatMap((kindCase) =>
    kindCase.takeovers.map((takeover) => [takeover.title, kindCase, takeover] as const),
  );
  test.each(TAKEOVERS)("%s", async (_title, kindCase, { from, to }) => {
    const { given, warnings } = await deployed(kindCase, from(PLACE));
    await given.project("prj-live", { compute: true });
    const said = (await warnings(to(PLACE, placeIn("prj-live")))).join("\n");
    expect(said).toMatch(/replace/i);
    expect(said).toMatch(/take[sn]? over/);
  });
});

describe("a restart is announced", () => {
  const endpoints = `/projects/${P}/endpoints`;
  const idOf = (stack: { entry(name: string): { id: string } }) => stack.entry("thing").id.split("/")[1] ?? "";
  const compute = { projectId: P, branchId: branch(P, 2) };

  const active = (given: World, id: string): Promise<Json> =>
    until(
      async () => records(await given.call("GET", endpoints), "endpoints").find((record) => record["id"] === id) ?? {},
      ({ current_state, pending_state }) => current_state === "active" && pending_state === undefined,
    );

  test("when size is managed again, with a value that the state may have from long ago", async () => {
    const { given, stack, warnings, thing } = await deployed(KIND_CASES.ComputeEndpoint, { ...compute, size: 2 });
    // Managed no more, then changed by hand: the state still says 2.
    expectDone(await stack.up([thing({ size: undefined })]));
    await given.edit(P, {
      kind: "endpoint",
      id: idOf(stack),
      set: { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 },
    });
    const said = (await warnings({ size: 2 })).join("\n");
    expect(said).toMatch(/"size"/);
    expect(said).toMatch(/restart/);
    expect(said).toMatch(/connections/);
  });

  test("when size is managed for the first time, with another value", async () => {
    const { warnings } = await deployed(KIND_CASES.ComputeEndpoint, compute);
    expect((await warnings({ size: 8 })).join("\n")).toMatch(/"size".*restart.*connections/s);
  });

  test("when restartTriggers are given for the first time, which does restart an active compute", async () => {
    const { given, stack, warnings, thing } = await deployed(KIND_CASES.ComputeEndpoint, compute);
    expect((await warnings({ restartTriggers: [1] })).join("\n")).toMatch(/restart.*connections/s);
    await active(given, idOf(stack));
    await given.forgetRequests();
    expectDone(await stack.up([thing({ restartTriggers: [1] })]));
    expect(await given.mutations()).toEqual([expect.stringMatching(/^POST .*\/restart$/)]);
  });

  test("when triggers are given again after they were left out", async () => {
    const { given, stack, warnings, thing } = await deployed(KIND_CASES.ComputeEndpoint, {
      ...compute,
      restartTriggers: [1],
    });
    expectDone(await stack.up([thing({ restartTriggers: undefined })]));
    expect((await warnings({ restartTriggers: [2] })).join("\n")).toMatch(/restart.*connections/s);
    await active(given, idOf(stack));
    await given.forgetRequests();
    expectDone(await stack.up([thing({ restartTriggers: [2] })]));
    expect(await given.mutations()).toEqual([expect.stringMatching(/^POST .*\/restart$/)]);
  });

  test("not for the triggers of a compute that is new: it starts afresh", async () => {
    const given = await world();
    await given.project(P);
    const stack = given.stack();
    const thing: Declared = { kind: "ComputeEndpoint", name: "thing", inputs: { ...compute, restartTriggers: [1] } };
    expect(warningsOn(await stack.preview([thing]), "ComputeEndpoint", "thing")).toEqual([]);
    expectDone(await stack.up([thing]));
    expect(await given.mutations()).not.toEqual(expect.arrayContaining([expect.stringMatching(/restart$/)]));
  });

  test("a trigger beside a size that somebody has changed by hand to the declared value restarts anyway", async () => {
    const { given, stack, thing } = await deployed(KIND_CASES.ComputeEndpoint, {
      ...compute,
      size: 2,
      restartTriggers: [1],
    });
    await given.edit(P, {
      kind: "endpoint",
      id: idOf(stack),
      set: { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 },
    });
    await active(given, idOf(stack));
    await given.forgetRequests();
    expectDone(await stack.up([thing({ size: 4, restartTriggers: [2] })]));
    expect(await given.mutations()).toEqual(expect.arrayContaining([expect.stringMatching(/^POST .*\/restart$/)]));
  });

  test("a trigger beside a real resize restarts once: the resize does it", async () => {
    const { given, stack, thing } = await deployed(KIND_CASES.ComputeEndpoint, {
      ...compute,
      size: 2,
      restartTriggers: [1],
    });
    await active(given, idOf(stack));
    await given.forgetRequests();
    expectDone(await stack.up([thing({ size: 4, restartTriggers: [2] })]));
    expect(await given.mutations()).toEqual([expect.stringMatching(/^PATCH /)]);
  });
});

test("a refresh that finds drift in everything that a plan would announce says nothing of a plan", async () => {
  const { given, stack } = await deployed(KIND_CASES.ComputeEndpoint, {
    projectId: P,
    branchId: branch(P, 2),
    type: "read_only",
    size: 2,
    restartTriggers: [1],
    disabled: false,
  });
  const set = { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 16, branch_id: branch(P, 3), disabled: true };
  await given.edit(P, { kind: "endpoint", id: stack.entry("thing").id.split("/")[1], set });
  const { errors, log } = await stack.refresh();
  expect(errors).toEqual([]);
  expect(log.filter(({ severity }) => severity === "warning")).toEqual([]);
});

test("a Whitelist whose domains are not known yet is planned as an update", async () => {
  const given = await world();
  await given.project("prj-1", { integration: true });
  const stack = given.stack();
  const program = (domains: unknown): Program => [
    { kind: "Whitelist", name: "list", inputs: { projectId: "prj-1", domains } },
  ];
  expectDone(await stack.up(program(["https://a.example.com"])));
  for (const domains of [UNKNOWN, [UNKNOWN], ["https://a.example.com", UNKNOWN]]) {
    const plan = await stack.preview(program(domains));
    expectDone(plan);
    expect(changesIn(plan)).toEqual(["plan update list"]);
  }
});

test("a replacement that takes over a compute by its id says so in the plan", async () => {
  const given = await world();
  await given.project("prj-1");
  await given.project("prj-2", { compute: true });
  const stack = given.stack();
  const program = (projectId: string, n: number, more: object = {}): Program => [
    { kind: "ComputeEndpoint", name: "c", inputs: { projectId, branchId: branch(projectId, n), ...more } },
  ];
  expectDone(await stack.up(program("prj-1", 2)));
  const [theirs] = await given.computes("prj-2");
  const plan = await stack.preview(program("prj-2", 1, { adopt: String(theirs?.["id"]) }));
  expectDone(plan);
  expect(warningsOn(plan, "ComputeEndpoint", "c").join()).toMatch(/is replaced.*takes over/);
});
