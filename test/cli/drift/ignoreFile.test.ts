import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { z } from "zod";
import { drift } from "../../../src/cli/drift/drift";
import { driftReport } from "../../../src/cli/drift/driftReport";
import { type Format, FORMATS, render as rendered } from "../../../src/cli/report/render";
import { type Entry, ignoreFileSchema, parsedIgnoreFile, readIgnoreFile } from "../../../src/cli/drift/ignoreFile";
import type { Refreshed } from "../../../src/cli/drift/refreshed";
import { type Report, reportSchema, toReport, type Unmanaged } from "../../../src/cli/drift/report";
import { judged, withoutTolerated } from "../../../src/cli/drift/tolerated";
import { KINDS } from "../../../src/contract/pointer";
import {
  events as eventsOf,
  log as eventLog,
  type Refresh,
  refreshedOf,
  refreshedWith,
  secret,
} from "../../support/refreshes";

const render = (report: Report, format: Format, colours?: boolean): string =>
  rendered(driftReport(report), format, colours);
const exitCode = (report: Report): number => driftReport(report).exitCode;

const NOW = new Date("2027-01-31T23:59:59Z");

const fileOf = (...ignore: object[]) => {
  const { ignore: entries } = parsedIgnoreFile("svc-drift.json", JSON.stringify({ ignore }));
  return { name: "svc-drift.json", entries };
};

const judge = (resources: readonly Refreshed[], ignore: object[], unmanaged?: readonly Unmanaged[], now = NOW) =>
  judged(resources, unmanaged, fileOf(...ignore), now);

const reportOf = (resources: readonly Refreshed[], ignore: object[], unmanaged?: readonly Unmanaged[]): Report =>
  toReport("proj", "dev", {
    ignored: [],
    byItself: [],
    expiredDomains: [],
    sharedObjects: [],
    ...judge(resources, ignore, unmanaged),
  });

/** The paths that are drift, and those that are tolerated. */
function paths(...given: Parameters<typeof judge>): [drift: string[], tolerated: string[]] {
  const { drift, tolerated } = judge(...given);
  const [one = [], other = []] = [drift, tolerated].map((list) =>
    list.flatMap(({ properties }) => properties.map(({ path }) => path)),
  );
  return [one, other];
}

const COMPUTE = { projectId: "prj-demo", branchId: "br-dev", name: "a", size: { min: 0.5, max: 2 } };
const RESIZED: Refresh = {
  declared: COMPUTE,
  found: { name: "b", size: { min: 0.5, max: 8 } },
  differing: ["name", "size.max"],
};
const MAX = { resource: "api", property: "size.max", found: 8, reason: "the sale", until: "2027-01-31" };

test("a path covers what is below it, and no value above it, whatever its names are", () => {
  for (const property of ["size.max.undefined", "name.undefined", 'name["undefined"]', "name.length"]) {
    for (const found of [{}, { found: null }])
      expect(paths(refreshedOf(RESIZED), [{ resource: "api", property, reason: "a", ...found }])).toEqual([
        ["name", "size.max"],
        [],
      ]);
  }
});

test("the spaces of a name belong to it: another resource is not covered", () => {
  const spaced = { ...RESIZED, name: "api " };
  const entry = { resource: "api ", reason: "a" };
  expect(paths(refreshedOf(RESIZED), [entry])).toEqual([["name", "size.max"], []]);
  expect(paths(refreshedOf(spaced), [entry])).toEqual([[], ["name", "size.max"]]);
});

