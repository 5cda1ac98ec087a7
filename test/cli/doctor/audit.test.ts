import { withoutAccepted } from "../../../src/cli/doctor/audit";
import { parsedIgnoreFile } from "../../../src/cli/drift/ignoreFile";

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

test("nothing is said of the entries of drift and of other stacks", () => {
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
