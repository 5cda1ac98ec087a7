import { KINDS } from "../../src/contract/pointer";
import { argumentRules } from "../../src/resources/lifecycles";
import { LISTED_KINDS, toolsOf } from "../../src/resources/tools";
import { KIND_CASES } from "../kinds";

test("commands list each kind once", () => {
  expect([...LISTED_KINDS].sort()).toEqual([...KINDS].sort());
});

test.each(KINDS)("%s: its tools name only arguments and outputs that it has", (kind) => {
  const { form, byHand = new Map(), envSources = [] } = toolsOf(kind);
  const args = Object.keys(argumentRules(kind));
  expect(args).toEqual(expect.arrayContaining([...(form === undefined ? [] : [form]), ...byHand.keys()]));
  const outputs = Object.keys(KIND_CASES[kind].declaration.outputs);
  expect(outputs).toEqual(expect.arrayContaining(envSources.map(({ output, from = output }) => from)));
});

test("what contains others is what others name as their container", () => {
  const containers = KINDS.flatMap((kind) =>
    Object.values(argumentRules(kind)).flatMap(({ container }) => container ?? []),
  );
  expect(KINDS.filter((kind) => toolsOf(kind).contains !== undefined)).toEqual([...new Set(containers)]);
});