describe("the file", () => {
  const folder = mkdtempSync(join(tmpdir(), "ignore-file-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("stands beside Pulumi.yaml, wherever below it the command runs; without one, there are no entries", () => {
    const below = join(folder, "there", "src", "deep");
    mkdirSync(below, { recursive: true });
    writeFileSync(join(folder, "there", "svc-drift.json"), JSON.stringify({ ignore: [MAX] }));
    expect(readIgnoreFile(below).entries).toEqual([]);
    writeFileSync(join(folder, "there", "Pulumi.yaml"), "name: proj\n");
    expect(readIgnoreFile(below).entries).toEqual([MAX]);
    writeFileSync(join(below, "Pulumi.yml"), "name: other\n");
    expect(readIgnoreFile(below).entries).toEqual([]);
    mkdirSync(join(below, "svc-drift.json"));
    expect(() => readIgnoreFile(below)).toThrow(/^\S+svc-drift.json cannot be read: EISDIR$/);
  });

  test("holds the three forms of an entry, and the schema for editors", () => {
    const entries = [
      { resource: "api", reason: "any" },
      { resource: "urn:pulumi:dev::proj::a::api", property: 'settings.pgSettings["a.b"]', found: null, reason: "b" },
      { unmanaged: "prj-demo/ep-*", kind: "ComputeEndpoint", reason: "c", until: "2028-02-29" },
      { rule: "shared-mail", resource: "mail", reason: "d" },
      { rule: "shared-mail", reason: "e", until: "2027-01-31" },
    ];
    const text = JSON.stringify({ $schema: "./node_modules/pulumi-svc/svc-drift.schema.json", ignore: entries });
    expect(parsedIgnoreFile("svc-drift.json", `\uFEFF${text}`).ignore).toEqual(entries);
  });

  test("counts for an event log, and not for a report that is read again", async () => {
    const cwd = join(folder, "from");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "Pulumi.yaml"), "name: proj\n");
    const [events, report] = [join(cwd, "events.json"), join(cwd, "report.json")];
    writeFileSync(events, eventLog(...eventsOf(RESIZED)));
    jest.spyOn(process, "cwd").mockReturnValue(cwd);
    jest.spyOn(process.stdout, "write").mockReturnValue(true);
    try {
      const run = (from: string, out?: string) => drift({ from, format: "json", ...(out !== undefined && { out }) });
      expect(await run(events, report)).toBe(7);
      writeFileSync(join(cwd, "svc-drift.json"), JSON.stringify({ ignore: [{ resource: "api", reason: "a" }] }));
      expect([await run(events), await run(report)]).toEqual([0, 7]);
    } finally {
      jest.restoreAllMocks();
    }
  });

  test("has a schema for editors in the package, which is the one that the command reads by", () => {
    const path = join(__dirname, "..", "..", "..", "svc-drift.schema.json");
    const schema = z.toJSONSchema(ignoreFileSchema, { target: "draft-7" });
    // `WRITE_SCHEMA=1 npm run test:processes -- test/cli/drift/ignoreFile.test.ts`, then `npm run format`.
    if (process.env["WRITE_SCHEMA"] === "1") writeFileSync(path, JSON.stringify(schema));
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(schema);
    const { files } = JSON.parse(readFileSync(join(path, "..", "package.json"), "utf8")) as { files: string[] };
    expect(files).toContain("svc-drift.schema.json");
  });

  test("that is wrong is refused with all that is wrong, each with its path", () => {
    const wrong = {
      ignor: 1,
      ignore: [
        { resource: "api", propery: "size", reason: "a" },
        { resource: "api", reason: "  " },
        { resource: "api", reason: "c", until: "2027-02-29" },
        { resource: "api", found: 8, reason: "d" },
        { resource: 7, reason: "e" },
        { reason: "f" },
        "g",
        { unmanaged: "x", resource: "api", kind: "Compute", reason: "h" },
        { rule: "", reason: "i", found: 1 },
        { resource: "api", property: "...", reason: "j" },
        { resource: "api", property: 'settings.pgSettings["app.token"]', found: "canary-1", reason: "k" },
        { resource: "api", property: "settings", found: { list: [{ password: "canary-2" }] }, reason: "l" },
        { resource: "api", reason: "m", until: "31.1.2027" },
        { resource: "api", property: 'settings.pgSettings["app.pw"]', found: "canary-3", reason: "n" },
        { resource: "api", property: "name", found: ["postgres://u:canary-4@h/db"], reason: "o" },
        { resource: "api", property: 'settings.pgSettings["app.token_ttl"]', found: "7200", reason: "p" },
        { resource: "api", property: "settings", found: { pgSettings: { "app.token": "off" } }, reason: "q" },
        { resource: "api" },
      ],
    };
    const problems = (() => {
      try {
        parsedIgnoreFile("infra/svc-drift.json", JSON.stringify(wrong));
      } catch (error) {
        return String(error)
          .replace(/^Error: /, "")
          .split("\n");
      }
      return [];
    })();
    const said = (path: string, what: string) => `infra/svc-drift.json: ignore${path}: ${what}`;
    const secretly = 'looks like a secret by its name or its form: leave out "found". The entry then covers any value';
    expect(problems.toSorted()).toEqual(
      [
        "infra/svc-drift.json: ignor: unknown key",
        said("[0].propery", "unknown key"),
        said("[1].reason", "must not be empty"),
        said("[2].until", "must be a date, as 2027-01-31"),
        said("[3].found", 'is the value of a property: give "property", too'),
        said("[4].resource", "must be the name or the URN of a resource"),
        said("[5]", 'needs one of "resource", "unmanaged" and "rule"'),
        said("[6]", "must be an object"),
        said("[7].resource", "unknown key"),
        said("[7].kind", `must be one of ${KINDS.join(", ")}`),
        said("[8].rule", "must not be empty"),
        said("[8].found", "unknown key"),
        said("[9].property", "must be a path as a report shows it, as size.max"),
        said("[10].found", secretly),
        said("[11].found", secretly),
        said("[12].until", "must be a date, as 2027-01-31"),
        said("[13].found", secretly),
        said("[14].found", secretly),
        said("[17].reason", "is missing"),
      ].toSorted(),
    );
  });

  test("that is no JSON, or something else of JSON, is refused in one line that repeats nothing of it", () => {
    const refused = (text: string) => () => parsedIgnoreFile("svc-drift.json", text);
    for (const text of [
      '{\n  "ignore": [\n    canary\n  ]\n}',
      '{ "canary": [',
      "",
      '{\n  "canary": 1,\n}',
      "{} canary",
    ]) {
      expect(refused(text)).toThrow(/^svc-drift.json is not JSON: (?:Unexpected|Expected) [^\n]+$/);
      expect(refused(text)).not.toThrow(/canary/);
    }
    expect(refused('{\n  "canary": 1,\n}')).toThrow(/ \(line 3\)$/);
    expect(refused("[]")).toThrow(/^svc-drift.json: must be an object with the list "ignore"$/);
    expect(refused("{}")).toThrow(/^svc-drift.json: ignore: is missing$/);
    expect(refused('{"ignore": {}}')).toThrow(/^svc-drift.json: ignore: must be a list$/);
  });
});

