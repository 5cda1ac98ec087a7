import { call, environment, folderWith } from "../support/scripts";

/** The circles of a repository with these files. */
async function circles(files: Record<string, string>): Promise<unknown> {
  const args = [JSON.stringify(folderWith(files))];
  return (await call("tasks/check.mts", "circlesOf", args, environment([]))).value;
}

test.each([
  ["of values", `import { a } from "../a";`],
  ["of types", `import type { A } from "../a";`],
  ["that is exported again", `export { a } from "../a";`],
  ["of a call", `const a = () => import("../a.js");`],
])("an import %s closes a circle, which is shown from its first file around", async (_what, closing) => {
  const files = {
    "src/a.ts": `import { b } from "./b";\nimport { z } from "zod";`,
    "src/b/index.ts": `export * from "./c";`,
    "src/b/c.ts": closing,
  };
  expect(await circles(files)).toEqual(["src/a.ts -> src/b/index.ts -> src/b/c.ts -> src/a.ts"]);
});

test("each of several circles is found, and files that are imported twice make none", async () => {
  const files = {
    "src/top.ts": `import "./left"; import "./right";`,
    "src/left.ts": `import "./base";`,
    "src/right.ts": `import "./base"; import type { L } from "./left";`,
    "src/base.ts": "",
    "src/one.ts": `import "./two"; import "./base";`,
    "src/two.ts": `import "./one";`,
    "src/self.ts": `import "./self";`,
  };
  expect(await circles(files)).toEqual(["src/one.ts -> src/two.ts -> src/one.ts", "src/self.ts -> src/self.ts"]);
});
