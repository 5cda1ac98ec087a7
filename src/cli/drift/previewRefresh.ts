import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Pulumi, pulumiIn, withoutSecrets } from "../stack/pulumi";
import { exportedState, type StackState } from "../stack/state";
import { readEventLog } from "./eventLog";
import { type Refreshed, refreshedBy } from "./refreshed";

/** Resources of this package, at any depth: no other package is asked, so none needs its credentials here. */
const OURS = "**pulumi-nodejs:dynamic/svc:**";

/** What a refresh found, and the state that it began with. */
export interface RefreshedStack {
  readonly resources: readonly Refreshed[];
  readonly state: StackState;
}

/**
 * The stacks of these names, the selected one without any. One after the other: each asks the service for all that it holds.
 * @throws in the words of the CLI, and where a stack holds nothing of ours.
 */
export async function refreshedStacks(names: readonly string[], withSecrets: boolean): Promise<RefreshedStack[]> {
  const stacks: RefreshedStack[] = [];
  for (const name of new Set(names.length === 0 ? [undefined] : names)) {
    const refreshed = await previewRefresh(name, withSecrets);
    if (refreshed.resources.length === 0) {
      const which = name === undefined ? "the stack" : `the stack ${name}`;
      throw new Error(
        `${which} holds no resource of pulumi-svc, so there is nothing to check. Run pulumi up first, or name another stack with --stack`,
      );
    }
    stacks.push(refreshed);
  }
  return stacks;
}

/**
 * Runs the CLI's refresh, which changes nothing and does not run the program, and reads its event log: what the
 * Automation API reads, too. The output of `--json` holds the state from before.
 * @param withSecrets the state holds its secrets in clear: in memory only.
 * @throws in the words of the CLI.
 */
export async function previewRefresh(stack: string | undefined, withSecrets: boolean): Promise<RefreshedStack> {
  const pulumi = pulumiIn(process.cwd(), stack);
  const results = await refreshResults(pulumi);
  const state = await exportedState(pulumi, withSecrets);
  return { resources: refreshedBy(results, state), state };
}

async function refreshResults(pulumi: Pulumi) {
  const folder = await mkdtemp(join(tmpdir(), "pulumi-svc-drift-"));
  try {
    const file = join(folder, "events.json");
    const args = ["refresh", "--preview-only", "--run-program=false", "--target", OURS, "--event-log", file];
    const run = await pulumi(args, { isLong: true });
    const log = readEventLog(await readFile(file, "utf8").catch(() => ""));
    if (!run.ok || log.errors.length > 0) throw failure([...log.errors, ...run.errors], run.reason);
    return log.results;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function failure(errors: readonly string[], reason: string): Error {
  const [first = reason, ...others] = [...new Set(errors)].filter((text) => text !== "preview failed");
  // The rest is a stack, where SVC_DEBUG asks for it.
  const [line = ""] = first.split("\n");
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  // An older CLI has nothing but these words for it.
  const advice = line.startsWith("unknown flag") ? ". This CLI is too old for pulumi-svc: update it" : "";
  return new Error(`pulumi refresh failed: ${withoutSecrets(line)}${more}${advice}`);
}
