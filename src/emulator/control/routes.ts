import { Hono, type Context } from "hono";
import { editBody, newProjectBody } from "./editChecks";
import { faultSchemaFor } from "./faults";
import { checked, parsedJson } from "../http/bodies";
import { hashed } from "../model/identifiers";
import { withoutSecrets } from "../http/requestLog";
import type { Env, Service } from "../model/service";
import { addProject, applyEdit } from "./seeding";
import { projectStateView, stateView } from "./stateView";
import { packageVersion } from "../../contract/version";
import { notFound } from "../http/errors";

/** Whatever its content type is called: these routes are for curl as well. */
async function readControlBody(context: Context<Env>): Promise<unknown> {
  const text = await context.req.text();
  return text === "" ? {} : parsedJson(text);
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
    return Response.json(projectStateView(addProject(service, body)), { status: 201 });
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
