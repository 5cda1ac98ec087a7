import { z } from "zod";
import { editBody, newProjectBody } from "./editChecks";
import { editors } from "./edits";
import { problemsIn } from "../http/bodies";
import { conflict, WireError } from "../http/errors";
import { newId } from "../model/identifiers";
import type { ProjectRecord } from "../model/records";
import { createProject, DEMO_PROJECT_ID, DEMO_REGION_ID, standardBranches, type BranchPlan } from "../model/seed";
import type { Service } from "../model/service";

type NewProject = z.output<typeof newProjectBody>;

const seedSchema = z.strictObject({
  projects: z.array(newProjectBody).optional(),
  edits: z.array(editBody).default([]),
});

/** The bodies that the control routes take, checked. */
export type Seed = z.output<typeof seedSchema>;

/**
 * The projects of the seed, and behind them those that are given by their ids alone.
 * @throws an error that names places and rules but no value of the seed: it may be a secret.
 */
export function checkedSeed(given: unknown = {}, ids: readonly string[] = []): Seed {
  const named = z.array(newProjectBody).safeParse(ids.map((id) => ({ id })));
  if (!named.success) throw new RangeError(`emulator option projects: ${problemsIn(named.error)}`);
  const { data, error } = seedSchema.safeParse(given);
  if (data === undefined) throw seedError(problemsIn(error));
  return ids.length === 0 ? data : { ...data, projects: [...(data.projects ?? []), ...named.data] };
}

/** Its `code` tells the command that the file is to blame. */
const seedError = (words: string): Error => Object.assign(new Error(`the seed: ${words}`), { code: "SEED" });

/** The state of a start: the projects of the seed, or the demo project, and then its edits. */
export function applySeed(service: Service, { projects, edits }: Seed): void {
  service.store.replaceAll([]);
  const place = (where: string, apply: () => void): void => {
    try {
      apply();
    } catch (error) {
      throw error instanceof WireError ? seedError(`${where}: ${error.message}`) : error;
    }
  };
  for (const [index, project] of (projects ?? [{ id: DEMO_PROJECT_ID, name: "demo" }]).entries()) {
    place(`projects.${index}`, () => addProject(service, project));
  }
  for (const [index, edit] of edits.entries()) place(`edits.${index}`, () => applyEdit(service, edit));
}

function branchPlans(projectId: string, branches: NewProject["branches"]): BranchPlan[] {
  if (branches === undefined) return standardBranches(projectId);
  const anyDefault = branches.some((branch) => branch.default);
  return branches.map((branch, index) => ({
    ...branch,
    name: branch.name ?? branch.id.slice("br-".length),
    default: anyDefault ? branch.default : index === 0,
  }));
}

export function addProject({ store }: Service, body: NewProject): ProjectRecord {
  const id = body.id ?? `prj-${newId().slice(0, 8)}`;
  if (store.has(id)) throw conflict("the project exists already");
  const { name = id, region_id = DEMO_REGION_ID } = body;
  const project = createProject({ id, name, region_id, branches: branchPlans(id, body.branches) });
  store.add(project);
  return project;
}

export function applyEdit(service: Service, body: z.output<typeof editBody>): object {
  const project = service.store.project(body.project_id);
  const editor = editors(service)[body.kind];
  const edit = (): object => {
    if (body.set !== undefined) return editor.set(project, body.id, body.set);
    return body.create === undefined ? editor.remove(project, body.id) : editor.create(project, body.create);
  };
  const record = edit();
  service.store.changed();
  return record;
}
