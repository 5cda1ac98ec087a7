/** The temporary folders of emulators, and how one finds those that nobody deletes any more. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, renameSync } from "node:fs";
import { connect, createServer } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

const KINDS = ["postgres", "sockets", "template"] as const;
const NAME = new RegExp(`^pulumi-svc-(?:${KINDS.join("|")})-`);

export const newTemporaryFolder = (kind: (typeof KINDS)[number], parent = tmpdir()): string =>
  mkdtempSync(join(parent, `pulumi-svc-${kind}-`));

/** Of this machine: a folder may be shared, and a socket cannot be reached from another one. */
const SIGN = `alive-${createHash("sha256").update(hostname()).digest("hex").slice(0, 8)}`;

/**
 * Shows that the process of a folder runs, until the returned function is called or the process ends: by a socket, which
 * the system closes however that happens. A process id may belong to another process later, or elsewhere.
 */
export function showLife(folder: string): () => void {
  // It gets its name when it listens: before, it would look like that of a process that is gone.
  const path = join(folder, randomBytes(2).toString("hex"));
  const server = createServer((visitor) => visitor.destroy());
  // The path may be too long for a socket. Then nothing says that the folder may be deleted.
  server.on("error", () => undefined);
  server.listen(path, () => {
    try {
      renameSync(path, join(folder, SIGN));
    } catch {
      // It has been deleted.
    }
  });
  server.unref();
  return () => void server.close();
}

/** Whether the process of a folder is known to be gone. */
async function isLeft(folder: string): Promise<boolean> {
  const socket = connect(join(folder, SIGN));
  try {
    await once(socket, "connect");
    return false;
  } catch (error) {
    // Without a sign, or without the right to see it, it is not known.
    return Reflect.get(Object(error), "code") === "ECONNREFUSED";
  } finally {
    socket.destroy();
  }
}

/** The folders whose process is gone, in places where emulators make theirs. */
export async function leftFolders(parents: Iterable<string>): Promise<string[]> {
  const folders = [...new Set(parents)].flatMap((parent) =>
    readdirSync(parent)
      .filter((name) => NAME.test(name))
      .map((name) => join(parent, name)),
  );
  const isLeftBehind = await Promise.all(folders.map(isLeft));
  return folders.filter((_, at) => isLeftBehind[at]);
}
