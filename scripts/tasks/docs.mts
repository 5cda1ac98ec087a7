import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { HOUSE } from "../../eslint.config.mjs";
import { messagesPage } from "../docs/messages.mts";
import { pagesOf, table } from "../docs/pages.mts";
import { behaviours, Source } from "../docs/source.mts";
import { EXIT, say, UsageError } from "../lib/console.mjs";
import { ROOT } from "../lib/paths.mjs";

/** Writes the reference pages of docs/, and the table of imports, from the sources. With `--check` it only says what is wrong with them. */
export async function docs(args: string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--check");
  if (unknown) throw new UsageError(`docs does not know "${unknown}".`);
  const { problems, written } = await update(args.length > 0);
  const told = problems.length > 0 ? problems : written.map((path) => `${path} is written anew.`);
  if (told.length > 0) say(told.join("\n"));
  else if (args.length === 0) say("The reference is up to date.");
  return problems.length > 0 ? EXIT.failed : EXIT.good;
}

/** What is wrong with the reference; nothing when it is up to date. */
export async function checkDocs(): Promise<string> {
  return (await update(true)).problems.join("\n");
}

/** Writes each page that is not what the sources give, unless the sources do not say all that the reference has to. */
async function update(onlyCheck: boolean): Promise<{ problems: string[]; written: string[] }> {
  const source = new Source(ROOT);
  const pages = {
    ...pagesOf(source, behaviours(ROOT)),
    "docs/messages.md": messagesPage(ROOT),
    "CONTRIBUTING.md": withHouseTable(readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8")),
  };
  const problems = [...new Set(source.problems)];
  if (problems.length > 0) return { problems, written: [] };
  const stale: string[] = [];
  for (const [path, page] of Object.entries(pages)) {
    const file = join(ROOT, path);
    const text = await format(page, { ...(await resolveConfig(file)), filepath: file });
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    stale.push(path);
    if (!onlyCheck) writeFileSync(file, text);
  }
  if (!onlyCheck) return { problems, written: stale };
  return {
    problems: stale.map((path) => `${path} is not what the sources give. Write it anew: npm run docs`),
    written: [],
  };
}

/** The text of CONTRIBUTING.md with the table of who may import whom, as the linter holds it. */
function withHouseTable(text: string): string {
  const begin = "<!-- Written by `npm run docs` from eslint.config.mjs. -->";
  const end = "<!-- end of the table -->";
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) {
    throw new Error(`CONTRIBUTING.md has no place for the table of imports: ${begin} ... ${end}`);
  }
  const rows = HOUSE.map(({ files, what, imports, types = [], packages = [], except = {} }) => {
    const only = Object.entries(except).map(([file, more]) => {
      const besides = more.filter((name) => !packages.includes(name));
      return `${besides.join(", ")} in ${file.replace(/^src\//, "")} alone`;
    });
    const all = [...imports, ...types.map((name) => `types of ${name}`), ...packages, ...only];
    return { Files: `\`${files}\``, "What it is": what, "May import": all.join(", ") || "nothing of ours" };
  });
  return `${before}${begin}\n\n${table(rows)}\n\n${end}${after}`;
}
