import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { call, environment, SCRIPTS, temporaryFolder, type Called } from "../support/scripts";

jest.setTimeout(120_000); // The compiler runs.

const ROOT = join(SCRIPTS, "..");

/** A clone with these sources, the real compiler and the real settings. */
function clone(sources: Record<string, string>): { root: string; build: () => Promise<Called> } {
  const root = temporaryFolder();
  mkdirSync(join(root, "node_modules", ".bin"), { recursive: true });
  symlinkSync(process.execPath, join(root, "node_modules", ".bin", "node"));
  for (const name of ["typescript-7", "@typescript", "@types"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(root, "node_modules", name));
  }
  for (const name of ["tsconfig.json", "tsconfig.build.json"]) cpSync(join(ROOT, name), join(root, name));
  mkdirSync(join(root, "src", "cli"), { recursive: true });
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(root, "src", name), text);
  const env = environment([], { PULUMI_SVC_ROOT: root });
  return { root, build: () => call("setup/build.mts", "ensureBuild", [], env) };
}

describe("the build", () => {
  test("happens when the sources changed or dist is gone, and leaves nothing of the build before", async () => {
    const { root, build } = clone({ "index.ts": "export const x = 1;", "cli/main.ts": "export const y = 1;" });
    const dist = join(root, "dist");
    const built = { output: expect.stringMatching(/^-- build: src is compiled to dist/) };
    expect(await build()).toMatchObject(built);
    expect(await build()).toEqual({ output: "" });
    expect(statSync(join(dist, "cli", "main.js")).mode & 0o111).toBe(0o111);
    expect(readFileSync(join(root, "node_modules", ".bin", "pulumi-svc"), "utf8")).toContain("exports.y = 1");

    writeFileSync(join(root, "src", "index.ts"), "export const x = 2;");
    expect(await build()).toMatchObject(built);
    expect(readFileSync(join(dist, "index.js"), "utf8")).toContain("exports.x = 2");

    rmSync(join(root, "src", "cli"), { recursive: true });
    expect(await build()).toMatchObject(built);
    expect(existsSync(join(dist, "cli", "main.js"))).toBe(false);
    expect(await build()).toEqual({ output: "" });

    rmSync(dist, { recursive: true });
    expect(await build()).toMatchObject(built);
    expect(readdirSync(dist).sort()).toEqual([".tsbuildinfo", "index.d.ts", "index.js"]);
  });

  test("that fails keeps the dist before and shows the compiler's words", async () => {
    const { root, build } = clone({ "index.ts": "export const x = 1;" });
    await build();
    writeFileSync(join(root, "src", "index.ts"), 'export const x: number = "2";');
    const { error } = await build();
    expect(error).toMatchObject({ name: "SetupError", advice: "Correct the sources and run this again." });
    expect(error?.message).toMatch(/^the build failed:\nsrc\/index\.ts.*TS2322/);
    expect(readFileSync(join(root, "dist", "index.js"), "utf8")).toContain("exports.x = 1");
    expect((await build()).error?.message).toContain("TS2322");
  });
});
