/** In which folder the Pulumi engine starts the provider process of this program. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { programFolder } from "../contract/projectFile";

/**
 * The program itself runs in that folder if the CLI has started it. For an inline program of the Automation API it is the
 * folder of `main` in the workspace, otherwise the workspace, wherever the process is; the SDK tells the program of neither.
 * Its engine is a child of this process in the workspace, which Linux shows. Several engines may run at once. Undefined: it
 * cannot be seen.
 */
export function engineFolders(isInline: boolean): readonly string[] | undefined {
  if (!isInline) return [process.cwd()];
  try {
    const found = children().flatMap((pid) => {
      const isEngine = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("\0--client=");
      const workspace = isEngine ? readlinkSync(`/proc/${pid}/cwd`) : undefined;
      return workspace === undefined ? [] : [programFolder(workspace) ?? workspace];
    });
    return found.length > 0 ? found : undefined;
  } catch {
    // Another system, or a process that has just ended.
    return undefined;
  }
}

/** The ids of the processes that any thread of this one has started. */
const children = (): string[] =>
  readdirSync("/proc/self/task").flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, "utf8")
      .split(" ")
      .filter((pid) => pid !== ""),
  );
