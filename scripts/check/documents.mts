import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";

/** The name of a document, with its folders, where it is no part of a URL; what follows a comma may name a section. */
const REFERENCE = /(?<![\w:./-])(?<name>(?:\.{0,2}\/)?[\w@][\w@./-]*\.md)\b(?:, (?<section>[A-Z][^\n]*))?/g;

/** The documents of other packages. */
const FOREIGN = /(^|\/)node_modules\//;

/** Where the texts stand that a generator writes: its links are relative to that. */
const GENERATED = "docs";

/**
 * The references to documents that are not in the repository, and to sections that a page of docs/design does not have.
 * A name is looked for from the root and from the folder of the file that gives it, so that a bare name is no way around.
 * The files are relative to the root; the answer is `file:line: what is wrong`.
 * @public for the tests
 */
export function lostReferences(root: string, files: string[]): string[] {
  const documents = new Set(files.filter((file) => file.endsWith(".md")));
  const headings = new Map<string, string[]>();
  for (const file of documents) {
    if (file.startsWith("docs/design/")) headings.set(file, headingsOf(readFileSync(join(root, file), "utf8")));
  }
  return files.flatMap((file) => {
    // Listed, but deleted and not committed yet.
    if (!existsSync(join(root, file))) return [];
    const text = readFileSync(join(root, file), "utf8");
    if (text.includes("\0")) return [];
    return text.split("\n").flatMap((line, index) =>
      [...line.matchAll(REFERENCE)].flatMap(({ groups: { name = "", section } = {} }) => {
        if (FOREIGN.test(name)) return [];
        const found = ["", dirname(file), GENERATED]
          .map((base) => join(base, name))
          .find((path) => documents.has(path));
        if (found === undefined) return [`${file}:${index + 1}: ${name} is not in the repository`];
        const known = headings.get(found);
        if (section === undefined || known === undefined) return [];
        if (known.some((heading) => section.startsWith(heading))) return [];
        return [`${file}:${index + 1}: ${found} has no section "${section.slice(0, 40)}"`];
      }),
    );
  });
}

function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading.replace(/^\d+\. /, ""));
}
