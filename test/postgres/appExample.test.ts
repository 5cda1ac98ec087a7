import { execFile } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cliEnvironment, ROOT } from "../support/cli";
import { until } from "../support/emulator";
import { postgresBin } from "../support/postgres";

jest.setTimeout(600_000);

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-app-example-"));
const project = join(folder, "project");
const home = join(folder, "home");
beforeAll(() => {
  // If this is root, the server runs as another user.
  chmodSync(folder, 0o755);
  mkdirSync(home);
  cpSync(join(ROOT, "examples", "app"), project, {
    recursive: true,
    filter: (source) => !source.endsWith("node_modules"),
  });
  symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

test("package.json and its lock file ask for the Node that the README names: an earlier one does not run TypeScript", () => {
  const read = (file: string): string => readFileSync(join(project, file), "utf8");
  const [, version] = /You need Node (\d+\.\d+) or later/.exec(read("README.md")) ?? [];
  const engines = { node: `>=${version}` };
  expect(JSON.parse(read("package.json"))).toMatchObject({ engines });
  expect(JSON.parse(read("package-lock.json"))).toMatchObject({ packages: { "": { engines } } });
});

/** As its owner runs it. */
async function npmTest(bin = postgresBin() ?? ""): Promise<{ code: number; text: string }> {
  const env = {
    // The backend of the caller does not exist: the test brings its own.
    ...cliEnvironment(home, join(folder, "no backend")),
    ...{ CI: "true", NO_COLOR: "1", PULUMI_SVC_POSTGRES_BIN: bin },
  };
  return new Promise((resolve) => {
    const child = execFile("npm", ["test"], { cwd: project, env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, text: stdout + stderr }),
    );
  });
}

test("the test of examples/app passes without a server, and leaves nothing in its folder and among temporary files", async () => {
  const files = (): string[] => ["", "src"].flatMap((each) => readdirSync(join(project, each)));
  const before = files();
  const { code, text } = await npmTest();
  expect(`${text}\nended with ${code}`).toMatch(/pass 1\b[^]*\nended with 0$/);
  expect(files()).toEqual(before);
  // The last is deleted a moment after the emulator has ended.
  await until(
    async () => readdirSync(home).filter((name) => /^pulumi-svc-(postgres|sockets|template)-/.test(name)),
    (left) => left.length === 0,
  );
});

test("it fails when the pool has no listener for errors: the end of an idle session then ends the application", async () => {
  const server = join(project, "src", "server.mts");
  const source = readFileSync(server, "utf8");
  expect(source).toMatch(/^pool\.on\("error".*$/m);
  writeFileSync(server, source.replace(/^pool\.on\("error".*$/m, ""));
  const { code, text } = await npmTest();
  writeFileSync(server, source);
  expect(code).not.toBe(0);
  expect(text).toContain("a user reads their notes, also after the compute was resized");
  expect(text).toContain("Unhandled 'error' event");
});

test("without a Postgres it says what to install", async () => {
  const { code, text } = await npmTest(home);
  expect(code).not.toBe(0);
  expect(text).toContain(`the emulator's --postgres found no Postgres in ${home} (PULUMI_SVC_POSTGRES_BIN): install`);
});
