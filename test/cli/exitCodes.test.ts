import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textOf } from "../support/codeBlocks";
import { type Ended, MAIN, runCommand } from "../support/command";

const COMMANDS = ["drift", "fleet drift", "import", "doctor", "env", "init", "sweep", "emulator"];

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "exit-codes-"))));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]): Promise<Ended> => runCommand({ args, cwd: folder, env: process.env });

test.each(COMMANDS)("AGENTS.md has the exit codes that the help of pulumi-svc %s has", async (command) => {
  const help = (await run(...command.split(" "), "--help")).stdout;
  const [, list = ""] = /Exit codes: ([^]*)/.exec(help) ?? [];
  const codes = [...list.matchAll(/(?:^|; ?)\s*(\d+) /g)].map(([, code]) => code);
  expect(codes).toEqual(expect.arrayContaining(["0", "1", "2"]));
  const [, row = ""] = new RegExp(`^\\| \`pulumi-svc ${command}\` +\\|(.*)\\|$`, "m").exec(textOf("AGENTS.md")) ?? [];
  const cells = row.split("|").map((cell) => cell.trim());
  expect(cells.slice(0, 2)).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
  // The columns are 0, 1 and the others; the line below the table says what 2 is.
  const others = [...(cells[2] ?? "").matchAll(/(?:^|; )(\d+) /g)].map(([, code]) => code);
  expect(new Set(["0", "1", "2", ...others])).toEqual(new Set(codes));
});

test.each([
  ...COMMANDS.map((command) => [...command.split(" "), "--nonsense"]),
  ["fleet", "drift", "--parallel", "0"],
  ["fleet", "drift", "--json", "--prometheus"],
  ["fleet", "drift", "--markdown", "--format", "text"],
  ["drift", "--from", "report.json", "--stack", "dev"],
  ["drift", "--json", "--format", "text"],
  ["env", "--force"],
  ["drift", "--ignore", "api"],
  ["drift", "--ignore", "api", "--reason", " "],
  ["drift", "--all-stacks"],
  ["drift", "--ignore", "api", "--reason", "a", "--all-stacks", "--stack", "dev", "--stack", "prod"],
  ["drift", "--ignore", "urn:pulumi:dev::p::t::api", "--reason", "a", "--all-stacks"],
  ["drift", "--ignore", "--reason", "a"],
  ["drift", "--ignore", "api", "--reason", "a", "--until", "2099-02-29"],
  ["drift", "--ignore", "api", "--reason", "a", "--until", "2020-01-01"],
  ["drift", "--ignore", "api", "--reason", "a", "--until", "tomorrow"],
  ["drift", "--ignore", "api", "--reason", "a", "--from", "report.json"],
  ["drift", "--property", "size"],
  ["drift", "--repair", "--stack", "one", "--stack", "two"],
  ["drift", "--repair", "--unmanaged"],
  ["drift", "--allow-replace"],
  ["drift", "--dry-run"],
  ["drift", "--repair", "--force"],
  ["drift", "--accept", "--repair"],
  ["drift", "--accept", "--unmanaged"],
  ["drift", "--accept", "--stack", "dev", "--stack", "prod"],
  ["doctor", "--max-size", "4"],
  ["doctor", "--audit", "--max-size", "0"],
  ["doctor", "--audit", "--max-size", "large"],
  ["doctor", "--audit", "--project", "prj-demo"],
  ["import"],
  ["sweep"],
  ["sweep", "--match", "*"],
  ["sweep", "--match", "pr-*", "--keep"],
  ["sweep", "--match", "pr-*", "--keep", "**"],
  ["sweep", "--match", "pr-*", "--older-than", "7"],
  ["sweep", "--match", "pr-*", "--project", "a/b"],
  ["nonsense"],
])("wrong usage ends with 2: pulumi-svc %s %s", async (...args) => {
  expect(await run(...args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^error: /) });
});

test.each([
  [["--yes"], "--yes needs --repair"],
  [["--accept", "--yes"], "--yes belongs to --repair. --accept takes --dry-run, --force, and never asks"],
  [["--repair", "--force"], "--force belongs to --accept. --repair takes --yes, --expect, --allow-replace"],
  [
    ["--ignore", "api", "--reason", "a", "--yes"],
    "--yes belongs to --repair. --ignore takes --reason, --until, --property, --all-stacks, and never asks",
  ],
])("an option of another mode is told with those of this one: drift %s", async (args, said) => {
  expect((await run("drift", ...args)).stderr).toBe(`error: ${said}\n`);
});

test.each([
  ["drift", "--from", "missing.json"],
  ["drift", "--ignore", "api", "--reason", "a"],
  ["drift", "--accept"],
  ["fleet", "drift", "--previous", "missing.json"],
  ["fleet", "drift", "missing"],
  ["doctor", "--audit"],
  ["import", "--project", "prj-demo", "--state", "missing.json"],
  ["emulator", "--seed", "missing.json"],
  ["env", "--show-secrets", "--password-env", "SVC_NOT_SET"],
  ["sweep", "--match", "pr-*", "--yes"],
])("a failure ends with 1: pulumi-svc %s %s", async (...args) => {
  expect(await run(...args)).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^pulumi-svc: /) });
});

test("a file that init cannot write is a failure", async () => {
  // A link to nothing: no file exists under this name, and a new one cannot be made.
  symlinkSync(join(folder, "nowhere"), join(folder, "Pulumi.yaml"));
  expect(await run("init", "--yes")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^pulumi-svc: .*Pulumi\.yaml/),
  });
});

test.each([["--accept"], ["--ignore", "api", "--reason", "a"], []])(
  "drift %s does nothing where its report cannot be written",
  async (...args) => {
    const out = join(folder, "missing", "report");
    const { code, stderr } = await run("drift", ...args, "--out", out);
    expect([code, stderr]).toEqual([1, `pulumi-svc: ${out} cannot be written: ENOENT\n`]);
  },
);

test("a reader that went away changes neither what is done nor how it ends", async () => {
  const id = "prj-demo/ep-1";
  const urn = "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::api";
  const repair = { action: "update", restarts: false, messages: [] };
  const drifted = { urn, kind: "ComputeEndpoint", name: "api", id, change: "changed", properties: [], repair };
  const report = { stack: "dev", drift: [drifted], unmanaged: [], fingerprint: "" };
  writeFileSync(join(folder, "report.json"), JSON.stringify(report));
  const child = spawn(process.execPath, [MAIN, "drift", "--from", "report.json"], { cwd: folder });
  // Long before it writes anything.
  child.stdout.destroy();
  child.stderr.destroy();
  expect(await once(child, "exit")).toEqual([7, null]);
});