describe("an entry of a resource", () => {
  const resized = refreshedOf(RESIZED);

  test("sets apart the property that it names, with reason and last day; the rest is drift, and so are its repair's words", () => {
    const { drift, tolerated, ...rest } = judge(resized, [MAX]);
    expect(drift).toMatchObject([
      { name: "api", properties: [{ path: "name" }], repair: { action: "update", restarts: false, messages: [] } },
    ]);
    expect(tolerated).toEqual([
      {
        urn: resized[0]?.urn,
        kind: "ComputeEndpoint",
        name: "api",
        id: "prj-demo/ep-1",
        properties: [{ path: "size.max", declared: 2, found: 8 }],
        repair: { action: "update", restarts: true, messages: [expect.stringMatching(/"size" restarts compute/)] },
        entry: "ignore[0]",
        reason: "the sale",
        until: "2027-01-31",
      },
    ]);
    expect(rest).toEqual({ unmanaged: [], toleratedUnmanaged: [], expired: [], unused: [] });
  });

  test("by name or URN; a path covers what is below it, in any spelling, and nothing beside it", () => {
    const urn = resized[0]?.urn;
    const [both, max, name] = [["name", "size.max"], ["size.max"], ["name"]];
    const with_ = (entry: object) => paths(resized, [{ reason: "a", ...entry }]);
    expect(with_({ resource: "api" })).toEqual([[], both]);
    expect(with_({ resource: urn })).toEqual([[], both]);
    expect(with_({ resource: urn, property: "size" })).toEqual([name, max]);
    expect(with_({ resource: "api", property: 'size["max"]' })).toEqual([name, max]);
    for (const property of [
      "siz",
      "size.max.more",
      "size.min",
      "max",
      "name.size.max",
      "__proto__",
      "size.constructor",
    ])
      expect(with_({ resource: "api", property })).toEqual([both, []]);
    for (const resource of ["ap", "API", "other", `${urn}x`]) expect(with_({ resource })).toEqual([both, []]);
  });

  test("holds for the value that it names, whole or nested, and for any without one", () => {
    const max = (entry: object) => paths(resized, [{ resource: "api", property: "size", reason: "a", ...entry }])[1];
    expect(max({})).toEqual(["size.max"]);
    expect(max({ found: { max: 8, min: 0.5 } })).toEqual(["size.max"]);
    expect(max({ found: { max: 8 } })).toEqual([]);
    for (const found of [4, "8", null, [8], { max: 8 }]) expect(max({ property: "size.max", found })).toEqual([]);
    const unset = refreshedOf({ declared: COMPUTE, found: { name: undefined }, differing: ["name"] });
    const named = (found: unknown) => paths(unset, [{ resource: "api", property: "name", found, reason: "a" }]);
    expect(named(null)).toEqual([[], ["name"]]);
    expect(named("")).toEqual([["name"], []]);
  });

  test("a list is a set", () => {
    const list = refreshedOf({
      kind: "Whitelist",
      name: "list",
      id: "prj-demo",
      declared: { projectId: "prj-demo", domains: ["https://a.test"] },
      found: { domains: ["https://c.test", "https://a.test"] },
      differing: ["domains[0]"],
    });
    const domains = (...found: string[]) =>
      paths(list, [{ resource: "list", property: "domains", found, reason: "a" }])[1];
    expect(domains("https://a.test", "https://c.test")).toEqual(["domains"]);
    expect(domains("https://a.test", "https://c.test", "https://a.test")).toEqual(["domains"]);
    expect(domains("https://a.test")).toEqual([]);
    expect(domains("https://a.test", "https://c.test", "https://d.test")).toEqual([]);
  });

  test("has an effect through its last day, in UTC, and is then reported as expired, whether or not anything matches it", () => {
    const at = (time: string) => judge(resized, [MAX, { ...MAX, resource: "gone" }], undefined, new Date(time));
    expect(at("2027-01-31T23:59:59.999Z")).toMatchObject({ expired: [], unused: [{ entry: "ignore[1]" }] });
    const { drift, tolerated, expired, unused } = at("2027-02-01T00:00:00Z");
    expect(drift[0]?.properties).toHaveLength(2);
    expect([tolerated, unused]).toEqual([[], []]);
    expect(expired).toEqual([
      { entry: "ignore[0]", ...MAX },
      { entry: "ignore[1]", ...MAX, resource: "gone" },
    ]);
  });

  test("never hides that a resource is gone, what a replacement left, or a change that is not finished", () => {
    const whole = [{ resource: "api", reason: "a" }];
    const gone = refreshedOf({ declared: COMPUTE, found: null });
    expect(judge(gone, whole)).toMatchObject({
      drift: [{ change: "deleted" }],
      tolerated: [],
      unused: [{ ...whole[0] }],
    });
    const left = refreshedOf({ declared: COMPUTE, delete: true }, { declared: COMPUTE, id: "prj-demo/ep-2" });
    expect(judge(left, whole).drift).toMatchObject([{ change: "leftover" }]);
    const unfinished = refreshedOf({ ...RESIZED, outs: { __unfinished: "update" } });
    expect(judge(unfinished, whole)).toMatchObject({
      drift: [
        {
          change: "unfinished",
          properties: [],
          repair: { messages: [expect.stringMatching(/did not finish/), expect.stringMatching(/--repair leaves it/)] },
        },
      ],
      tolerated: [{ properties: [{ path: "name" }, { path: "size.max" }] }],
    });
    for (const format of ["text", "markdown"] as const)
      expect(render(reportOf(unfinished, whole), format)).toContain("an update of pulumi up is not finished");
    expect(judge(refreshedOf({ declared: COMPUTE, found: {}, outs: { __unfinished: "update" } }), whole)).toMatchObject(
      {
        drift: [{ properties: [] }],
        tolerated: [],
      },
    );
  });

  test("a repair says nothing of what is tolerated, be it a secret, an argument that is not set, or one that replaces", () => {
    const declared = { projectId: "prj-demo", providerId: "google", clientId: "id", clientSecret: secret };
    const google = (found: object, ...differing: string[]) =>
      refreshedOf({ kind: "OAuthProvider", name: "google", declared, found: { ...found }, differing });
    const tolerating = (resources: readonly Refreshed[], property: string) =>
      judge(resources, [{ resource: "google", property, reason: "a" }]);
    const both = google({ clientId: "theirs" }, "clientId", "clientSecret");
    const none = { restarts: false, messages: [] };
    for (const [one, other] of [
      ["clientId", "clientSecret"],
      ["clientSecret", "clientId"],
    ] as const) {
      const { drift, tolerated } = tolerating(both, one);
      expect(drift).toMatchObject([{ properties: [{ path: other }], repair: { action: "update" } }]);
      expect(tolerated).toMatchObject([{ properties: [{ path: one }], repair: { action: "update" } }]);
    }
    const unset = refreshedOf({
      declared: { ...COMPUTE, settings: { pgSettings: {} } },
      found: { name: undefined, settings: undefined, size: 1 },
      differing: ["name", "settings", "size"],
    });
    const { drift } = judge(unset, [
      { resource: "api", property: "size", reason: "a" },
      { resource: "api", property: "settings", reason: "a" },
    ]);
    expect(drift).toMatchObject([{ properties: [{ path: "name" }], repair: none }]);
    const replaced = refreshedOf({
      declared: { ...COMPUTE, type: "read_write" },
      found: { type: "read_only", name: "b" },
      differing: ["type", "name"],
    });
    expect(judge(replaced, []).drift).toMatchObject([{ repair: { action: "replace" } }]);
    expect(judge(replaced, [{ resource: "api", property: "type", reason: "a" }])).toMatchObject({
      drift: [{ repair: { action: "update", ...none } }],
      tolerated: [{ repair: { action: "replace" } }],
    });
  });

  test("beside ignoreChanges: what that covers is reported there, and an entry for it matches nothing", () => {
    const refreshed = [refreshedWith(RESIZED, { ignoreChanges: ["size"] })];
    expect(judge(refreshed, [MAX])).toMatchObject({
      drift: [{ properties: [{ path: "name" }] }],
      tolerated: [],
      unused: [{ entry: "ignore[0]" }],
    });
  });

  test("a name that several resources of a stack have is refused with the URNs, also where they are as declared", () => {
    const domain = { kind: "WhitelistDomain" as const, declared: { projectId: "prj-demo", domain: "https://a.test" } };
    const two = refreshedOf(RESIZED, domain);
    expect(() => judge(two, [MAX])).toThrow(
      `svc-drift.json: ignore[0].resource: "api" is the name of several resources. Give the URN of one: ${two.map(({ urn }) => urn).join(", ")}`,
    );
    const [urn] = two.map((one) => one.urn);
    expect(judge(two, [{ ...MAX, resource: urn }]).tolerated).toHaveLength(1);
    // The old object of a replacement has the URN of the new one.
    const left = refreshedOf({ declared: COMPUTE, delete: true, id: "prj-demo/ep-0" }, RESIZED);
    expect(judge(left, [MAX]).tolerated).toHaveLength(1);
  });

  test("of several stacks, a name is one of each, and a URN of another stack is not called unused", () => {
    const [dev] = refreshedOf(RESIZED);
    const both = refreshedOf(RESIZED, { ...RESIZED, stack: "prod" });
    expect(judge(both, [MAX]).tolerated.map(({ urn }) => urn)).toEqual(both.map(({ urn }) => urn));
    const ofProd = { ...MAX, resource: both[1]?.urn };
    expect(judge(both, [ofProd])).toMatchObject({ tolerated: [{ urn: both[1]?.urn }] });
    expect(judge(dev === undefined ? [] : [dev], [ofProd, { ...ofProd, until: "2020-01-01" }])).toMatchObject({
      unused: [],
      expired: [],
    });
  });
});

