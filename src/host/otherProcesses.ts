/**
 * What the provider processes of one run know of each other (docs/design/rules.md, 4): the engine starts one for each
 * explicit Provider. Each appends to a file of its own what its memory learns, and reads the files of the others when it
 * asks. A file counts as long as its process lives.
 */
import { createHash, randomUUID } from "node:crypto";
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Known, Others, Told } from "./memory";

interface Reading {
  size: number;
  readonly known: Known;
}

export class OtherProcesses implements Others {
  readonly #readings = new Map<string, Reading>();

  private constructor(
    private readonly folder: string,
    private readonly own: string,
  ) {}

  /**
   * `run`: what the processes of one run have in common, and no other run has. Undefined if the folder of temporary files
   * cannot be used, or does not belong to this user alone.
   */
  static of(run: string, temporary = tmpdir()): OtherProcesses | undefined {
    const uid = process.getuid?.();
    const root = join(temporary, uid === undefined ? "pulumi-svc" : `pulumi-svc-${uid}`);
    const folder = join(root, createHash("sha256").update(run).digest("hex").slice(0, 32));
    const own = join(folder, `${process.pid}-${randomUUID()}`);
    try {
      mkdirSync(root, { mode: 0o700, recursive: true });
      const found = lstatSync(root);
      // On Windows the folder of temporary files belongs to the user, and a file has no mode.
      const isOurs = uid === undefined || (found.uid === uid && (found.mode & 0o077) === 0);
      if (!found.isDirectory() || !isOurs) return undefined;
      sweep(root);
      mkdirSync(folder, { recursive: true });
      // So that no other run takes the folder for one that was left.
      writeFileSync(own, "", { mode: 0o600 });
      return new OtherProcesses(folder, own);
    } catch {
      return undefined;
    }
  }

  tell(...told: Told): void {
    try {
      appendFileSync(this.own, `${JSON.stringify(told)}\n`);
    } catch {
      // A full disk takes away what the others would have known, not the run.
    }
  }

  /** What each of the others has told so far. */
  known(): Known[] {
    return this.#files().map((file) => this.#read(file));
  }

  #files(): string[] {
    try {
      return readdirSync(this.folder)
        .filter(isOfLiving)
        .map((name) => join(this.folder, name))
        .filter((file) => file !== this.own);
    } catch {
      return [];
    }
  }

  #read(file: string): Known {
    const before = this.#readings.get(file);
    const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 };
    if (before?.size === size) return before.known;
    const known: Known = { claims: new Map(), stored: new Map(), states: new Map() };
    for (const line of textOf(file).split("\n")) {
      const [sort, name, value] = toldIn(line) ?? [];
      if (sort !== undefined && name !== undefined) known[sort].set(name, value as never);
    }
    this.#readings.set(file, { size, known });
    return known;
  }
}

/** Empty if its process has just ended, and another one has removed it. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Undefined for a line that is not whole: it is on its way, or the disk was full. */
function toldIn(line: string): Told | undefined {
  try {
    return JSON.parse(line) as Told;
  } catch {
    return undefined;
  }
}

/** Whether the process whose file has this name is there. Such an id is hardly given twice while a run lasts. */
function isOfLiving(name: string): boolean {
  try {
    return process.kill(Number.parseInt(name, 10), 0);
  } catch {
    return false;
  }
}

/** Removes what ended runs have left: a process may end at any moment. */
function sweep(root: string): void {
  for (const run of readdirSync(root).map((name) => join(root, name)))
    if (!readdirSync(run).some(isOfLiving)) rmSync(run, { recursive: true, force: true });
}
