import type { Account } from "../account";
import { changeRequest, type SendOptions } from "../changes";
import { type Collection, type ListOptions, StillListedError } from "../collection";
import type { CreationRecovery } from "../createRecovery";
import { type Destruction, gatedRequest } from "../gate";
import { FateUnknownError, NotFoundError } from "../http/errors";
import type { Request } from "../http/request";
import type { ChangeResponse } from "../http/requests";
import { Gone, mustBeKnown } from "../proof";
import { isInconclusive } from "../reads/absence";
import type { WaitOptions } from "../reads/sharedReads";
import {
  type AuthIntegrationRecord,
  bodies,
  type EmailServerRecord,
  type IntegrationRequest,
  type ItemOf,
  type KeySetRecord,
  PROJECT,
  RECORDS,
  type ResponseOf,
  type UserRequest,
} from "../records";
import { deleteDomains, type DomainsDeletion } from "./domains";
import { type IsNamed, OwnIntegration, type ProvenOptions } from "./ownIntegration";

/** Objects of an integration. */
type Children<What extends "oauthProviders" | "domains" | "emailServer"> = Collection<
  ItemOf<What>,
  ResponseOf<What>,
  ProvenOptions
>;

interface PostRoute extends Pick<Request, "template" | "repeatable"> {
  readonly projectId: string;
  readonly body: object;
}

/** `recovery`: how to recognise the integration if the response is lost. */
interface IntegrationCreation {
  readonly projectId: string;
  readonly body: IntegrationRequest;
  readonly recovery: CreationRecovery<AuthIntegrationRecord>;
}

/** What to do about a user that exists: the end of a sentence. */
export const EXISTING_USER =
  "find its id in the table of the synced users (svc_auth.users_sync). Then use it without managing it " +
  "(AuthUser.get with the id <project>/<user id>), delete it, or choose another address";

/** The collections of auth, and the routes outside a collection. */
export class AuthApi {
  constructor(private readonly account: Account) {}

  integrations(projectId: string): Collection<AuthIntegrationRecord, KeySetRecord, ProvenOptions> {
    return this.account.collection("integrations", projectId);
  }

  oauthProviders(projectId: string): Children<"oauthProviders"> {
    return this.account.collection("oauthProviders", projectId);
  }

  domains(projectId: string): Children<"domains"> {
    return this.account.collection("domains", projectId);
  }

  /** The single one of a project. */
  emailServers(projectId: string): Children<"emailServer"> {
    return this.account.collection("emailServer", projectId);
  }

  async emailServer(projectId: string, options?: ListOptions): Promise<EmailServerRecord> {
    const [server] = await this.emailServers(projectId).list(options);
    const facts = { method: "GET", template: `${PROJECT}/auth/email_server` } as const;
    return required(server, "the response does not contain the configuration", facts);
  }

  /** Restores the shared server. It is not an error if it is gone with its integration. */
  async resetEmailServer(projectId: string, destruction: Destruction): Promise<Gone> {
    const servers = this.emailServers(projectId);
    const request = gatedRequest({ method: "PATCH", ...servers.one(), body: { type: "shared" } }, destruction);
    const send = () => this.account.requests.send(request, RECORDS.emailServer.response);
    const isAnother = ({ type }: EmailServerRecord): boolean => type !== "shared";
    const deletion = {
      matches: isAnother,
      thing: "another e-mail server",
      needsNoList: ({ value }: ChangeResponse<EmailServerRecord>) => value !== undefined && !isAnother(value),
    };
    const reset = await servers.changing(() => servers.proveDeleted(send, deletion, destruction));
    return reset instanceof Gone ? reset : Gone.proven("the service shows its shared server");
  }

  /** All in one request. */
  async deleteDomains(deletion: DomainsDeletion, isMeant: Destruction["isMeant"], options: WaitOptions): Promise<Gone> {
    return deleteDomains(this.account, deletion, { ...options, isMeant });
  }

  /** The integration that changes are meant for: see `OwnIntegration`. */
  ownIntegration(projectId: string, isNamed: IsNamed, authProviderProjectId: string | undefined): OwnIntegration {
    return new OwnIntegration(this.integrations(projectId), isNamed, authProviderProjectId);
  }

  /** Keys cannot be read again: if the response is lost, a new key set is created. */
  async createIntegration(
    { projectId, body, recovery }: IntegrationCreation,
    options: WaitOptions = {},
  ): Promise<KeySetRecord> {
    const { auth_provider: authProvider } = body;
    // The only change without a proof: nothing of ours exists yet, and the service refuses a second integration.
    const request = this.#post({ template: "/projects/auth/create", projectId, body }, options);
    const integrations = this.integrations(projectId);
    return integrations.changing(async () => {
      const made = await integrations.post(request, { similarityKey: authProvider, recovery });
      if ("response" in made) return made.response;
      recovery.onFound(made.found);
      return this.createKeysOf(projectId, made.found, options);
    });
  }

