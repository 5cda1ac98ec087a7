import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { acceptDrift, type Asked } from "../../../../src/cli/drift/accept/accept";
import { acceptReport, acceptSchema, type AcceptResult } from "../../../../src/cli/drift/accept/result";
import { FORMATS, render } from "../../../../src/cli/report/render";
import { StackState } from "../../../../src/cli/stack/state";
import { typeToken } from "../../../../src/contract/pointer";
import { ROOT } from "../../../support/cli";
import { createdBy, planWith } from "../../../support/editedPrograms";
import { refreshedOf, type Refresh } from "../../../support/refreshes";

const IMPORT = `import * as svc from "pulumi-svc";\n`;
const CLASS = "project:///node_modules/pulumi-svc/src/resources/computeEndpoint/ComputeEndpoint.ts#32,1";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "accept-")));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Scene {
  readonly refreshes: readonly Refresh[];
  /** By name, the frame of the program in the stack trace. */
  readonly places?: Readonly<Record<string, string>>;
  readonly ignored?: Asked["ignored"]["entries"];
  readonly others?: readonly string[];
  readonly asked?: Partial<Asked>;
  /** Those that the stack was deployed with, such as `svc:maxSizeCu`. */
  readonly settings?: Readonly<Record<string, string>>;
}

const PROVIDER = "urn:pulumi:dev::proj::pulumi:providers:pulumi-nodejs::default";

const urnOf = ({ kind = "ComputeEndpoint", name = "api" }: Refresh): string =>
  `urn:pulumi:dev::proj::${typeToken(kind)}::${name}`;

function accepted({
  refreshes,
  places = {},
  ignored = [],
  others = [],
  asked = {},
  settings = {},
}: Scene): Promise<AcceptResult> {
  const resources = refreshes.map((one) => {
    const place = places[one.name ?? "api"];
    const stackTrace = [CLASS, ...(place === undefined ? [] : [`project:///${place}`])].map((sourcePosition) => ({
      sourcePosition,
    }));
    return {
      urn: urnOf(one),
      type: typeToken(one.kind ?? "ComputeEndpoint"),
      id: one.id ?? "prj-demo/ep-1",
      stackTrace,
    };
  });
  const provider = { urn: PROVIDER, type: "pulumi:providers:pulumi-nodejs", id: "1", inputs: settings };
  const deployment = { resources: [...resources, provider] };
  const state = new StackState(JSON.stringify({ deployment }));
  const file = { name: "svc-drift.json", entries: ignored };
  return acceptDrift(
    { resources: refreshedOf(...refreshes), state },
    {
      names: [],
      folder,
      ignored: file,
      force: true,
      planned: () => {
        const created = createdBy(...sources().map(read));
        return Promise.resolve(
          planWith(refreshes.map((one) => [urnOf(one), created.get(one.name ?? "api") ?? one.declared])),
        );
      },
      others: () => Promise.resolve(others),
      ...asked,
    },
  );
}

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const sources = (): string[] => readdirSync(folder).filter((name) => /\.m?ts$/.test(name));
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const sized = (name: string, size = 1): string =>
  `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "br-dev", size: ${size} });\n`;
const drifted = (name: string, found: unknown = 4): Refresh => ({
  name,
  id: `prj-demo/ep-${name}`,
  declared: { projectId: "prj-demo", branchId: "br-dev", size: 1 },
  found: { size: found },
  differing: ["size"],
});

const asDeclared = (name: string): Refresh => {
  const { id = "", declared } = drifted(name);
  return { name, id, declared };
};

test("what can be declared follows from the settings of the stack, as in a plan", async () => {
  const text = IMPORT + sized("api");
  write("index.ts", text);
  const scene = { refreshes: [drifted("api", 17)], asked: { dryRun: true as const } };
  const refused = await accepted(scene);
  expect(refused.left).toMatchObject([
    { reason: expect.stringMatching(/^the value cannot be declared: it 17 CU is not/) },
  ]);
  expect(await accepted({ ...scene, settings: { "svc:allowUnlistedSizes": "true" } })).toMatchObject({
    accepted: [{ path: "size", found: 17 }],
    left: [],
  });
  const limited = await accepted({ ...scene, refreshes: [drifted("api")], settings: { "svc:maxSizeCu": "2" } });
  expect(limited.left).toMatchObject([{ reason: expect.stringContaining("above the limit of svc:maxSizeCu") }]);
});

