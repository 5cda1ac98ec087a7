/**
 * Which stacks an update holds. Between its beginning and its first change no state shows it, and it may be about to use
 * what no state names.
 */
import { type Dirent, existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { Unknown } from "../../client";
import { pulumiIn } from "../stack/pulumi";
import { parsed } from "../stack/state";
import { BusyError } from "../stack/unfinished";

/** Returns the locked stacks of the backend, of which some may be new. @throws if that could not be read. */
type LookForLocks = () => Promise<readonly string[]>;

const FILES = "file://";
/** Parameters of the address of a folder that do not change where the files are. */
const HARMLESS = ["no_tmp_dir", "create_dir", "dir_file_mode", "metadata"];

/** How the locks of a backend are seen, by its address as `pulumi whoami` has it. */
export function locksOf(address: string): LookForLocks | Unknown {
  if (/^https?:/.test(address)) return inService;
  if (!address.startsWith(FILES)) return notSeen("the Pulumi CLI does not show the locks of this backend");
  const [path = "", query = ""] = address.slice(FILES.length).split(/\?(.*)/s);
  const others = [...new URLSearchParams(query).keys()].filter((name) => !HARMLESS.includes(name));
  if (others.length > 0) return notSeen("where this backend keeps its locks is not known");
  const folder = pathsOf(path).find((one) => existsSync(join(one, ".pulumi", "stacks")));
  if (folder === undefined) return notSeen("the folder of this backend was not found");
  return () => inFolder(join(folder, ".pulumi", "locks"));
}

const notSeen = (why: string): Unknown =>
  Unknown.because({
    question: "whether an update of a stack has begun",
    why,
    waysOut: "Do not run this while a pulumi up may be beginning that uses objects which no state names yet",
  });

/** `~` is the home of the user, by the environment or by the system: the CLI may have been built for either. */
function pathsOf(path: string): string[] {
  if (!path.startsWith("~")) return [resolve(path)];
  return [homedir(), userInfo().homedir].map((home) => join(home, path.slice(2)));
}

/** A folder for each stack, named as the stack is, with a file for each lock. */
async function inFolder(locks: string, name = ""): Promise<readonly string[]> {
  const entries = await readdir(join(locks, name), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException): Dirent[] => {
      if (error.code === "ENOENT") return [];
      throw new Error(
        `the locks of ${name === "" ? "the stacks" : name} could not be read: ${error.code ?? error.message}`,
      );
    },
  );
  const isLocked = name !== "" && entries.some((one) => one.isFile() && !one.name.endsWith(".attrs"));
  const folders = entries.filter((one) => one.isDirectory());
  const below = await Promise.all(
    folders.map((one) => inFolder(locks, name === "" ? one.name : `${name}/${one.name}`)),
  );
  return [...(isLocked ? [name] : []), ...below.flat()];
}

const listed = z.array(z.object({ name: z.string(), updateInProgress: z.boolean().optional() }));

async function inService(): Promise<readonly string[]> {
  const command = ["stack", "ls", "--json", "--all", "--fully-qualify-stack-names"];
  const { ok, stdout, reason } = await pulumiIn(process.cwd(), undefined)(command);
  if (!ok) throw new Error(`pulumi stack ls failed: ${reason}`);
  const { success, data } = listed.safeParse(parsed(stdout));
  if (!success) throw new Error("pulumi stack ls --json did not print the stacks");
  return data.filter(({ updateInProgress }) => updateInProgress === true).map(({ name }) => name);
}

/** @throws if a stack is locked, or if that could not be read. Nothing is known of locks that nobody sees. */
export async function mustBeUnlocked(locks: LookForLocks | Unknown): Promise<void> {
  if (locks instanceof Unknown) return;
  const [first] = await locks();
  if (first === undefined) return;
  throw new BusyError(
    `the stack ${first} is locked: an update of it runs, or was killed. Wait for its end; if it was killed, run pulumi cancel --stack ${first}`,
  );
}
