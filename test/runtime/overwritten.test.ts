import { leftToService, mayOverwrite } from "../../src/runtime/ignored";
import { overwriteFindings, overwritten } from "../../src/runtime/overwritten";
import { Granted, Unknown } from "../../src/client";
import { differencesOf } from "../../src/runtime/differences";
import type { Rules } from "../../src/runtime/arguments";
import { settingsForm } from "./settingsLike";

const rules: Rules = {
  size: {},
  host: {},
  password: { secret: true },
  // Only values of this type are compared.
  settings: { form: settingsForm as (value: unknown) => unknown },
  list: {},
  adopt: { createOnly: true },
  triggers: { local: true },
};

describe("two values of an argument differ", () => {
  test.each([
    ["nowhere, if the argument says so", { a: "X" }, { a: "x" }, []],
    ["in each entry of its own", { a: "1", b: "2" }, { a: "1", b: "3", c: "4" }, [["b"], ["c"]]],
    ["in no entry that means the same", { a: "X", b: "2" }, { a: "x", b: "3" }, [["b"]]],
    ["in no entry with another spelling of its name", { A: "x", b: "2" }, { a: "X", B: "3" }, [["b"]]],
  ])("%s", (_where, left, right, keys) => {
    expect(differencesOf(rules["settings"] ?? {}, left, right).map((one) => one.keys)).toEqual(keys);
  });

  test("as a whole, if one of them has no parts", () => {
    expect(differencesOf({}, 2, { min: 1 })).toEqual([{ keys: [], left: 2, right: { min: 1 } }]);
    expect(differencesOf({}, [1], [2])).toEqual([{ keys: [], left: [1], right: [2] }]);
  });
});

describe("what a request overwrites beside what the plan shows", () => {
  const NOTHING = { replaced: [], cleared: [], unseen: [] };

  test.each<[string, object, readonly string[], object, object, object]>([
    ["nothing, where the service is as the state", { size: 2 }, ["size"], { size: 1 }, { size: 1 }, {}],
    ["nothing that is there already", { size: 2 }, ["size"], { size: 1 }, { size: 2 }, {}],
    ["another value than the state has", { size: 2 }, ["size"], { size: 1 }, { size: 8 }, { replaced: ['"size"'] }],
    ["what is only sent along", { host: "a" }, [], { host: "a" }, { host: "b" }, { replaced: ['"host"'] }],
    ["a value that the state does not know", { host: "a" }, ["host"], {}, { host: "b" }, { replaced: ['"host"'] }],
    ["what the service does not show", { password: "p" }, [], { password: "p" }, {}, { unseen: ['"password"'] }],
    ["nothing hidden that changes: the plan shows it", { password: "p" }, ["password"], { password: "q" }, {}, {}],
    ["nothing of the state alone", { triggers: [1], adopt: true }, [], {}, { triggers: [2], adopt: false }, {}],
    [
      "entries that neither the program nor the state has",
      { settings: { a: "1" } },
      ["settings"],
      {},
      { settings: { a: "1", b: "2", "c.d": "3" } },
      { cleared: ['"settings.b"', '"settings["c.d"]"'] },
    ],
    [
      "no entry whose removal the plan shows",
      { settings: { a: "1" } },
      ["settings"],
      { settings: { a: "1", b: "2" } },
      { settings: { a: "1", b: "2" } },
      {},
    ],
    [
      "one entry beside another",
      { settings: { a: "1", b: "2" } },
      ["settings"],
      { settings: { a: "0", b: "2" } },
      { settings: { a: "0", b: "9" } },
      { replaced: ['"settings.b"'] },
    ],
    [
      "an entry that somebody has cleared, and that comes back",
      { settings: { a: "1", b: "2" } },
      ["settings"],
      { settings: { a: "0", b: "2" } },
      { settings: { a: "0" } },
      { replaced: ['"settings.b"'] },
    ],
    [
      "items of a list",
      { list: ["a"] },
      ["list"],
      {},
      { list: ["b", "c"] },
      { cleared: ['"b" in "list"', '"c" in "list"'] },
    ],
    ["no item whose removal the plan shows", { list: ["a"] }, ["list"], { list: ["a", "b"] }, { list: ["a", "b"] }, {}],
  ])("is %s", (_what, sent, changed, stored, shown, expected) => {
    const found = overwritten(rules, { sent, changed: new Set(changed), stored, shown });
    expect(found).toEqual({ ...NOTHING, ...expected });
  });

  test("a secret by reference is compared with what it was, unless the plan sends another value", () => {
    const about = { sent: { host: "v" }, stored: { host: { fromEnv: "HOST" } }, shown: { host: "w" } };
    expect(overwritten(rules, { ...about, changed: new Set() }).replaced).toEqual(['"host"']);
    expect(overwritten(rules, { ...about, changed: new Set(["host"]) }).replaced).toEqual([]);
  });

  test("is told as effects, by name and not by value", () => {
    const all = { replaced: ['"b"', '"a"'], cleared: ['"c"'], unseen: ['"d"'] };
    expect(overwriteFindings("compute ep-1", all)).toEqual([
      { message: 'pulumi up clears "c" of compute ep-1: the program does not list it', isObstacle: false },
      {
        message: 'pulumi up overwrites "a", "b" of compute ep-1: the service has another value there than the state',
        isObstacle: false,
      },
      { message: expect.stringMatching(/^pulumi up also sets "d" of compute ep-1/), isObstacle: false },
    ]);
    expect(overwriteFindings("compute ep-1", NOTHING)).toEqual([]);
  });
});

describe("ignoreChanges leaves to the service", () => {
  const left = (args: object, shown: object, ...ignored: string[]) => leftToService(rules, args, { shown, ignored });

  test.each<[string, object, object, string[], object, string[]]>([
    ["an argument", { size: 1, host: "a" }, { size: 2, host: "b" }, ["size"], { size: 2, host: "a" }, []],
    ["everything", { size: 1, host: "a" }, { size: 2, host: "b", list: [] }, ["*"], { size: 2, host: "b" }, []],
    [
      "one entry",
      { settings: { a: "1", b: "2" } },
      { settings: { a: "8", b: "9" } },
      ["settings.a"],
      { settings: { a: "8", b: "2" } },
      [],
    ],
    [
      "an entry that is not there",
      { settings: { a: "1", b: "2" } },
      { settings: { b: "9" } },
      ["settings.a"],
      { settings: { b: "2" } },
      [],
    ],
    [
      "an entry that only the service has",
      { settings: { b: "2" } },
      { settings: { a: "8", b: "2" } },
      ["settings.a"],
      { settings: { a: "8", b: "2" } },
      [],
    ],
    [
      "what it does not show: nothing is known of it",
      { password: "p", size: 1 },
      { size: 1 },
      ["password"],
      { size: 1 },
      ["password"],
    ],
    ["nothing of what the state alone holds", { triggers: [1] }, {}, ["*"], { triggers: [1] }, []],
    ["nothing without a path", { size: 1 }, { size: 2 }, [], { size: 1 }, []],
  ])("%s", (_what, args, shown, ignored, expected, hidden) => {
    expect(left(args, shown, ...ignored)).toEqual({ args: expected, hidden });
  });

  test("what it does not show is not overwritten: it is not known what would be lost", () => {
    expect(mayOverwrite("it", [])).toBeInstanceOf(Granted);
    const refused = mayOverwrite("the server", ["password"]);
    expect(refused).toBeInstanceOf(Unknown);
    expect(refused instanceof Unknown && refused.error.message).toMatch(
      /^it is not known whether this change would set "password" of the server back: .*remove "password" from ignoreChanges/,
    );
  });
});
