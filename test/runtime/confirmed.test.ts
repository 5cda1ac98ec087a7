import { z } from "zod";
import type { ArgumentSpecs } from "../../src/runtime/arguments";
import { expectedOf, unconfirmed } from "../../src/runtime/confirmed";

interface Args {
  size: number;
  name: string;
  kind: string;
  adopt: boolean;
}

const specs: ArgumentSpecs<Args> = {
  size: { schema: z.number() },
  name: { schema: z.string(), form: (name) => name.toLowerCase() },
  kind: { schema: z.string(), assumed: "plain" },
  adopt: { schema: z.boolean(), createOnly: true },
};

describe("what was sent is not shown", () => {
  test.each<[string, object, object, string[]]>([
    ["with another value", { size: 1, name: "a" }, { size: 2, name: "a" }, ["size"]],
    ["but not in another spelling of it", { name: "Api" }, { name: "api" }, []],
    ["each of them", { size: 1, name: "a", kind: "x" }, { size: 2, name: "b", kind: "x" }, ["size", "name"]],
    ["but not one that cannot be read back: the record lacks its name", { size: 1, name: "a" }, { size: 1 }, []],
    ["but not one that only counts at the creation", { adopt: true }, { adopt: false }, []],
    ["but not one that was left out", { size: undefined }, { size: 2 }, []],
    ["but not what is no argument", { other: 1 }, { other: 2 }, []],
    [
      "but not a value that is the service's own default, left out by the record",
      { kind: "plain" },
      { kind: undefined },
      [],
    ],
  ])("%s", (_what, sent, shown, names) => {
    expect(unconfirmed(specs, { sent, shown })).toEqual(names);
  });

  test("an argument without a value in the record is no difference, and no proof either", () => {
    const exchange = { sent: { size: 1, name: "a" }, shown: { size: undefined, name: "a" } };
    expect(unconfirmed(specs, exchange)).toEqual([]);
    expect(unconfirmed(specs, { ...exchange, proof: true })).toEqual(["size"]);
    expect(unconfirmed(specs, { sent: { size: 1 }, shown: {}, proof: true })).toEqual([]);
  });
});

describe("what a collection waits for", () => {
  const checkpoint = jest.fn();
  const expected = expectedOf<Partial<Args>>(specs, {
    sent: { size: 1, name: "a", kind: "x" },
    argumentsOf: (item) => item,
    checkpoint,
  });

  test("nothing, where all is shown", () => {
    const item = { size: 1, name: "A", kind: "x" };
    expect(expected.differing(item, item)).toEqual([]);
  });

  test("the arguments that are shown with another value: for the state, these values of them alone", () => {
    const item = { size: 2, name: "b", kind: "x" };
    const names = expected.differing(item, item);
    expect(names).toEqual(["size", "name"]);
    expected.onOther?.(item, names);
    expect(checkpoint.mock.calls).toEqual([[{ size: 2, name: "b" }, item]]);
  });
});
