import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ignore, type IgnoreFlags, ignoreReport, ignoreResultSchema, newEntries } from "../../../src/cli/drift/ignore";
import { parsedIgnoreFile } from "../../../src/cli/drift/ignoreFile";
import type { Unmanaged } from "../../../src/cli/drift/report";
import { render } from "../../../src/cli/report/render";
import { judged } from "../../../src/cli/drift/tolerated";
import { type Refresh, refreshedOf, secret } from "../../support/refreshes";

test("a failure is reported in the requested format", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ignore-"));
  const cwd = process.cwd();
  const written = jest.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    process.chdir(folder);
    const words = "no Pulumi.yaml in this folder or above, and svc-drift.json belongs beside it";
    for (const format of ["text", "json"] as const)
      await expect(ignore({ ignore: ["api"], reason: "why", format })).rejects.toThrow(words);
    const [[text = ""] = [], ...others] = written.mock.calls;
    expect(others).toEqual([]);
    expect(ignoreResultSchema.parse(JSON.parse(String(text)))).toEqual({
      stack: "",
      file: "svc-drift.json",
      entries: [],
      allStacks: false,
      messages: [words],
    });
  } finally {
    written.mockRestore();
    process.chdir(cwd);
    rmSync(folder, { recursive: true });
  }
});

const NOW = new Date("2027-01-31T12:00:00Z");

const fileOf = (...ignore: object[]) => {
  const { ignore: entries } = parsedIgnoreFile("svc-drift.json", JSON.stringify({ ignore }));
  return { name: "svc-drift.json", entries };
};

/** The entries that `--ignore` would write with `--all-stacks`, in short form. */
function written(
  refreshes: readonly Refresh[],
  flags: Partial<IgnoreFlags> = {},
  { file = fileOf(), objects = [] as Unmanaged[], isWide = true } = {},
) {
  const found = { resources: refreshedOf(...refreshes), objects };
  return newEntries(found, file, { ignore: ["api"], reason: "why", ...(isWide && { allStacks: true }), ...flags }, NOW);
}

const COMPUTE = { projectId: "prj-demo", branchId: "br-dev", name: "a", size: { min: 0.5, max: 2 } };
const RESIZED: Refresh = {
  declared: COMPUTE,
  found: { name: undefined, size: { min: 0.5, max: 8 } },
  differing: ["name", "size.max"],
};
const NAME = { resource: "api", property: "name", found: null, reason: "why" };
const MAX = { resource: "api", property: "size.max", found: 8, reason: "why" };

test("an entry for each property that differs, with the value found, after which nothing of it is drift", () => {
  expect(written([RESIZED])).toEqual([NAME, MAX]);
  expect(written([RESIZED], { until: "2027-02-01", property: "size" })).toEqual([{ ...MAX, until: "2027-02-01" }]);
  expect(judged(refreshedOf(RESIZED), undefined, fileOf(NAME, MAX), NOW)).toMatchObject({ drift: [], unused: [] });
});

test("a setting with the name of a member that every object has is shown, and covered, like any other", () => {
  const settings = (constructor?: unknown) => ({
    pgSettings: { work_mem: "1MB", ...(constructor !== undefined && { constructor }) },
  });
  const path = "settings.pgSettings.constructor";
  const added: Refresh = {
    declared: { ...COMPUTE, settings: settings() },
    found: { settings: settings("on") },
    differing: [path],
  };
  const entry = { resource: "api", property: path, found: "on", reason: "why" };
  const [property] = judged(refreshedOf(added), undefined, fileOf(), NOW).drift[0]?.properties ?? [];
  expect(property).toEqual({ path, declared: null, found: "on" });
  expect(written([added])).toEqual([entry]);
  expect(judged(refreshedOf(added), undefined, fileOf(entry), NOW)).toMatchObject({ drift: [], unused: [] });
  // Gone again, and tolerated as such.
  const removed: Refresh = {
    declared: { ...COMPUTE, settings: settings("on") },
    found: { settings: settings() },
    differing: [path],
  };
  expect(judged(refreshedOf(removed), undefined, fileOf(), NOW).drift[0]?.properties).toEqual([
    { path, declared: "on", found: null },
  ]);
  const gone = { ...entry, found: null };
  expect(written([removed])).toEqual([gone]);
  expect(judged(refreshedOf(removed), undefined, fileOf(gone), NOW)).toMatchObject({ drift: [], unused: [] });
});

