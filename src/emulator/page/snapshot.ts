import { packageVersion } from "../../contract/installation";
import type { ControlParts } from "../control/controlRoutes";
import { shownRecords } from "../control/edits";
import { withoutSecrets } from "../http/requestLog";
import type { EmulatorRequest } from "../controlTypes";
import { API_ROOT } from "../http/route";

/** The page's content at one moment: the JSON of each record by a stable key. Containers come first. */
export type PageSnapshot = ReadonlyMap<string, string>;

const SHOWN_REQUESTS = 200;
const SHOWN_BODY = 2000;

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

/** The records of the state, of the faults and of the request log, with secrets masked as in the control routes. */
export function snapshotOf({ service, faults, log, site }: ControlParts): PageSnapshot {
  const { store, options } = service;
  const snapshot = new Map<string, string>();
  const add = (kind: string, project: string, id: string, value: object): void => {
    snapshot.set(JSON.stringify([kind, project, id]), JSON.stringify({ kind, project, id, value }));
  };
  add("emulator", "", "", {
    base_url: site.origin + API_ROOT,
    version: packageVersion() ?? "unknown",
    auth_provider: options.authProvider,
  });
  for (const project of store.projects) {
    const { id, name, region_id } = project;
    add("project", "", id, { name, region_id });
    for (const [kind, key, value] of shownRecords(project, site.origin))
      add(kind, id, key, withoutSecrets(value) as object); // it keeps the shape
  }
  // A body may be large, and the page shows what happens, not the contents.
  for (const { id, body: _body, merge: _merge, headers: _headers, ...fault } of faults.list()) {
    add("fault", "", id, fault);
  }
  for (const [number, request] of log.newest(SHOWN_REQUESTS)) {
    add("request", "", String(number), { ...request, body: bodyOf(request) });
  }
  return snapshot;
}
