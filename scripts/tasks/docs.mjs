import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { functionsPage } from "../docs/functions.mjs";
import { headingsOf } from "../docs/page.mjs";
import { resourcesPage } from "../docs/resources.mjs";
import { Source } from "../docs/source.mjs";
import { EXIT, UsageError } from "../lib/errors.mjs";
import { say } from "../lib/log.mjs";
import { ROOT } from "../lib/paths.mjs";

/**
 * Writes the reference pages of docs/ from the JSDoc and the types in src. With `--check` it writes nothing, and fails
 * when a page is not what the sources give.
 * @param {string[]} args
 */
export async function docs(args) {
  const unknown = args.find((arg) => arg !== "--check");
  if (unknown) throw new UsageError(`docs does not know "${unknown}".`);
  if (args.length > 0) {
    const findings = await checkDocs();
    if (findings !== "") say(findings);
    return findings === "" ? EXIT.good : EXIT.failed;
  }
  const { problems, stale } = await read();
  if (problems.length > 0) {
    say(problems.join("\n"));
    return EXIT.failed;
  }
  for (const { path, text } of stale) {
    writeFileSync(join(ROOT, path), text);
    say(`${path} is written anew.`);
  }
  if (stale.length === 0) say("The reference is up to date.");
  return EXIT.good;
}

/** What is wrong with the reference; nothing when it is up to date. */
export async function checkDocs() {
  const { problems, stale } = await read();
  const outdated = stale.map(({ path }) => `${path} is not what the sources give. Write it anew: npm run docs`);
  return [...problems, ...outdated].join("\n");
}

/** Each page that is not what the sources give; none when the sources do not say all that the reference has to. */
async function read() {
  const source = new Source(ROOT);
  const pages = { "docs/resources.md": resourcesPage(source), "docs/functions.md": functionsPage(source) };
  const written = Object.values(pages).join("\n").split("\n");
  for (const [name, heading] of headingsOf(source)) {
    if (!written.some((line) => /^#+ /.test(line) && line.endsWith(` ${heading}`)))
      source.problems.push(`src/index.ts exports ${name}, which is on no page`);
  }
  const stale = [];
  for (const [path, text] of Object.entries(pages)) {
    const file = join(ROOT, path);
    const formatted = await format(text, { ...(await resolveConfig(file)), filepath: file });
    if (!existsSync(file) || readFileSync(file, "utf8") !== formatted) stale.push({ path, text: formatted });
  }
  return { problems: source.problems, stale: source.problems.length > 0 ? [] : stale };
}
