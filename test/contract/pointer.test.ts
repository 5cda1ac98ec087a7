import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isOurEntry, kindOfEntry, KINDS, kindOfType, pointer, typesOf, typeToken } from "../../src/contract/pointer";
import { load } from "../../src/provider";

/** What released versions have written, which is never edited. */
const FIXTURES = join(__dirname, "fixtures");
const STATES = join(__dirname, "..", "engine", "states");

test("the pointer is this very text, for ever: states hold it", () => {
  expect(pointer("ComputeEndpoint")).toBe(
    'exports.handler=()=>require(require.resolve("pulumi-svc/provider",{paths:[".",require.main.path]})).load("ComputeEndpoint")',
  );
});

test("no kind makes the pointer longer than 129 bytes", () => {
  expect(Math.max(...KINDS.map((kind) => Buffer.byteLength(pointer(kind))))).toBe(129);
});

test("the pointer of each kind is that text with its name", () => {
  for (const kind of KINDS)
    expect(pointer(kind)).toBe(
      `exports.handler=()=>require(require.resolve("pulumi-svc/provider",{paths:[".",require.main.path]})).load("${kind}")`,
    );
});

test("each kind that a released state holds is still one", () => {
  const files = readdirSync(FIXTURES).filter((name) => name.startsWith("state-"));
  const held = files.flatMap((file) =>
    (JSON.parse(readFileSync(join(FIXTURES, file), "utf8")) as { readonly kind: string }[]).map(({ kind }) => kind),
  );
  const whole = readdirSync(STATES).map((name) => readFileSync(join(STATES, name, "state.json"), "utf8"));
  for (const text of whole)
    for (const [, kind = ""] of text.matchAll(/"pulumi-nodejs:dynamic\/svc:(\w+)"/g)) held.push(kind);
  expect(held.length).toBeGreaterThan(0);
  expect(held.filter((kind) => !(KINDS as readonly string[]).includes(kind))).toEqual([]);
  expect(typeToken("EmailServer")).toBe("pulumi-nodejs:dynamic/svc:EmailServer");
});

test("a kind is known by both of its types, and nothing else is taken for one", () => {
  for (const kind of KINDS) {
    expect(typesOf(kind)).toEqual([typeToken(kind), `svc:index:${kind}`]);
    expect(typesOf(kind).map(kindOfType)).toEqual([kind, kind]);
  }
  const others = ["svc:index:Later", "svc:index:constructor", "svc:components:ProjectAuth", "aws:index:Whitelist"];
  expect([...others, "pulumi-nodejs:dynamic/svc:", "pulumi-nodejs:dynamic:Resource", ""].map(kindOfType)).toEqual(
    Array(others.length + 3).fill(undefined),
  );
});

test("a component with the type of a kind is none of ours", () => {
  const type = "svc:index:ComputeEndpoint";
  expect([{ type }, { type, custom: true }, { type, custom: false }].map(kindOfEntry)).toEqual([
    "ComputeEndpoint",
    "ComputeEndpoint",
    undefined,
  ]);
  expect([{ type: "svc:index:Later" }, { type: "svc:index:Later", custom: false }].map(isOurEntry)).toEqual([
    true,
    false,
  ]);
});

test("every kind loads as a dynamic provider with all its methods", () => {
  for (const kind of KINDS) {
    expect(Object.keys(load(kind)).sort()).toEqual([
      "check",
      "configure",
      "create",
      "delete",
      "diff",
      "problems",
      "read",
      "repair",
      "update",
    ]);
  }
});

test("an unknown kind says which version runs and that two are installed", () => {
  expect(() => load("Teapot")).toThrow(/^pulumi-svc \d+\.\d+\.\d+ has no resource "Teapot".*two are installed/);
  expect(() => load("constructor")).toThrow(/has no resource/);
});