describe("secrets", () => {
  const declared = { ...COMPUTE, settings: { pgSettings: { "app.x": secret, work_mem: "64MB" } } };
  const found = { settings: { pgSettings: { "app.x": secret, work_mem: "1MB" } } };
  const differing = ['settings.pgSettings["app.x"]', "settings.pgSettings.work_mem"];
  const resources = refreshedOf({ declared, found, differing });
  const entry = { resource: "api", property: 'settings.pgSettings["app.x"]', reason: "a" };

  test("of one, an entry says only that it may differ", () => {
    expect(paths(resources, [entry])).toEqual([["settings.pgSettings.work_mem"], [entry.property]]);
  });

  test("the value of one that the state marks is refused, at any depth, without repeating it", () => {
    const refused = /^svc-drift.json: ignore\[0\]\.found: settings.* of api is a secret: leave out "found". [^\n]*$/;
    for (const given of [
      { ...entry, found: "canary-1" },
      { ...entry, found: "[secret]" },
      { ...entry, property: "settings.pgSettings", found: { "app.x": "canary-1", work_mem: "1MB" } },
      { ...entry, property: "settings", found: { pgSettings: { "app.x": "canary-1" } } },
    ]) {
      expect(() => judge(resources, [given])).toThrow(refused);
      expect(() => judge(resources, [given])).not.toThrow(/canary/);
    }
  });

  test("one that changes beside the values of an entry is drift, and no mistake of the file", () => {
    const beside = { resource: "api", property: "settings.pgSettings", found: { work_mem: "1MB" }, reason: "a" };
    expect(paths(resources, [beside])[0]).toHaveLength(2);
    const added = refreshedOf({
      declared: COMPUTE,
      found: { settings: { pgSettings: { api_token: "canary-1", list: [secret] } } },
    });
    expect(paths(added, [{ ...beside, property: "settings", found: { pgSettings: { x: "1" } } }])[0]).toEqual([
      "settings",
    ]);
    expect(() => judge(added, [{ ...beside, property: "settings", found: { pgSettings: { list: ["a"] } } }])).toThrow(
      /is a secret/,
    );
  });
});

