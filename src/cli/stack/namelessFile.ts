import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Windows neither removes a file that is open, nor has names for what a process holds open. */
const KEEPS_NAME = process.platform === "win32";

/**
 * A file that another process writes. It has no name, and goes with the last process that holds it open, however that ends:
 * what it holds may be secret.
 */
export class NamelessFile {
  readonly fd: number;
  readonly #path: string;

  constructor() {
    this.#path = join(tmpdir(), `pulumi-svc-${randomBytes(9).toString("hex")}`);
    this.fd = openSync(this.#path, "wx+", 0o600);
    if (!KEEPS_NAME) rmSync(this.#path);
  }

  /** For a process that has this file as that number. */
  pathAs(fd: number): string {
    return KEEPS_NAME ? this.#path : `/dev/fd/${fd}`;
  }

  /** What it holds now. */
  text(): string {
    const buffer = Buffer.alloc(fstatSync(this.fd).size);
    return buffer.toString("utf8", 0, readSync(this.fd, buffer, 0, buffer.length, 0));
  }

  close(): void {
    closeSync(this.fd);
    if (KEEPS_NAME) rmSync(this.#path, { force: true });
  }
}
