import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { withHouseTable } from "../docs/house.mts";
import { messagesPage } from "../docs/messages.mts";
import { pagesOf } from "../docs/pages.mts";
import { Source } from "../docs/source.mts";
import { EXIT, say, UsageError } from "../lib/console.mjs";
import { ROOT } from "../lib/paths.mjs";

/** Writes the reference pages of docs/, and the table of imports, from the sources. With `--check` it only says what is wrong with them. */
export async function docs(args: string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--check");
  if (unknown) throw new UsageError(`docs does not know "${unknown}".`);
  const { problems, stale } = await read();
  const findings = args.length > 0 ? [...problems, ...stale.map(outdated)] : problems;
  if (findings.length > 0) say(findings.join("\n"));
  if (args.length > 0 || findings.length > 0) return findings.length > 0 ? EXIT.failed : EXIT.good;
  for (const { path, text } of stale) {
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

interface Page {
  path: string;
  text: string;
}

function outdated({ path }: Page): string {
  return `${path} is not what the sources give. Write it anew: npm run docs`;
}

/** Each page that is not what the sources give; none when the sources do not say all that the reference has to. */
async function read(): Promise<{ problems: string[]; stale: Page[] }> {
  const source = new Source(ROOT);
  const stale = [];
  const pages = {
    ...pagesOf(source),
    "docs/messages.md": messagesPage(ROOT),
    "CONTRIBUTING.md": withHouseTable(readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8")),
  };
  for (const [path, page] of Object.entries(pages)) {
    const file = join(ROOT, path);
    const text = await format(page, { ...(await resolveConfig(file)), filepath: file });
    if (!existsSync(file) || readFileSync(file, "utf8") !== text) stale.push({ path, text });
  }
  const problems = [...new Set(source.problems)];
  return { problems, stale: problems.length > 0 ? [] : stale };
}
