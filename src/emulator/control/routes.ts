import { Hono, type Context } from "hono";
import type { z } from "zod";
import { editBody, newProjectBody } from "./editChecks";
import { editors } from "./edits";
import { faultSchemaFor } from "./faults";
import { checked, parsedJson } from "../http/input";
import { hashed, newId } from "../model/identifiers";
import { withoutSecrets } from "../http/requestLog";
import { createProject, DEMO_REGION_ID, standardBranches, type BranchPlan } from "../model/seed";
import type { Env, Service } from "../model/service";
import { projectStateView, stateView } from "./stateView";
import { packageVersion } from "../../contract/version";
import { conflict, notFound } from "../http/wireErrors";

type NewProject = z.output<typeof newProjectBody>;

/** Whatever its content type is called: these routes are for curl as well. */
async function readControlBody(context: Context<Env>): Promise<unknown> {
  const text = await context.req.text();
  return text === "" ? {} : parsedJson(text);
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

function addProject({ store }: Service, body: NewProject): object {
  const id = body.id ?? `prj-${newId().slice(0, 8)}`;
  if (store.has(id)) throw conflict("the project exists already");
  const { name = id, region_id = DEMO_REGION_ID } = body;
  const project = createProject({ id, name, region_id, branches: branchPlans(id, body.branches) });
  store.add(project);
  return projectStateView(project);
}

function applyEdit(service: Service, body: z.output<typeof editBody>): object {
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

/** What only an emulator has: looking behind the API, and making it misbehave. */
export function controlRoutes(service: Service): Hono<Env> {
  const { store, faults, log } = service;
  const control = new Hono<Env>();
  const done = (): Response => new Response(null, { status: 204 });

  control.get("/health", () => Response.json({ status: "ok", version: packageVersion() ?? "unknown" }));
  control.get("/state", () => Response.json(stateView(store)));
  control.post("/reset", () => {
    service.reset();
    return done();
  });

  control.get("/requests", (context) => {
    const { method, path } = context.req.query();
    return Response.json({ requests: log.list(method, path) });
  });
  control.delete("/requests", () => {
    log.clear();
    return done();
  });

  control.get("/faults", () => Response.json({ faults: faults.list() }));
  control.post("/faults", async (context) => {
    const body = await readControlBody(context);
    return Response.json({ id: faults.add(checked(faultSchemaFor(body), body)) }, { status: 201 });
  });
  control.delete("/faults", () => {
    faults.clear();
    return done();
  });

  control.post("/projects", async (context) => {
    const body = checked(newProjectBody, await readControlBody(context));
    return Response.json(addProject(service, body), { status: 201 });
  });
  control.post("/edit", async (context) => {
    const body = checked(editBody, await readControlBody(context));
    return Response.json(withoutSecrets(applyEdit(service, body)));
  });

  // The second step of a transfer: what a person would confirm in the browser.
  control.get("/transfer/:token", (context) => {
    const hash = hashed(context.req.param("token"));
    const integration = store.projects
      .flatMap(({ integrations }) => integrations)
      .find((i) => i.transfer_token_hashes?.includes(hash));
    if (integration === undefined) throw notFound("no such transfer is under way");
    integration.owned_by = "user";
    delete integration.transfer_token_hashes;
    store.changed();
    return context.html("<p>The auth project now belongs to your account.</p>");
  });
  return control;
}
