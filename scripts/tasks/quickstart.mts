import { join } from "node:path";
import { EXIT, indented, messageOf, say, stopwatch, UsageError } from "../lib/console.mjs";
import { interrupted } from "../lib/processes.mts";
import { Emulator } from "../quickstart/emulator.mts";
import { commandsByHand, Sandbox, shellQuote } from "../quickstart/sandbox.mts";

/** What examples/quickstart works on unless it is told otherwise, and what it asks for. */
const PROJECT = "prj-demo";
const BRANCH = "br-dev";
const SIZE = { min: 0.5, max: 2 };

/** Pulumi's exit code for changes where none were expected. */
const EXPECTED_NO_CHANGES = 7;

export async function quickstart(args: string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--keep");
  if (unknown) throw new UsageError(`quickstart does not know "${unknown}".`);
  const keep = args.includes("--keep");
  const elapsed = stopwatch();
  const sandbox = new Sandbox();
  const emulator = new Emulator(sandbox.apiKey, join(sandbox.folder, "emulator.log"), keep);
  let left = false;
  try {
    say("\n== 0. Start a local emulator of the service");
    say("   $ SVC_EMULATOR_API_KEY=… node dist/cli/main.js emulator --port 0");
    await emulator.listens();
    say(`   | listening on ${emulator.baseUrl}`);
    const summary = await story(sandbox, emulator, keep);
    say(`\n== Done in ${elapsed()}`);
    for (const line of summary) say(`   ${line}`);
    if (keep) {
      const stateUrl = emulator.controlUrl("state");
      const commands = commandsByHand(sandbox.folder, sandbox.writeEnvFile(), stateUrl, emulator.child.pid);
      say("\n== The emulator and the stack stay. To go on by hand, here in the clone:");
      for (const command of commands) say(`   ${command}`);
    }
    left = keep;
    return EXIT.good;
  } catch (error) {
    // A command that Ctrl-C ended is no finding.
    interrupted.throwIfAborted();
    say(`\n${messageOf(error)}\nThe quickstart ended after ${elapsed()}; what it made is removed.`);
    return EXIT.failed;
  } finally {
    if (left) emulator.child.unref();
    else {
      await emulator.stop();
      sandbox.remove();
    }
  }
}

/**
 * The life of a stack; answers with a line for each scene. Each looks at the service itself (the emulator's state), not
 * only at what Pulumi says.
 */
async function story(sandbox: Sandbox, emulator: Emulator, keep: boolean): Promise<string[]> {
  const summary: string[] = [];

  /** `play` answers with what it has shown, or throws. */
  async function scene(title: string, play: () => Promise<string>): Promise<void> {
    const number = summary.length + 1;
    say(`\n== ${number}. ${title}`);
    const elapsed = stopwatch();
    try {
      const shown = `${await play()} (${elapsed()})`;
      say(`   -> ${shown}`);
      summary.push(`${number}. ${shown}`);
    } catch (error) {
      throw new Error(`Step ${number} "${title}" failed: ${messageOf(error)}.`, { cause: error });
    }
  }

  const before = new Set((await emulator.project(PROJECT)).endpoints.map(({ id }) => id));

  async function compute() {
    const { endpoints } = await emulator.project(PROJECT);
    const ours = endpoints.filter(({ id, branch_id }) => branch_id === BRANCH && !before.has(id));
    if (ours.length !== 1) throw new Error(`the service shows ${ours.length} new computes on ${BRANCH}, not one`);
    return ours[0];
  }

  await scene("Make a stack and tell it the service's address and key", async () => {
    await sandbox.pulumi(["stack", "init", sandbox.stack]);
    await sandbox.pulumi(["config", "set", "svc:baseUrl", emulator.baseUrl]);
    const fromInput = { input: sandbox.apiKey, hint: "   (reads the key from standard input)" };
    await sandbox.pulumi(["config", "set", "--secret", "svc:apiKey"], fromInput);
    return `stack ${sandbox.stack}, the key encrypted`;
  });

  await scene("Deploy: a compute for br-dev, the project's auth integration", async () => {
    await sandbox.pulumi(["up", "--yes"]);
    const { current_state: state, id } = await compute();
    if (state !== "active") throw new Error(`the compute ${id} is ${state}`);
    if ((await emulator.project(PROJECT)).integrations.length !== 1) throw new Error("there is no integration");
    return `created; the service shows ${id} active, and the integration`;
  });

  await scene("The outputs, and no secret in clear in the state", async () => {
    const output = await sandbox.pulumi(["stack", "output"]);
    const key = await sandbox.pulumi(["stack", "output", "secretServerKey", "--show-secrets"], { quiet: true });
    const state = await sandbox.pulumi(["stack", "export"], { quiet: true });
    if (!/secretServerKey\s+\[secret\]/.test(output)) throw new Error("the server key is not shown as [secret]");
    const isClear = [key.trim(), sandbox.apiKey, sandbox.passphrase].some((secret) =>
      (output + state).includes(secret),
    );
    if (isClear) throw new Error("the outputs or the stack's state hold a secret in clear");
    return "host, endpointId, jwksUrl, secretServerKey as [secret]";
  });

  await scene("Plan again: nothing to do", async () => {
    await sandbox.pulumi(["preview", "--expect-no-changes"]);
    return "no changes";
  });

  await scene("Somebody resizes the compute in the service's console", async () => {
    const { id } = await compute();
    const set = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 8 };
    const change = { kind: "endpoint", project_id: PROJECT, id, set };
    say(`   $ curl ${emulator.controlUrl("edit")} --json ${shellQuote(JSON.stringify(change))}`);
    await emulator.edit(change);
    return `${id} is 4 to 8 CU now, the program says ${SIZE.min} to ${SIZE.max}`;
  });

  await scene("Find the drift, as a CI job would", async () => {
    await sandbox.pulumi(["preview", "--refresh", "--expect-no-changes"], { code: EXPECTED_NO_CHANGES });
    say(indented(`exit code ${EXPECTED_NO_CHANGES}: changes where none were expected`));
    return `drift found: exit code ${EXPECTED_NO_CHANGES}`;
  });

  await scene("Repair it", async () => {
    await sandbox.pulumi(["up", "--refresh", "--yes"]);
    const { id, autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = await compute();
    if (min !== SIZE.min || max !== SIZE.max) throw new Error(`${id} is ${min} to ${max} CU after the repair`);
    return `repaired: the service shows ${id} at ${min} to ${max} CU`;
  });

  await scene("Plan once more, with a refresh: nothing to do", async () => {
    await sandbox.pulumi(["preview", "--refresh", "--expect-no-changes"]);
    return "no changes, no drift";
  });

  if (keep) return summary;
  await scene("Destroy", async () => {
    await sandbox.pulumi(["destroy", "--yes"]);
    const { endpoints, integrations } = await emulator.project(PROJECT);
    const left = endpoints.some(({ id }) => !before.has(id)) || integrations.length > 0;
    if (left) throw new Error("the service still holds something of the stack");
    await sandbox.pulumi(["stack", "rm", "--yes"]);
    return "destroyed: the service holds nothing of the stack any more";
  });
  return summary;
}
