import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliEnvironment, ROOT } from "../support/cli";

jest.setTimeout(900_000);

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-engine-"));
const project = join(folder, "project");
const home = join(folder, "home");
beforeAll(() => {
  mkdirSync(home);
  cpSync(join(ROOT, "examples", "testing"), project, {
    recursive: true,
    filter: (source) => !source.endsWith("node_modules"),
  });
  symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

/** Runs the tests as their owner would: each file's result, and the output. */
async function npmTest(): Promise<{ code: number; files: string[]; text: string }> {
  // The backend of the caller does not exist: the tests bring their own.
  const env = { ...cliEnvironment(home, join(folder, "no backend")), CI: "true" };
  return new Promise((resolve) => {
    const child = execFile("npm", ["test"], { cwd: project, env }, (_, stdout, stderr) => {
      const text = stdout + stderr;
      const files = [...text.matchAll(/^(?:PASS|FAIL) \S+/gm)].map(([line]) => line).sort();
      resolve({ code: child.exitCode ?? -1, files: [...new Set(files)], text });
    });
  });
}

test("the tests of examples/testing pass, with mocks and with the emulator, and leave nothing behind", async () => {
  const before = readdirSync(project);
  expect(await npmTest()).toMatchObject({ code: 0, files: ["PASS ./emulator.test.ts", "PASS ./mocks.test.ts"] });
  expect(readdirSync(project)).toEqual(before);
});

test("both fail when the program declares another compute", async () => {
  const program = join(project, "index.ts");
  const source = readFileSync(program, "utf8");
  expect(source).toContain("max: 2");
  writeFileSync(program, source.replace("max: 2", "max: 4"));
  const { code, files, text } = await npmTest();
  expect([code, files]).toEqual([1, ["FAIL ./emulator.test.ts", "FAIL ./mocks.test.ts"]]);
  expect(text).toMatch(/"max": 4/);
  expect(text).toMatch(/"autoscaling_limit_max_cu": 4/);
});
