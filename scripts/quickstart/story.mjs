import { indented, say } from "../lib/log.mjs";
import { shellQuote } from "../lib/shell.mjs";

/** What examples/quickstart works on unless it is told otherwise, and what it asks for. */
const PROJECT = "prj-demo";
const BRANCH = "br-dev";
const SIZE = { min: 0.5, max: 2 };

/** Pulumi's exit code for changes where none were expected. */
const EXPECTED_NO_CHANGES = 7;

/**
 * @typedef {object} Scene
 * @property {string} title
 * @property {() => Promise<string>} play Answers with what it has shown; throws when that is not so.
 */

/**
 * The life of a stack, scene by scene. Each looks at the service itself (the emulator's state), not only at what Pulumi says.
 * @param {import("./sandbox.mjs").Sandbox} sandbox
 * @param {import("./emulator.mjs").Emulator} emulator
 * @param {boolean} keep leaves out the end
 * @returns {Scene[]}
 */
export function story(sandbox, emulator, keep) {
  /** @type {Set<string>} */
  let before = new Set();

  const scenes = [
    {
      title: "Make a stack and tell it the service's address and key",
      play: async () => {
        before = new Set((await emulator.project(PROJECT)).endpoints.map(({ id }) => id));
        expect(await sandbox.pulumi(["stack", "init", sandbox.stack]), 0);
        expect(await sandbox.pulumi(["config", "set", "svc:baseUrl", emulator.baseUrl]), 0);
        const fromInput = { input: sandbox.apiKey, hint: "   (reads the key from standard input)" };
        expect(await sandbox.pulumi(["config", "set", "--secret", "svc:apiKey"], fromInput), 0);
        return `stack ${sandbox.stack}, the key encrypted`;
      },
    },
    {
      title: "Deploy: a compute for br-dev, the project's auth integration",
      play: async () => {
        expect(await sandbox.pulumi(["up", "--yes"]), 0);
        const { current_state: state, id } = await compute();
        if (state !== "active") throw new Error(`the compute ${id} is ${state}`);
        if ((await emulator.project(PROJECT)).integrations.length !== 1) throw new Error("there is no integration");
        return `created; the service shows ${id} active, and the integration`;
      },
    },
    {
      title: "The outputs, and no secret in clear in the state",
      play: async () => {
        const { output } = expect(await sandbox.pulumi(["stack", "output"]), 0);
        const shown = expect(await sandbox.quietly(["stack", "output", "secretServerKey", "--show-secrets"]), 0);
        const key = shown.stdout.trim();
        const { stdout: state } = expect(await sandbox.quietly(["stack", "export"]), 0);
        if (!/secretServerKey\s+\[secret\]/.test(output)) throw new Error("the server key is not shown as [secret]");
        sandbox.refuseSecrets(output, "the list of outputs", [key]);
        sandbox.refuseSecrets(state, "the stack's state", [key]);
        return "host, endpointId, jwksUrl, secretServerKey as [secret]";
      },
    },
    {
      title: "Plan again: nothing to do",
      play: async () => {
        expect(await sandbox.pulumi(["preview", "--expect-no-changes"]), 0);
        return "no changes";
      },
    },
    {
      title: "Somebody resizes the compute in the service's console",
      play: async () => {
        const { id } = await compute();
        const set = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 8 };
        const change = { kind: "endpoint", project_id: PROJECT, id, set };
        say(`   $ curl ${new URL("edit", emulator.control)} --json ${shellQuote(JSON.stringify(change))}`);
        await emulator.edit(change);
        return `${id} is 4 to 8 CU now, the program says ${SIZE.min} to ${SIZE.max}`;
      },
    },
    {
      title: "Find the drift, as a CI job would",
      play: async () => {
        expect(await sandbox.pulumi(["preview", "--refresh", "--expect-no-changes"]), EXPECTED_NO_CHANGES);
        say(indented(`exit code ${EXPECTED_NO_CHANGES}: changes where none were expected`));
        return `drift found: exit code ${EXPECTED_NO_CHANGES}`;
      },
    },
    {
      title: "Repair it",
      play: async () => {
        expect(await sandbox.pulumi(["up", "--refresh", "--yes"]), 0);
        const { id, autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max } = await compute();
        if (min !== SIZE.min || max !== SIZE.max) throw new Error(`${id} is ${min} to ${max} CU after the repair`);
        return `repaired: the service shows ${id} at ${min} to ${max} CU`;
      },
    },
    {
      title: "Plan once more, with a refresh: nothing to do",
      play: async () => {
        expect(await sandbox.pulumi(["preview", "--refresh", "--expect-no-changes"]), 0);
        return "no changes, no drift";
      },
    },
  ];
  const end = {
    title: "Destroy",
    play: async () => {
      expect(await sandbox.pulumi(["destroy", "--yes"]), 0);
      const { endpoints, integrations } = await emulator.project(PROJECT);
      const left = endpoints.filter(({ id }) => !before.has(id));
      if (left.length > 0 || integrations.length > 0) throw new Error("the service still holds something of the stack");
      expect(await sandbox.pulumi(["stack", "rm", "--yes"]), 0);
      return "destroyed: the service holds nothing of the stack any more";
    },
  };
  return keep ? scenes : [...scenes, end];

  async function compute() {
    const { endpoints } = await emulator.project(PROJECT);
    const ours = endpoints.filter(({ id, branch_id }) => branch_id === BRANCH && !before.has(id));
    const [only] = ours;
    if (!only || ours.length > 1)
      throw new Error(`the service shows ${ours.length} new computes on ${BRANCH}, not one`);
    return only;
  }
}

/**
 * @param {import("../lib/exec.mjs").RunResult} result
 * @param {number} code
 */
function expect(result, code) {
  if (result.code !== code) throw new Error(`the command ended with ${result.code}, not ${code}`);
  return result;
}
