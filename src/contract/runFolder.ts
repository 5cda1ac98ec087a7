/**
 * The folder in which the processes of a run tell each other what they do, each in a file of its own: the providers
 * (runtime/run/otherProcesses.ts), and the program what it declares (program/declaredObjects.ts). Whatever goes wrong in it is
 * an error: a file that cannot be read is not an empty one.
 */
import { createHash, randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Claim } from "./claims";

/** Why the processes cannot tell each other what they do, and what to do. */
export class FolderError extends Error {
  constructor(
    readonly why: string,
    readonly waysOut: string,
    options?: ErrorOptions,
  ) {
    super(why, options);
  }
}

/** What could not be seen, and what a person can do. */
export interface Trouble {
  readonly why: string;
  readonly waysOut: string;
}

/** Raised when a line changes its meaning: two versions of this package may take part in one run. */
export const FORMAT = 1;

export const lineOf = (told: readonly unknown[]): string => `${JSON.stringify(told)}\n`;

/** How the file of a program begins, and what it says of each resource. Objects are digests: names may be secret. */
export const programBegins = (): string => lineOf(["program", FORMAT]);
export const programDeclares = (urn: string, claims: readonly Omit<Claim, "what">[]): string =>
  lineOf(["declares", urn, claims.map(({ object, shared = false }) => ({ object: digestOf(object), shared }))]);

/** A file of a process of the run. */
export interface RunFile {
  readonly name: string;
  readonly pid: number;
  readonly isAlive: boolean;
}

/** What processes leave behind is kept this long: another process of their run may still start, and ask. */
const KEPT_MS = 3_600_000;

/** The variable that names the folder for temporary files. */
const VARIABLE = process.platform === "win32" ? "TEMP" : "TMPDIR";
const ANOTHER_FOLDER = `Set ${VARIABLE} to a folder of your own on a disk with free space`;
const AGAIN = ", and run pulumi again";

export class RunFolder {
  private constructor(
    private readonly folder: string,
    /** What the names of the files of this run begin with. */
    private readonly prefix: string,
    private readonly own: string,
  ) {}

