import { ANY_AUTH_PROVIDER, type Claim } from "../../../../src/contract/claims";
import { containsUnknown, type Properties } from "../../../../src/contract/hiddenKeys";
import type { Kind } from "../../../../src/contract/pointer";
import { FolderError, programBegins, programDeclares, type RunFile } from "../../../../src/contract/runFolder";
import type { Others } from "../../../../src/runtime/run/others";
import { type Channel, OtherProcesses } from "../../../../src/runtime/run/otherProcesses";
import type { Act, ProcessList, Shown } from "../../../../src/runtime/run/processList";
import { KIND_CASES } from "../../../kinds";

/** `folder`: nobody may use it any more. `disk`: it is full, so a file that is written to is empty afterwards. */
export type Broken = "folder" | "disk";

const NOTHING = Buffer.alloc(0);
const problem = (why: string): FolderError => new FolderError(why, "Mend it, and run pulumi again");

/**
 * What the processes of one imitated command tell each other. Those of the providers are the real ones; their files are
 * texts in memory.
 */
export class Neighbours {
  /** By the id of the process. */
  readonly #files = new Map<number, Buffer>();
  readonly #acts = new Map<number, Set<Act>>();
  #started = 0;
  #program: Channel | undefined;
  #broken: Broken | undefined;

  /** One more provider process, which uses this address. */
  add(address: string): Others {
    const pid = ++this.#started;
    return new OtherProcesses({ run: "", address, list: this.#list(pid) }, (begin) => this.#join(pid, begin));
  }

  /** What the program's process tells of a resource (src/program/declaredObjects.ts). */
  declare(kind: Kind, urn: string, given: Properties): void {
    // A case keeps the declaration without its types.
    const { claims } = KIND_CASES[kind].declaration as Declaring;
    const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    if (claims === undefined || containsUnknown(known)) return;
    const made = claims(known, ANY_AUTH_PROVIDER, new Set(Object.keys(known)));
    if (made.length === 0) return;
    try {
      this.#program ??= this.#join(++this.#started, programBegins());
      this.#program.append(programDeclares(urn, made));
    } catch (error) {
      if (!(error instanceof FolderError)) throw error;
    }
  }

  /** From now on nothing is told and read. */
  break(how: Broken): void {
    this.#broken = how;
  }

  #join(pid: number, begin: string): Channel {
    const check = (): void => {
      if (this.#broken === "folder") throw problem("the folder is not used, because other users may open it");
    };
    const append = (line: string): void => {
      check();
      const isFull = this.#broken === "disk";
      this.#files.set(pid, isFull ? NOTHING : Buffer.concat([this.#files.get(pid) ?? NOTHING, Buffer.from(line)]));
      if (isFull) throw problem("the folder cannot be written to (ENOSPC)");
    };
    append(begin);
    return {
      append,
      others: () => {
        check();
        const others = [...this.#files.keys()].filter((one) => one !== pid);
        return others.map((one): RunFile => ({ name: String(one), pid: one, isAlive: true }));
      },
      read: (name, from) => {
        check();
        const text = this.#files.get(Number(name)) ?? NOTHING;
        if (text.length < from || text.length === 0) throw problem("a provider process could not write to its file");
        return text.subarray(from);
      },
      damaged: () => problem("a file is damaged"),
      otherVersion: () => problem("another provider process uses another version"),
      silent: (other) => problem(`the provider process ${other} has no file`),
    };
  }

  #list(pid: number): ProcessList {
    const acts = new Set<Act>();
    this.#acts.set(pid, acts);
    const others = (): Shown[] =>
      [...this.#acts]
        .filter(([other, its]) => other !== pid && its.size > 0)
        .map(([other, its]) => ({ pid: other, acts: [...its] }));
    return { show: (act) => void acts.add(act), others, servesWholeDestroy: () => false };
  }
}

interface Declaring {
  readonly claims?: (args: Properties, authProvider: string, givenNames: ReadonlySet<string>) => Claim[];
}
