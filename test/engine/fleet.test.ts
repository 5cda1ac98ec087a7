/**
 * `pulumi-svc fleet drift` beside the engine: whatever drifted, it reports what `pulumi-svc drift` reports, in one stack
 * and in forty.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FleetReport, StackReport } from "../../src/cli/fleet/report";
import type { Report } from "../../src/cli/drift/report";
import { DRIFTED_ARGUMENTS } from "../support/driftedArguments";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

/** Projects that nobody changes, each with its own stack. */
const QUIET = Array.from({ length: 39 - DRIFTED_ARGUMENTS.length }, (_, index) => `prj-quiet-${index}`);
const PROJECTS = [...DRIFTED_ARGUMENTS.map(({ projectId }) => projectId), ...QUIET];
const PROGRAM = [
  ...DRIFTED_ARGUMENTS.map(({ declaration }) => declaration),
  ...QUIET.map((id) => `new svc.ComputeEndpoint("${id}", { projectId: "${id}", branchId: "br-dev", size: 1 });`),
].join("\n");

/** All of it is deployed in this stack. */
let stack: Stack;
let deployed: State;
beforeAll(async () => {
  stack = await Stack.create({ program: PROGRAM });
  for (const id of PROJECTS) {
    const branches = ["br-main", "br-dev", "br-other"].map((branch, index) => ({ id: branch, default: index === 0 }));
    await stack.service.addProject({ id, branches });
  }
  expect(await stack.up()).toMatchObject({ code: 0 });
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
  const before = await fleet("--stack", "s*", "--stack", "dev");
  expect(before).toMatchObject({ code: 0, stderr: "", report: { notKnown: [], withoutResources: [] } });
  expect(before.report.stacks.map(({ drift: found }) => found)).toEqual(Array.from({ length: 40 }, () => []));

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
  expect(await stack.leaks(["canary-table"])).toEqual([]);
});