describe("entries of objects that are not declared, and of rules", () => {
  const objects: Unmanaged[] = [
    { kind: "ComputeEndpoint", id: "prj-demo/ep-1", describe: "a compute", adopt: "adopt: true" },
    { kind: "OAuthProvider", id: "prj-demo/ep-x.y", describe: "a provider", adopt: "adopt: true" },
    { kind: "WhitelistDomain", id: "prj-demo/https://*.a.test", describe: "a domain", adopt: "adopt: true" },
  ];
  const ids = (entry: object) => judge([], [{ reason: "a", ...entry }], objects).toleratedUnmanaged.map(({ id }) => id);

  test("* is any text, every other character itself", () => {
    const [compute, provider, domain] = objects.map(({ id }) => id);
    expect(ids({ unmanaged: "prj-demo/ep-*" })).toEqual([compute, provider]);
    expect(ids({ unmanaged: "prj-demo/ep-*", kind: "OAuthProvider" })).toEqual([provider]);
    expect(ids({ unmanaged: "*" })).toEqual([compute, provider, domain]);
    expect(ids({ unmanaged: domain })).toEqual([domain]);
    for (const unmanaged of ["prj-demo/ep-.", "prj-demo/ep-x?y", "prj-demo", "rj-demo/ep-1", "prj-demo/ep-x-y*", ".*"])
      expect(ids({ unmanaged })).toEqual([]);
  });

  test("what is covered does not count; the rest is reported as before", () => {
    const [, ...rest] = objects;
    const entry = { unmanaged: "prj-demo/ep-1", reason: "a test" };
    const report = reportOf([], [entry], objects);
    expect(report.unmanaged).toEqual(rest);
    expect(report.toleratedUnmanaged).toEqual([{ ...objects[0], entry: "ignore[0]", reason: "a test", until: null }]);
    expect(report.fingerprint).toBe(reportOf([], [], rest).fingerprint);
    expect([exitCode(report), exitCode(reportOf([], [{ unmanaged: "*", reason: "a" }], objects))]).toEqual([8, 0]);
  });

  test("without --unmanaged they are not reported, and rules never are", () => {
    const rules = [{ rule: "shared-mail", resource: "nobody", reason: "a", until: "2020-01-01" }];
    const entries = [{ unmanaged: "nothing", reason: "a" }, ...rules];
    expect(judge([], entries)).toMatchObject({ expired: [], unused: [] });
    expect(judge([], entries, [])).toMatchObject({ expired: [], unused: [{ entry: "ignore[0]" }] });
  });
});

