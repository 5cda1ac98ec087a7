import { type AuditedResource, auditRules } from "../../src/audit/rules";
import { findingsIn } from "../../src/cli/doctor/audit";
import { storedProviders } from "../../src/cli/doctor/stack";
import { refreshedBy } from "../../src/cli/drift/refreshed";
import { otherPackages } from "../../src/cli/drift/repair/otherPackages";
import { variablesOf } from "../../src/cli/env/variables";
import { StackState } from "../../src/cli/stack/state";
import { refreshedOf, secret } from "../support/refreshes";

/* What a state tells of native resources: no command takes a stack of them for one without resources of this package. */

const TYPE = "svc:index:ComputeEndpoint";
const PROVIDER = "urn:pulumi:dev::proj::pulumi:providers:svc::default";
const inputs = { projectId: "prj-demo", size: 4 };

const state = (apiKey: unknown = { ...secret, plaintext: '"key"' }): StackState => {
  const resources = [
    { urn: PROVIDER, type: "pulumi:providers:svc", custom: true, id: "1", inputs: { apiKey, version: "0.1.0" } },
    {
      ...{ urn: `urn:pulumi:dev::proj::${TYPE}::api`, type: TYPE, custom: true, id: "prj-demo/ep-1" },
      ...{ provider: `${PROVIDER}::1`, inputs, outputs: { ...inputs, host: "ep-1.example.com" } },
    },
  ];
  return new StackState(JSON.stringify({ deployment: { resources } }));
};

test("drift compares it", () => {
  const [found] = refreshedOf({ type: TYPE, declared: inputs, found: { size: 2 }, differing: ["size"] });
  expect(found?.drift?.properties).toEqual([{ path: "size", declared: 4, found: 2 }]);
});

test("the audit looks at it and at its provider", () => {
  const { findings, urns } = findingsIn(state("canary"), { maxSizeCu: 1 });
  const named = findings.map(({ rule, kind, name }) => `${rule} ${kind} ${name}`);
  expect(named).toEqual(
    expect.arrayContaining(["size-over-limit ComputeEndpoint api", "api-key-in-state Provider default"]),
  );
  expect(urns).toContain(PROVIDER);
  expect(JSON.stringify(findings)).not.toContain("canary");
});

test("a policy finds in a plan what the audit finds in a state, and nothing in a component", () => {
  const planned = { type: TYPE, name: "api", urn: `urn:pulumi:dev::proj::${TYPE}::api`, props: inputs, protect: false };
  const rulesOf = (resource: AuditedResource) =>
    auditRules.filter((rule) => rule.find(resource, { maxSizeCu: 1 }) !== undefined).map(({ name }) => name);
  expect(rulesOf(planned)).toEqual(expect.arrayContaining(["size-over-limit", "not-protected"]));
  expect(rulesOf({ ...planned, isComponent: true })).toEqual([]);
});

test("doctor and env read its provider and its outputs", () => {
  const [provider] = storedProviders("/nowhere", state());
  expect(provider).toMatchObject({ name: "default", projects: ["prj-demo"] });
  expect(provider?.read("apiKey")).toBe("key");
  const variables = variablesOf(state(), {});
  expect(variables.find(({ output }) => output === "host")?.value).toBe("ep-1.example.com");
});

test("numbers and flags among its provider's settings are read", () => {
  const explicit = {
    ...{ urn: `${PROVIDER}`, type: "pulumi:providers:svc", id: "1" },
    inputs: { maxRequestsPerMinute: 600, strictPlan: true },
  };
  const read = new StackState(JSON.stringify({ deployment: { resources: [explicit] } })).settingsOf(`${PROVIDER}::1`);
  expect([read("maxRequestsPerMinute"), read("strictPlan"), read("quiet")]).toEqual(["600", "true", undefined]);
});

test("a component of the program's own with such a type is none, in no command", () => {
  const outputs = { ...inputs, host: "own.example.com" };
  const own = { urn: `urn:pulumi:dev::svc::${TYPE}::own`, type: TYPE, custom: false, inputs, outputs };
  const only = new StackState(JSON.stringify({ deployment: { resources: [own] } }));
  expect(variablesOf(only, {})).toEqual([]);
  expect(storedProviders("/nowhere", only)).toEqual([]);
  expect(findingsIn(only, { maxSizeCu: 1 }).findings).toEqual([]);
  const result = { op: "refresh", urn: own.urn, type: TYPE, old: { id: "", inputs, outputs } };
  expect(refreshedBy([{ ...result, new: result.old }], only)).toEqual([]);
});

test("a repair asks its plugin, and nothing in place of it", () => {
  const provider = { urn: PROVIDER, type: "pulumi:providers:svc", inputs: {} };
  const all = new Map([[PROVIDER, provider]]) as unknown as Parameters<typeof otherPackages>[0]["all"];
  expect(otherPackages({ all, declared: new Set([PROVIDER]) })).toEqual([]);
});
