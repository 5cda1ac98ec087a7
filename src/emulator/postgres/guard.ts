import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { leftFolders, showLife } from "./temporaryFolders";

/**
 * Arguments: the folder of the clusters, then the folders to delete. Its input are the ids of the servers, and ends with
 * the emulator. A server has its id in its folder as well, so that no other process is ended that has the id now.
 */
const SCRIPT = `
while read -r pid; do servers="$servers $pid "; done
clusters=$1
shift
for file in "$clusters"/*/postmaster.pid; do
  pid=$(head -n 1 "$file" 2>/dev/null)
  case "$servers" in *" $pid "*) ;; *) continue ;; esac
  kill -QUIT "$pid" 2>/dev/null || continue
  for wait in $(seq 250); do kill -0 "$pid" 2>/dev/null || continue 2; sleep 0.02; done
  kill -KILL "$pid"
done
for wait in 1 2 3 4 5; do rm -rf "$@" && break; sleep 0.2; done
`;

export interface Guard {
  /** Takes note of a server. */
  watch(pid: number): void;
  /** Ends the servers, and resolves when all is gone. */
  end(): Promise<void>;
}

/**
 * Watches over the servers in a folder: when the emulator ends, however it does, they end and its temporary folders are
 * deleted. If the guard is killed as well, or the machine goes down, the next start does it (`clearLeft`).
 */
export function startGuard(clusters: string, temporary: readonly string[]): Guard {
  // In a process group of its own: a Ctrl-C, or a kill of the emulator's group, does not reach it.
  const guard = spawn("/bin/sh", ["-c", SCRIPT, "pulumi-svc-guard", clusters, ...temporary], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  guard.unref();
  (guard.stdin as Socket).unref(); // A pipe, which would keep the process running.
  const ended = once(guard, "exit");
  const signs = temporary.map(showLife);
  guard.stdin.on("error", () => undefined); // Somebody has killed it.
  return {
    watch: (pid) => void guard.stdin.write(`${pid}\n`),
    end: async () => {
      guard.ref();
      guard.stdin.end();
      await ended;
      for (const conceal of signs) conceal();
    },
  };
}

/** Ends the servers that run in a folder, though their emulator and its guard do not, and deletes other folders. */
export function clear(clusters: string, temporary: readonly string[]): Promise<void> {
  const guard = startGuard(clusters, temporary);
  for (const pid of serversIn(clusters)) guard.watch(pid);
  return guard.end();
}

/** Deletes the temporary folders of emulators that are gone. */
export async function clearLeft(parents: readonly string[]): Promise<void> {
  await Promise.all((await leftFolders(parents)).map((folder) => clear(folder, [folder])));
}

/** The processes of the servers in a folder. The id of a server that is gone may belong to another process now. */
function serversIn(clusters: string): number[] {
  return readdirSync(clusters).flatMap((name) => {
    const folder = join(clusters, name);
    try {
      const [pid = ""] = readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n");
      const args = execFileSync("ps", ["-o", "args=", "-p", pid], { encoding: "utf8", stdio: "pipe" });
      return args.includes(` -D ${folder} `) ? [Number(pid)] : [];
    } catch {
      return []; // None runs there, or nothing is known of it.
    }
  });
}
