import { packageVersion } from "../../contract/installation";
import type { ControlParts } from "../control/controlRoutes";
import { shownRecords } from "../control/edits";
import { withoutSecrets } from "../http/requestLog";
import type { EmulatorRequest } from "../controlTypes";
import { API_ROOT } from "../http/route";
import type { OpenConnection } from "../postgres/connections";

/** The page's content at one moment: the JSON of each record by a stable key. Containers come first. */
export type PageSnapshot = ReadonlyMap<string, string>;

const SHOWN_REQUESTS = 200;
const SHOWN_BODY = 2000;
const SHOWN_CONNECTIONS = 20;

/** A logged body never changes, and the log is read repeatedly. */
const bodies = new WeakMap<EmulatorRequest, string>();

/** Secrets were masked when the request was logged. */
function bodyOf(request: EmulatorRequest): string {
  if (request.body === null) return "";
  const known = bodies.get(request);
  if (known !== undefined) return known;
  const text = JSON.stringify(request.body, null, 2);
  const shown =
    text.length > SHOWN_BODY ? `${text.slice(0, SHOWN_BODY)}\n… shortened: /_emulator/requests shows all` : text;
  bodies.set(request, shown);
  return shown;
}

/** One record for a compute, which may have thousands. */
function counted(open: readonly OpenConnection[]): object {
  const waiting = open.filter(({ state }) => state === "waiting").length;
  return { count: open.length, waiting, latest: open.slice(-SHOWN_CONNECTIONS).reverse() };
}

/** The records of the state, of the faults and of the request log, with secrets masked as in the control routes. */
export function snapshotOf({ service, faults, log, inbox, site, gate }: ControlParts): PageSnapshot {
  const { store, options } = service;
  const snapshot = new Map<string, string>();
  const add = (kind: string, project: string, id: string, value: object): void => {
    snapshot.set(JSON.stringify([kind, project, id]), JSON.stringify({ kind, project, id, value }));
  };
  add("emulator", "", "", {
    base_url: site.origin + API_ROOT,
    version: packageVersion() ?? "unknown",
    auth_provider: options.authProvider,
    has_gate: gate !== undefined,
  });
  const connections = new Map<string | null, OpenConnection[]>();
  for (const connection of gate?.connections.open() ?? []) {
    const ofCompute = connections.get(connection.endpoint_id);
    if (ofCompute === undefined) connections.set(connection.endpoint_id, [connection]);
    else ofCompute.push(connection);
  }
  for (const project of store.projects) {
    const { id, name, region_id } = project;
    add("project", "", id, { name, region_id });
    for (const [kind, key, value] of shownRecords(project, site.origin))
      add(kind, id, key, withoutSecrets(value) as object); // it keeps the shape
    for (const endpoint of project.endpoints) {
      const open = connections.get(endpoint.id);
      if (open !== undefined) add("connections", id, endpoint.id, counted(open));
    }
    for (const { pub_client_key, auth_provider, created_at } of project.key_sets)
      add("key_set", id, pub_client_key, { auth_provider, created_at });
    for (const { signing_keys = [] } of project.integrations)
      for (const { kid, alg, created_at } of signing_keys)
        add("signing_key", id, kid, { alg, created_at, signs: kid === signing_keys.at(-1)?.kid });
  }
  // A body may be large, and the page shows what happens, not the contents.
  for (const { id, body: _body, merge: _merge, headers: _headers, ...fault } of faults.list()) {
    add("fault", "", id, fault);
  }
  // A text may contain a secret, such as a code: the page asks for the one that is opened.
  for (const { id, text: _text, ...message } of inbox.list()) add("mail", "", id, message);
  for (const [number, refusal] of gate?.connections.refused() ?? []) add("refusal", "", String(number), refusal);
  for (const [number, request] of log.newest(SHOWN_REQUESTS)) {
    add("request", "", String(number), { ...request, body: bodyOf(request) });
  }
  return snapshot;
}
