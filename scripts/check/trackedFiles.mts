import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { ROOT } from "../lib/paths.mjs";
import { run } from "../lib/processes.mts";

/**
 * What no tracked file may hold. The patterns are POSIX extended ones for git; each is written so that it does not match itself.
 */
const FORBIDDEN = {
  "a path of somebody's machine": "(^|[^[:alnum:]_.~/<{-])/(work|root|home/[a-z]+|Users/[A-Za-z]+|tmp)/[[:alnum:]_.]",
  "the host of a package registry":
    "(registry[.](npmjs|yarnpkg)|proxy[.]golang|npm[.]pkg[.]github|pypi[.]org|artifactory[.])",
  "a private key": "-----BEGIN [A-Z ]*PRIVATE[ ]KEY",
  "a token of a known form":
    "(gh[opsu]_[A-Za-z0-9]{30}|npm_[A-Za-z0-9]{36}|pul-[0-9a-f]{40}|AKIA[0-9A-Z]{16}|xox[abp]-[0-9A-Za-z-]{20}|eyJ[A-Za-z0-9_-]{20,}[.]eyJ)",
  "a URL with a password in it": "https?://[^/[:space:]\"'`{}<>]+:[^/[:space:]\"'`{}<>]+@",
};

export async function trackedFiles(): Promise<string> {
  const findings = [];
  for (const [what, pattern] of Object.entries(FORBIDDEN)) {
    const { code, output } = await run("git", ["grep", "-nIE", "-e", pattern]);
    // The tests' made-up secrets say that they are: each holds the word canary.
    const lines = output.split("\n").filter((line) => line !== "" && !/canary/i.test(line));
    // git grep: 0 found, 1 nothing found, more: an error.
    if (code > 1 || lines.length > 0) findings.push(`${what}:\n${lines.join("\n")}`);
  }
  const { output: listed } = await run("git", ["ls-files", "-z"]);
  const lost = lostReferences(ROOT, listed.split("\0").filter(Boolean));
  if (lost.length > 0) findings.push(`a reference to a document that nobody who clones this has:\n${lost.join("\n")}`);
  return findings.join("\n");
}

/** The name of a document, with its folders, where it is no part of a URL; what follows a comma may name a section. */
const REFERENCE = /(?<![\w:./-])(?<name>(?:\.{0,2}\/)?[\w@][\w@./-]*\.md)\b(?:, (?<section>[A-Z][^\n]*))?/g;

/**
 * The references to documents that are not in the repository, and to sections that a page of docs/design does not have.
 * A name is looked for from the root, from the folder of the file that gives it, and from docs, where the texts of
 * generators go. The files are relative to the root; the answer is `file:line: what is wrong`.
 * @public for the tests
 */
export function lostReferences(root: string, files: string[]): string[] {
  const problemsIn = (file: string, line: string): string[] =>
    [...line.matchAll(REFERENCE)].flatMap(({ groups: { name = "", section } = {} }) => {
      // The documents of other packages.
      if (name.includes("node_modules/")) return [];
      const found = ["", dirname(file), "docs"].map((base) => join(base, name)).find((path) => files.includes(path));
      if (found === undefined) return [`${name} is not in the repository`];
      if (section === undefined || !found.startsWith("docs/design/")) return [];
      const headings = [...readFileSync(join(root, found), "utf8").matchAll(/^#+ (?:\d+\. )?(.*)$/gm)];
      if (headings.some(([, heading]) => section.startsWith(heading))) return [];
      return [`${found} has no section "${section.slice(0, 40)}"`];
    });
  // A listed file may be deleted and not committed yet.
  const texts = files
    .filter((file) => existsSync(join(root, file)))
    .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));
  return texts
    .filter(({ text }) => !text.includes("\0"))
    .flatMap(({ file, text }) =>
      text
        .split("\n")
        .flatMap((line, index) => problemsIn(file, line).map((problem) => `${file}:${index + 1}: ${problem}`)),
    );
}