test("what drifted is written into each file of the program that declares it", async () => {
  write("index.ts", IMPORT + sized("api") + sized("other"));
  write("more.mts", IMPORT + sized("more"));
  const result = await accepted({ refreshes: [drifted("api"), drifted("more", { min: 1, max: 2 })] });
  expect(result).toMatchObject({
    accepted: [
      { name: "api", path: "size", declared: 1, found: 4, file: "index.ts", line: 2 },
      { name: "more", path: "size", declared: 1, found: { min: 1, max: 2 }, file: "more.mts", line: 2 },
    ],
    left: [],
    files: ["index.ts", "more.mts"],
  });
  expect(acceptReport(result).exitCode).toBe(0);
  expect(read("index.ts")).toBe(IMPORT + sized("api", 4) + sized("other"));
  expect(read("more.mts")).toContain("size: { min: 1, max: 2 }");
  expect(readdirSync(folder).toSorted()).toEqual(["Pulumi.yaml", "index.ts", "more.mts", "node_modules"]);
});

test("without drift nothing is edited, and nothing is left", async () => {
  write("index.ts", IMPORT + sized("api"));
  const result = await accepted({ refreshes: [asDeclared("api")], places: { api: "index.ts#2,1" } });
  expect(result).toMatchObject({ stack: "dev", accepted: [], left: [], files: [], patch: "" });
  expect(acceptReport(result).exitCode).toBe(0);
  expect(read("index.ts")).toBe(IMPORT + sized("api"));
});

test("a dry run writes nothing, and a file outside git is refused without --force, which a dry run says", async () => {
  const between = "\n".repeat(20);
  const programOf = (size: number) => IMPORT + sized("api", size) + between + sized("jobs", size).trimEnd();
  const text = programOf(1);
  write("index.ts", text);
  const scene = {
    refreshes: [drifted("api"), drifted("jobs")],
    places: { api: "index.ts#2,1", jobs: "index.ts#23,1" },
  };
  const dry = await accepted({ ...scene, asked: { dryRun: true } });
  expect(dry.patch).toContain(`+${sized("api", 4)}`);
  // Git turns the diff into what is written without --dry-run.
  expect(spawnSync("git", ["apply", "-"], { cwd: folder, input: dry.patch })).toMatchObject({ status: 0 });
  expect(read("index.ts")).toBe(programOf(4));
  write("index.ts", text);
  expect([dry.dryRun, dry.files, read("index.ts")]).toEqual([true, ["index.ts"], text]);
  expect(render(acceptReport(dry), "text")).toContain("+++ b/index.ts");
  expect(render(acceptReport(dry), "text")).toContain(
    "Nothing was written. Without --dry-run it edits index.ts, if the plan of the stack confirms it.",
  );
  const withoutForce = (dryRun?: true) =>
    acceptDrift(
      { resources: refreshedOf(drifted("api")), state: new StackState(JSON.stringify({ deployment: {} })) },
      {
        names: [],
        folder,
        ignored: { name: "svc-drift.json", entries: [] },
        planned: () => Promise.reject(new Error("nothing is planned")),
        others: () => Promise.resolve([]),
        ...(dryRun && { dryRun }),
      },
    );
  const warned = await withoutForce(true);
  expect(warned.refusals).toEqual(["index.ts is not in a git repository"]);
  expect(warned.patch).toContain(`+${sized("api", 4)}`);
  const advice = "Commit first, so that the edit can be undone, or use --force.";
  expect(render(acceptReport(warned), "text")).toContain(
    `Nothing was written. Without --dry-run this edit is refused: index.ts is not in a git repository. ${advice}`,
  );
  expect(render(acceptReport(warned), "markdown")).toContain(
    `is refused: \`index.ts is not in a git repository\`. ${advice}`,
  );
  await expect(withoutForce()).rejects.toThrow(
    "index.ts is not in a git repository. Nothing was written. Commit first, so that the edit can be undone, or use --force",
  );
  expect(read("index.ts")).toBe(text);
});

