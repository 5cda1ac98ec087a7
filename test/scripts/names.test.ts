import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { call, environment, temporaryFolder } from "../support/scripts";

/** A name between backticks, put together here: this file is looked through as well. */
const named = (...names: string[]): string => names.map((name) => `\`${name}\``).join(", ");

const CODE = {
  "package.json": '{ "scripts": { "check": "", "test:unit": "" } }',
  "src/queue.ts": 'export function takeTurn() {}\nclass Queue { join() {} }\nexport const word = "--strict-plan";\n',
};

/** The unknown names in these files, beside some code. */
async function lost(files: Record<string, string>): Promise<unknown> {
  const root = temporaryFolder();
  const all: Record<string, string> = { ...CODE, ...files };
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const args = [JSON.stringify(root), JSON.stringify(Object.keys(all))];
  return (await call("tasks/names.mts", "lostNames", args, environment([]))).value;
}

test.each([
  ["a function", "takeTurns"],
  ["a call", "leave()"],
  ["a call with arguments", "leave(1, two)"],
  ["a class", "Queues"],
  ["a method", "Queue.leave"],
  ["a file", "src/queues.ts"],
  ["a script", "npm run checks"],
  ["an option", "--strict-plans -x"],
])("%s that nothing bears is found, with its place", async (_what, name) => {
  const problem = `nothing has the name ${named(name)}`;
  expect(await lost({ "CONTRIBUTING.md": `# One\n\nSee ${named("takeTurn", name)}.\n` })).toEqual([
    `CONTRIBUTING.md:3: ${problem}`,
  ]);
  expect(await lost({ "docs/design/api.md": named(name) })).toEqual([`docs/design/api.md:1: ${problem}`]);
  expect(await lost({ "src/a.ts": `const a = 1; // ${named(name)}\n/**\n * See ${named(name)}.\n */\n` })).toEqual([
    `src/a.ts:1: ${problem}`,
    `src/a.ts:3: ${problem}`,
  ]);
});

test("existing names pass: names of code, of the JSON in it, of files from anywhere, and words", async () => {
  const there = ["takeTurn", "Queue.join()", "src/queue.ts", "queue.ts", "queue", "npm run test:unit"];
  const words = ["--strict-plan", "word", "up", "br-dev", "svc:apiKey", "getX", "a < b"];
  const block = "```ts\nconst example = { fieldOfExample: 1 };\n```\n";
  const page = `${named(...there, ...words, "fieldOfExample")}\n\n${block}`;
  expect(await lost({ "docs/design/api.md": page, "src/a.ts": `// ${named(...there, "./queue.ts")}\n` })).toEqual([]);
});
