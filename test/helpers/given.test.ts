import { keysWithNearest, mustBe, nearestName, objectProblems, unknownProperty } from "../../src/helpers/given";

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

test("keys of the configuration come sorted, with what was meant", () => {
  const known = ["strictPlan", "baseUrl"];
  expect(keysWithNearest("svc", ["strictplan", "colour", "base_url"], known)).toBe(
    "svc:base_url (did you mean svc:baseUrl?), svc:colour, svc:strictplan (did you mean svc:strictPlan?)",
  );
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

describe("a value of the wrong type", () => {
  test.each([
    ["number", "0.25", 'the string "0.25". The configuration holds strings: read it with config.requireNumber'],
    ["number", "-3", 'the string "-3". '],
    ["boolean", "true", 'the string "true". The configuration holds strings: read it with config.requireBoolean'],
  ] as const)("as a %s, %j is shown: only its type is wrong", (type, value, words) => {
    expect(mustBe("good", type, value)).toMatch(new RegExp(`^must be good, not ${words.replace(/[.]/g, "\\.")}`));
  });

  test.each([
    ["number", "canary"],
    ["number", "0.25 canary"],
    // A PIN, a number of an account.
    ["number", "48151623"],
    ["number", ""],
    ["number", "true"],
    ["boolean", "canary"],
    ["boolean", "1"],
    ["list", "canary"],
    ["object", "0.25"],
  ] as const)("as a %s, %j is not shown, and where it may come from is reported", (type, value) => {
    const told = mustBe("good", type, value);
    expect(told).toMatch(/^must be good, not a string\. The configuration holds strings: read it with config\.require/);
    if (value !== "") expect(told).not.toContain(value);
  });

  test("as a string, a number or a flag is not shown either: a place of strings may hold a secret", () => {
    for (const value of [4711, true]) {
      const told = mustBe("a string", "string", value);
      expect(told).toMatch(/^must be a string, not a (number|boolean)\. .*set it there with `--type string`$/);
      expect(told).not.toMatch(/4711|true/);
    }
  });

  test.each([
    [null, ", not null"],
    [undefined, ", and is missing"],
    [["canary"], ", not a list"],
    [Number.NaN, ", not NaN"],
  ])("%p comes from no configuration", (value, words) =>
    expect(mustBe("good", "number", value)).toBe(`must be good${words}`),
  );

  test("one of the right type, which is refused for another reason, has nothing added", () => {
    expect(mustBe("a whole number", "number", 1.5)).toBe("must be a whole number");
    expect(mustBe("a string that is not empty", "string", "")).toBe("must be a string that is not empty");
  });
});
