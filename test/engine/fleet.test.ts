/**
 * `pulumi-svc fleet drift` beside the engine: whatever drifted, it reports what `pulumi-svc drift` reports, in one stack
 * and in forty.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FleetReport, StackReport } from "../../src/cli/fleet/report";
import type { Report } from "../../src/cli/drift/report";
import { DRIFTED_ARGUMENTS } from "../support/driftedArguments";
import { sealed } from "../support/backend";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

/** Projects that nobody changes, each with its own stack. */
const QUIET = Array.from({ length: 38 - DRIFTED_ARGUMENTS.length }, (_, index) => `prj-quiet-${index}`);
/** A project with a resource of each kind, and with a secret by reference. */
const WHOLE = "prj-whole";
const PROJECTS = [...DRIFTED_ARGUMENTS.map(({ projectId }) => projectId), ...QUIET, WHOLE];
const OF_EACH_KIND = `
const { projectId: whole } = new svc.AuthIntegration("whole-auth", { projectId: "${WHOLE}" });
new svc.AuthKeys("whole-keys", { projectId: whole });
new svc.AuthUser("whole-user", { projectId: whole, email: "user@example.com" });
new svc.AuthOwnershipTransfer("whole-transfer", { projectId: whole });
new svc.OAuthProvider("whole-google", { projectId: whole, providerId: "google", adopt: true });
new svc.WhitelistDomain("whole-domain", { projectId: whole, domain: "https://whole.example.com" });
new svc.EmailServer("whole-mail", { projectId: whole, type: "shared" });
new svc.ComputeEndpoint("whole-compute", {
  projectId: "${WHOLE}", branchId: "br-dev", settings: { pgSettings: { "app.token": svc.fromEnv("FLEET_TOKEN") } },
});`;
const PROGRAM = [
  ...DRIFTED_ARGUMENTS.map(({ declaration }) => declaration),
  ...QUIET.map((id) => `new svc.ComputeEndpoint("${id}", { projectId: "${id}", branchId: "br-dev", size: 1 });`),
  OF_EACH_KIND,
].join("\n");

/** All of it is deployed in this stack. */
let stack: Stack;
let deployed: State;
beforeAll(async () => {
  stack = await Stack.create({ program: PROGRAM, cheapDigests: true });
  stack.env["FLEET_TOKEN"] = "canary-fleet-token";
  for (const id of PROJECTS) {
    const branches = ["br-main", "br-dev", "br-other"].map((branch, index) => ({ id: branch, default: index === 0 }));
    await stack.service.addProject({ id, branches });
  }
  expect(await stack.up()).toMatchObject({ code: 0 });
  delete stack.env["FLEET_TOKEN"];
  deployed = stateOf("dev");
}, 600_000);

/** A state as a file backend stores it. */
interface State {
  readonly checkpoint: { readonly stack: string; readonly latest: { readonly resources: readonly Entry[] } };
}

interface Entry {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs: Record<string, unknown>;
  readonly outputs: Record<string, unknown>;
}

const stateFile = (name: string): string => join(stack.folder, "backend", ".pulumi", "stacks", "proj", `${name}.json`);
const stateOf = (name: string): State => JSON.parse(readFileSync(stateFile(name), "utf8")) as State;

/** A stack of this name, with entries as `change` makes them. */
function storeAs(name: string, change: (entries: readonly Entry[]) => readonly object[]): void {
  const { checkpoint } = deployed;
  const latest = { ...checkpoint.latest, resources: change(checkpoint.latest.resources) };
  const state = { ...deployed, checkpoint: { ...checkpoint, stack: `organization/proj/${name}`, latest } };
  writeFileSync(stateFile(name), JSON.stringify(state).replaceAll("urn:pulumi:dev::", `urn:pulumi:${name}::`));
}

const isIn =
  (projectId: string) =>
  ({ id = "", type }: Entry): boolean =>
    id.split("/")[0] === projectId || type.startsWith("pulumi:");

async function fleet(...args: string[]): Promise<{ code: number; report: FleetReport; stderr: string }> {
  const { code, stdout, stderr } = await svc(stack, ["fleet", "drift", "--json", ...args]);
  return { code, stderr, report: JSON.parse(stdout) as FleetReport };
}

/** Without what only the report of a fleet has. */
function alone({ name: _name, project: _project, since: _since, ...report }: StackReport): Report {
  return report;
}