test("what the plan of the stack does not show is taken back, and the rest stays", async () => {
  const text = IMPORT + sized("api") + sized("jobs");
  write("index.ts", text);
  write("other.ts", IMPORT + sized("other", 4));
  let plans = 0;
  const result = await accepted({
    refreshes: [drifted("api"), drifted("jobs"), drifted("other")],
    others: ["prod"],
    asked: {
      planned: () => {
        plans += 1;
        const isApi = (name: string): boolean => name === "api" && read("index.ts").includes("size: 4");
        const names = ["api", "jobs", "other"].map((name) => [urnOf({ name, declared: {} }), isApi(name)] as const);
        const place = { projectId: "prj-demo", branchId: "br-dev" };
        return Promise.resolve(planWith(names.map(([urn, is]) => [urn, { ...place, size: is ? 4 : 1 }])));
      },
    },
  });
  expect(result.accepted.map(({ name }) => name)).toEqual(["api"]);
  expect(result.left).toMatchObject([
    { name: "jobs", path: "size", file: "index.ts", line: 3, code: "size: 4", reason: expect.stringMatching(/undone/) },
    // That file has the value already, and is that of another stack.
    {
      name: "other",
      path: "size",
      file: "other.ts",
      line: 2,
      reason: expect.stringMatching(/^the text has the value/),
    },
  ]);
  expect([acceptReport(result).exitCode, result.files, result.otherStacks]).toEqual([7, ["index.ts"], ["prod"]]);
  expect(read("index.ts")).toBe(IMPORT + sized("api", 4) + sized("jobs"));
  // Before the edit, with both, and with the one that is left.
  expect(plans).toBe(3);
});

test("a file of another stack stays, where the plan shows the value anyway: as an edit that is not deployed, or ignored", async () => {
  // In this stack, no `new` with the name creates it.
  const text = IMPORT + sized("api");
  write("dev.ts", text);
  const planned = () => Promise.resolve(planWith([[urnOf(drifted("api")), { size: 4 }]]));
  const result = await accepted({ refreshes: [drifted("api")], others: ["dev"], asked: { planned } });
  expect(result).toMatchObject({ accepted: [], files: [], otherStacks: [], patch: "" });
  expect(result.left).toMatchObject([
    { name: "api", path: "size", file: "dev.ts", line: 2, reason: expect.stringMatching(/without an edit here/) },
  ]);
  expect([acceptReport(result).exitCode, read("dev.ts")]).toEqual([7, text]);
});

test("a program that has no plan is not edited", async () => {
  const text = IMPORT + sized("api");
  write("index.ts", text);
  const planned = () => Promise.reject(new Error("no credentials"));
  await expect(accepted({ refreshes: [drifted("api")], asked: { planned } })).rejects.toThrow(
    /^nothing was edited, .*no credentials$/,
  );
  expect(read("index.ts")).toBe(text);
});

test.each(FORMATS)("the other stacks of an edited program are named: %s", async (format) => {
  write("index.ts", IMPORT + sized("api"));
  const scene: Scene = { refreshes: [drifted("api")], others: ["prod", "acme/test`|"] };
  for (const asked of [{ dryRun: true }, {}] as const) {
    const text = render(acceptReport(await accepted({ ...scene, asked })), format);
    if (format === "json") expect(JSON.parse(text)).toMatchObject({ otherStacks: scene.others });
    else expect(text).toContain("Other stacks use this program, too. Check their plans before you commit the edit\n");
    if (format === "text") expect(text).toContain("\n  prod\n  acme/test`|\n");
    if (format === "markdown") expect(text).toContain("\n- `prod`\n- <code>acme&#47;test&#96;&#124;</code>\n");
  }
  // Nothing is edited, so none of them changes.
  const left = { ...drifted("api"), declared: { projectId: "prj-demo", branchId: "br-dev", size: 2 } };
  const result = await accepted({ ...scene, refreshes: [{ ...left, found: { size: 8 } }] });
  expect([result.left.length, result.otherStacks]).toEqual([1, []]);
});

test("a file outside the folder of the project is refused, also by a dry run", async () => {
  const outside = `${folder}-outside.ts`;
  const text = IMPORT + sized("api");
  writeFileSync(outside, text);
  const places = { api: `../${basename(outside)}#2,1` };
  for (const asked of [{}, { dryRun: true }] as const) {
    await expect(accepted({ refreshes: [drifted("api")], places, asked })).rejects.toThrow(
      /-outside\.ts is outside the folder of the project, and is not edited/,
    );
  }
  expect(readFileSync(outside, "utf8")).toBe(text);
  rmSync(outside);
});

