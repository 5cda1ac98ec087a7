import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format, resolveConfig } from "prettier";
import { importRules } from "../../eslint.config.mjs";
import { howTheyBehave, whatThereIs } from "../docs/overview.mts";
import { Reference, table } from "../docs/reference.mts";
import { howTheyAreReplaced } from "../docs/replacements.mts";
import { PluginSchema } from "../docs/schema.mts";
import { EXIT, say, UsageError } from "../lib/console.mjs";
import { ROOT } from "../lib/paths.mjs";

/**
 * Writes the reference pages of docs/, the overviews of the resources, the table of imports and the schema of the
 * native plugin from the sources. With `--check` it only reports what is wrong with them.
 */
export async function docs(args: string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--check");
  if (unknown) throw new UsageError(`docs does not know "${unknown}".`);
  if (args.length > 0) return ended(await checkDocs());
  const { problems, stale } = await compared();
  for (const [path, text] of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
    say(`${path} was updated.`);
  }
  if (problems === "" && stale.size === 0) say("The reference is up to date.");
  return ended(problems);
}

function ended(problems: string): number {
  if (problems !== "") say(problems);
  return problems === "" ? EXIT.good : EXIT.failed;
}

/** What is wrong with the reference; empty if it is up to date. */
export async function checkDocs(): Promise<string> {
  const { problems, stale } = await compared();
  const outdated = [...stale.keys()].map((path) => `${path} is out of date. Run npm run docs`);
  return problems || outdated.join("\n");
}

const SCHEMA = "plugin/schema.json";

/** The part of a document that `npm run docs` writes: between these comments, or after the first one. */
const PART = /(?<=<!-- Written by `npm run docs`.*-->\n)[^]*?(?=<!-- end of the table -->|$)/;

/** The files that differ from what the sources give; none if the sources are incomplete. */
async function compared(): Promise<{ problems: string; stale: Map<string, string> }> {
  const reference = new Reference();
  const parts = {
    ...reference.pages(),
    "README.md": whatThereIs(reference),
    "docs/concepts.md": howTheyBehave(reference),
    "docs/plan.md": howTheyAreReplaced(reference),
    "CONTRIBUTING.md": houseTable(),
  };
  const unsaid = new Set(reference.problems);
  const unwritten: string[] = [];
  const stale = new Map<string, string>();
  const compare = async (path: string, before: string, whole: string): Promise<void> => {
    const file = join(ROOT, path);
    const text = await format(whole, { ...(await resolveConfig(file)), filepath: file });
    if (text !== before) stale.set(path, text);
  };
  for (const [path, part] of unsaid.size === 0 ? Object.entries(parts) : []) {
    const file = join(ROOT, path);
    const before = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (!PART.test(before)) {
      unwritten.push(
        `${path} is missing, or has no comment "Written by \`npm run docs\`", after which this command writes. Write the page by hand up to that comment, like the pages beside it`,
      );
      continue;
    }
    await compare(
      path,
      before,
      before.replace(PART, () => `\n${part}\n\n`),
    );
  }
  if (unsaid.size === 0) {
    const file = join(ROOT, SCHEMA);
    const before = existsSync(file) ? readFileSync(file, "utf8") : "";
    await compare(SCHEMA, before, JSON.stringify(new PluginSchema(reference).whole()));
  }
  return { problems: [...unsaid, ...unwritten].join("\n"), stale };
}

/** Which folder may import which, from the linter's configuration. */
function houseTable(): string {
  const rows = importRules.map(({ files, what, imports, types = [], packages = [], except = {}, layers = {} }) => {
    const exceptions: Record<string, string[] | undefined> = except;
    const only = Object.entries(exceptions).map(([file, more = []]) => {
      const besides = more.filter((name) => !packages.includes(name));
      return `${besides.join(", ")} in ${file.replace(/^src\//, "")} alone`;
    });
    const order = Object.keys(layers).length > 0 ? [`inside: ${Object.keys(layers).join(" < ")}`] : [];
    const all = [...imports, ...types.map((name) => `types of ${name}`), ...packages, ...only, ...order];
    return { Files: `\`${files}\``, "What it is": what, "May import": all.join(", ") || "nothing of ours" };
  });
  return table(rows);
}