test("what drifted is found in the one of forty stacks that has it, as the engine finds it, and nothing else is", async () => {
  for (const [index, projectId] of PROJECTS.entries())
    storeAs(`s${index}`, (entries) => entries.filter(isIn(projectId)));
  const before = await fleet("--stack", "s1*", "--stack", "dev");
  expect(before).toMatchObject({ code: 0, stderr: "", report: { notKnown: [], withoutResources: [] } });
  expect(before.report.stacks.map(({ drift: found }) => found)).toEqual(Array.from({ length: 12 }, () => []));

  for (const { name, projectId, edit } of DRIFTED_ARGUMENTS) {
    const { id } = await stack.resource(name);
    await stack.service.edit({ project_id: projectId, ...edit(id.split("/")[1] ?? "") });
  }
  await stack.service.clearRequests();
  const { code, report } = await fleet();
  expect([code, report.notKnown, report.stacks.length]).toEqual([7, [], 40]);
  const ofStack = (name: string) =>
    report.stacks.find((one) => one.name === `organization/proj/${name}`) as StackReport;

  // Two stacks hold each resource, and each list is read once; again after a lag where something is gone.
  const requests = await stack.service.requests();
  const lists = requests.map(({ method, path }) => `${method} ${path}`);
  expect(new Set(lists.filter((one, index) => lists.indexOf(one) !== index)).size).toBeLessThanOrEqual(1);
  expect(requests).toHaveLength(report.requests);

  const { report: engine } = await drift(stack);
  expect(alone(ofStack("dev"))).toEqual(engine);
  const urnsIn = (name: string): string[] => ofStack(name).drift.map(({ urn }) => urn.replace(`:${name}::`, ":dev::"));
  for (const [index, { name }] of DRIFTED_ARGUMENTS.entries())
    expect(urnsIn(`s${index}`)).toEqual([expect.stringContaining(`::${name}`)]);
  // Each finding of the engine is in one of the other stacks, with the same values.
  const inOthers = report.stacks.filter(({ name }) => name !== "organization/proj/dev");
  expect(inOthers.flatMap(({ drift: found }) => found.map(({ id, properties }) => ({ id, properties })))).toEqual(
    expect.arrayContaining(engine.drift.map(({ id, properties }) => ({ id, properties }))),
  );
  expect(inOthers.flatMap(({ drift: found }) => found)).toHaveLength(DRIFTED_ARGUMENTS.length);

  for (const format of ["text", "markdown", "prometheus"]) {
    const args = ["fleet", "drift", "--format", format, "--stack", "dev"];
    expect(await svc(stack, args)).toMatchObject({ code: 7, stderr: "", stdout: expect.stringContaining("proj/dev") });
  }
  expect(await stack.leaks(["canary-table", "canary-fleet"])).toEqual([]);
});