test("nothing of a run is written where one file does not parse, or a place does not fit it", async () => {
  write("index.ts", IMPORT + sized("api"));
  write("broken.ts", `${IMPORT}new svc.ComputeEndpoint("broken", {`);
  const refreshes = [drifted("api"), drifted("broken")];
  const places = { api: "index.ts#2,1", broken: "broken.ts#2,1" };
  await expect(accepted({ refreshes, places })).rejects.toThrow(/^broken\.ts:2 does not parse/);
  await expect(accepted({ refreshes: [drifted("api")], places: { api: "index.ts#1,1" } })).rejects.toThrow(
    /^"api" at index\.ts:1: the position no longer fits the file.*Deploy the program once/,
  );
  expect(read("index.ts")).toBe(IMPORT + sized("api"));
  // The state may be from another machine: then the files are searched.
  rmSync(join(folder, "broken.ts"));
  const found = await accepted({ refreshes: [drifted("api")], places: { api: "../elsewhere.ts#1,1" } });
  expect(found.files).toEqual(["index.ts"]);
});

test("a place of several resources is edited where all of them differ alike, and otherwise reported with the others", async () => {
  const text = `${IMPORT}for (const name of ["api", "other"]) ${sized("x").replace('"x"', "name")}`;
  write("index.ts", text);
  const places = { api: "index.ts#2,39", other: "index.ts#2,39" };
  const scene = { refreshes: [drifted("api"), asDeclared("other")], places };
  expect(await accepted({ ...scene, asked: { dryRun: true } })).toMatchObject({ accepted: [], patch: "" });
  const one = await accepted(scene);
  expect(one).toMatchObject({
    left: [
      {
        name: "api",
        file: "index.ts",
        line: 2,
        code: "size: 4",
        reason: expect.stringMatching(/^several resources/),
      },
    ],
    files: [],
  });
  expect([acceptReport(one).exitCode, read("index.ts")]).toEqual([7, text]);
  const both = await accepted({ refreshes: [drifted("api"), drifted("other")], places });
  expect([both.accepted.length, both.left, read("index.ts")]).toEqual([2, [], text.replace("size: 1", "size: 4")]);
});

test("a file that a compiler has written counts for nothing", async () => {
  write("index.ts", IMPORT + sized("api"));
  expect(await accepted({ refreshes: [drifted("api")], places: { api: "dist/index.js#40,1" } })).toMatchObject({
    files: ["index.ts"],
  });
});

test("what no edit of an argument can declare is reported with the ways out, without reading the program", async () => {
  rmSync(join(folder, "node_modules"));
  const result = await accepted({
    refreshes: [
      { ...drifted("gone"), found: null },
      { ...drifted("old"), found: {}, delete: true },
      { ...drifted("unfinished"), outs: { __unfinished: "update", __sent: ["name"] } },
      { ...drifted("same"), found: {}, differing: [], result: "update" },
    ],
  });
  expect(result.left.map(({ name, path, reason }) => [name, path, reason])).toEqual([
    ["gone", null, expect.stringMatching(/does not exist.*Remove it from the program.*create it again with/)],
    ["old", null, expect.stringMatching(/the next pulumi up deletes it/)],
    [
      "unfinished",
      null,
      'an update of pulumi up is not finished, which had sent "name". Run pulumi up, which finishes it',
    ],
    ["same", null, expect.stringMatching(/no property differs, but pulumi up --refresh has to update it/)],
  ]);
  expect([acceptReport(result).exitCode, result.files]).toEqual([7, []]);
  const clean = await accepted({ refreshes: [asDeclared("api")] });
  expect([acceptReport(clean).exitCode, clean.accepted, clean.left]).toEqual([0, [], []]);
  await expect(accepted({ refreshes: [drifted("api")] })).rejects.toThrow(/^TypeScript is missing/);
});

test("what svc-drift.json covers is skipped, unless it is named", async () => {
  write("index.ts", IMPORT + sized("api") + sized("other"));
  const scene: Scene = {
    refreshes: [drifted("api"), drifted("other")],
    ignored: [{ resource: "api", reason: "on purpose" }],
    asked: { dryRun: true },
  };
  const skipped = await accepted(scene);
  expect([skipped.accepted.map(({ name }) => name), skipped.left]).toEqual([["other"], []]);
  expect(skipped.tolerated).toEqual([urnOf(drifted("api"))]);
  const named = await accepted({ ...scene, asked: { dryRun: true, names: ["api"] } });
  expect([named.accepted.map(({ name }) => name), named.left, named.tolerated]).toEqual([["api"], [], []]);
  expect(named.fingerprint).not.toBe(skipped.fingerprint);
  // An up --refresh would repair it.
  const written = render(acceptReport(await accepted({ ...scene, asked: {} })), "text");
  expect(written).toMatch(
    /^Edited index\.ts\. pulumi up --refresh shows no change .* but also repairs what svc-drift\.json tolerates\./m,
  );
  expect(written).toMatch(/run it with --target for the accepted resources, or name the property in ignoreChanges\.$/m);
});

