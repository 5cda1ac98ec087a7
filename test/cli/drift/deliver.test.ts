import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { accept } from "../../../src/cli/drift/accept/accept";
import { acceptSchema } from "../../../src/cli/drift/accept/result";
import { ignore, ignoreResultSchema } from "../../../src/cli/drift/ignore";
import { ROOT } from "../../support/cli";
import { events, log, type Refresh } from "../../support/refreshes";
import { runnerCommandsIn } from "../../support/runners";

/** A CLI that answers from files. */
const CLI = `#!/bin/sh
cd "$FOLDER"
case "$1" in
  refresh) file=$(echo " $*" | sed 's/.*--event-log //; s/ .*//') && cp refresh.json "$file" ;;
  preview) sed "s/SIZE/$(sed -n 's/.*size: \\([0-9]*\\).*/\\1/p' index.ts)/" plan.json ;;
  stack) [ "$2" = ls ] && echo "[]" || cat state.json ;;
  *) cat state.json ;;
esac
`;
const FULL = "/dev/full";
const RESIZED: Refresh = {
  declared: { projectId: "prj-demo", branchId: "br-dev", size: 1 },
  found: { size: 4 },
  differing: ["size"],
};

const [before, cwd] = [{ ...process.env }, process.cwd()];
let folder: string;
let [stdout, stderr] = ["", ""];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "deliver-")));
  const [{ resourcePreEvent }] = events(RESIZED) as [
    { resourcePreEvent: { metadata: { urn: string; type: string; old: object } } },
  ];
  const { urn, type, old } = resourcePreEvent.metadata;
  writeFileSync(join(folder, "state.json"), JSON.stringify({ deployment: { resources: [{ urn, type, ...old }] } }));
  const steps = [{ op: "same", urn, newState: { inputs: { ...RESIZED.declared, size: "SIZE" } } }];
  writeFileSync(join(folder, "plan.json"), JSON.stringify({ steps }).replace('"SIZE"', "SIZE"));
  writeFileSync(join(folder, "refresh.json"), `${log(...events(RESIZED))}\n`);
  writeFileSync(join(folder, "pulumi"), CLI, { mode: 0o755 });
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  writeFileSync(
    join(folder, "index.ts"),
    'import * as svc from "pulumi-svc";\nnew svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });\n',
  );
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  Object.assign(process.env, { FOLDER: folder, PATH: `${folder}${delimiter}${process.env["PATH"]}` });
  process.chdir(folder);
  [stdout, stderr] = ["", ""];
  jest.spyOn(process.stdout, "write").mockImplementation((text) => (stdout += String(text)) !== "");
  jest.spyOn(process.stderr, "write").mockImplementation((text) => (stderr += String(text)) !== "");
});
afterEach(() => {
  jest.restoreAllMocks();
  process.chdir(cwd);
  process.env = { ...before };
  rmSync(folder, { recursive: true });
});

const NOT_WRITTEN = `pulumi-svc: ${FULL} could not be written: ENOSPC. The report is on standard output\n`;

test("an edit of the program whose report cannot be written is still reported as an edit", async () => {
  const code = await accept([], { stack: undefined, force: true, format: "json", out: FULL });
  expect([code, stderr]).toEqual([1, NOT_WRITTEN]);
  expect(acceptSchema.parse(JSON.parse(stdout))).toMatchObject({
    accepted: [{ name: "api", found: 4 }],
    files: ["index.ts"],
    messages: [],
  });
  expect(readFileSync("index.ts", "utf8")).toContain("size: 4");
});

test("an entry of svc-drift.json, too", async () => {
  const code = await ignore({ ignore: ["api"], reason: "why", format: "json", out: FULL });
  expect([code, stderr]).toEqual([1, NOT_WRITTEN]);
  expect(ignoreResultSchema.parse(JSON.parse(stdout))).toMatchObject({ entries: [{ property: "size" }], messages: [] });
  expect(readFileSync("svc-drift.json", "utf8")).toContain('"found": 4');
});

test("svc-drift.json, which logs show as git does, has no command of a CI runner, and the same values", async () => {
  const entry = { resource: "other", property: "name", found: "##[group]theirs\u202e", reason: "\u2028::error::" };
  for (const indent of ["  ", "\t"]) {
    writeFileSync("svc-drift.json", JSON.stringify({ ignore: [entry] }, undefined, indent));
    await ignore({ ignore: ["api"], reason: "##vso[task.complete]", format: "json" });
    const text = readFileSync("svc-drift.json", "utf8");
    expect(runnerCommandsIn(text)).toEqual([]);
    expect(text).toMatch(new RegExp(`^${indent}"ignore"`, "m"));
    expect(JSON.parse(text)).toEqual({ ignore: [entry, expect.objectContaining({ reason: "##vso[task.complete]" })] });
  }
});
