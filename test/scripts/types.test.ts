import { join } from "node:path";
import { folderWith, NODE, runProcess, SCRIPTS } from "../support/scripts";

const project = (more: object) =>
  JSON.stringify({
    compilerOptions: { target: "es2022", lib: ["es5"], types: [], strict: true, ...more },
    include: ["*.ts"],
  });

/** Two projects that import one declaration, with other options each. */
const FILES = {
  "shared.d.ts": "export declare const shared: { size: number; name?: string };",
  "one/tsconfig.json": project({ module: "commonjs", exactOptionalPropertyTypes: true }),
  "one/index.ts": 'import { shared } from "../shared";\nshared.name = undefined;\n',
  "two/tsconfig.json": project({ module: "node16", noUnusedLocals: true }),
  "two/index.ts": 'import { shared } from "../shared";\nshared.name = undefined;\nconst unused = 1;\n',
  "two/other.ts": 'import { shared } from "../shared";\nshared.size = "1";\n',
  "three/tsconfig.json": project({ module: "node16" }),
  "three/index.ts": 'import { shared } from "../shared";\nshared.name = undefined;\nconst unused = 1;\n',
};

async function check(...projects: string[]): Promise<{ code: number; output: string }> {
  const cwd = folderWith(FILES);
  return await runProcess(NODE, [join(SCRIPTS, "tasks", "types.mts"), ...projects], { env: process.env, cwd });
}

test("each project is checked with its own options, and what is wrong in any of them is reported, a missing one too", async () => {
  const projects = ["one", "two", "three", "none"].map((folder) => `${folder}/tsconfig.json`);
  const { code, output } = await check(...projects);
  const found = [...output.matchAll(/^(\S+)\(\d+,\d+\): error (TS\d+)/gm)].map(([, file, error]) => `${file} ${error}`);
  expect(found).toEqual(["one/index.ts TS2412", "two/index.ts TS6133", "two/other.ts TS2322"]);
  expect(output).toMatch(/^error TS5083: .*none\/tsconfig\.json/m);
  expect(code).toBe(1);
});

test("a project without an error passes", async () => {
  expect(await check("three/tsconfig.json")).toEqual({ code: 0, output: "" });
});