test.each(FORMATS)(
  "as %s nothing of the program and of the service is obeyed by a terminal or a page",
  async (format) => {
    const evil = "a\u{1b}[2J`<b>|\u{202e}";
    write(
      "index.ts",
      `${IMPORT}\t// \u{1b}[31m \`\`\` ${evil}\n${sized("api").replace("size: 1", `size: 1, name: "x"`)}`,
    );
    const named: Refresh = {
      ...drifted("api"),
      found: { size: 4, name: evil },
      declared: { projectId: "prj-demo", branchId: "br-dev", size: 1, name: "x" },
    };
    const result = await accepted({ refreshes: [named], asked: { dryRun: true } });
    const text = render(acceptReport(result), format);
    expect(text).not.toMatch(/[\u{1b}\u{202e}]/u);
    expect(text).toContain("index.ts");
    if (format === "json") expect(acceptSchema.parse(JSON.parse(text))).toEqual(result);
    if (format === "markdown") expect(text).toContain("\n````diff\n");
    expect(existsSync(join(folder, "index.ts"))).toBe(true);
  },
);

test("a secret by reference is left: no format shows a value, and none is written", async () => {
  const text = `${IMPORT}new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", settings: { pgSettings: { "app.token": svc.fromEnv("TOKEN") } } });\n`;
  write("index.ts", text);
  const by = (token: unknown) => ({ settings: { pgSettings: { "app.token": token } } });
  const refresh: Refresh = {
    declared: { projectId: "prj-demo", branchId: "br-dev", ...by({ fromEnv: "TOKEN" }) },
    found: by("(another value: changed outside Pulumi)"),
    differing: ['settings.pgSettings["app.token"]'],
  };
  const [refreshed] = refreshedOf(refresh);
  // It has the name of a secret, and none of the two is one.
  expect(refreshed?.drift).toMatchObject({
    properties: [{ declared: { fromEnv: "TOKEN" }, found: "(another value: changed outside Pulumi)" }],
    repair: { action: "update" },
  });
  const result = await accepted({ refreshes: [refresh] });
  expect(acceptReport(result).exitCode).toBe(7);
  expect(result.left).toMatchObject([{ file: "index.ts", line: 2, code: null }]);
  expect(result.left[0]?.reason).toMatch(/^it is a secret by reference\. Set the variable TOKEN /);
  expect(read("index.ts")).toBe(text);
  for (const format of FORMATS) {
    const rendered = render(acceptReport(result), format);
    expect(rendered).toContain("secret by reference");
    expect(format === "json" ? rendered.replace(/"found": .*/, "") : rendered).not.toContain("another value: changed");
  }
});

test.each(FORMATS)("what is a secret by its name or its form is left, and shown nowhere: %s", async (format) => {
  const settings = (...[pw, key, uri]: string[]): string =>
    `settings: { pgSettings: { "app.pw": "${pw}", "app.signing_key": "${key}", "app.db": "${uri}" } }`;
  const deployed = ["canary-1", "canary-2", "postgres://u:canary-3@h/db"];
  const text = `${IMPORT}new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1, ${settings(...deployed)} });\n`;
  write("index.ts", text);
  const by = (values: readonly string[]) => ({
    settings: { pgSettings: { "app.pw": values[0], "app.signing_key": values[1], "app.db": values[2] } },
  });
  const result = await accepted({
    refreshes: [
      {
        declared: { projectId: "prj-demo", branchId: "br-dev", size: 1, ...by(deployed) },
        found: { size: 2, ...by(deployed.map((value) => value.replace("canary", "canary-other"))) },
      },
    ],
  });
  const advice = (variable: string): string =>
    `it is a secret, or looks like one, so its value is not written to the program. Use svc.fromEnv("${variable}"), or run pulumi up --refresh or pulumi-svc drift --repair to send the declared value again`;
  expect(result.left.map(({ path, reason }) => [path, reason])).toEqual(
    ["app.db", "app.pw", "app.signing_key"].map((name) => [
      `settings.pgSettings["${name}"]`,
      advice(name.toUpperCase().replace(".", "_")),
    ]),
  );
  expect(render(acceptReport(result), format).replaceAll(text.trim(), "")).not.toMatch(/canary-other/);
  expect(JSON.stringify(result.left)).not.toMatch(/canary/);
  expect(read("index.ts")).toBe(text.replace("size: 1", "size: 2"));
});
