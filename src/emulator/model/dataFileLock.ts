import { readFileSync, rmSync, writeFileSync } from "node:fs";

/** The locks of this process. */
const held = new Set<string>();

/**
 * Keeps a data file for one emulator.
 * @returns what ends that
 * @throws an Error if another emulator that runs has the file
 */
export function lockDataFile(path: string): () => void {
  const lock = `${path}.lock`;
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx", mode: 0o600 });
      break;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw new Error(`cannot write the data file "${path}": ${String(error)}`);
    }
    const pid = pidIn(lock);
    if (pid === undefined) continue;
    if (pid === 0) {
      throw new Error(
        `another emulator is about to use the data file "${path}": give this one a file of its own. If there is none, ` +
          `delete ${lock}`,
      );
    }
    if (held.has(lock) || (pid !== process.pid && isAlive(pid))) {
      throw new Error(
        `another emulator (process ${pid}) uses the data file "${path}": stop it, or give this one a file of its own. ` +
          `If process ${pid} is no emulator, delete ${lock}`,
      );
    }
    rmSync(lock, { force: true });
  }
  held.add(lock);
  return () => {
    if (held.delete(lock)) rmSync(lock, { force: true });
  };
}

/** 0 if it has none yet: it is made, then written. Undefined if it was deleted meanwhile. */
function pidIn(file: string): number | undefined {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

const codeOf = (error: unknown): unknown => Reflect.get(Object(error), "code");