  /**
   * The folder with a file of this process in it, which begins with a line. `run`: what the processes of one run have in
   * common, and no other run has at the same time.
   * @throws FolderError
   */
  static join(run: string, line: string, temporary: string): RunFolder {
    const uid = process.getuid?.();
    const folder = join(temporary, uid === undefined ? "pulumi-svc" : `pulumi-svc-${uid}`);
    const machine = digestOf(MACHINE);
    const prefix = `${machine}-${digestOf(run)}-`;
    const ending = `${process.pid}-${randomUUID()}`;
    // It gets its name once the first line is in it, so that an empty file is one of a process that could not write.
    const unnamed = join(folder, `${machine}-new-${ending}`);
    const one = new RunFolder(folder, prefix, prefix + ending);
    one.#try("cannot be used", () => {
      if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700, recursive: true });
      one.#checkFolder();
      writeFileSync(unnamed, "", { flag: "wx", mode: 0o600 });
    });
    try {
      one.#try("cannot be written to", () => append(unnamed, line));
    } finally {
      one.#try("cannot be written to", () => renameSync(unnamed, join(folder, one.own)));
    }
    one.#try("cannot be read", () => one.#sweep(machine));
    return one;
  }

  /** @throws FolderError, after which the file is empty, so that the others know. */
  append(line: string): void {
    this.#try("cannot be written to", () => {
      this.#checkFolder();
      append(join(this.folder, this.own), line);
    });
  }

  /** The files of the other processes. @throws FolderError */
  others(): RunFile[] {
    return this.#try("cannot be read", () => {
      this.#checkFolder();
      const names = readdirSync(this.folder);
      if (!names.includes(this.own)) throw this.#removed();
      return names
        .filter((name) => name.startsWith(this.prefix) && name !== this.own)
        .map((name) => ({ name, pid: pidIn(name), isAlive: isAlive(pidIn(name)) }));
    });
  }

  /** What a file holds from an offset on. @throws FolderError, also if it is shorter than that, or empty. */
  read(name: string, from: number): Buffer {
    return this.#try("has a file that cannot be read", () => {
      const descriptor = openSync(join(this.folder, name), constants.O_RDONLY | NO_LINK);
      try {
        const stats = fstatSync(descriptor);
        if (!stats.isFile() || !isOurs(stats)) throw this.#notOurs("a file in it");
        if (stats.size < from || stats.size === 0)
          throw new FolderError(
            `a provider process of this run could not write to its file in ${this.folder}`,
            `${ANOTHER_FOLDER}, or free some space there${AGAIN}`,
          );
        const text = Buffer.alloc(stats.size - from);
        return text.subarray(0, readSync(descriptor, text, 0, text.length, from));
      } finally {
        closeSync(descriptor);
      }
    });
  }

  /** For a file that does not contain what processes write. */
  damaged(): FolderError {
    return new FolderError(`a file in ${this.folder} is damaged`, `Remove ${this.folder}${AGAIN}`);
  }

  /** For a file that another version of this package has written. */
  otherVersion(): FolderError {
    return new FolderError(
      "another provider process uses another version of pulumi-svc",
      `Make the program and its packages depend on the same version of pulumi-svc${AGAIN}`,
    );
  }

  /** For a process of the run that has no file, or no longer has one. */
  silent(pid: number): FolderError {
    return new FolderError(
      `the provider process ${pid} of this run has no file in ${this.folder}`,
      `Let nothing clean that folder while pulumi runs${AGAIN}`,
    );
  }

  #removed(): FolderError {
    return new FolderError(
      `files in ${this.folder} were removed during this run`,
      `Let nothing clean that folder while pulumi runs${AGAIN}`,
    );
  }

  #notOurs(what: string): FolderError {
    return new FolderError(
      `${this.folder} is not used, because ${what} belongs to another user`,
      `Remove ${this.folder}, or set ${VARIABLE} to a folder of your own${AGAIN}`,
    );
  }

  /** @throws FolderError unless it is a folder of this user alone. It may have been changed since it was made. */
  #checkFolder(): void {
    const found = lstatSync(this.folder);
    if (!found.isDirectory())
      throw new FolderError(
        `${this.folder} is not a folder`,
        `Remove ${this.folder}, or set ${VARIABLE} to a folder of your own${AGAIN}`,
      );
    if (!isOurs(found)) throw this.#notOurs("it");
    // On Windows the folder of temporary files belongs to the user, and a file has no mode.
    const mode = found.mode & 0o777;
    if (process.getuid !== undefined && (mode & 0o077) !== 0)
      throw new FolderError(
        `${this.folder} is not used, because other users may open it (its mode is ${mode.toString(8)})`,
        `Run chmod 700 ${this.folder}${AGAIN}`,
      );
  }

  /** A process may end at any moment, so what it has left goes later, with another one. */
  #sweep(machine: string): void {
    const names = readdirSync(this.folder).filter((name) => name.startsWith(machine) && !name.startsWith(this.prefix));
    const running = new Set(names.filter((name) => isAlive(pidIn(name))).map(runIn));
    for (const name of names) {
      if (running.has(runIn(name))) continue;
      try {
        const file = join(this.folder, name);
        if (Date.now() - lstatSync(file).mtimeMs > KEPT_MS) rmSync(file, { force: true });
      } catch {
        // Another process removes it, too.
      }
    }
  }

  #try<Result>(what: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (error instanceof FolderError) throw error;
      const code = codeOf(error);
      if (code === "ENOENT") throw this.#removed();
      throw new FolderError(`${this.folder} ${what} (${code})`, `${wayOut(code)}${AGAIN}`, {
        cause: error,
      });
    }
  }
}

function wayOut(code: string): string {
  if (["ENOSPC", "EDQUOT", "EFBIG"].includes(code))
    return `Free some space on that disk, or set ${VARIABLE} to a folder on another one`;
  if (["EMFILE", "ENFILE"].includes(code)) return "Raise the limit of open files (ulimit -n)";
  return `Set ${VARIABLE} to a folder of your own that can be written to`;
}

/** Not Windows, which has no such flag. */
const NO_LINK = constants.O_NOFOLLOW ?? 0;

/** To a file that exists: one that was removed is not made anew, without what it contained. */
function append(file: string, line: string): void {
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_APPEND | NO_LINK);
  try {
    const text = Buffer.from(line);
    if (writeSync(descriptor, text) < text.length)
      throw Object.assign(new Error("only a part was written"), { code: "ENOSPC" });
  } catch (error) {
    // Others would take what is there for all that this process has to tell. It takes no space.
    ftruncateSync(descriptor);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

const isOurs = ({ uid }: Stats): boolean => process.getuid === undefined || uid === process.getuid();

export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

/** Where ids of processes mean the same: containers may share a folder of temporary files. */
const MACHINE = `${hostname()} ${linkOf("/proc/self/ns/pid")}`;

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const runIn = (name: string): string => name.split("-").slice(0, 2).join("-");
const pidIn = (name: string): number => Number(name.split("-")[2]);

/** Whether such a process is there. An id is hardly given twice while a run lasts. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** Of an error of the operating system, such as ENOSPC. */
const codeOf = (error: unknown): string => String(Reflect.get(Object(error), "code") ?? error);
