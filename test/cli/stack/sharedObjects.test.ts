import { execFileSync } from "node:child_process";
import { removalOf, sharedObjectsIn } from "../../../src/cli/stack/sharedObjects";
import { StackState } from "../../../src/cli/stack/state";
import { type Kind, nativeToken, PROVIDER_TYPE, typeToken } from "../../../src/contract/pointer";

type Entry = readonly [kind: Kind, name: string, id: string, facts?: object];

const before = process.env["SVC_BASE_URL"];
afterEach(() => {
  if (before === undefined) delete process.env["SVC_BASE_URL"];
  else process.env["SVC_BASE_URL"] = before;
});

const provider = (name: string): string => `urn:pulumi:dev::proj::${PROVIDER_TYPE}::${name}`;
const urnOf = (kind: Kind, name: string): string => `urn:pulumi:dev::proj::${typeToken(kind)}::${name}`;

function sharedIn(entries: readonly Entry[], addresses: Readonly<Record<string, string | undefined>> = {}) {
  const providers = Object.entries(addresses).map(([name, address]) => ({
    urn: provider(name),
    type: PROVIDER_TYPE,
    id: "1",
    inputs: address === undefined ? {} : { "svc:baseUrl": address },
  }));
  const resources = entries.map(([kind, name, id, facts = {}]) => ({
    ...{ urn: urnOf(kind, name), type: typeToken(kind), custom: true, id, provider: `${provider("default")}::1` },
    ...facts,
  }));
  return sharedObjectsIn(
    new StackState(JSON.stringify({ deployment: { resources: [...providers, ...resources] } })),
  ).map(({ objects, resources: holders }) => [objects, holders.map(({ kind, name }) => `${kind} ${name}`)]);
}

test("two entries of one object are found, whatever the kind", () => {
  expect(
    sharedIn([
      ["ComputeEndpoint", "renamed", "prj-demo/ep-1"],
      ["ComputeEndpoint", "old", "prj-demo/ep-1"],
      ["ComputeEndpoint", "other", "prj-demo/ep-2"],
      ["OAuthProvider", "a", "prj-demo/github"],
      ["OAuthProvider", "b", "prj-demo/github"],
      ["OAuthProvider", "c", "prj-demo/github/absent"],
      ["EmailServer", "a", "prj-demo"],
      ["EmailServer", "b", "prj-demo"],
      ["EmailServer", "c", "prj-two"],
      ["AuthIntegration", "a", "prj-demo/p", { outputs: { authProviderProjectId: "one" } }],
      ["AuthIntegration", "b", "prj-demo/p", { outputs: { authProviderProjectId: "one" } }],
      // It was replaced: another object of this name.
      ["AuthIntegration", "c", "prj-demo/p", { outputs: { authProviderProjectId: "two" } }],
      // Each call makes a new one.
      ["AuthKeys", "a", "prj-demo/p/1"],
      ["AuthKeys", "b", "prj-demo/p/1"],
    ]),
  ).toEqual([
    [["compute ep-1"], ["ComputeEndpoint old", "ComputeEndpoint renamed"]],
    [["OAuth provider prj-demo/github"], ["OAuthProvider a", "OAuthProvider b"]],
    [["e-mail server prj-demo"], ["EmailServer a", "EmailServer b"]],
    [[expect.stringMatching(/^auth integration .* one$/)], ["AuthIntegration a", "AuthIntegration b"]],
  ]);
});

test("a domain may be held by a list and by itself, and lists share many", () => {
  const domains = ["https://a.test", "https://b.test"];
  expect(
    sharedIn([
      ["WhitelistDomain", "a", "prj-demo/https://a.test"],
      ["Whitelist", "one", "prj-demo", { outputs: { domains } }],
      ["Whitelist", "two", "prj-demo", { outputs: { domains: [...domains, { sealed: 1 }] } }],
    ]),
  ).toEqual([
    [["redirect domain prj-demo/https://a.test"], ["Whitelist one", "Whitelist two", "WhitelistDomain a"]],
    [["redirect domain prj-demo/https://b.test"], ["Whitelist one", "Whitelist two"]],
  ]);
});

test("what is only looked up, left over, or deleted holds nothing, nor does another service", () => {
  const twice = (facts: object): Entry[] => [
    ["ComputeEndpoint", "a", "prj-demo/ep-1"],
    ["ComputeEndpoint", "b", "prj-demo/ep-1", facts],
  ];
  for (const facts of [{ external: true }, { delete: true }, { pendingReplacement: true }, { custom: false }])
    expect(sharedIn(twice(facts))).toEqual([]);
  const elsewhere = twice({ provider: `${provider("other")}::1` });
  expect(sharedIn(elsewhere, { default: "https://one.test/api", other: "https://two.test/api" })).toEqual([]);
  const same = { default: "https://one.test/api", other: "https://ONE.test:443/api/" };
  expect(sharedIn(elsewhere, same)).toHaveLength(1);
  // As everywhere else (contract/address.ts).
  const local = { default: "http://localhost:8080", other: "http://127.0.0.1:8080/" };
  expect(sharedIn(elsewhere, local)).toHaveLength(1);
  process.env["SVC_BASE_URL"] = "https://one.test/api";
  expect(sharedIn(elsewhere, { default: "https://one.test/api", other: undefined })).toHaveLength(1);
  const native = twice({
    urn: `urn:pulumi:dev::proj::${nativeToken("ComputeEndpoint")}::a`,
    type: nativeToken("ComputeEndpoint"),
  });
  expect(sharedIn(native)).toEqual([[["compute ep-1"], ["ComputeEndpoint a", "ComputeEndpoint a"]]]);
});

test("the command takes any name", () => {
  const urn = "urn:pulumi:dev::proj::t$t::it's";
  expect(execFileSync("sh", ["-c", `pulumi() { printf %s "$3"; }; ${removalOf({ urn })}`], { encoding: "utf8" })).toBe(
    urn,
  );
});
