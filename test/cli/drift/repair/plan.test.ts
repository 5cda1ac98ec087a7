import { planOf } from "../../../../src/cli/drift/repair/plan";
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
const entry = (name: string, given: object = {}) => ({ urn: urnOf(name), type: "any:type:T", ...given });
const steps = (...some: (readonly [string, string])[]) => ({
  steps: some.map(([name, op]) => ({ urn: urnOf(name), op })),
});

test("an update that the engine plans as one keeps the words of the lifecycle", () => {
  expect(planOf([drifted("a")], steps(["other", "same"], ["a", "update"]), stateOf(entry("a")))).toMatchObject([
    { name: "a", action: "update", restarts: true, messages: ["it restarts"], dependants: [] },
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
