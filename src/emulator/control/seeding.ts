import { z } from "zod";
import { problemsIn } from "../http/bodies";
import { newId, type StoredProject } from "../model/records";
import { conflict, ModelRefusal } from "../model/refusal";
import { DEMO_PROJECT_ID, DEMO_REGION_ID, newProject, standardBranches, type BranchPlan } from "../model/seed";
import type { Service } from "../model/service";
import { applyEdit, editBody } from "./edits";

const text = z.string();

export const newProjectBody = z.strictObject({
  id: text.regex(/^[a-z0-9][a-z0-9-]{0,59}$/, "must be lower-case letters, digits and dashes").optional(),
  name: text.min(1).optional(),
  region_id: text.min(1).optional(),
  branches: z
    .array(
      z.strictObject({
        id: text.startsWith("br-"),
        name: text.min(1).optional(),
        default: z.boolean().default(false),
        compute: z.boolean().default(false),
      }),
    )
    .min(1)
    .optional(),
});

type NewProject = z.output<typeof newProjectBody>;

const seedSchema = z.strictObject({
  projects: z.array(newProjectBody).optional(),
  edits: z.array(editBody).default([]),
});

/** The validated bodies of the control routes. */
export type Seed = z.output<typeof seedSchema>;

/**
 * The projects of the seed, followed by those given only by id.
 * @throws an error with positions and rules, but no value of the seed: it may be secret.
 */
export function checkedSeed(given: unknown = {}, ids: readonly string[] = []): Seed {
  const named = z.array(newProjectBody).safeParse(ids.map((id) => ({ id })));
  if (!named.success) throw new RangeError(`emulator option projects: ${problemsIn(named.error)}`);
  const { data, error } = seedSchema.safeParse(given);
  if (data === undefined) throw seedError(problemsIn(error));
  return ids.length === 0 ? data : { ...data, projects: [...(data.projects ?? []), ...named.data] };
}

/** Its `code` tells the command that the error is in the file. */
const seedError = (words: string): Error => Object.assign(new Error(`the seed: ${words}`), { code: "SEED" });

/** Replaces the state by the projects of the seed, or the demo project, and then applies its edits. */
export function applySeed(service: Service, { projects, edits }: Seed): void {
  service.store.replaceAll([]);
  const place = (where: string, apply: () => void): void => {
    try {
      apply();
    } catch (error) {
      throw error instanceof ModelRefusal ? seedError(`${where}: ${error.message}`) : error;
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

export function addProject({ store }: Service, body: NewProject): StoredProject {
  const id = body.id ?? `prj-${newId().slice(0, 8)}`;
  if (store.has(id)) throw conflict("the project exists already");
  const { name = id, region_id = DEMO_REGION_ID } = body;
  const project = newProject({ id, name, region_id, branches: branchPlans(id, body.branches) });
  store.add(project);
  return project;
}