  /** Another key set of this integration, and of no other one that has taken its place. */
  async createKeysOf(projectId: string, item: AuthIntegrationRecord, options: WaitOptions): Promise<KeySetRecord> {
    const { auth_provider: authProvider, auth_provider_project_id: id } = item;
    const isNamed = ({ auth_provider }: AuthIntegrationRecord): boolean => auth_provider === authProvider;
    const integration = this.ownIntegration(projectId, isNamed, id);
    return this.createKeys(projectId, authProvider, { ...options, integration });
  }

  /** Repeatable: it makes another key set, and the older ones stay valid. */
  async createKeys(projectId: string, authProvider: string, options: ProvenOptions): Promise<KeySetRecord> {
    const body = { auth_provider: authProvider };
    const request = this.#post({ template: "/projects/auth/keys", projectId, body, repeatable: true }, options);
    const { value } = await this.account.requests.send(request, bodies.keySet);
    const keys = required(value, "the keys were created, but the response does not contain them", request);
    // The response names the integration, and so shows what happened after the list.
    const { id } = options.integration;
    if (id === undefined || keys.auth_provider_project_id === id) return keys;
    throw new Error(
      `the auth integration of this resource (${id}) was replaced by another one (${keys.auth_provider_project_id}) while keys were created. ` +
        "The new key set belongs to that one and is not stored. Run pulumi up --refresh, which creates what is missing",
    );
  }

  /** Repeatable: it only requests an address, and nothing is transferred until somebody opens and confirms it. */
  async transferOwnership(projectId: string, authProvider: string, options: ProvenOptions): Promise<{ url: string }> {
    const body = { auth_provider: authProvider };
    const template = "/projects/auth/transfer_ownership";
    const request = this.#post({ template, projectId, body, repeatable: true }, options);
    const { value } = await this.account.requests.send(request, bodies.transfer);
    return { url: required(value, "the response does not contain the URL", request).url };
  }

  async createUser(projectId: string, body: UserRequest, options: ProvenOptions): Promise<{ id: string }> {
    const request = this.#post({ template: "/projects/auth/user", projectId, body }, options);
    try {
      const { value } = await this.account.requests.send(request, bodies.user);
      return { id: required(value, "the response does not contain the id of the user", request).id };
    } catch (error) {
      if (!(error instanceof FateUnknownError)) throw error;
      throw new FateUnknownError(
        `${error.what}; the user may or may not have been created: users cannot be listed`,
        error.facts,
        `Run pulumi up again. If it reports a conflict, the user was created: ${EXISTING_USER}`,
      );
    }
  }

  /**
   * Users cannot be listed: an inconclusive deletion is sent again. It is confirmed if the project answers, or if the
   * user's integration is gone.
   */
  async deleteUser(
    projectId: string,
    userId: string,
    { integration, ...destruction }: Omit<Destruction, "isMeant"> & Pick<ProvenOptions, "integration">,
  ): Promise<Gone> {
    const params = { project_id: projectId, auth_user_id: userId };
    const route = { method: "DELETE", template: `${PROJECT}/auth/users/{auth_user_id}`, params } as const;
    const request = gatedRequest(route, { ...destruction, isMeant: integration.isMeant });
    const send = () => this.account.requests.send(request);
    try {
      await send().catch((error: unknown) => {
        if (!(error instanceof FateUnknownError)) throw error;
        return send();
      });
      // No list could confirm an empty response.
      return Gone.proven("its deletion was accepted");
    } catch (error) {
      if (!(error instanceof NotFoundError) && !isInconclusive(error)) throw error;
      const found = mustBeKnown(await integration.find({ ...destruction, since: performance.now() }));
      // The 404 names the user, and the project answers.
      if (found instanceof Gone || error instanceof NotFoundError) return Gone.proven("the service has no such user");
      throw new StillListedError(`${error.what}; the user's integration is still listed`, error.facts);
    }
  }

  /** For the routes that name the project in their body. */
  #post({ projectId, body, ...route }: PostRoute, options: SendOptions): Request {
    const params = { project_id: projectId };
    return changeRequest({ ...route, method: "POST", params, body: { ...body, ...params } }, options);
  }
}

/** The value, which a good response must contain. */
function required<T>(value: T | undefined, otherwise: string, request: Pick<Request, "method" | "template">): T {
  if (value === undefined) throw new FateUnknownError(otherwise, { method: request.method, path: request.template });
  return value;
}
