import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { reportSchema } from "../../src/cli/drift/report";
import { KINDS } from "../../src/contract/pointer";
import { ROOT } from "../support/cli";
import { type CodeBlock, codeBlocks, documents, textOf } from "../support/codeBlocks";
import { problemsOf } from "../support/compiled";
import { messages } from "../support/messages";

jest.setTimeout(120_000); // One program of the compiler, which reads all of src.

const pages = documents();
const blocks = pages.flatMap((page) => codeBlocks(page));
const of = (language: string): CodeBlock[] => blocks.filter((block) => block.language === language);
const placeOf = ({ page, line }: CodeBlock): string => `${page}:${line + 1}`;

/** Shown by GitHub and npm in their colours, and looked at below; of `text` and `yaml` the tour runs what can be run. */
const LANGUAGES = ["ts", "sh", "json", "yaml", "text", "mermaid"];

test("every code block says its language, and none is quoted, where nothing would check it", () => {
  expect(blocks.filter(({ language }) => !LANGUAGES.includes(language)).map(placeOf)).toEqual([]);
  for (const page of pages) expect(textOf(page)).not.toMatch(/^ *>.*```/m);
});

test("README.md and AGENTS.md stay short: the details have pages of their own", () => {
  // But for the table of the resources, which each new one makes longer.
  const byHand = textOf("README.md").replace(/<!-- Written by[^]*?<!-- end of the table -->/g, "");
  expect(byHand.split(/\s+/).length).toBeLessThan(1_060);
  expect(textOf("AGENTS.md").split("\n").length).toBeLessThanOrEqual(83);
});

test("every ts block compiles as a program of a user, after those that it continues", () => {
  const wrong: CodeBlock[] = codeBlocks(
    "wrong",
    '```ts\nimport * as svc from "pulumi-svc";\n```\n\n- In a list:\n\n  <!-- continues -->\n\n  ```ts\n  new svc.ComputeEndpoint("a", { projectId: 1, branchId: "br-a" });\n  ```\n',
  );
  expect(problemsIn([...of("ts"), ...wrong])).toEqual([
    "wrong:10: Type 'number' is not assignable to type 'Input<string>'.",
  ]);
});

test("each class has an example in its hover, which makes one and compiles", () => {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const examples = [...KINDS, "ComputeGroup", "ProjectAuth"].map((name): CodeBlock => {
    const page = join("src", files.find((file) => basename(file) === `${name}.ts`) ?? "");
    const [, comment = ""] = /@example\n \* ```ts\n([^]*?) \* ```\n \*\/\nexport class/.exec(textOf(page)) ?? [];
    const text = comment.replace(/^ \* ?/gm, "");
    expect(text).toContain(`new svc.${name}(`);
    return {
      page,
      line: 0,
      language: "ts",
      text: `import * as svc from "pulumi-svc";\n${text}`,
      note: "",
      file: undefined,
    };
  });
  expect(problemsIn(examples)).toEqual([]);
});

test("every sh block is one that a shell can read", () => {
  const read = (text: string): string => spawnSync("bash", ["-n"], { input: text, encoding: "utf8" }).stderr;
  expect(read("if true; then\n")).not.toBe("");
  expect(of("sh").flatMap((block) => (read(block.text) === "" ? [] : [placeOf(block)]))).toEqual([]);
});

test("every drawing shows each kind and component, and nothing else but projects and branches", () => {
  const branch = KINDS.some((kind) => kind.toLowerCase() === "branch") ? [] : ["branch"];
  const wanted = [...KINDS, "ComputeGroup", "ProjectAuth", ...branch];
  expect(of("mermaid").length).toBeGreaterThan(0);
  for (const { page, text } of of("mermaid")) {
    const [first = "", second = "", ...lines] = text.trim().split("\n");
    expect([first, second.trim()]).toEqual(["flowchart BT", "subgraph project"]);
    expect(lines.pop()?.trim()).toBe("end");
    const names = lines.flatMap((line) => line.trim().split(/ --> | -\. makes \.-> /));
    const missing = wanted
      .filter((name) => !names.includes(name))
      .map((name) => `${page} lacks ${name} in its drawing`);
    const others = names.filter((name) => !wanted.includes(name)).map((name) => `${page} shows ${name} in its drawing`);
    expect([...missing, ...others]).toEqual([]);
  }
});

test("every json block is JSON", () => {
  for (const block of of("json")) expect(() => JSON.parse(block.text) as unknown).not.toThrow();
});

test("the report that docs/drift.md shows is one that pulumi-svc drift --from reads, as it stands", () => {
  const [shown = ""] = codeBlocks("docs/drift.md").flatMap(({ language, text }) =>
    language === "json" && text.includes('"byItself"') ? [text] : [],
  );
  expect(reportSchema.parse(JSON.parse(shown))).toEqual(JSON.parse(shown));
});

test.each([...KINDS, "ComputeGroup", "ProjectAuth"])(
  "the page of %s has an example that declares it, import and adoption, what a change does, and the reference",
  (name) => {
    const page = `docs/resources/${name}.md`;
    const headings = [...textOf(page).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(["Example", "Import and adoption", "What a change does", "Reference"]);
    expect(codeBlocks(page)[0]?.text).toContain(`new svc.${name}(`);
    expect(textOf("docs/resources.md")).toContain(`(resources/${name}.md)`);
  },
);

test.each([
  ["docs/troubleshooting.md", 30],
  ["docs/plan.md", 2],
])("what %s quotes of this package is what the package says", (page, least) => {
  const all = messages().join("\n");
  const lines = codeBlocks(page).flatMap(({ language, note, text }) =>
    language === "text" && note === "" ? text.trim().split("\n") : [],
  );
  expect(lines.length).toBeGreaterThan(least);
  // In the sources, braces mark what is filled in; a text may have several parts.
  const parts = lines.flatMap((line) => line.split("…").map((part) => part.trim()));
  expect(parts.filter((part) => !all.includes(part))).toEqual([]);
});

test("the messages that the quotes are compared with are whole sentences, with what is filled in, and no names, keys or units", () => {
  const all = messages();
  expect(all).toContain("no branch of the project is flagged as default");
  expect(all).toContain("the service cannot be reached at {this.where}");
  expect(all.filter((text) => /^(application\/json|GET|ep-…)$/.test(text))).toEqual([]);
});

/**
 * The compiler's messages, with the lines of the documents: each block is a module with as many lines as its page. Only
 * its own lines are filled, and those of the blocks that it continues.
 */
function problemsIn(programs: readonly CodeBlock[]): string[] {
  const files = new Map(programs.map((block, at) => [nameOf(block), moduleOf(block, programs.slice(0, at))]));
  return problemsOf(files, { paths: packagesIn(programs) }).map(
    ({ file, line, text }) => `${file.slice(ROOT.length + 1).replace(/-\d+\.ts$/, "")}:${line}: ${text}`,
  );
}

/** The packages of a monorepo that a page shows, by the name that the others import. */
function packagesIn(programs: readonly CodeBlock[]): Record<string, string[]> {
  const found = programs.flatMap((block) => {
    const name = /^packages\/([^/]+)\/index\.ts$/.exec(block.file ?? "")?.[1];
    return name === undefined ? [] : [[name, [nameOf(block)]] as [string, string[]]];
  });
  return Object.fromEntries(found);
}

const nameOf = ({ page, line }: CodeBlock): string => join(ROOT, `${page}-${line}.ts`);

function moduleOf(block: CodeBlock, before: readonly CodeBlock[]): string {
  const chain = [block];
  for (const one of [...before].reverse()) {
    if (chain[0]?.note !== "continues" || one.page !== block.page) break;
    chain.unshift(one);
  }
  return chain.reduce(
    (module, { line, text }) => module + "\n".repeat(line - module.split("\n").length + 1) + text,
    "",
  );
}
