import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, environment, fakeExecutable, temporaryFolder, type Called } from "../support/scripts";

const MANIFEST = { dependencies: { zod: "4.0.0" }, workspaces: ["examples/*"] };
const EXAMPLE = { "node_modules/example": { resolved: "examples/example", link: true } };
const ZOD = { "node_modules/zod": { version: "4.0.0", integrity: "sha512-a" } };
const OTHER_ZOD = { "node_modules/zod": { version: "4.0.1", integrity: "sha512-c" } };
const FOR_MACS = { "node_modules/for-macs": { version: "1.0.0", integrity: "sha512-b", optional: true } };
const INSTALLED = { ...ZOD, ...EXAMPLE };

/** A clone, and an npm that notes its calls. */
function clone(
  installed: object | undefined,
  npm = "true",
  manifest: object = MANIFEST,
): { ensure: () => Promise<Called>; calls: () => string } {
  const root = temporaryFolder();
  const bin = temporaryFolder();
  const write = (file: string, value: object): void => writeFileSync(join(root, file), JSON.stringify(value));
  write("package.json", manifest);
  write("package-lock.json", { packages: { "": MANIFEST, ...ZOD, ...FOR_MACS, ...EXAMPLE } });
  write("will-be-installed.json", { packages: INSTALLED });
  mkdirSync(join(root, "node_modules"));
  if (installed) write(join("node_modules", ".package-lock.json"), { packages: installed });
  fakeExecutable(bin, "npm", `echo "$@" >> npm-calls\n${npm}`);
  const env = environment([bin], { PULUMI_SVC_ROOT: root });
  const calls = join(root, "npm-calls");
  return {
    ensure: () => call("setup/packages.mjs", "ensureDependencies", [], env),
    calls: () => (existsSync(calls) ? readFileSync(calls, "utf8") : ""),
  };
}

test("what is installed is what the lock names, less the optional packages of other machines: npm is not run", async () => {
  const { ensure, calls } = clone(INSTALLED);
  expect(await ensure()).toEqual({ output: "" });
  expect(calls()).toBe("");
});

test.each([
  ["nothing is installed yet", undefined, MANIFEST],
  ["node_modules/zod is missing or another version", EXAMPLE, MANIFEST],
  ["node_modules/example is missing or another version", ZOD, MANIFEST],
  ["node_modules/zod is missing or another version", { ...INSTALLED, ...OTHER_ZOD }, MANIFEST],
  ["dependencies of package.json changed", INSTALLED, { ...MANIFEST, dependencies: { zod: "4.1.0" } }],
  ["workspaces of package.json changed", INSTALLED, { ...MANIFEST, workspaces: [] }],
])("npm ci is run when %s, and says so", async (reason, installed, manifest) => {
  const { ensure, calls } = clone(installed, "true", manifest);
  expect((await ensure()).output).toContain(`-- dependencies: ${reason}; running npm ci (about a minute)`);
  expect(calls()).toBe("ci --include=dev --no-audit --no-fund --loglevel=error\n");
});

test("npm ci is run once: the second time there is nothing to do", async () => {
  const { ensure } = clone(undefined, "cp will-be-installed.json node_modules/.package-lock.json");
  expect((await ensure()).output).toContain("dependencies are installed");
  expect(await ensure()).toEqual({ output: "" });
});

test("when npm ci fails, the message has npm's output and what to do", async () => {
  const { error, output } = await clone(undefined, "echo 'npm error network'; exit 7").ensure();
  expect(error).toMatchObject({ name: "SetupError", message: expect.stringContaining("npm ci ended with 7") });
  expect(output).toContain("npm error network");
  expect(error?.advice).toContain("Check that npm reaches its registry");
});
