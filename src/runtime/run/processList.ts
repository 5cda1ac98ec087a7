/**
 * The list of processes as what the provider processes of a run can see of each other without a file
 * (docs/design/rules.md, 4): each shows in its title what it has done. That needs no disk and no permission, it is there
 * at once, and it ends with the process.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * `manages`: it has resources of the program. The engine may have a second process for the same Provider, which only
 * reads, and so shows nothing.
 */
export const ACTS = ["manages", "takes-over", "deletes"] as const;
export type Act = (typeof ACTS)[number];

/** Another process of the run that shows something. */
export interface Shown {
  readonly pid: number;
  readonly acts: readonly Act[];
}

export interface ProcessList {
  /** Shows that this process does this, from now on. */
  show(act: Act): void;
  /** Undefined if there is no such list, or if it does not show what this process does. */
  others(): readonly Shown[] | undefined;
  /** Whether this process certainly serves a `pulumi destroy` of the whole stack. */
  servesWholeDestroy(): boolean;
}

const BEGIN = "pulumi-svc";

/** `run`: what the titles of the processes of this run have in common. It may not contain blanks. */
export class Titles implements ProcessList {
  readonly #acts = new Set<Act>();

  constructor(private readonly run: string) {}

  show(act: Act): void {
    // There it would be the title of the user's window.
    if (this.#acts.has(act) || process.platform === "win32") return;
    this.#acts.add(act);
    process.title = this.#own();
  }

  others(): readonly Shown[] | undefined {
    const listed = listedCommands();
    // A title may be cut at the length of the command line, or not be shown at all.
    if (this.#acts.size > 0 && listed?.get(process.pid) !== this.#own()) return undefined;
    return listed === undefined
      ? undefined
      : [...listed].flatMap(([pid, command]) => (pid === process.pid ? [] : this.#shownBy(pid, command)));
  }

  servesWholeDestroy(): boolean {
    return isWholeDestroy(commandOf(process.ppid));
  }

  #own(): string {
    return `${BEGIN} ${this.run} ${ACTS.filter((act) => this.#acts.has(act)).join("+")}`;
  }

  #shownBy(pid: number, command: string): Shown[] {
    const [begin, run, acts = ""] = command.split(" ");
    if (begin !== BEGIN || run !== this.run) return [];
    return [{ pid, acts: ACTS.filter((act) => acts.split("+").includes(act)) }];
  }
}

/** Between the provider and the CLI there are a shell and, with some package managers, more. */
const MOST_ANCESTORS = 8;

/** The command of the CLI that has started this process. Undefined if it is not among its ancestors, or is not shown. */
function commandOf(parent: number): readonly string[] | undefined {
  try {
    for (let [pid, left] = [parent, MOST_ANCESTORS]; pid > 1 && left > 0; left -= 1) {
      const { ppid, args } = process.platform === "linux" ? entryFromProc(pid) : entryFromPs(pid);
      const [program = "", ...own] = args;
      // `ps` does not show where an argument ends: a folder may be called "my destroy".
      if (/^pulumi(\.exe)?$/i.test(basename(program)))
        return process.platform !== "linux" && own[0]?.startsWith("-") === true ? undefined : own;
      pid = ppid;
    }
  } catch {
    // It has ended, or belongs to somebody else.
  }
  return undefined;
}

interface Entry {
  readonly ppid: number;
  readonly args: readonly string[];
}

function entryFromProc(pid: number): Entry {
  const [, ppid] = /^PPid:\s*(\d+)$/m.exec(readFileSync(join(PROC, String(pid), "status"), "utf8")) ?? [];
  const args = readFileSync(join(PROC, String(pid), "cmdline"), "utf8").split("\0");
  return { ppid: Number(ppid), args };
}

function entryFromPs(pid: number): Entry {
  const options = ["-ww", "-o", "ppid=,args=", "-p", String(pid)];
  const [ppid = "", ...args] = execFileSync("ps", options, { encoding: "utf8", timeout: 5_000 }).trim().split(/\s+/);
  return { ppid: Number(ppid), args };
}

const PART = /^(-t|--target|--exclude)/;
const VERB = /^(destroy|down|dn|up|update|preview|pre|refresh|import|watch|cancel)$/;
/** The flags of every command that take no value. After any other flag, a word may be its value. */
const ALONE =
  /^(-[eQ]|--(disable-integrity-checking|emoji|fully-qualify-stack-names|logflow|logtostderr|non-interactive))$/;

/** @public for the tests */
export function isWholeDestroy(args: readonly string[] = []): boolean {
  const mayTake = (flag: string): boolean => flag.startsWith("-") && !flag.includes("=") && !ALONE.test(flag);
  const at = args.findIndex((arg, index) => !arg.startsWith("-") && !mayTake(args[index - 1] ?? ""));
  // A folder or a stack may be called like a command: then it is not certain which word is the command.
  if (args.slice(0, at).some((arg) => VERB.test(arg))) return false;
  return /^(destroy|down|dn)$/.test(args[at] ?? "") && !args.some((arg) => PART.test(arg));
}

/** What the processes of this user show, by their ids. Undefined if that cannot be found out. */
function listedCommands(): Map<number, string> | undefined {
  try {
    return process.platform === "linux" ? fromProc() : fromPs();
  } catch {
    return undefined;
  }
}

const PROC = "/proc";

function fromProc(): Map<number, string> {
  const own = process.getuid?.();
  const ids = readdirSync(PROC).filter((name) => /^\d+$/.test(name));
  return new Map(
    ids.flatMap((id) => {
      try {
        if (statSync(join(PROC, id)).uid !== own) return [];
        // It has a zero after each argument, and in place of what a title does not need.
        const command = readFileSync(join(PROC, id, "cmdline"), "utf8")
          .replace(/\0+$/, "")
          .replaceAll("\0", " ");
        return [[Number(id), command] as const];
      } catch {
        // It has ended, or belongs to somebody else.
        return [];
      }
    }),
  );
}

function fromPs(): Map<number, string> {
  // Of this user, with and without a terminal.
  const listed = execFileSync("ps", ["-xww", "-o", "pid=,args="], { encoding: "utf8", timeout: 5_000 });
  const lines = [...listed.matchAll(/^ *(\d+) (.*?) *$/gm)];
  return new Map(lines.map(([, pid, command = ""]) => [Number(pid), command]));
}