describe("what a state alone tells", () => {
  /** The entry of a resource by its name in the program. */
  const named = (entries: readonly Entry[], name: string): Entry => {
    const found = entries.find(({ urn }) => urn.endsWith(`::${name}`));
    if (found === undefined) throw new Error(`${name} is not in the state`);
    return found;
  };
  const COMPUTE = "ComputeEndpoint-size-update";
  const SETTINGS = "ComputeEndpoint-settings-update";
  const MAIL = "EmailServer-password-update";

  /** As `get` stores it. */
  const lookedUp = ({ urn, outputs, ...entry }: Entry): object => {
    const { __args: _args, __version: _version, ...shown } = outputs;
    return { ...entry, urn: `${urn}-looked-up`, outputs: shown, external: true, inputs: {} };
  };

  /** The state with other facts of some entries, and with more entries. */
  const edited =
    (
      changes: Readonly<Record<string, (entry: Entry) => object>>,
      more: (entries: readonly Entry[]) => object[] = () => [],
    ) =>
    (entries: readonly Entry[]): object[] => {
      for (const name of Object.keys(changes)) named(entries, name);
      const all = entries.map((entry) => {
        const [, change] = Object.entries(changes).find(([name]) => entry.urn.endsWith(`::${name}`)) ?? [];
        return change === undefined ? entry : { ...entry, ...change(entry) };
      });
      return [...all, ...more(entries)];
    };

  test("leftovers, unfinished changes, ignored ones, secrets in clear, former names and lookups are reported as by the engine", async () => {
    const ids = new Map((await stack.resources()).map(({ urn, id }) => [urn.split("::").at(-1), id]));
    const gone = "prj-quiet-3";
    const secret = (value: unknown) => ({
      "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
      ciphertext: sealed(JSON.stringify(value)),
    });
    storeAs(
      "dev",
      edited(
        {
          [COMPUTE]: () => ({ ignoreChanges: ["size.max"] }),
          [SETTINGS]: ({ inputs, outputs }) => ({
            inputs: { ...inputs, settings: secret(inputs["settings"]) },
            outputs: { ...outputs, settings: secret(outputs["settings"]) },
            ignoreChanges: ["settings.pgSettings.work_mem", "no[0]", "a.b"],
          }),
          "ComputeEndpoint-disabled-update": () => ({ ignoreChanges: ["disabled"] }),
          // A former state, without marks.
          [MAIL]: ({ inputs, outputs }) => ({
            inputs: { ...inputs, password: "canary-table-password" },
            outputs: { ...outputs, password: "canary-table-password" },
          }),
          "prj-quiet-0": ({ outputs }) => ({ outputs: { ...outputs, __unfinished: "update", __sent: ["size"] } }),
          "prj-quiet-1": () => ({ pendingReplacement: true }),
          "prj-quiet-2": ({ outputs }) => ({
            outputs: { ...outputs, __urn: String(outputs["__urn"]).replace("quiet-2", "former") },
          }),
          // An alias, and a change.
          "ComputeEndpoint-name-update": ({ outputs }) => ({
            outputs: { ...outputs, __urn: "urn:pulumi:dev::proj::t::former" },
          }),
          "Whitelist-domains-update": () => ({ ignoreChanges: ["domains[0]"] }),
        },
        (entries) => [
          { ...named(entries, "prj-quiet-4"), delete: true },
          { ...named(entries, "prj-quiet-5"), delete: true, id: "prj-quiet-5/ep-gone-1" },
          lookedUp(named(entries, "prj-quiet-6")),
        ],
      ),
    );
    await stack.service.edit({ project_id: gone, kind: "endpoint", id: ids.get(gone)?.split("/")[1], delete: true });
    // With everything in it.
    await stack.service.edit({ project_id: WHOLE, kind: "integration", delete: true });
    await stack.service.edit({
      ...{ project_id: WHOLE, kind: "endpoint", id: ids.get("whole-compute")?.split("/")[1] },
      set: { settings: { pg_settings: { "app.token": "canary-fleet-theirs" } } },
    });
    // Still not started, so that the change in the state has not ended.
    const unstarted = { kind: "endpoint", id: ids.get("prj-quiet-0")?.split("/")[1], set: { current_state: "init" } };
    await stack.service.edit({ project_id: "prj-quiet-0", ...unstarted });
    await stack.service.edit({
      project_id: "prj-emailserver-host-update",
      kind: "integration",
      set: { owned_by: "user", jwks_url: "https://theirs.example.com/jwks.json" },
    });
    const [{ report: engine }, { code, report }] = [await drift(stack), await fleet("--stack", "dev")];
    expect([code, report.notKnown]).toEqual([7, []]);
    const [one] = report.stacks.map(alone);
    // Below a property, the engine changes the inputs that its log shows, so `drift` cannot tell what is ignored there.
    const isBelow = ({ name }: { name: string }): boolean => name === COMPUTE;
    expect(one).toEqual({ ...engine, ignored: [...engine.ignored, ...(one?.ignored.filter(isBelow) ?? [])] });
    expect(one?.ignored.map(({ name }) => name)).toEqual(["ComputeEndpoint-disabled-update", COMPUTE]);
    const found = new Map(engine.drift.map((one) => [one.name, one]));
    const whole = ["auth", "keys", "user", "transfer", "google", "domain", "mail", "compute"];
    expect(whole.filter((name) => !found.has(`whole-${name}`))).toEqual([]);
    for (const name of ["prj-quiet-0", "prj-quiet-1", gone, "prj-quiet-4", "auth-EmailServer-host-update"])
      expect([name, found.has(name)]).toEqual([name, true]);
    for (const name of [COMPUTE, SETTINGS, "prj-quiet-2", "prj-quiet-5", "prj-quiet-6"])
      expect([name, found.has(name)]).toEqual([name, false]);
    // The state itself has the other secret in clear.
    expect(await stack.leaks(["canary-table-theirs", "canary-fleet"])).toEqual([]);
  });

  test("a lookup of what is gone fails the refresh of the engine, and nothing is known about the stack", async () => {
    storeAs("dev", (entries) => {
      const entry = named(entries, "prj-quiet-6");
      return [...entries.filter(isIn("prj-quiet-7")), { ...lookedUp(entry), id: "prj-quiet-6/ep-gone-1" }];
    });
    const { code, stderr } = await svc(stack, ["drift"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("it does not exist")]);
    expect(await fleet("--stack", "dev")).toMatchObject({
      code: 1,
      report: {
        stacks: [],
        notKnown: [{ name: "organization/proj/dev", reason: expect.stringContaining("it does not exist") }],
      },
    });
  });
});