test("without --all-stacks an entry holds for the stack that was looked at, and for no other one", () => {
  const prod = { ...RESIZED, stack: "prod" };
  const [urn = "", other = ""] = refreshedOf(RESIZED, prod).map((one) => one.urn);
  const own = (ignore: string[], ...refreshes: Refresh[]) => [
    ...new Set(written(refreshes, { ignore }, { isWide: false }).map((entry) => "resource" in entry && entry.resource)),
  ];
  // Whether a name or a URN was given, and whichever stacks were named.
  for (const ignore of [["api"], [urn]]) expect(own(ignore, RESIZED)).toEqual([urn]);
  const both = [RESIZED, prod];
  expect(own([other], ...both)).toEqual([other]);
  expect(() => own(["api"], ...both)).toThrow(`Give the URN of one: ${urn}, ${other}`);
  expect(own(["api"], RESIZED, { ...prod, name: "web" })).toEqual([urn]);

  // The other stack shows the same value, and nobody has agreed to it there.
  const entries = written([RESIZED], {}, { isWide: false });
  expect(judged(refreshedOf(RESIZED), undefined, fileOf(...entries), NOW)).toMatchObject({ drift: [], unused: [] });
  expect(judged(refreshedOf(prod), undefined, fileOf(...entries), NOW)).toMatchObject({
    drift: [{ properties: [{ path: "name" }, { path: "size.max" }] }],
    tolerated: [],
    // A stack that is not selected is not reported.
    unused: [],
  });
  // A name that an older file has still holds for both.
  expect(judged(refreshedOf(...both), undefined, fileOf({ resource: "api", reason: "a" }), NOW).drift).toEqual([]);
});

test.each([
  [true, "dev", "for all stacks"],
  [false, "dev", "for stack dev"],
  [false, "dev, prod", "for stacks dev, prod"],
])("the result says which stacks the entries hold for: %s, %s", (allStacks, stack, words) => {
  const result = { stack, file: "svc-drift.json", entries: [{ ...MAX, entry: "ignore[0]" }], allStacks, messages: [] };
  expect(render(ignoreReport(result), "text")).toMatch(new RegExp(`^svc-drift\\.json: 1 entry ${words}$`, "m"));
  expect(render(ignoreReport(result), "markdown")).toContain(`1 entry ${words.replace(stack, `\`${stack}\``)}`);
});

test("an entry of a stack stands beside one of all stacks with another value", () => {
  const [urn = ""] = refreshedOf(RESIZED).map((one) => one.urn);
  const wide = fileOf({ ...MAX, found: 4 });
  const entries = written([RESIZED], { property: "size" }, { file: wide, isWide: false });
  expect(entries).toEqual([{ ...MAX, resource: urn }]);
  const all = fileOf({ ...MAX, found: 4 }, ...entries, { ...NAME, resource: urn });
  expect(judged(refreshedOf(RESIZED), undefined, all, NOW).drift).toEqual([]);
});

test("an entry of the same property is written again, and what another one covers is left to that", () => {
  const again = { ...MAX, reason: "other", until: "2027-01-31" };
  expect(written([RESIZED], {}, { file: fileOf(again) })).toEqual([NAME, MAX]);
  expect(written([RESIZED], {}, { file: fileOf({ ...again, property: 'size["max"]' }) })).toEqual([NAME, MAX]);
  expect(written([RESIZED], {}, { file: fileOf({ resource: "api", property: "size", reason: "a" }) })).toEqual([NAME]);
  const expired = { resource: "api", property: "size", reason: "a", until: "2027-01-30" };
  expect(written([RESIZED], {}, { file: fileOf(expired) })).toEqual([NAME, MAX]);
  const all = fileOf({ resource: "api", reason: "a" });
  expect(() => written([RESIZED], {}, { file: all })).toThrow(
    /^what differs in "api" is tolerated already, by another entry of svc-drift.json$/,
  );
});

test("where nothing can be ignored, it is reported for all names at once", () => {
  const refreshes: Refresh[] = [
    { declared: COMPUTE },
    { declared: COMPUTE, name: "gone", found: null },
    { declared: COMPUTE, name: "open", found: {}, outs: { __unfinished: "update" } },
    { ...RESIZED, name: "web" },
  ];
  const ignore = ["api", "gone", "open", "web"];
  const problems = [
    '"api" is as declared, so there is nothing to ignore',
    '"gone" was deleted, which cannot be ignored: only differing values can. Remove it from the program, or create it again with pulumi up --refresh',
    '"open" cannot be ignored: an update of pulumi up is not finished, and the state does not say what it had sent. Run pulumi up, which finishes it',
    '"web" does not differ in "settings". It differs in name, size.max',
  ];
  expect(() => written(refreshes, { ignore, property: "settings" })).toThrow(problems.join("\n"));
  expect(() => written(refreshes, { ignore: ["nobody"] })).toThrow(
    /no resource of pulumi-svc with the name or URN "nobody"/,
  );
});

test("no secret is written: not one that the state marks, not one by its name, not one in an address, at any depth", () => {
  const declared = {
    ...COMPUTE,
    settings: { marked: secret, password: "a", other: "1", pgSettings: { "app.key": "a", work_mem: "64MB" } },
  };
  const canary = (count: number) => `canary-${count}`;
  const found = {
    extra: { deep: [{ apiKey: canary(1) }], more: 1 },
    custom: { "app.key": canary(2) },
    list: [`https://me:${canary(3)}@a.test/x`],
    secretList: [secret],
    settings: {
      marked: canary(4),
      password: canary(5),
      other: "2",
      pgSettings: { "app.key": canary(6), "app.new": canary(7), work_mem: "1MB" },
    },
  };
  const entries = written([{ declared, found, differing: ["settings.marked"] }]);
  expect(JSON.stringify(entries)).not.toMatch(/canary|secret\]|ciphertext/);
  expect(entries).toHaveLength(10);
  expect(entries.filter((entry) => "found" in entry)).toEqual([
    { resource: "api", property: "settings.other", found: "2", reason: "why" },
    { resource: "api", property: "settings.pgSettings.work_mem", found: "1MB", reason: "why" },
  ]);
  // Each entry is one that the file may hold, and covers what it was written for.
  expect(
    judged(refreshedOf({ declared, found, differing: ["settings.marked"] }), undefined, fileOf(...entries), NOW),
  ).toMatchObject({ drift: [], unused: [] });
});

