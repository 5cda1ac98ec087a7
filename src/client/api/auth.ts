import { type Account, PROJECT, type ListName } from "../account";
import { FateUnknownError } from "../http/errors";
import type { Request } from "../http/requests";
import type { EmailServerRequest, IntegrationRequest, OAuthCredentials, UserRequest } from "../options";
import { normalisedOrigin } from "../origins";
import { type Collection, type ListOptions, undefinedIfGone } from "../reads/absence";
import type { WaitOptions } from "../reads/sharedReads";
import { type CreationRecovery, readEffect } from "../createRecovery";
import { OwnIntegration } from "./ownIntegration";
import {
  type AuthIntegrationRecord,
  bodies,
  type EmailServerRecord,
  type KeySetRecord,
  type OAuthProviderRecord,
  type WhitelistDomainRecord,
} from "./records";

const AUTH = `${PROJECT}/auth`;
const DOMAINS = `${AUTH}/domains`;
const OAUTH_PROVIDERS = `${AUTH}/oauth_providers`;
const OAUTH_PROVIDER = `${OAUTH_PROVIDERS}/{oauth_provider_id}`;
const EMAIL_SERVER = `${AUTH}/email_server`;
/** The lists that the creation or deletion of an integration changes. */
const ALL: readonly ListName[] = ["integrations", "oauthProviders", "domains", "emailServer"];

/** Of a change. `integration`: shown by a list before each attempt. `beforeAttempt`: runs after that, in the tick in which the attempt leaves. */
type ProvenOptions = WaitOptions & Pick<Request, "beforeAttempt"> & { readonly integration: OwnIntegration };

/** `recovery`: how the object is recognised where the response is lost. */
interface AuthCreation<Body, Item> {
  readonly projectId: string;
  readonly body: Body;
  readonly recovery: CreationRecovery<Item>;
}

interface IntegrationDeletion {
  readonly projectId: string;
  readonly authProvider: string;
  readonly matches: (item: AuthIntegrationRecord) => boolean;
}

interface UserDeletion {
  readonly projectId: string;
  readonly userId: string;
  /** Whether it is the integration of the user, without which there is no user. */
  readonly isIntegration: (item: AuthIntegrationRecord) => boolean;
}

interface DomainCreation {
  readonly projectId: string;
  readonly domain: string;
  readonly authProvider: string;
  readonly recovery: CreationRecovery<WhitelistDomainRecord>;
}

interface DomainsDeletion {
  readonly projectId: string;
  readonly authProvider: string;
  /** Called again before each attempt, which is sent in the same tick; none: nothing is sent. */
  readonly domains: () => readonly string[];
}

interface EmailServerUpdate {
  readonly projectId: string;
  readonly body: EmailServerRequest;
  /** Decides where the response has no body. Any other body proves nothing, since a password cannot be read back. */
  readonly isShown: (server: EmailServerRecord) => boolean;
}

export class AuthApi {
  constructor(private readonly account: Account) {}

  integrations(projectId: string): Collection<AuthIntegrationRecord> {
    return this.account.list("integrations", projectId);
  }

  /** What changes are sent with: see `OwnIntegration`. */
  ownIntegration(
    projectId: string,
    isNamed: (item: AuthIntegrationRecord, listed: readonly AuthIntegrationRecord[]) => boolean,
    authProviderProjectId: string | undefined,
  ): OwnIntegration {
    return new OwnIntegration(this.integrations(projectId), isNamed, authProviderProjectId);
  }

  oauthProviders(projectId: string): Collection<OAuthProviderRecord> {
    return this.account.list("oauthProviders", projectId);
  }

  domains(projectId: string): Collection<WhitelistDomainRecord> {
    return this.account.list("domains", projectId);
  }

  async emailServer(projectId: string, options?: ListOptions): Promise<EmailServerRecord> {
    const [server] = await this.account.list("emailServer", projectId).list(options);
    return required(server, "the response does not hold the configuration", { method: "GET", template: EMAIL_SERVER });
  }

