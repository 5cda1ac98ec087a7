import { findingsIn, withoutAccepted } from "../../../src/cli/doctor/audit";
import { parsedIgnoreFile } from "../../../src/cli/drift/ignoreFile";
import { typeToken } from "../../../src/contract/pointer";
import { StackState } from "../../../src/cli/stack/state";

const urnOf = (type: string, name: string, stack = "dev") =>
  `urn:pulumi:${stack}::proj::pulumi-nodejs:dynamic/svc:${type}::${name}`;
const API = urnOf("ComputeEndpoint", "api");
const DB = urnOf("ComputeEndpoint", "db");
const OTHER_DB = urnOf("AuthIntegration", "db");

const finding = (rule: string, urn: string) => {
  const [name = ""] = urn.split("::").slice(3);
  return { rule, kind: "ComputeEndpoint", name, urn, message: "is wrong", remedy: "Mend it." };
};
const FINDINGS = [finding("not-protected", API), finding("not-protected", DB), finding("never-scales-to-zero", API)];

const judge = (...ignore: object[]) => {
  const { ignore: entries } = parsedIgnoreFile("svc-drift.json", JSON.stringify({ ignore }));
  return withoutAccepted(
    FINDINGS,
    [API, DB, OTHER_DB],
    { name: "svc-drift.json", entries },
    new Date("2027-01-31T23:59Z"),
  );
};
const left = (...ignore: object[]) => judge(...ignore).findings.map(({ rule, urn }) => [rule, urn]);
const all = FINDINGS.map(({ rule, urn }) => [rule, urn]);
const reason = "a test";

test("an entry accepts what its rule finds: in one resource, by name or URN, or in all of them", () => {
  expect(left()).toEqual(all);
  expect(left({ rule: "not-protected", reason })).toEqual([all[2]]);
  for (const resource of ["api", API])
    expect(left({ rule: "not-protected", resource, reason })).toEqual([all[1], all[2]]);
  expect(left({ rule: "not-protected", resource: DB, reason })).toEqual([all[0], all[2]]);
  expect(judge({ rule: "not-protected", resource: "api", reason, until: "2027-01-31" }).accepted).toEqual([
    { ...FINDINGS[0], entry: "ignore[0]", reason, until: "2027-01-31" },
  ]);
});

test("an entry accepts nothing after its last day, for another rule, or for a resource that is not there", () => {
  const over = { rule: "not-protected", resource: "api", reason, until: "2027-01-30" };
  const unknown = { rule: "not-protectd", resource: "api", reason };
  const gone = { rule: "not-protected", resource: "gone", reason };
  expect(judge(over, unknown, gone)).toEqual({
    findings: FINDINGS,
    accepted: [],
    expired: [{ entry: "ignore[0]", ...over }],
    unused: [
      { entry: "ignore[1]", ...unknown },
      { entry: "ignore[2]", ...gone },
    ],
  });
});

test("entries for drift and for other stacks are not reported", () => {
  const entries = [
    { resource: "api", reason, until: "2020-01-01" },
    { unmanaged: "*", reason },
    { rule: "not-protected", resource: urnOf("ComputeEndpoint", "api", "prod"), reason },
  ];
  expect(judge(...entries)).toEqual({ findings: FINDINGS, accepted: [], expired: [], unused: [] });
});

test("a name that several resources have is refused, with their URNs", () => {
  expect(() => judge({ rule: "not-protected", resource: "db", reason })).toThrow(
    `svc-drift.json: ignore[0].resource: "db" is the name of several resources. Give the URN of one: ${DB}, ${OTHER_DB}`,
  );
});