test("no secret is written that is in a text with its name", () => {
  const found = {
    settings: {
      pgSettings: {
        primary_conninfo: "host=db.test user=me password=canary sslmode=require",
        list: ["api_key: canary"],
        callback: "https://a.test/hook?access_token=canary",
      },
    },
  };
  const declared = { ...COMPUTE, settings: { pgSettings: { list: [] } } };
  const paths = ["callback", "list", "primary_conninfo"].map((name) => `settings.pgSettings.${name}`);
  expect(written([{ declared, found }])).toEqual(
    paths.map((property) => ({ resource: "api", property, reason: "why" })),
  );
});

test("no secret is written that has the form of one", () => {
  const found = {
    name: "canary: Pwd=canary;",
    provisioner: "-----BEGIN PRIVATE KEY-----\ncanary",
    settings: { pgSettings: { signing_key: "canary-1", shared: "https://canary@a.test/", conninfo: "Pwd=canary;" } },
  };
  const entries = written([{ declared: { ...COMPUTE, settings: { pgSettings: { shared: "" } } }, found }]);
  expect(entries).toHaveLength(5);
  expect(JSON.stringify(entries)).not.toMatch(/canary|secret\]/);
});

test("a flag is no secret, whatever its name", () => {
  const refresh = { declared: { ...COMPUTE, passwordlessAccess: false }, found: { passwordlessAccess: true } };
  const entries = written([refresh]);
  expect(entries).toEqual([{ resource: "api", property: "passwordlessAccess", found: true, reason: "why" }]);
  expect(judged(refreshedOf(refresh), undefined, fileOf(...entries), NOW).drift).toEqual([]);
});

test("objects that are declared nowhere, by id and kind; a resource of that name comes first", () => {
  const objects: Unmanaged[] = [
    { kind: "ComputeEndpoint", id: "prj-demo/ep-9", describe: "a compute", adopt: "adopt: true" },
    { kind: "OAuthProvider", id: "api", describe: "a provider", adopt: "adopt: true" },
  ];
  const entry = { unmanaged: "prj-demo/ep-9", kind: "ComputeEndpoint", reason: "why" };
  const ignore = ["prj-demo/ep-9"];
  expect(written([RESIZED], { ignore: [...ignore, "api"] }, { objects })).toEqual([NAME, MAX, entry]);
  expect(written([RESIZED], { ignore }, { objects, file: fileOf({ ...entry, reason: "a" }) })).toEqual([entry]);
  expect(() => written([RESIZED], { ignore }, { objects, file: fileOf({ unmanaged: "*", reason: "a" }) })).toThrow(
    "ComputeEndpoint prj-demo/ep-9 is tolerated already, by another entry of svc-drift.json",
  );
  expect(() => written([RESIZED], { ignore })).toThrow(
    /no resource of pulumi-svc with the name or URN "prj-demo\/ep-9"/,
  );
});

test("of a secret by reference no value is written: the entry holds for any", () => {
  const work_mem = { fromEnv: "MEM" };
  const settings = { pgSettings: { work_mem: "(another value: changed outside Pulumi)" } };
  const refresh = { declared: { ...COMPUTE, settings: { pgSettings: { work_mem } } }, found: { settings } };
  expect(written([{ ...refresh, differing: ["settings.pgSettings.work_mem"] }])).toEqual([
    { resource: "api", property: "settings.pgSettings.work_mem", reason: "why" },
  ]);
});