  /** Keys cannot be read again: where the response was lost, a new key set is created. */
  async createIntegration(
    { projectId, body, recovery }: AuthCreation<IntegrationRequest, AuthIntegrationRecord>,
    options: WaitOptions = {},
  ): Promise<KeySetRecord> {
    const params = { project_id: projectId };
    const { onProgress } = options;
    // The one change without a proof: nothing of ours stands yet, and the service refuses a second one.
    const request: Request = {
      method: "POST",
      template: "/projects/auth/create",
      params,
      body: { ...body, ...params },
      deadline: this.account.deadline(options.deadline),
      onProgress,
    };
    return this.account.invalidating(projectId, ALL, async () => {
      const creation = {
        thing: "the integration",
        request,
        schema: bodies.keySet,
        collection: this.integrations(projectId),
        idOf: (item: AuthIntegrationRecord) => `${item.auth_provider} ${item.auth_provider_project_id}`,
        idOfResponse: (keys: KeySetRecord) => `${body.auth_provider} ${keys.auth_provider_project_id}`,
        similarityKey: body.auth_provider,
      };
      const outcome = await this.account.creator.create(creation, recovery, options);
      if ("response" in outcome) return outcome.response;
      const { found } = outcome;
      recovery.onFound(found);
      const integration = this.ownIntegration(projectId, recovery.isCandidate, found.auth_provider_project_id);
      return this.createKeys(projectId, body.auth_provider, { ...options, integration });
    });
  }

  /** Repeatable: it makes another key set and leaves the older ones valid. */
  async createKeys(projectId: string, authProvider: string, options: ProvenOptions): Promise<KeySetRecord> {
    const request = this.#post("/projects/auth/keys", projectId, { auth_provider: authProvider }, options);
    const { value } = await this.account.requests.change({ ...request, repeatable: true }, bodies.keySet);
    const keys = required(value, "the keys were made, but the response does not hold them", request);
    // It names the integration itself, and so tells what happened after the list.
    const { id } = options.integration;
    if (id === undefined || keys.auth_provider_project_id === id) return keys;
    throw new Error(
      `the auth integration of this resource (${id}) was replaced by another one (${keys.auth_provider_project_id}) while keys were made, ` +
        "so the new key set belongs to that one and is not stored. Run pulumi up --refresh, which plans what is missing",
    );
  }

  async deleteIntegration(
    { projectId, authProvider, matches }: IntegrationDeletion,
    options: ProvenOptions,
  ): Promise<void> {
    const params = { project_id: projectId, auth_provider: authProvider };
    const request = this.#request("DELETE", `${AUTH}/integration/{auth_provider}`, params, options);
    const send = () => this.account.requests.change(request);
    await this.account.invalidating(projectId, ALL, () =>
      this.integrations(projectId).deleteItem(matches, "the integration", send, options),
    );
  }

  async createUser(projectId: string, body: UserRequest, options: ProvenOptions): Promise<{ id: string }> {
    const request = this.#post("/projects/auth/user", projectId, body, options);
    try {
      const { value } = await this.account.requests.change(request, bodies.user);
      return { id: required(value, "the response does not hold the id of the user", request).id };
    } catch (error) {
      if (!(error instanceof FateUnknownError)) throw error;
      throw new FateUnknownError(
        `${error.what}; users cannot be listed, so it is not known whether this one was created`,
        error.facts,
        "Run it again: when that reports a conflict, the user was created. Find the user in the table of the synced users " +
          "(svc_auth.users_sync), and delete it or choose another address",
      );
    }
  }

  /** Users cannot be listed: an inconclusive deletion is sent again, and confirmed when the user's integration is gone. */
  async deleteUser({ projectId, userId, isIntegration }: UserDeletion, options: ProvenOptions): Promise<void> {
    const params = { project_id: projectId, auth_user_id: userId };
    const request = this.#request("DELETE", `${AUTH}/users/{auth_user_id}`, params, options);
    const sendTwice = async () => {
      try {
        return await this.account.requests.change(request);
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        return this.account.requests.change(request);
      }
    };
    // There is no list that could confirm an empty response.
    await this.integrations(projectId).deleteItem(
      isIntegration,
      "the user's integration",
      sendTwice,
      options,
      () => true,
    );
  }

