import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, environment, fakeExecutable, temporaryFolder } from "../support/scripts";

const MANIFEST = { dependencies: { zod: "4.0.0" }, workspaces: ["examples/*"] };
const LOCK = {
  packages: {
    "": MANIFEST,
    "node_modules/zod": { version: "4.0.0", integrity: "sha512-a" },
    "node_modules/for-macs": { version: "1.0.0", integrity: "sha512-b", optional: true },
    "node_modules/example": { resolved: "examples/example", link: true },
  },
};
const INSTALLED = {
  packages: {
    "node_modules/zod": { version: "4.0.0", integrity: "sha512-a" },
    "node_modules/example": { resolved: "examples/example", link: true },
  },
};

async function whyStale(manifest: unknown, lock: unknown, installed: unknown): Promise<unknown> {
  const args = [manifest, lock, installed].map((value) => JSON.stringify(value) ?? "undefined");
  return (await call("setup/dependencies.mjs", "whyStale", args, environment([]))).value;
}

describe("whether the dependencies are stale", () => {
  test("they are not when what is installed is what the lock names, less the optional packages of other machines", async () => {
    expect(await whyStale(MANIFEST, LOCK, INSTALLED)).toBeUndefined();
  });

  test("they are when nothing is installed", async () => {
    expect(await whyStale(MANIFEST, LOCK, undefined)).toBe("nothing is installed yet");
  });

  test("they are when a package is missing or another one", async () => {
    const without = { packages: { "node_modules/example": INSTALLED.packages["node_modules/example"] } };
    expect(await whyStale(MANIFEST, LOCK, without)).toBe("node_modules/zod is missing");
    const other = {
      packages: { ...INSTALLED.packages, "node_modules/zod": { version: "4.0.1", integrity: "sha512-c" } },
    };
    expect(await whyStale(MANIFEST, LOCK, other)).toBe("node_modules/zod is another version");
  });

  test("they are when package.json asks for something that the lock does not know", async () => {
    const manifest = { ...MANIFEST, dependencies: { zod: "4.1.0" } };
    expect(await whyStale(manifest, LOCK, INSTALLED)).toBe("dependencies of package.json changed");
    expect(await whyStale({ ...MANIFEST, workspaces: [] }, LOCK, INSTALLED)).toBe("workspaces of package.json changed");
  });
});

describe("installing the dependencies", () => {
  function cloneWith(npm: string): { root: string; ensure: () => ReturnType<typeof call> } {
    const root = temporaryFolder();
    const bin = temporaryFolder();
    writeFileSync(join(root, "package.json"), JSON.stringify(MANIFEST));
    writeFileSync(join(root, "package-lock.json"), JSON.stringify(LOCK));
    writeFileSync(join(root, "will-be-installed.json"), JSON.stringify(INSTALLED));
    fakeExecutable(bin, "npm", `echo "$@" >> npm-calls\n${npm}`);
    const env = environment([bin], { PULUMI_SVC_ROOT: root });
    return { root, ensure: () => call("setup/dependencies.mjs", "ensureDependencies", [], env) };
  }
  const installs = "mkdir -p node_modules && cp will-be-installed.json node_modules/.package-lock.json";

  test("runs npm ci once, says why and how long it may take, and nothing the second time", async () => {
    const { root, ensure } = cloneWith(installs);
    const first = await ensure();
    expect(first.error).toBeUndefined();
    expect(first.output).toContain("-- dependencies: nothing is installed yet; running npm ci (about a minute)");
    const second = await ensure();
    expect(second).toEqual({ output: "" });
    expect(readFileSync(join(root, "npm-calls"), "utf8").trim().split("\n")).toEqual([
      "ci --include=dev --no-audit --no-fund",
    ]);
  });

  test("runs it again when the tree was changed by hand", async () => {
    const { root, ensure } = cloneWith(installs);
    mkdirSync(join(root, "node_modules"));
    writeFileSync(join(root, "node_modules", ".package-lock.json"), JSON.stringify({ packages: {} }));
    expect((await ensure()).output).toContain("is missing; running npm ci");
  });

  test("says what npm said and what to do when it fails", async () => {
    const { error, output } = await cloneWith("echo 'npm error network'; exit 7").ensure();
    expect(error).toMatchObject({ name: "SetupError", message: expect.stringContaining("npm ci ended with 7") });
    expect(output).toContain("npm error network");
    expect(error?.advice).toContain("Check that npm reaches its registry");
  });

  test("does not go on with a tree that npm ci left wrong", async () => {
    const { error } = await cloneWith("true").ensure();
    expect(error?.message).toBe("after npm ci nothing is installed yet");
  });
});
