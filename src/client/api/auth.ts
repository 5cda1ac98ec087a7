import { type Account, PROJECT } from "../account";
import type { Change } from "../changes";
import { type CreationRecovery, readEffect } from "../createRecovery";
import { FateUnknownError } from "../http/errors";
import type { Request } from "../http/requests";
import { type Collection, type ListOptions, undefinedIfGone } from "../reads/absence";
import type { WaitOptions } from "../reads/sharedReads";
import { OwnIntegration } from "./ownIntegration";
import {
  type AuthIntegrationRecord,
  bodies,
  type EmailServerRecord,
  type EmailServerRequest,
  type IntegrationRequest,
  type KeySetRecord,
  type ListName,
  type OAuthCredentials,
  type OAuthProviderRecord,
  type UserRequest,
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

type Route = Pick<Request, "method" | "template" | "params" | "body" | "repeatable" | "currentBody">;

interface PostRoute extends Pick<Request, "template" | "repeatable"> {
  readonly projectId: string;
  readonly body: object;
}

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
  /** Decides where the response has no body, or may be out of date. */
  readonly isShown: (server: EmailServerRecord) => boolean;
  /** Whether a response is the record of before; left out: none is. Any other one that shows something else is an answer: no password can be read back. */
  readonly isOld?: (server: EmailServerRecord) => boolean;
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
    return required(server, "the response does not contain the configuration", {
      method: "GET",
      template: EMAIL_SERVER,
    });
  }

  /** Keys cannot be read again: where the response was lost, a new key set is created. */
  async createIntegration(
    { projectId, body, recovery }: AuthCreation<IntegrationRequest, AuthIntegrationRecord>,
    options: WaitOptions = {},
  ): Promise<KeySetRecord> {
    const params = { project_id: projectId };
    return this.account.changes.run({
      projectId,
      lists: ALL,
      thing: "the integration",
      // The one change without a proof: nothing of ours stands yet, and the service refuses a second one.
      request: {
        method: "POST",
        template: "/projects/auth/create",
        params,
        body: { ...body, ...params },
        deadline: this.account.deadline(options.deadline),
        onProgress: options.onProgress,
      },
      schema: bodies.keySet,
      collection: this.integrations(projectId),
      idOf: (item: AuthIntegrationRecord) => `${item.auth_provider} ${item.auth_provider_project_id}`,
      idOfResponse: (keys) => `${body.auth_provider} ${keys.auth_provider_project_id}`,
      similarityKey: body.auth_provider,
      recovery,
      created: (keys) => keys,
      found: async (item) => {
        recovery.onFound(item);
        const integration = this.ownIntegration(projectId, recovery.isCandidate, item.auth_provider_project_id);
        return this.createKeys(projectId, body.auth_provider, { ...options, integration });
      },
    });
  }

  /** Repeatable: it makes another key set and leaves the older ones valid. */
  async createKeys(projectId: string, authProvider: string, options: ProvenOptions): Promise<KeySetRecord> {
    const body = { auth_provider: authProvider };
    const request = this.#post({ template: "/projects/auth/keys", projectId, body, repeatable: true }, options);
    return this.account.changes.run({
      projectId,
      lists: [],
      request,
      schema: bodies.keySet,
      accepted: ({ value }) => {
        const keys = required(value, "the keys were created, but the response does not contain them", request);
        // It names the integration itself, and so tells what happened after the list.
        const { id } = options.integration;
        if (id === undefined || keys.auth_provider_project_id === id) return keys;
        throw new Error(
          `the auth integration of this resource (${id}) was replaced by another one (${keys.auth_provider_project_id}) while keys were created. ` +
            "The new key set belongs to that one and is not stored. Run pulumi up --refresh, which creates what is missing",
        );
      },
    });
  }

  async deleteIntegration(
    { projectId, authProvider, matches }: IntegrationDeletion,
    options: ProvenOptions,
  ): Promise<void> {
    const params = { project_id: projectId, auth_provider: authProvider };
    await this.account.changes.run({
      projectId,
      lists: ALL,
      request: this.#request({ method: "DELETE", template: `${AUTH}/integration/{auth_provider}`, params }, options),
      ...this.integrations(projectId).deletion({ matches, thing: "the integration" }, options),
    });
  }

  async createUser(projectId: string, body: UserRequest, options: ProvenOptions): Promise<{ id: string }> {
    const request = this.#post({ template: "/projects/auth/user", projectId, body }, options);
    return this.account.changes.run({
      projectId,
      lists: [],
      request,
      schema: bodies.user,
      accepted: ({ value }) => ({
        id: required(value, "the response does not contain the id of the user", request).id,
      }),
      failed: (error) => {
        if (!(error instanceof FateUnknownError)) throw error;
        throw new FateUnknownError(
          `${error.what}; the user may or may not have been created: users cannot be listed`,
          error.facts,
          "Run pulumi up again. If it reports a conflict, the user was created: find the user in the table of the synced users " +
            "(svc_auth.users_sync), and delete it or choose another address",
        );
      },
    });
  }

  /** Users cannot be listed: an inconclusive deletion is sent again, and confirmed when the user's integration is gone. */
  async deleteUser({ projectId, userId, isIntegration }: UserDeletion, options: ProvenOptions): Promise<void> {
    const params = { project_id: projectId, auth_user_id: userId };
    const deletion = {
      matches: isIntegration,
      thing: "the user's integration",
      // There is no list that could confirm an empty response.
      needsNoList: () => true,
    };
    const once = {
      projectId,
      lists: [],
      request: this.#request({ method: "DELETE", template: `${AUTH}/users/{auth_user_id}`, params }, options),
      ...this.integrations(projectId).deletion(deletion, options),
    };
    await this.account.changes.run({
      ...once,
      failed: async (error) =>
        error instanceof FateUnknownError ? this.account.changes.run(once) : once.failed(error),
    });
  }

  /** Repeatable: it only requests an address, and nothing is transferred before that is opened and confirmed. */
  async transferOwnership(projectId: string, authProvider: string, options: ProvenOptions): Promise<{ url: string }> {
    const body = { auth_provider: authProvider };
    const template = "/projects/auth/transfer_ownership";
    const request = this.#post({ template, projectId, body, repeatable: true }, options);
    return this.account.changes.run({
      projectId,
      lists: ["integrations"],
      request,
      schema: bodies.transfer,
      accepted: ({ value }) => ({ url: required(value, "the response does not contain the URL", request).url }),
    });
  }

  async addOAuthProvider(
    { projectId, body, recovery }: AuthCreation<{ id: string } & OAuthCredentials, OAuthProviderRecord>,
    options: ProvenOptions,
  ): Promise<OAuthProviderRecord> {
    const params = { project_id: projectId };
    return this.account.changes.run({
      projectId,
      lists: ["oauthProviders"],
      thing: "the OAuth provider",
      request: this.#request({ method: "POST", template: OAUTH_PROVIDERS, params, body }, options),
      schema: bodies.oauthProvider,
      collection: this.oauthProviders(projectId),
      idOf: ({ id }) => id,
      similarityKey: body.id,
      recovery,
      created: (provider) => provider,
      found: (provider, wasLost) => {
        if (wasLost) recovery.onFound(provider);
        return provider;
      },
    });
  }

  async updateOAuthProvider(
    { projectId, id, body }: { projectId: string; id: string; body: OAuthCredentials },
    options: ProvenOptions,
  ): Promise<OAuthProviderRecord> {
    const params = { project_id: projectId, oauth_provider_id: id };
    const request = this.#request({ method: "PATCH", template: OAUTH_PROVIDER, params, body }, options);
    const find = (items: readonly OAuthProviderRecord[]) => items.find((item) => item.id === id);
    return this.account.changes.run({
      projectId,
      lists: ["oauthProviders"],
      request,
      schema: bodies.oauthProvider,
      accepted: async ({ value }) => {
        if (value !== undefined) return value;
        const listed = await readEffect(() => this.oauthProviders(projectId).pollWithinLag(find, options));
        return required(listed, "the service accepted it, but does not list the provider", request);
      },
    });
  }

  async deleteOAuthProvider(projectId: string, id: string, options: ProvenOptions): Promise<void> {
    const params = { project_id: projectId, oauth_provider_id: id };
    const matches = (item: OAuthProviderRecord): boolean => item.id === id;
    await this.account.changes.run({
      projectId,
      lists: ["oauthProviders"],
      request: this.#request({ method: "DELETE", template: OAUTH_PROVIDER, params }, options),
      schema: bodies.oauthProvider,
      ...this.oauthProviders(projectId).deletion<OAuthProviderRecord>({ matches, thing: id }, options),
    });
  }

  async addDomain(
    { projectId, domain, authProvider, recovery }: DomainCreation,
    options: ProvenOptions,
  ): Promise<void> {
    const params = { project_id: projectId };
    const body = { domain, auth_provider: authProvider };
    const request = this.#request({ method: "POST", template: DOMAINS, params, body }, options);
    await this.account.changes.run({
      projectId,
      lists: ["domains"],
      thing: "the domain",
      request,
      collection: this.domains(projectId),
      idOf: (item: WhitelistDomainRecord) => `${item.auth_provider ?? ""} ${item.domain}`,
      similarityKey: domain,
      recovery,
      created: async () => {
        const listed = await this.domains(projectId).pollWithinLag((items) => items.find(recovery.isOurs), options);
        required(listed, "the service accepted the domain, but does not list it", request);
      },
      found: (item) => recovery.onFound(item),
    });
  }

  /** All in one request. */
  async deleteDomains(deletion: DomainsDeletion, options: ProvenOptions): Promise<void> {
    const { projectId, domains, authProvider } = deletion;
    const refused = await this.#deleteInOneRequest(deletion, options);
    if (refused.length < 2) return;
    // One domain that is gone may have failed the request for the others. The whitelist is deleted with its integration.
    const listed = (await undefinedIfGone(() => this.domains(projectId).listAfterLag(options))) ?? [];
    for (const origin of new Set(refused.map(normalisedOrigin))) {
      const matches = (domain: string): boolean => normalisedOrigin(domain) === origin;
      const spellings = listed.filter((item) => isOfProvider(authProvider)(item) && matches(item.domain));
      const still = (): string[] => (domains().some(matches) ? spellings.map(({ domain }) => domain) : []);
      await this.#deleteInOneRequest({ ...deletion, domains: still }, options);
    }
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
    const params = { project_id: projectId };
    const route = { method: "DELETE", template: DOMAINS, params, currentBody } as const;
    // In any spelling: the service ignores a domain that it lists in another one.
    const matches = (item: WhitelistDomainRecord): boolean =>
      isOfProvider(authProvider)(item) && sent.map(normalisedOrigin).includes(normalisedOrigin(item.domain));
    try {
      const accepted = await this.account.changes.run({
        projectId,
        lists: ["domains"],
        request: this.#request(route, { ...options, beforeAttempt }),
        ...this.domains(projectId).deletion({ matches, thing: () => sent.join(", ") }, options),
      });
      return accepted === undefined ? sent : [];
    } catch (error) {
      if (error instanceof NothingToDelete) return [];
      throw error;
    }
  }

  async updateEmailServer(update: EmailServerUpdate, options: ProvenOptions): Promise<EmailServerRecord> {
    return this.account.changes.run(this.#emailServerChange(update, options));
  }

  /** Goes back to the shared server. One that is gone with its integration is no error. */
  async resetEmailServer(projectId: string, options: ProvenOptions): Promise<void> {
    const isAnother = ({ type }: EmailServerRecord): boolean => type !== "shared";
    const isShown = (server: EmailServerRecord): boolean => !isAnother(server);
    const update = { projectId, body: { type: "shared" }, isShown, isOld: isAnother };
    const servers = this.account.list("emailServer", projectId);
    const { failed } = servers.deletion({ matches: isAnother, thing: "another e-mail server" }, options);
    const change: Change<EmailServerRecord, EmailServerRecord | undefined> = {
      ...this.#emailServerChange(update, options),
      failed,
    };
    const reset = await this.account.changes.run(change);
    if (reset !== undefined && isAnother(reset))
      throw new FateUnknownError(`the service accepted it, but shows the type ${reset.type}`);
  }

  #emailServerChange(
    { projectId, body, isShown, isOld }: EmailServerUpdate,
    options: ProvenOptions,
  ): Change<EmailServerRecord, EmailServerRecord> {
    const params = { project_id: projectId };
    return {
      projectId,
      lists: ["emailServer"],
      request: this.#request({ method: "PATCH", template: EMAIL_SERVER, params, body }, options),
      schema: bodies.emailServer,
      accepted: async ({ value }) => {
        if (value !== undefined && (isShown(value) || isOld?.(value) !== true)) return value;
        return readEffect(async () => {
          const servers = this.account.list("emailServer", projectId);
          const seen = await servers.pollWithinLag((all) => all.find(isShown), options);
          return seen ?? (await this.emailServer(projectId, { ...options, since: performance.now() }));
        });
      },
    };
  }

  /** Of the routes that name the project in their body. */
  #post({ projectId, body, ...route }: PostRoute, options: ProvenOptions): Request {
    const params = { project_id: projectId };
    return this.#request({ ...route, method: "POST", params, body: { ...body, ...params } }, options);
  }

  #request(route: Route, { integration, beforeAttempt, deadline, onProgress }: ProvenOptions): Request {
    return {
      ...route,
      beforeAttempt: async () => {
        await integration.prove({ deadline, onProgress });
        await beforeAttempt?.();
      },
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

/**
 * An origin as browsers compare it: lower case, without the default port and a trailing slash. Of anything else, such as the
 * address of an app, the scheme alone is written in one way.
 */
export function normalisedOrigin(text: string): string {
  const trimmed = text.trim().replace(/^[a-z][a-z0-9+.-]*(?=:)/i, (scheme) => scheme.toLowerCase());
  if (!/^https?:/.test(trimmed) || !URL.canParse(trimmed)) return trimmed;
  return new URL(trimmed).origin;
}

/** The value that a good response must have. */
function required<T>(value: T | undefined, otherwise: string, request: Pick<Request, "method" | "template">): T {
  if (value === undefined) throw new FateUnknownError(otherwise, { method: request.method, path: request.template });
  return value;
}