  /** Repeatable: it only requests an address, and nothing is transferred before that is opened and confirmed. */
  async transferOwnership(projectId: string, authProvider: string, options: ProvenOptions): Promise<{ url: string }> {
    const body = { auth_provider: authProvider };
    const request = this.#post("/projects/auth/transfer_ownership", projectId, body, options);
    const send = () => this.account.requests.change({ ...request, repeatable: true }, bodies.transfer);
    const { value } = await this.account.invalidating(projectId, ["integrations"], send);
    return { url: required(value, "the response does not hold the address", request).url };
  }

  async addOAuthProvider(
    { projectId, body, recovery }: AuthCreation<{ id: string } & OAuthCredentials, OAuthProviderRecord>,
    options: ProvenOptions,
  ): Promise<OAuthProviderRecord> {
    const creation = {
      thing: "the OAuth provider",
      request: this.#request("POST", OAUTH_PROVIDERS, { project_id: projectId }, options, body),
      schema: bodies.oauthProvider,
      collection: this.oauthProviders(projectId),
      idOf: ({ id }: OAuthProviderRecord) => id,
      similarityKey: body.id,
    };
    return this.account.invalidating(projectId, ["oauthProviders"], async () => {
      const outcome = await this.account.creator.create(creation, recovery, options);
      if ("response" in outcome) return outcome.response;
      if (outcome.wasLost) recovery.onFound(outcome.found);
      return outcome.found;
    });
  }

  async updateOAuthProvider(
    { projectId, id, body }: { projectId: string; id: string; body: OAuthCredentials },
    options: ProvenOptions,
  ): Promise<OAuthProviderRecord> {
    const params = { project_id: projectId, oauth_provider_id: id };
    const request = this.#request("PATCH", OAUTH_PROVIDER, params, options, body);
    const find = (items: readonly OAuthProviderRecord[]) => items.find((item) => item.id === id);
    return this.account.invalidating(projectId, ["oauthProviders"], async () => {
      const { value } = await this.account.requests.change(request, bodies.oauthProvider);
      if (value !== undefined) return value;
      const listed = await readEffect(() => this.oauthProviders(projectId).pollWithinLag(find, options));
      return required(listed, "it was accepted, but no list shows the provider", request);
    });
  }

  async deleteOAuthProvider(projectId: string, id: string, options: ProvenOptions): Promise<void> {
    const params = { project_id: projectId, oauth_provider_id: id };
    const request = this.#request("DELETE", OAUTH_PROVIDER, params, options);
    const send = () => this.account.requests.change(request, bodies.oauthProvider);
    await this.account.invalidating(projectId, ["oauthProviders"], () =>
      this.oauthProviders(projectId).deleteItem((item) => item.id === id, id, send, options),
    );
  }

  async addDomain(
    { projectId, domain, authProvider, recovery }: DomainCreation,
    options: ProvenOptions,
  ): Promise<void> {
    const body = { domain, auth_provider: authProvider };
    const creation = {
      thing: "the domain",
      request: this.#request("POST", DOMAINS, { project_id: projectId }, options, body),
      schema: undefined,
      collection: this.domains(projectId),
      idOf: (item: WhitelistDomainRecord) => `${item.auth_provider ?? ""} ${item.domain}`,
      similarityKey: domain,
    };
    await this.account.invalidating(projectId, ["domains"], async () => {
      const outcome = await this.account.creator.create(creation, recovery, options);
      if ("found" in outcome) return recovery.onFound(outcome.found);
      const listed = await this.domains(projectId).pollWithinLag((items) => items.find(recovery.isOurs), options);
      required(listed, "the domain was accepted, but no list shows it", creation.request);
    });
  }

  /** All in one request. */
  async deleteDomains(change: DomainsDeletion, options: ProvenOptions): Promise<void> {
    const { projectId, domains, authProvider } = change;
    await this.account.invalidating(projectId, ["domains"], async () => {
      const refused = await this.#deleteInOneRequest(change, options);
      if (refused.length < 2) return;
      // One domain that is gone may have failed the request for the others. The whitelist is deleted with its integration.
      const listed = (await undefinedIfGone(() => this.domains(projectId).listAfterLag(options))) ?? [];
      for (const origin of new Set(refused.map(normalisedOrigin))) {
        const matches = (domain: string): boolean => normalisedOrigin(domain) === origin;
        const spellings = listed.filter((item) => isOfProvider(authProvider)(item) && matches(item.domain));
        const still = (): string[] => (domains().some(matches) ? spellings.map(({ domain }) => domain) : []);
        await this.#deleteInOneRequest({ ...change, domains: still }, options);
      }
    });
  }

