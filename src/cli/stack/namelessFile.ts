import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Windows can neither remove an open file nor address a process's open files by path. */
const KEEPS_NAME = process.platform === "win32";

/**
 * A file that another process writes. It has no name and is removed with the last process that has it open, however
 * that process ends: it may contain secrets.
 */
export class NamelessFile {
  readonly fd: number;
  readonly #path: string;

  constructor() {
    this.#path = join(tmpdir(), `pulumi-svc-${randomBytes(9).toString("hex")}`);
    this.fd = openSync(this.#path, "wx+", 0o600);
    if (!KEEPS_NAME) rmSync(this.#path);
  }

  /** The path for a process that has this file open under that number. */
  pathAs(fd: number): string {
    return KEEPS_NAME ? this.#path : `/dev/fd/${fd}`;
  }

  /** The current content. */
  text(): string {
    const buffer = Buffer.alloc(fstatSync(this.fd).size);
    return buffer.toString("utf8", 0, readSync(this.fd, buffer, 0, buffer.length, 0));
  }

  close(): void {
    closeSync(this.fd);
    if (KEEPS_NAME) rmSync(this.#path, { force: true });
  }
}