describe("the report", () => {
  const other = { resource: "other", property: "name", found: "x", reason: "gone long ago" };
  const over = { resource: "api", property: "name", reason: "too long", until: "2027-01-30" };
  const objects: Unmanaged[] = [
    { kind: "OAuthProvider", id: "prj-demo/a", describe: "a provider", adopt: "adopt: true" },
  ];
  const byHand = { unmanaged: "prj-demo/*", kind: "OAuthProvider", reason: "a test" };
  const report = reportOf(refreshedOf(RESIZED), [MAX, other, over, byHand], objects);

  test("text: separately, with the reason, and with what an up --refresh does nevertheless", () => {
    expect(render(report, "text")).toBe(`Stack dev: 1 changed, 2 tolerated

ComputeEndpoint api (prj-demo/ep-1) changed
  property  declared  found
  name      "a"       "b"
  repair: update

pulumi up --refresh repairs this. It also deploys pending changes of the program.
pulumi-svc drift --repair repairs this alone, --accept edits the program, --ignore tolerates it.

Not drift: tolerated by svc-drift.json
  ComputeEndpoint api (prj-demo/ep-1)
    property  declared  found
    size.max  2         8
    reason: the sale (until 2027-01-31)
    repair: update, which restarts the compute
      a change of "size" restarts compute prj-demo/ep-1 when it is active: open connections are dropped

pulumi up --refresh also repairs what is tolerated. To keep it, name the property in ignoreChanges of the resource.

Not declared, and tolerated by svc-drift.json
  object                    what it is  reason
  OAuthProvider prj-demo/a  a provider  a test

Entries of svc-drift.json that have expired and have no effect
  entry      what it is about      reason
  ignore[2]  api name              too long (until 2027-01-30)

Entries of svc-drift.json that match nothing now
  entry      what it is about      reason
  ignore[1]  other name found "x"  gone long ago

fingerprint ${report.fingerprint}
`);
  });

  test("Markdown: the same, and the fingerprint is the last line", () => {
    const text = render(report, "markdown");
    expect(text).toContain(`### Not drift: tolerated by svc-drift.json

| Resource | Property | Declared | Found |
| --- | --- | --- | --- |
| ComputeEndpoint \`api\` | \`size.max\` | \`2\` | \`8\` |

- ComputeEndpoint \`api\` (\`prj-demo/ep-1\`): update, which restarts the compute
  - reason: \`the sale (until 2027-01-31)\`
  - \`a change of`);
    expect(text).toContain(
      "\n\n`pulumi up --refresh` also repairs what is tolerated. To keep it, name the property in ignoreChanges of the resource.\n",
    );
    expect(text).toContain("| OAuthProvider `prj-demo/a` | `a provider` | `a test` |");
    expect(text).toContain("| `ignore[2]` | `api name` | `too long (until 2027-01-30)` |");
    expect(text).toContain('| `ignore[1]` | `other name found "x"` | `gone long ago` |');
    expect(text.endsWith(`\n\nFingerprint \`${report.fingerprint}\`\n`)).toBe(true);
  });

  test("JSON: it is read again as it was", () => {
    expect(reportSchema.parse(JSON.parse(render(report, "json")))).toEqual(report);
  });

  test("only what is tolerated is no drift: exit code 0, and the fingerprint of no drift", () => {
    const all = reportOf(refreshedOf(RESIZED), [{ resource: "api", reason: "a" }]);
    expect([exitCode(all), all.fingerprint]).toEqual([0, reportOf([], []).fingerprint]);
    expect(render(all, "text")).toMatch(/^Stack dev: no drift, 1 tolerated\n\nNot drift: tolerated by/);
    expect(render(all, "text")).not.toMatch(/fingerprint|repairs this/);
    expect(exitCode(report)).toBe(7);
  });
});

