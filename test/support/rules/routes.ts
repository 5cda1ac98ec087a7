import { DEMO_PRIMARY } from "../computeCases";
import type { Harness, Json, State } from "../harness";

/** The routes that change or list something; `{name}` matches one segment (docs/design/api.md). */
export const ENDPOINTS = "/projects/{project_id}/endpoints";
export const ENDPOINT = `${ENDPOINTS}/{endpoint_id}`;
export const RESTART = `${ENDPOINT}/restart`;
export const START = `${ENDPOINT}/start`;
export const BRANCHES = "/projects/{project_id}/branches";
export const CREATE_INTEGRATION = "/projects/auth/create";
export const INTEGRATIONS = "/projects/{project_id}/auth/integrations";
export const INTEGRATION = "/projects/{project_id}/auth/integration/{auth_provider}";
export const KEYS = "/projects/auth/keys";
export const CREATE_USER = "/projects/auth/user";
export const USER = "/projects/{project_id}/auth/users/{auth_user_id}";
export const TRANSFER = "/projects/auth/transfer_ownership";
export const OAUTH = "/projects/{project_id}/auth/oauth_providers";
export const OAUTH_PROVIDER = `${OAUTH}/{oauth_provider_id}`;
export const DOMAINS = "/projects/{project_id}/auth/domains";
export const EMAIL = "/projects/{project_id}/auth/email_server";

/** A route for one project. */
export const inProject = (route: string, projectId: string): string => route.replace("{project_id}", projectId);

/** A list of a project in the emulator's state. */
function listIn(project: Json, list: string): Json[] {
  const records = project[list];
  if (!Array.isArray(records))
    throw new Error(`the emulator has no list "${list}": see ProjectLists in src/emulator/model/records.ts`);
  // The emulator's own tests check its state.
  return records as Json[];
}

/** A list of the demo project. */
export const recordsOf = async (given: Harness, list: string): Promise<Json[]> => listIn(await given.state(), list);

/** The computes except the initial one of the demo project. */
export const computesOf = async (given: Harness): Promise<Json[]> =>
  (await recordsOf(given, "endpoints")).filter(({ id }) => id !== DEMO_PRIMARY);
export const providerOf = async (given: Harness, id = "microsoft"): Promise<Json | undefined> =>
  (await recordsOf(given, "oauth_providers")).find((provider) => provider["id"] === id);
/** The emulator's state contains one configuration. */
export const mailOf = async (given: Harness): Promise<Json> => (await given.state())["email_server"] as Json;

/** The object of a state if a record of this list has its id, which follows the project in ours. */
export const listedById =
  (list: string, key = "id") =>
  (holdings: Json, { id }: State): readonly string[] => {
    const own = id.slice(id.indexOf("/") + 1);
    return listIn(holdings, list).some((record) => record[key] === own) ? [own] : [];
  };

export const isEmpty = (list: string) => async (given: Harness) => (await recordsOf(given, list)).length === 0;
export const holdsOne = (list: string) => async (given: Harness) => (await recordsOf(given, list)).length === 1;
/** Deletes without the provider; the id follows the project in ours. */
export const removedById =
  (kind: string) =>
  (given: Harness, { id }: { readonly id: string }): Promise<void> =>
    given.edit({ kind, id: id.slice(id.indexOf("/") + 1), delete: true });
/** An integration's objects are deleted with it. */
export const removedWithIntegration = (given: Harness): Promise<void> =>
  given.edit({ kind: "integration", delete: true });
