#!/usr/bin/env node
/**
 * Writes the reference pages of docs/ from the JSDoc and the types in src. With `--check` it writes nothing, and fails
 * when a page is not what the sources give.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { functionsPage } from "./docs/functions.mjs";
import { resourcesPage } from "./docs/resources.mjs";
import { readSurface } from "./docs/surface.mjs";
import { EXIT } from "./lib/errors.mjs";
import { say } from "./lib/log.mjs";
import { ROOT } from "./lib/paths.mjs";

/** @type {Record<string, (surface: import("./docs/surface.mjs").Surface) => string>} */
const PAGES = { "docs/resources.md": resourcesPage, "docs/functions.md": functionsPage };

/** @param {string[]} args */
async function main(args) {
  const check = args.includes("--check");
  if (args.length > (check ? 1 : 0)) {
    say("Usage: node scripts/docs.mjs [--check]");
    return EXIT.usage;
  }
  const surface = readSurface(ROOT);
  const texts = await Promise.all(Object.entries(PAGES).map(async ([path, page]) => ({ path, text: page(surface) })));
  const problems = surface.problems();
  if (problems.length > 0) {
    say(`The sources do not say all that the reference has to:\n${problems.join("\n")}`);
    return EXIT.failed;
  }
  let stale = 0;
  for (const { path, text } of texts) {
    const file = join(ROOT, path);
    const formatted = await format(text, { ...(await resolveConfig(file)), filepath: file });
    if (existsSync(file) && readFileSync(file, "utf8") === formatted) continue;
    if (check) say(`${path} is not what the sources give. Write it anew: npm run docs`);
    else writeFileSync(file, formatted);
    stale += 1;
  }
  if (!check) say(stale === 0 ? "The reference is up to date." : `${stale} of ${texts.length} pages written anew.`);
  return check && stale > 0 ? EXIT.failed : EXIT.good;
}

process.exitCode = await main(process.argv.slice(2));
