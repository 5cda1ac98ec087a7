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
  const onlyCheck = args.length > 0;
  const { problems, stale } = await read();
  const findings = onlyCheck ? [...problems, ...stale.map(outdated)] : problems;
  if (findings.length > 0) {
    say(findings.join("\n"));
    return EXIT.failed;
  }
  if (onlyCheck) return EXIT.good;
  for (const [path, text] of stale) {
    writeFileSync(join(ROOT, path), text);
    say(`${path} is written anew.`);
  }
  if (stale.length === 0) say("The reference is up to date.");
  return EXIT.good;
}

/** What is wrong with the reference; nothing when it is up to date. */
export async function checkDocs(): Promise<string> {
  const { problems, stale } = await read();
  return [...problems, ...stale.map(outdated)].join("\n");
}

type Page = [path: string, text: string];

function outdated([path]: Page): string {
  return `${path} is not what the sources give. Write it anew: npm run docs`;
}

/** Each page that is not what the sources give, with its path; none when the sources do not say all that the reference has to. */
async function read(): Promise<{ problems: string[]; stale: Page[] }> {
  const source = new Source(ROOT);
  const pages = {
    ...pagesOf(source, behaviours(ROOT)),
    "docs/messages.md": messagesPage(ROOT),
    "CONTRIBUTING.md": withHouseTable(readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8")),
  };
  const problems = [...new Set(source.problems)];
  const stale: Page[] = [];
  for (const [path, page] of problems.length > 0 ? [] : Object.entries(pages)) {
    const file = join(ROOT, path);
    const text = await format(page, { ...(await resolveConfig(file)), filepath: file });
    if (!existsSync(file) || readFileSync(file, "utf8") !== text) stale.push([path, text]);
  }
  return { problems, stale };
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
