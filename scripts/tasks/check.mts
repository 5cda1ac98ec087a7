import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import ts from "typescript";
import { EXIT, indented, leaveResults, messageOf, say, stopwatch, UsageError } from "../lib/console.mjs";
import { NODE_MODULES, ROOT, TYPESCRIPT } from "../lib/paths.mjs";
import { interrupted, run, runTool } from "../lib/processes.mts";
import { ensureBuild } from "../setup/build.mts";
import { npm } from "../setup/packages.mjs";
import { checkDocs } from "./docs.mts";
import { lostNames } from "./names.mts";

/** In the order in which they start; each returns what is wrong. */
const CHECKS: Record<string, () => Promise<string>> = {
  // First: the examples and the package need it.
  build: () => ensureBuild().then(() => ""),
  types,
  lint: () => runTool("eslint", "bin/eslint.js", "."),
  circles: () => Promise.resolve(circlesOf(ROOT).join("\n")),
  format: () => runTool("prettier", "bin/prettier.cjs", "--check", "--log-level", "warn", "."),
  "dead-code": () => runTool("knip", "bin/knip.js"),
  duplicates: () => runTool("jscpd", "run-jscpd.js", "src"),
  package: packageHygiene,
  docs: checkDocs,
  names,
  "tracked-files": trackedFiles,
};

/** Runs the checks with these names, or all. A failure does not stop the others, so that one run reports everything. */
export async function check(names: string[]): Promise<number> {
  const unknown = names.find((name) => !Object.hasOwn(CHECKS, name));
  if (unknown) throw new UsageError(`There is no check "${unknown}"; there are: ${Object.keys(CHECKS).join(", ")}.`);
  // Other checks inspect the build.
  const wanted = (name: string) => names.length === 0 || name === "build" || names.includes(name);
  const chosen = Object.entries(CHECKS).filter(([name]) => wanted(name));
  const failed: string[] = [];
  const perform = async ([name, run]: (typeof chosen)[number]): Promise<void> => {
    const elapsed = stopwatch();
    const findings = await run().catch(messageOf);
    interrupted.throwIfAborted();
    if (findings !== "") failed.push(name);
    say(`${findings === "" ? "ok    " : "FAILED"} ${name.padEnd(14)} ${elapsed()}`);
    if (findings !== "") say(indented(findings.trimEnd()));
  };
  const [build, ...waiting] = chosen;
  const performNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await perform(next);
  };
  // The build, and then two at a time: most checks are one process that keeps one processor busy.
  if (build !== undefined) await perform(build);
  await Promise.all([performNext(), performNext()]);
  leaveResults({ passed: chosen.length - failed.length, failed: failed.length });
  say(failed.length === 0 ? `\nAll ${chosen.length} checks passed.` : `\nFailed checks: ${failed.join(", ")}.`);
  return failed.length === 0 ? EXIT.good : EXIT.failed;
}

/** The package and its tests, these scripts, the module of the emulator's page, and each example against the built package. */
async function types(): Promise<string> {
  const projects = globSync("{,scripts/,src/emulator/page/,examples/*/,examples/*/src/}tsconfig.json", { cwd: ROOT });
  const findings: string[] = [];
  // Not incremental: TypeScript 7.0 does not see that the options have changed since.
  for (const project of projects) {
    findings.push(await runTool(TYPESCRIPT, "bin/tsc", "-p", project, "--noEmit", "--pretty", "false"));
  }
  return findings.join("");
}

/**
 * The import cycles in src, each as a path. Type imports count: files that need each other's types are one concept in
 * several files. (The cycle rules of eslint-plugin-import-x and knip ignore types.)
 * @public for the tests
 */
export function circlesOf(root: string): string[] {
  const files = globSync("src/**/*.ts", { cwd: root }).sort();
  const importedBy = (file: string): string[] =>
    ts.preProcessFile(readFileSync(join(root, file), "utf8")).importedFiles.flatMap(({ fileName }) => {
      const path = posix.join(posix.dirname(file), fileName.replace(/\.js$/, ""));
      return fileName.startsWith(".") ? [`${path}.ts`, `${path}/index.ts`].filter((each) => files.includes(each)) : [];
    });
  const circles: string[] = [];
  const done = new Set<string>();
  const follow = (file: string, way: string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(" -> "));
    else if (!done.has(file)) for (const next of importedBy(file)) follow(next, [...way, file]);
    done.add(file);
  };
  for (const file of files) follow(file, []);
  return circles;
}

const PROGRAM = `
export * as svc from "pulumi-svc";
export * as audit from "pulumi-svc/audit";
export * as emulator from "pulumi-svc/emulator";
export * as native from "pulumi-svc/native";
export * as provider from "pulumi-svc/provider";`;

/** The resolution from before `exports`, which most Pulumi templates still use, and the current one. */
const RESOLUTIONS = [
  ["--module", "commonjs", "--moduleResolution", "node"],
  ["--module", "node16", "--moduleResolution", "node16"],
];

