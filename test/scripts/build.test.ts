import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, environment, fakeExecutable, temporaryFolder } from "./support";

describe("the build", () => {
  test("happens when the sources or dist changed, and leaves nothing of the build before", async () => {
    const root = temporaryFolder();
    fakeExecutable(join(root, "src"), "index.ts", "first");
    // Stands for the compiler: it copies src to the folder after --outDir.
    fakeExecutable(
      join(root, "node_modules", "typescript", "bin"),
      "tsc",
      `mkdir -p "$4"; cp -r src/. "$4"; mkdir -p "$4/cli"; echo x > "$4/cli/main.js"`,
    );
    const env = environment([], { PULUMI_SVC_ROOT: root });
    const build = (): ReturnType<typeof call> => call("setup/build.mjs", "ensureBuild", ['"/bin/sh"', "env"], env);

    expect((await build()).output).toContain("-- build: compiling src to dist");
    expect((await build()).output).toBe("");
    expect(readFileSync(join(root, "dist", "index.ts"), "utf8")).toContain("first");
    expect(statSync(join(root, "dist", "cli", "main.js")).mode & 0o111).toBe(0o111);

    writeFileSync(join(root, "src", "index.ts"), "second");
    writeFileSync(join(root, "dist", "leftover.js"), "");
    expect((await build()).output).toContain("-- build");
    expect(readFileSync(join(root, "dist", "index.ts"), "utf8")).toBe("second");
    expect(readdirSync(join(root, "dist")).sort()).toEqual(["cli", "index.ts"]);

    writeFileSync(join(root, "dist", "index.ts"), "edited by hand");
    expect((await build()).output).toContain("-- build");
  });

  test("that fails keeps the dist before and shows the compiler's words", async () => {
    const root = temporaryFolder();
    fakeExecutable(join(root, "dist"), "index.js", "old");
    fakeExecutable(join(root, "node_modules", "typescript", "bin"), "tsc", "echo 'src/a.ts(1,1): error'; exit 2");
    const env = environment([], { PULUMI_SVC_ROOT: root });
    const { error } = await call("setup/build.mjs", "ensureBuild", ['"/bin/sh"', "env"], env);
    expect(error?.message).toBe("the build failed:\nsrc/a.ts(1,1): error");
    expect(readFileSync(join(root, "dist", "index.js"), "utf8")).toContain("old");
  });
});
