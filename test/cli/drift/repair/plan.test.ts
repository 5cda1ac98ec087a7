import { planOf } from "../../../../src/cli/drift/repair/repairPlan";
import { registrablesOf } from "../../../../src/cli/drift/repair/registration";
import type { Drifted } from "../../../../src/cli/drift/report";
import { StackState } from "../../../../src/cli/stack/state";

const urnOf = (name: string): string => `urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::${name}`;

const drifted = (name: string, given: Partial<Drifted> = {}): Drifted => ({
  ...{ urn: urnOf(name), kind: "ComputeEndpoint", name, id: `prj-demo/${name}`, change: "changed" },
  properties: [{ path: "size", declared: 1, found: 2 }],
  repair: { action: "update", restarts: true, messages: ["it restarts"] },
  ...given,
});

const GONE: Partial<Drifted> = {
  change: "deleted",
  properties: [],
  repair: { action: "create", restarts: false, messages: [] },
};

const stateOf = (...resources: object[]) =>
  registrablesOf(new StackState(JSON.stringify({ deployment: { resources } })));
const entry = (name: string, given: object = {}) => ({ urn: urnOf(name), type: "any:type:T", custom: true, ...given });
const steps = (...some: (readonly [string, string])[]) => ({
  steps: some.map(([name, op]) => ({ urn: urnOf(name), op })),
  warnings: new Map<string, readonly string[]>(),
});

test("an update that the engine plans as one keeps the words of the lifecycle", () => {
  expect(planOf([drifted("a")], steps(["other", "same"], ["a", "update"]), stateOf(entry("a")))).toMatchObject([
    { name: "a", action: "update", restarts: true, messages: ["it restarts"], dependants: [] },
  ]);
});

test("what the plan of the engine warns of is told, once", () => {
  const warnings = new Map([[urnOf("a"), ["it restarts", "it also sets b"]]]);
  expect(planOf([drifted("a")], { ...steps(["a", "update"]), warnings }, stateOf(entry("a")))).toMatchObject([
    { messages: ["it restarts", "it also sets b"] },
  ]);
});

test("what the engine replaces is a replacement, whatever the lifecycle says", () => {
  const plan = planOf(
    [drifted("a")],
    steps(["a", "create-replacement"], ["a", "replace"], ["a", "delete-replaced"]),
    stateOf(),
  );
  expect(plan).toMatchObject([
    { action: "replace", restarts: false, messages: [expect.stringMatching(/engine replaces it/)] },
  ]);
});

test("a missing object of a replacement that did not end is created: nothing is replaced", () => {
  const plan = planOf([drifted("a", GONE)], steps(["a", "create-replacement"], ["a", "replace"]), stateOf());
  expect(plan).toMatchObject([{ action: "create" }]);
});

test("a plan that changes anything else is refused, with its name", () => {
  expect(() => planOf([drifted("a")], steps(["a", "update"], ["b", "delete"]), stateOf())).toThrow(
    /nothing was changed: the engine would also change b \(delete\)/,
  );
});

test("a replacement that replaces others too is reported with the ways out", () => {
  const plan = (): unknown =>
    planOf(
      [drifted("z"), drifted("a")],
      steps(["a", "replace"], ["b", "delete-replaced"], ["b", "create-replacement"], ["c", "same"], ["z", "replace"]),
      stateOf(entry("b", { propertyDependencies: { projectId: [urnOf("a")] } })),
    );
  expect(plan).toThrow(
    /nothing was changed: to replace a, the engine would also replace what uses its outputs: b \(delete-replaced, create-replacement\)\. pulumi up --refresh replaces all of it.*drift --accept a$/,
  );
});

describe("of an integration that is replaced", () => {
  const type = (kind: string): string => `pulumi-nodejs:dynamic/svc:${kind}`;
  const of = (identity: string | undefined) => ({
    outputs: identity === undefined ? {} : { authProviderProjectId: identity },
  });
  const AUTH = drifted("auth", {
    ...{ kind: "AuthIntegration", id: "prj-demo/stack", properties: [] },
    repair: { action: "replace", restarts: false, messages: [] },
  });
  const auth = entry("auth", { type: type("AuthIntegration"), id: "prj-demo/stack", ...of("one") });
  const REPLACED = steps(["auth", "replace"], ["auth", "create-replacement"], ["auth", "delete-replaced"]);

  test("what lives in it is named as lost, whether it depends on it or not, and nothing else", () => {
    const all = stateOf(
      auth,
      entry("github", { type: type("OAuthProvider"), id: "prj-demo/github", ...of("one") }),
      entry("user", { type: type("AuthUser"), id: "prj-demo/1", ...of("one"), dependencies: [urnOf("auth")] }),
      entry("older", { type: type("EmailServer"), id: "prj-demo", ...of(undefined) }),
      entry("of-another", { type: type("EmailServer"), id: "prj-demo", ...of("two") }),
      entry("elsewhere", { type: type("EmailServer"), id: "prj-demo-2", ...of(undefined) }),
      entry("looked", { type: type("OAuthProvider"), id: "prj-demo/x", ...of("one"), external: true }),
      entry("compute", { type: type("ComputeEndpoint"), id: "prj-demo/ep-1" }),
      entry("consumer", { dependencies: [urnOf("auth")] }),
    );
    const [step] = planOf([AUTH], REPLACED, all);
    expect(step).toMatchObject({ lost: ["github", "user", "older"].map(urnOf), dependants: [urnOf("consumer")] });
    // One that changes in place loses nothing.
    const [updated] = planOf(
      [{ ...AUTH, repair: { ...AUTH.repair, action: "update" } }],
      steps(["auth", "update"]),
      all,
    );
    expect(updated).toMatchObject({ lost: [] });
  });

  test("it is not repaired together with what it takes along", () => {
    const github = drifted("github", { kind: "OAuthProvider", id: "prj-demo/github" });
    const all = stateOf(auth, entry("github", { type: type("OAuthProvider"), id: github.id, ...of("one") }));
    expect(() => planOf([AUTH, github], REPLACED, all)).toThrow(
      /nothing was changed: github lives in auth, which the repair replaces\. Name auth alone/,
    );
  });
});

test("who depends on what is created again is named by any kind of dependency, unless it is in the plan", () => {
  const all = stateOf(
    entry("a"),
    entry("by-output", { propertyDependencies: { host: [urnOf("a")], nothing: null } }),
    entry("by-order", { dependencies: [urnOf("a")] }),
    entry("child", { parent: urnOf("a") }),
    entry("planned", { dependencies: [urnOf("a")] }),
    entry("stranger", { dependencies: [urnOf("planned")] }),
  );
  const [a, planned] = planOf([drifted("a", GONE), drifted("planned")], steps(), all);
  expect(a?.dependants).toEqual(["by-output", "by-order", "child"].map(urnOf));
  expect(planned?.dependants).toEqual([]);
});