describe("a secret in plain text is found", () => {
  const inClear = (resource: {
    type: string;
    custom?: boolean;
    inputs?: object;
    outputs?: object;
    delete?: boolean;
  }) => {
    const resources = [
      { ...resource, urn: `urn:pulumi:dev::proj::${resource.type}::one` },
      { urn: API, type: typeToken("ComputeEndpoint"), custom: true, inputs: { projectId: "p" }, protect: true },
    ];
    const { findings, urns } = findingsIn(new StackState(JSON.stringify({ deployment: { resources } })), {});
    expect(urns).toContain(API);
    expect(findings.every(({ urn }) => urns.includes(urn))).toBe(true);
    expect(JSON.stringify(findings)).not.toContain("canary");
    return findings.filter(({ rule }) => rule === "secret-in-clear").map(({ kind, message }) => `${kind}: ${message}`);
  };
  const type = typeToken("OAuthProvider");
  const secret = { clientSecret: "canary" };
  const encrypted = { clientSecret: { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" } };
  const found = (kind: string, path: string) => [`${kind}: the state holds the value of "${path}" in plain text`];

  test.each([
    ["outputs", { outputs: secret, inputs: encrypted }],
    ["inputs", { outputs: encrypted, inputs: secret }],
    ["what is only looked up", { outputs: secret }],
    ["what a replacement left behind", { outputs: secret, inputs: encrypted, delete: true }],
  ])("in %s of a resource", (_, held) => {
    expect(inClear({ type, custom: true, ...held })).toEqual(found("OAuthProvider", "clientSecret"));
    expect(inClear({ type, custom: true, inputs: encrypted, outputs: encrypted })).toEqual([]);
  });

  test("in outputs of the stack and of a component, and not in resources of others", () => {
    const outputs = { auth: { urls: ["postgres://u:canary@h/db"] } };
    const stack = "pulumi:pulumi:Stack";
    expect(inClear({ type: stack, custom: false, outputs })).toEqual(found("Stack", "auth.urls[0]"));
    expect(inClear({ type: "my:auth:Auth", custom: false, outputs })).toEqual(found("Component", "auth.urls[0]"));
    expect(inClear({ type: "aws:rds/instance:Instance", custom: true, outputs })).toEqual([]);
  });
});

test("shared providers of a new integration: found where the stack neither declares them nor declares them absent", () => {
  const one = (kind: "AuthIntegration" | "OAuthProvider", id: string, inputs: object, more: object = {}) => ({
    ...{
      urn: urnOf(kind, id),
      type: typeToken(kind),
      id,
      custom: true,
      protect: true,
      inputs,
      outputs: inputs,
      ...more,
    },
  });
  const auth = (inputs: object = { projectId: "prj-1" }, more: object = {}) =>
    one("AuthIntegration", "prj-1/auth", inputs, { outputs: { projectId: "prj-1" }, ...more });
  const google = { projectId: "prj-1", providerId: "google", clientId: "own" };
  const github = { projectId: "prj-1", providerId: "github", absent: true };
  const foundIn = (...resources: object[]) =>
    findingsIn(new StackState(JSON.stringify({ deployment: { resources } })), {})
      .findings.filter(({ rule }) => rule === "undeclared-shared-oauth")
      .map(({ name, message }) => [name, message.replace(/:.*/, "")]);
  expect(foundIn(auth())).toEqual([["prj-1/auth", "github and google are not declared"]]);
  expect(foundIn(auth(), one("OAuthProvider", "prj-1/google", google))).toEqual([
    ["prj-1/auth", "github is not declared"],
  ]);
  const declared = [one("OAuthProvider", "prj-1/google", google), one("OAuthProvider", "prj-1/github/absent", github)];
  expect(foundIn(auth(), ...declared)).toEqual([]);
  // A resource of another project, one left over, and one that is only looked up.
  const elsewhere = one("OAuthProvider", "prj-2/google", { ...google, projectId: "prj-2" });
  const left = one("OAuthProvider", "prj-1/google", google, { delete: true });
  const looked = one("OAuthProvider", "prj-1/google", {}, { outputs: google });
  expect(foundIn(auth(), elsewhere, left, looked)).toEqual(foundIn(auth()));
  expect(foundIn(auth({}), elsewhere)).toEqual([]);
  expect(foundIn(auth(undefined, { delete: true }), elsewhere)).toEqual([]);
});