  /** The domains of a request that was refused because one of them is gone. */
  async #deleteInOneRequest(
    { projectId, domains, authProvider }: DomainsDeletion,
    options: ProvenOptions,
  ): Promise<readonly string[]> {
    let sent = domains();
    const beforeAttempt = (): void => {
      sent = domains();
      if (sent.length === 0) throw new NothingToDelete();
    };
    const currentBody = () => ({ auth_provider: authProvider, domains: sent.map((domain) => ({ domain })) });
    const proven = this.#request("DELETE", DOMAINS, { project_id: projectId }, { ...options, beforeAttempt });
    const request: Request = { ...proven, currentBody };
    // In any spelling: the service ignores a domain that it lists in another one.
    const isSent = (item: WhitelistDomainRecord): boolean =>
      isOfProvider(authProvider)(item) && sent.map(normalisedOrigin).includes(normalisedOrigin(item.domain));
    const send = () => this.account.requests.change(request);
    try {
      const accepted = await this.domains(projectId).deleteItem(isSent, () => sent.join(", "), send, options);
      return accepted === undefined ? sent : [];
    } catch (error) {
      if (error instanceof NothingToDelete) return [];
      throw error;
    }
  }

  async updateEmailServer(
    { projectId, body, isShown }: EmailServerUpdate,
    options: ProvenOptions,
  ): Promise<EmailServerRecord> {
    const request = this.#request("PATCH", EMAIL_SERVER, { project_id: projectId }, options, body);
    return this.account.invalidating(projectId, ["emailServer"], async () => {
      const { value } = await this.account.requests.change(request, bodies.emailServer);
      if (value !== undefined) return value;
      return readEffect(async () => {
        const servers = this.account.list("emailServer", projectId);
        const seen = await servers.pollWithinLag((all) => all.find(isShown), options);
        return seen ?? (await this.emailServer(projectId, { ...options, since: performance.now() }));
      });
    });
  }

  /** Goes back to the shared server. One that is gone with its integration is no error. */
  async resetEmailServer(projectId: string, options: ProvenOptions): Promise<void> {
    const isAnother = ({ type }: EmailServerRecord): boolean => type !== "shared";
    const send = async () => ({
      value: await this.updateEmailServer(
        { projectId, body: { type: "shared" }, isShown: (server) => !isAnother(server) },
        options,
      ),
    });
    const servers = this.account.list("emailServer", projectId);
    const reset = await servers.deleteItem(isAnother, "another e-mail server", send, options);
    if (reset !== undefined && isAnother(reset.value))
      throw new FateUnknownError(`the service accepted it, but shows the type ${reset.value.type}`);
  }

  /** Of the routes that name the project in their body. */
  #post(template: string, projectId: string, body: object, options: ProvenOptions): Request {
    const params = { project_id: projectId };
    return this.#request("POST", template, params, options, { ...body, ...params });
  }

  #request(
    method: Request["method"],
    template: string,
    params: Record<string, string>,
    { integration, beforeAttempt, deadline, onProgress }: ProvenOptions,
    body?: unknown,
  ): Request {
    const proveFirst = async (): Promise<void> => {
      await integration.prove({ deadline, onProgress });
      await beforeAttempt?.();
    };
    return {
      method,
      template,
      params,
      body,
      beforeAttempt: proveFirst,
      deadline: this.account.deadline(deadline),
      onProgress,
    };
  }
}

class NothingToDelete extends Error {}

/** An entry without an auth provider belongs to all of them. */
export const isOfProvider =
  (authProvider: string) =>
  ({ auth_provider = authProvider }: WhitelistDomainRecord): boolean =>
    auth_provider === authProvider;

/** The value that a good response must have. */
function required<T>(value: T | undefined, otherwise: string, request: Pick<Request, "method" | "template">): T {
  if (value === undefined) throw new FateUnknownError(otherwise, { method: request.method, path: request.template });
  return value;
}