describe("for any drift and any file", () => {
  const name = fc.constantFrom("api", "web", "list");
  const size = fc.record({ min: fc.constantFrom(0.5, 1), max: fc.constantFrom(2, 4) });
  const text = fc.constantFrom("a", "b", undefined);
  const compute = fc.record({ name: text, size, settings: fc.record({ x: text, y: text, password: text }) });
  const refresh = fc.record({
    name,
    declared: compute,
    found: fc.option(compute, { freq: 4 }),
    outs: fc.constantFrom({}, {}, { __unfinished: "update" }),
  });
  const refreshes = fc.uniqueArray(refresh, { selector: (one) => one.name }).map((all) =>
    all.map(({ declared, found, ...rest }): Refresh => {
      const fixed = { projectId: "prj-demo", branchId: "br-dev" };
      return { ...rest, declared: { ...fixed, ...declared }, found, differing: ["name", "size", "settings"] };
    }),
  );
  const unmanaged: fc.Arbitrary<Unmanaged[]> = fc.array(
    fc.record({
      kind: fc.constantFrom("ComputeEndpoint" as const, "OAuthProvider" as const),
      id: fc.constantFrom("prj-demo/ep-1", "prj-demo/ep-2", "other/ep-1"),
      describe: fc.constant("something"),
      adopt: fc.constant("adopt: true"),
    }),
  );
  const last = { reason: fc.constantFrom("a", "b"), until: fc.constantFrom(undefined, "2027-01-30", "2027-01-31") };
  const entry = fc.oneof(
    fc.record({ resource: name, property: fc.constantFrom("size", "size.max", "name", "settings"), ...last }),
    fc.record({ resource: name, ...last }),
    fc.record({ resource: name, property: fc.constant("size.max"), found: fc.constantFrom(2, 4, null), ...last }),
    fc.record({ unmanaged: fc.constantFrom("*", "prj-demo/*", "prj-demo/ep-1"), ...last }),
  );

  test("drift and what is tolerated are together what was found, nothing lost and nothing twice", () => {
    fc.assert(
      fc.property(refreshes, fc.array(entry), unmanaged, (found, entries, objects) => {
        const resources = refreshedOf(...found);
        const ignore = entries as Entry[];
        const result = judge(resources, ignore, objects);
        const facts = (list: readonly Pick<Report["drift"][number], "urn" | "properties">[]) =>
          list
            .flatMap(({ urn, properties }) => properties.map((property) => JSON.stringify([urn, property])))
            .toSorted();
        expect(facts([...result.drift, ...result.tolerated])).toEqual(
          facts(resources.flatMap(({ drift }) => drift ?? [])),
        );
        const without = (list: readonly object[], ...keys: string[]) =>
          list
            .map((one) =>
              JSON.stringify(Object.fromEntries(Object.entries(one).filter(([key]) => !keys.includes(key)))),
            )
            .toSorted();
        expect(without([...result.unmanaged, ...result.toleratedUnmanaged], "entry", "reason", "until")).toEqual(
          without(objects),
        );
        // Deleted and unfinished resources are always reported.
        for (const { drift, comparison } of resources) {
          if (drift !== undefined && (drift.change === "deleted" || comparison?.isUnfinished === true))
            expect(result.drift.map(({ urn }) => urn)).toContain(drift.urn);
        }
        // Each entry is used, unused or run out.
        const used = [...result.tolerated, ...result.toleratedUnmanaged].map((one) => one.entry);
        const told = [...result.unused, ...result.expired].map((one) => one.entry);
        expect([...new Set(used), ...told].toSorted()).toEqual(
          ignore.map((_one, index) => `ignore[${index}]`).toSorted(),
        );
        for (const format of FORMATS)
          expect(render(reportOf(resources, ignore, objects), format)).not.toContain("undefined");
      }),
    );
  });

  test("a file without entries changes nothing", () => {
    fc.assert(
      fc.property(refreshes, (found) => {
        const resources = refreshedOf(...found);
        expect(judge(resources, []).drift).toEqual(resources.flatMap(({ drift }) => drift ?? []));
        expect(withoutTolerated(resources, fileOf(), NOW)).toEqual(resources);
      }),
    );
  });

  test("a command that changes something gets the drift that a report shows", () => {
    fc.assert(
      fc.property(refreshes, fc.array(entry), (found, entries) => {
        const resources = refreshedOf(...found);
        const left = withoutTolerated(resources, fileOf(...entries), NOW);
        expect(left.map(({ urn }) => urn)).toEqual(resources.map(({ urn }) => urn));
        expect(left.flatMap(({ drift }) => drift ?? [])).toEqual(judge(resources, entries).drift);
      }),
    );
  });
});