/**
 * Packs the package like `npm publish` and checks the archive: publint compares package.json with the files, attw
 * checks the types for each kind of importer, and a program is compiled against it with the strictest settings of a
 * user. That includes the package's types (no `--skipLibCheck`). Only the SDK and Node's types are installed beside it,
 * so that the types must not need those of a dependency such as zod.
 */
async function packageHygiene(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-pack-"));
  try {
    // The check `build` has just run; without scripts the archive contains its result.
    const packed = await run(...npm("pack", "--json", "--ignore-scripts", "--pack-destination", folder));
    const archive = join(folder, globSync("*.tgz", { cwd: folder })[0] ?? "no archive");
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "pulumi-svc"), { recursive: true });
    const unpacked = await run("tar", ["-xzf", archive, "-C", join(modules, "pulumi-svc"), "--strip-components=1"]);
    if (packed.code !== 0 || unpacked.code !== 0) return packed.output + unpacked.output;
    const [sizes] = JSON.parse(packed.stdout) as [{ size: number; unpackedSize: number }];
    for (const scope of ["@pulumi", "@types"]) symlinkSync(join(NODE_MODULES, scope), join(modules, scope));
    const program = join(folder, "index.ts");
    writeFileSync(program, PROGRAM);
    const findings = [
      overBudget("packed", sizes.size, 1),
      overBudget("unpacked", sizes.unpackedSize, 4),
      await runTool("publint", "src/cli.js", "run", archive, "--strict"),
      await runTool("@arethetypeswrong/cli", "dist/index.js", archive, "--profile", "strict"),
    ];
    for (const resolution of RESOLUTIONS) {
      const options = ["--target", "es2022", "--strict", "--noEmit", "--types", "node", ...resolution];
      findings.push(await runTool("typescript", "bin/tsc", ...options, program));
    }
    return findings.join("");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const overBudget = (what: string, bytes: number, megabytes: number): string =>
  bytes <= megabytes * 1e6
    ? ""
    : `the package has ${(bytes / 1e6).toFixed(2)} MB ${what}; its budget is ${megabytes} MB\n`;

/**
 * Patterns that no tracked file may contain: POSIX extended ones for git, each written so that it does not match
 * itself.
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

/** Tracked files, and new ones that are not ignored. */
async function ourFiles(): Promise<string[]> {
  const { output } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  return output.split("\0").filter(Boolean);
}

async function names(): Promise<string> {
  return lostNames(ROOT, await ourFiles()).join("\n");
}

async function trackedFiles(): Promise<string> {
  const findings = [];
  for (const [what, pattern] of Object.entries(FORBIDDEN)) {
    const { code, output } = await run("git", ["grep", "-nIE", "-e", pattern]);
    // The tests' fake secrets all contain the word canary.
    const lines = output.split("\n").filter((line) => line !== "" && !/canary/i.test(line));
    // git grep: 0 found, 1 nothing found, otherwise an error.
    if (code > 1 || lines.length > 0) findings.push(`${what}:\n${lines.join("\n")}`);
  }
  const lost = lostReferences(ROOT, await ourFiles());
  if (lost.length > 0) findings.push(`a reference to a document outside the repository:\n${lost.join("\n")}`);
  return findings.join("\n");
}

/** The name of a document with its folders, unless it is part of a URL; a section may follow after a comma. */
const REFERENCE = /(?<![\w:./-])(?<name>(?:\.{0,2}\/)?[\w@][\w@./-]*\.md)\b(?:, (?<section>[A-Z][^\n]*))?/g;

/**
 * The references to documents that do not exist in the repository, and to sections that a page of docs/design does not
 * have. A name is resolved from the root, from the folder of the file with the reference, and from docs, which holds
 * the texts of generators. The files are relative to the root; the result is `file:line: what is wrong`.
 * @public for the tests
 */
export function lostReferences(root: string, files: string[]): string[] {
  const problemsIn = (file: string, line: string): string[] =>
    [...line.matchAll(REFERENCE)].flatMap(({ groups: { name = "", section } = {} }) => {
      // The documents of other packages, and those written by tests.
      if (name.includes("node_modules/") || name.startsWith("test-results/")) return [];
      const places = ["", posix.dirname(file), "docs"].map((folder) => posix.join(folder, name));
      const found = places.find((path) => files.includes(path));
      if (found === undefined) return [`${name} is not in the repository`];
      if (section === undefined || !found.startsWith("docs/design/")) return [];
      const headings = [...readFileSync(join(root, found), "utf8").matchAll(/^#+ (?:\d+\. )?(.*)$/gm)];
      const isThere = headings.some(([, heading]) => section.startsWith(heading));
      return isThere ? [] : [`${found} has no section "${section.slice(0, 40)}"`];
    });
  return files.flatMap((file) => {
    // A listed file may be deleted without a commit.
    const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
    const lines = text.includes("\0") ? [] : text.split("\n");
    return lines.flatMap((line, at) => problemsIn(file, line).map((problem) => `${file}:${at + 1}: ${problem}`));
  });
}
