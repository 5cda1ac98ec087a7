import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT, say } from "../lib/console.mjs";
import { ROOT } from "../lib/paths.mjs";
import { run } from "../lib/processes.mts";
import { npm } from "../setup/packages.mjs";

/** The used parts of npm's files; the rest is not changed. */
interface Manifest {
  dependencies: Record<string, string>;
}
interface Lock {
  packages: Record<string, Partial<Manifest> & { resolved?: string; integrity?: string; link?: boolean }>;
}

const OURS = "pulumi-svc";

/**
 * Writes the lock file of each example, which `npm ci` uses in a copy of its folder. (In the clone the examples are
 * workspaces, and the lock file of the root applies.) Run it after a change of the package's version, or of the
 * dependencies of an example or the package. The locked package is the one built here: it is in no registry yet, so its
 * entry contains only the version, as npm writes it without addresses.
 */
export async function exampleLocks(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-locks-"));
  try {
    const packed = await run(...npm("pack", "--ignore-scripts", "--pack-destination", folder));
    if (packed.code !== 0) throw new Error(packed.output);
    const archive = join(folder, globSync("*.tgz", { cwd: folder })[0] ?? "no archive");
    for (const example of globSync("examples/*", { cwd: ROOT })) {
      await lock(join(ROOT, example), archive);
      say(`${join(example, "package-lock.json")} was written`);
    }
    return EXIT.good;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function lock(example: string, archive: string): Promise<void> {
  const copy = mkdtempSync(join(archive, "..", "example-"));
  copyFileSync(join(ROOT, ".npmrc"), join(copy, ".npmrc"));
  // With the clone's versions, which its tests use, but not with its own demands, of which ts-node's accepts a TypeScript
  // that the SDK refuses.
  const clone = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as Lock;
  const isInstalled = ([path, { link }]: [string, Lock["packages"][string]]): boolean =>
    path.startsWith("node_modules/") && link !== true;
  clone.packages = Object.fromEntries(Object.entries(clone.packages).filter(isInstalled));
  writeFileSync(join(copy, "package-lock.json"), JSON.stringify(clone));
  const manifest = JSON.parse(readFileSync(join(example, "package.json"), "utf8")) as Manifest;
  const range = manifest.dependencies[OURS];
  manifest.dependencies[OURS] = `file:${archive}`;
  writeFileSync(join(copy, "package.json"), JSON.stringify(manifest));
  const [command, args] = npm("install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund");
  const { code, output } = await run(command, args, { cwd: copy });
  if (code !== 0) throw new Error(output);
  const written = JSON.parse(readFileSync(join(copy, "package-lock.json"), "utf8")) as Lock;
  const { resolved: _archive, integrity: _ofArchive, ...entry } = written.packages[`node_modules/${OURS}`] ?? {};
  written.packages[`node_modules/${OURS}`] = entry;
  written.packages[""] = { ...written.packages[""], dependencies: { ...manifest.dependencies, [OURS]: range } };
  writeFileSync(join(example, "package-lock.json"), `${JSON.stringify(written, undefined, 2)}\n`);
}
