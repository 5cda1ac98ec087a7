import { indented, say } from "../lib/log.mjs";
import { shellQuote } from "../lib/shell.mts";
import type { Emulator } from "./emulator.mts";
import type { Sandbox } from "./sandbox.mts";

/** What examples/quickstart works on unless it is told otherwise, and what it asks for. */
const PROJECT = "prj-demo";
const BRANCH = "br-dev";
const SIZE = { min: 0.5, max: 2 };

/** Pulumi's exit code for changes where none were expected. */
const EXPECTED_NO_CHANGES = 7;

/** `play` answers with what it has shown, or throws. */
export type Scene = [title: string, play: () => Promise<string>];

/** The life of a stack. Each scene looks at the service itself (the emulator's state), not only at what Pulumi says. */
export async function story(sandbox: Sandbox, emulator: Emulator): Promise<Scene[]> {
  const before = new Set((await emulator.project(PROJECT)).endpoints.map(({ id }) => id));

  async function compute() {
    const { endpoints } = await emulator.project(PROJECT);
    const ours = endpoints.filter(({ id, branch_id }) => branch_id === BRANCH && !before.has(id));
    if (ours.length !== 1) throw new Error(`the service shows ${ours.length} new computes on ${BRANCH}, not one`);
    return ours[0];
  }

  return [
    [
      "Make a stack and tell it the service's address and key",
      async () => {
        await sandbox.pulumi(["stack", "init", sandbox.stack]);
        await sandbox.pulumi(["config", "set", "svc:baseUrl", emulator.baseUrl]);
        const fromInput = { input: sandbox.apiKey, hint: "   (reads the key from standard input)" };
        await sandbox.pulumi(["config", "set", "--secret", "svc:apiKey"], fromInput);
        return `stack ${sandbox.stack}, the key encrypted`;
      },
    ],
    [
      "Deploy: a compute for br-dev, the project's auth integration",
      async () => {
        await sandbox.pulumi(["up", "--yes"]);
        const { current_state: state, id } = await compute();
        if (state !== "active") throw new Error(`the compute ${id} is ${state}`);
        if ((await emulator.project(PROJECT)).integrations.length !== 1) throw new Error("there is no integration");
        return `created; the service shows ${id} active, and the integration`;
      },
    ],
    [
      "The outputs, and no secret in clear in the state",
      async () => {
        const output = await sandbox.pulumi(["stack", "output"]);
        const key = (await sandbox.quietly("stack", "output", "secretServerKey", "--show-secrets")).trim();
        const state = await sandbox.quietly("stack", "export");
        if (!/secretServerKey\s+\[secret\]/.test(output)) throw new Error("the server key is not shown as [secret]");
        sandbox.refuseSecrets(output, "the list of outputs", key);
        sandbox.refuseSecrets(state, "the stack's state", key);
        return "host, endpointId, jwksUrl, secretServerKey as [secret]";
      },
    ],
    [
      "Plan again: nothing to do",
      async () => {
        await sandbox.pulumi(["preview", "--expect-no-changes"]);
        return "no changes";
      },
    ],
    [
      "Somebody resizes the compute in the service's console",
      async () => {
        const { id } = await compute();
        const set = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 8 };
        const change = { kind: "endpoint", project_id: PROJECT, id, set };
        say(`   $ curl ${new URL("edit", emulator.control)} --json ${shellQuote(JSON.stringify(change))}`);
        await emulator.edit(change);
        return `${id} is 4 to 8 CU now, the program says ${SIZE.min} to ${SIZE.max}`;
      },
    ],
    [
      "Find the drift, as a CI job would",
      async () => {
        await sandbox.pulumi(["preview", "--refresh", "--expect-no-changes"], { code: EXPECTED_NO_CHANGES });
        say(indented(`exit code ${EXPECTED_NO_CHANGES}: changes where none were expected`));
        return `drift found: exit code ${EXPECTED_NO_CHANGES}`;
      },
    ],
    [
      "Repair it",
      async () => {
        await sandbox.pulumi(["up", "--refresh", "--yes"]);
        const { id, autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = await compute();
        if (min !== SIZE.min || max !== SIZE.max) throw new Error(`${id} is ${min} to ${max} CU after the repair`);
        return `repaired: the service shows ${id} at ${min} to ${max} CU`;
      },
    ],
    [
      "Plan once more, with a refresh: nothing to do",
      async () => {
        await sandbox.pulumi(["preview", "--refresh", "--expect-no-changes"]);
        return "no changes, no drift";
      },
    ],
    [
      "Destroy",
      async () => {
        await sandbox.pulumi(["destroy", "--yes"]);
        const { endpoints, integrations } = await emulator.project(PROJECT);
        const left = endpoints.some(({ id }) => !before.has(id)) || integrations.length > 0;
        if (left) throw new Error("the service still holds something of the stack");
        await sandbox.pulumi(["stack", "rm", "--yes"]);
        return "destroyed: the service holds nothing of the stack any more";
      },
    ],
  ];
}
