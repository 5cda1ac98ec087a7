import { nearestName, objectProblems, unknownProperty } from "../../src/helpers/given";

const COMPUTE = ["projectId", "branchId", "type", "name", "size", "scaleToZero", "settings", "adopt"];

test.each([
  ["sise", "size"],
  ["Size", "size"],
  ["branch_id", "branchId"],
  ["scaletozero", "scaleToZero"],
  ["setings", "settings"],
  ["project", "projectId"],
  ["adopted", "adopt"],
  ["tpye", "type"],
])("%s is near %s", (name, meant) => {
  expect(nearestName(name, COMPUTE)).toBe(meant);
});

test.each(["tags", "x", "", "colour", "ty"])("%j is near nothing", (name) => {
  expect(
    nearestName(
      name,
      COMPUTE.filter((known) => known !== "type"),
    ),
  ).toBeUndefined();
});

test("a name that is near nothing is answered with those that are known", () => {
  expect(unknownProperty("tags", ["min", "max"])).toBe("unknown property. Known: min, max");
});

test.each([
  [undefined, "box: is required"],
  [null, "box: must be an object, not null"],
  [7, "box: must be an object, not a number"],
  ["canary", "box: must be an object, not a string"],
  [["canary"], "box: must be an object, not a list"],
  [Promise.resolve({}), "box: must be an object, not a promise"],
  [() => undefined, "box: must be an object, not a function"],
])("%p is no object", (value, problem) => {
  expect(objectProblems(value, "box", { known: ["min"] })).toEqual([problem]);
});

test("all problems of an object come at once, and none shows a value", () => {
  const problems = objectProblems({ mn: "canary", none: undefined, max: null }, "box", {
    known: ["min", "max"],
    required: ["min", "max"],
  });
  expect(problems).toEqual([
    'box.mn: unknown property. Did you mean "min"?',
    "box.min: is required",
    "box.max: is required",
  ]);
});
