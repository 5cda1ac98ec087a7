import { call, environment, folderWith } from "../support/scripts";

/** The ending apart: this file is looked through as well. */
const MD = ".md";

/** The findings in these files. Each line may refer to another file. */
async function lost(files: Record<string, string>): Promise<unknown> {
  const args = [JSON.stringify(folderWith(files)), JSON.stringify(Object.keys(files))];
  return (await call("tasks/check.mts", "lostReferences", args, environment([]))).value;
}

const PAGE = "docs/design/api" + MD;
const page = { [PAGE]: "# The API\n\n## Computes\n\n## 2. Ours means proven\n" };

test("a reference to a document that is not in the repository is found, with its place", async () => {
  const text = `one\n// as it says (plan${MD} 4)\n// or docs/design/plan${MD}, Computes\n`;
  expect(await lost({ ...page, "src/a.ts": text })).toEqual([
    `src/a.ts:2: plan${MD} is not in the repository`,
    `src/a.ts:3: docs/design/plan${MD} is not in the repository`,
  ]);
});

test("documents are found from the root, from the folder of the file, and from where generated pages stand", async () => {
  const files = {
    ...page,
    [`docs/guide${MD}`]: `[the API](design/api${MD}), [up](../README${MD})`,
    [`docs/design/engine${MD}`]: `see api${MD}, Computes`,
    [`README${MD}`]: `[guide](docs/guide${MD}#part), ./docs/guide${MD}, \`${PAGE}\``,
    "scripts/pages.mjs": `"[guide](guide${MD})"`,
  };
  expect(await lost(files)).toEqual([]);
});

test("a section that a page of the design does not have is found, and one that it has may be followed by more", async () => {
  const text = `// ${PAGE}, Computes, which say more\n// ${PAGE}, Ours means proven.\n// ${PAGE}, Compilers\n`;
  expect(await lost({ ...page, "src/a.ts": text })).toEqual([`src/a.ts:3: ${PAGE} has no section "Compilers"`]);
});
