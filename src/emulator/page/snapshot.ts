import { packageVersion } from "../../contract/installation";
import type { ControlParts } from "../control/controlRoutes";
import { jwksUrlOf } from "../http/keySet";
import { withoutSecrets } from "../http/requestLog";
import type { EmulatorRequest } from "../controlTypes";
import { API_ROOT } from "../http/route";
import type { StoredOperation, StoredProject } from "../model/records";

/** The page's content at one moment: the JSON of each record by a stable key. Containers come first. */
export type PageSnapshot = ReadonlyMap<string, string>;

/** The page shows the latest operations; the control routes show all. */
const SHOWN_OPERATIONS = 200;
const SHOWN_REQUESTS = 200;
const SHOWN_BODY = 2000;

const operation = ({ run, ...rest }: StoredOperation): object => ({ ...rest, started_ms: run.started_ms });

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
    for (const [kind, key, value] of partsOf(project, site.origin)) add(kind, id, key, withoutSecrets(value) as object); // it keeps the shape
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

/** Kind, id and record of a project's objects on the page. `origin`: where its key sets are served. */
function partsOf(project: StoredProject, origin: string): [kind: string, id: string, record: object][] {
  return [
    ...project.branches.map((branch) => ["branch", branch.id, branch] as const),
    ...project.endpoints.map((endpoint) => ["endpoint", endpoint.id, endpoint] as const),
    ...project.operations.slice(-SHOWN_OPERATIONS).map((each) => ["operation", each.id, operation(each)] as const),
    ...project.integrations.map(
      ({ transfer_token_hashes: _hashes, signing_keys: _keys, ...shown }) =>
        ["integration", shown.auth_provider, { ...shown, jwks_url: jwksUrlOf(shown, origin) }] as const,
    ),
    ...project.oauth_providers.map((provider) => ["oauth_provider", provider.id, provider] as const),
    ...project.domains.map((domain) => ["domain", domain.domain, domain] as const),
    ...project.users.map((user) => ["user", user.id, user] as const),
    ["email_server", "", project.email_server],
  ].map(([kind, id, record]) => [kind, id, record] as [string, string, object]);
}
