import { Hono, type Context } from "hono";
import { z } from "zod";
import { packageVersion } from "../../contract/installation";
import { checked, emptyResponse, parsedJson } from "../http/bodies";
import { originFor, type AcceptedKey, type Site } from "../http/access";
import { jwksUrlOf } from "../http/keySet";
import { withoutSecrets, type RequestLog } from "../http/requestLog";
import type { Env } from "../http/route";
import { notFound } from "../model/refusal";
import { isKey, KEY_RULE } from "../emulatorOptions";
import type { Authority } from "../postgres/authority";
import type { Connections } from "../postgres/connections";
import type { StoredEndpoint, StoredProject } from "../model/records";
import type { Service } from "../model/service";
import { operationView } from "../routes/projectRoutes";
import { actOnCompute, computeActionBody } from "./computeActions";
import { applyEdit, editBody } from "./edits";
import { faultSchemaFor, type Faults } from "./faults";
import { type Inbox, mailBody, sendMail } from "./mail";
import { addProject, newProjectBody } from "./seeding";
import { addSigningKey, newKeyBody, signToken, tokenBody } from "./tokens";

/** What the control routes read and change. */
export interface ControlParts {
  service: Service;
  faults: Faults;
  log: RequestLog;
  inbox: Inbox;
  key: AcceptedKey;
  site: Site;
  /** Restores the initial state and key; clears the faults, the log, the inbox and the refused connections. */
  reset: () => void;
  /** With `postgres`. */
  gate?: WatchedGate | undefined;
}

/** What is shown of the gate. */
export interface WatchedGate {
  connections: Connections;
  /** Of the authority with which it speaks TLS: its certificate, as PEM. */
  authority: Pick<Authority, "certificate">;
  /** The connection string of a compute, with the password. */
  connectionUri: (endpoint: StoredEndpoint) => string;
}

/** @throws ModelRefusal */
export function requireGate({ gate }: ControlParts): WatchedGate {
  if (gate === undefined) throw notFound("there is no gate: start the emulator with --postgres");
  return gate;
}

const rotationBody = z.strictObject({ api_key: z.string().refine(isKey, KEY_RULE) });

/** The whole state of a project with hashed secrets, for comparison in tests. */
function projectState({ key_sets, operations, integrations, ...rest }: StoredProject, origin: string): object {
  const addressed = integrations.map((record) => ({ ...record, jwks_url: jwksUrlOf(record, origin) }));
  const shown = Object.entries({ ...rest, integrations: addressed, operations: operations.map(operationView) });
  // The secret half of a key set was hashed when it was issued.
  return { ...Object.fromEntries(shown.map(([name, value]) => [name, withoutSecrets(value)])), key_sets };
}

/** Accepts any content type, since these routes are used with curl as well. */
function readControlBody(context: Context<Env>): unknown {
  const text = context.get("body");
  return text === "" ? {} : parsedJson(text);
}

/** Routes that only an emulator has: for the state behind the API, its edits, and faults. */
export function controlRoutes(parts: ControlParts): Hono<Env> {
  const { service, faults, log, inbox, key, site, reset } = parts;
  const { store } = service;
  const control = new Hono<Env>();

  control.get("/health", () => Response.json({ status: "ok", version: packageVersion() ?? "unknown" }));
  control.get("/state", (context) => {
    const origin = originFor(site, context);
    return Response.json({ projects: store.projects.map((project) => projectState(project, origin)) });
  });
  control.post("/reset", () => {
    reset();
    return emptyResponse(204);
  });

  control.get("/requests", (context) => {
    const { method, path } = context.req.query();
    return Response.json({ requests: log.list(method, path) });
  });
  control.delete("/requests", () => {
    log.clear();
    return emptyResponse(204);
  });

  control.get("/connections", () => {
    const { connections } = requireGate(parts);
    return Response.json({ open: connections.open(), refused: connections.refused().map(([, refusal]) => refusal) });
  });

  control.get("/faults", () => Response.json({ faults: faults.list() }));
  control.post("/faults", (context) => {
    const body = readControlBody(context);
    return Response.json({ id: faults.add(checked(faultSchemaFor(body), body)) }, { status: 201 });
  });
  control.delete("/faults", () => {
    faults.clear();
    return emptyResponse(204);
  });

  // Rotates the key: the previous key is refused from now on.
  control.post("/key", (context) => {
    key.rotate(checked(rotationBody, readControlBody(context)).api_key);
    return emptyResponse(204);
  });

  control.post("/projects", (context) => {
    const body = checked(newProjectBody, readControlBody(context));
    return Response.json(projectState(addProject(service, body), originFor(site, context)), { status: 201 });
  });
  control.post("/edit", async (context) => {
    const body = checked(editBody, readControlBody(context));
    const record = applyEdit(service, body);
    await store.shown();
    return Response.json(withoutSecrets(record));
  });
  control.post("/computes", (context) => {
    const body = checked(computeActionBody, readControlBody(context));
    return Response.json(actOnCompute(service, body));
  });

  control.post("/tokens", async (context) => {
    const body = checked(tokenBody, readControlBody(context));
    return Response.json(await signToken(service, body, originFor(site, context)), { status: 201 });
  });
  control.post("/keys", async (context) => {
    const body = checked(newKeyBody, readControlBody(context));
    return Response.json(await addSigningKey(service, body), { status: 201 });
  });
  control.delete("/keys/:kid", (context) => {
    service.signingKeys.drop(context.req.param("kid"));
    return emptyResponse(204);
  });

  control.get("/mail", () => Response.json({ messages: inbox.list() }));
  control.get("/mail/:id", (context) => Response.json(inbox.find(context.req.param("id"))));
  control.post("/mail", async (context) => {
    const body = checked(mailBody, readControlBody(context));
    return Response.json(await sendMail(service, inbox, body), { status: 201 });
  });
  control.delete("/mail", () => {
    inbox.clear();
    return emptyResponse(204);
  });

  control.get("/postgres/ca", () => {
    const { certificate } = requireGate(parts).authority;
    return new Response(certificate, { headers: { "content-type": "application/x-pem-file" } });
  });

  // The second step of a transfer, which a user confirms in the browser.
  control.get("/transfer/:token", (context) => {
    service.auth.confirmTransfer(context.req.param("token"));
    return context.html("<p>The auth project now belongs to your account.</p>");
  });
  return control;
}
