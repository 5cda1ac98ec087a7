/**
 * The imitation of the engine (test/support/rules/program.ts) gives our provider what the engine gives it, and stores the
 * same. With PULUMI_SVC_CHANCE_MINUTES also in random histories, from PULUMI_SVC_CHANCE_SEED on.
 */
import fc from "fast-check";
import { differencesOf, figures } from "../chance/against";
import { histories } from "../chance/histories";
import { canary } from "../chance/programs";
import { FORMER, type Command, type Declared, type Edit, type History, type Step, type Value } from "../chance/history";

const { PULUMI_SVC_CHANCE_MINUTES, PULUMI_SVC_CHANCE_SEED } = process.env;
const MINUTES = Number(PULUMI_SVC_CHANCE_MINUTES ?? 0);
const SEED = Number(PULUMI_SVC_CHANCE_SEED ?? 1);

const projectId: Value = { $output: ["auth", "projectId"] };
const demo = { projectId: "prj-demo" };
const PROGRAM: readonly Declared[] = [
  { kind: "Group", name: "box", args: {}, options: {} },
  { kind: "AuthIntegration", name: "auth", args: demo, options: {} },
  { kind: "Foreign", name: "text", args: { text: "one" }, options: {} },
  {
    ...{ kind: "ComputeEndpoint", name: "api", args: { ...demo, branchId: "br-dev", size: 1, name: "api" } },
    options: { parent: "box", customTimeouts: true, ignoreChanges: ["name"], additionalSecretOutputs: ["host"] },
  },
  {
    ...{ kind: "ComputeEndpoint", name: "other" },
    args: { ...demo, branchId: "br-test", size: 1, name: { $output: ["text", "text"] } },
    options: { dependsOn: ["box"], replaceOnChanges: ["size"] },
  },
  {
    ...{ kind: "WhitelistDomain", name: "site", args: { projectId, domain: "https://a.example.com" } },
    options: { protect: true },
  },
  {
    ...{ kind: "AuthKeys", name: "keys", args: { projectId, rotationTriggers: ["2025-11"] } },
    options: { retainOnDelete: true, dependsOn: ["api"] },
  },
  {
    ...{ kind: "OAuthProvider", name: "oauth" },
    args: { projectId, providerId: "gitlab", clientId: "id", clientSecret: { $secret: canary("oauth") } },
    options: { deletedWith: "auth", transform: "clientId", provider: "first" },
  },
];
const [AUTH, API, OTHER, SITE, KEYS, OAUTH] = [1, 3, 4, 5, 6, 7];

const run = (command: Command): Step => ({ do: "command", command });
const edit = (...edits: Edit[]): Step => ({ do: "edit", edits });
const environment = {};

/** Arguments that are ignored, replace and are replaced; then another identity, parts of the stack, and drift. */
const OPTIONS: History = {
  ...{ program: PROGRAM, environment },
  steps: [
    run({ run: "up", seed: 1 }),
    edit(
      { edit: "argument", which: API, argument: 2, to: "other" },
      { edit: "argument", which: OTHER, argument: 3, to: "other" },
      { edit: "argument", which: KEYS, argument: 0, to: "other" },
    ),
    run({ run: "up", seed: 2 }),
    run({ run: "state rename", which: OTHER }),
    edit({ edit: "move", which: API, aliased: true }, { edit: "rename", which: KEYS, aliased: false }),
    run({ run: "up", target: OAUTH, seed: 3 }),
    { do: "colleague", deed: { do: "delete compute", which: 1 } },
    run({ run: "up", refresh: true, replace: OAUTH, seed: 5 }),
    run({ run: "destroy", excludeProtected: true }),
  ],
};

/** A container is replaced, with everything in it. */
const CONTAINER: History = {
  ...{ program: PROGRAM, environment },
  steps: [
    edit({ edit: "options", which: SITE, options: {} }),
    run({ run: "up", seed: 1 }),
    run({ run: "state taint", which: AUTH }),
    run({ run: "up", seed: 3 }),
    run({ run: "destroy" }),
  ],
};

/** Two entries for one object, and commands that look at one of them; then lists in pages. */
const PARTS: History = {
  ...{ program: PROGRAM, environment, pages: true },
  steps: [
    run({ run: "up", seed: 1 }),
    edit({ edit: "rename", which: OAUTH, aliased: false, adopts: true }),
    run({ run: "up", target: OAUTH, seed: 2 }),
    run({ run: "up", exclude: FORMER, seed: 3 }),
    edit({ edit: "rename", which: OTHER, aliased: false }),
    run({ run: "up", exclude: FORMER, seed: 4 }),
    run({ run: "up", seed: 5 }),
    run({ run: "destroy", exclude: OAUTH }),
    run({ run: "destroy" }),
  ],
};

test.each([
  ["options, identities and parts of a stack", OPTIONS],
  ["a replaced container", CONTAINER],
  ["what a run does not look at", PARTS],
  ["options, through the native protocol", { ...OPTIONS, protocol: "native" as const }],
  ["a container, through both protocols", { ...CONTAINER, protocol: "changing" as const }],
])("the imitation makes the engine's calls: %s", async (_, history) => {
  const before = figures.commands;
  expect(await differencesOf(history)).toEqual([]);
  // Nothing has ended it early.
  expect(figures.commands - before).toBe(history.steps.filter((step) => step.do === "command").length);
});

/** Commands of the engine alone, and what a colleague does between them. */
const undisturbed = histories({ real: false }).map((history): History => {
  const steps = history.steps.map((step): Step => (step.do === "command" ? run(step.command) : step));
  return { ...history, steps };
});

if (MINUTES > 0) {
  test(
    "the imitation makes the engine's calls: random histories",
    async () => {
      const end = Date.now() + MINUTES * 60_000;
      const found: string[] = [];
      for (let seed = SEED; Date.now() < end; seed += 1) {
        const [history] = fc.sample(undisturbed, { seed, numRuns: 1 });
        if (history === undefined) throw new Error("nothing was drawn");
        const differences = await differencesOf(history);
        found.push(...differences.map((text) => `seed ${seed}, ${text}`));
      }
      process.stdout.write(`${figures.commands} commands with ${figures.calls} calls compared, from seed ${SEED}.\n`);
      expect(found).toEqual([]);
    },
    (MINUTES + 10) * 60_000,
  );
}
