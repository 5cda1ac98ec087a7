import { KINDS, pointer, typeToken } from "../../src/contract/pointer";
import { load } from "../../src/provider";

test("the pointer is this very text, for ever: states hold it", () => {
  expect(pointer("ComputeEndpoint")).toBe(
    'exports.handler=()=>require(require.resolve("pulumi-svc/provider",{paths:[".",require.main.path]})).load("ComputeEndpoint")',
  );
});

test("no kind makes the pointer longer than 129 bytes", () => {
  expect(Math.max(...KINDS.map((kind) => Buffer.byteLength(pointer(kind))))).toBe(129);
});

test("the names of the kinds, which states hold too, are all there", () => {
  expect([...KINDS].sort()).toEqual([
    "AuthIntegration",
    "AuthKeys",
    "AuthOwnershipTransfer",
    "AuthUser",
    "ComputeEndpoint",
    "EmailServer",
    "OAuthProvider",
    "Whitelist",
    "WhitelistDomain",
  ]);
  expect(typeToken("EmailServer")).toBe("pulumi-nodejs:dynamic/svc:EmailServer");
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
