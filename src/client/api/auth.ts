import { type Account, PROJECT, type Readable } from "../account";
import { FateUnknownError } from "../http/errors";
import type { Request } from "../http/requests";
import type { EmailServerRequest, IntegrationRequest, OAuthCredentials, UserRequest } from "../options";
import { normalisedOrigin } from "../origins";
import { type Collection, type ListOptions, orGone } from "../reads/absence";
import type { Waiting } from "../reads/sharedReads";
import { type Creation, effectOf } from "../unknownFate";
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
/** What an integration takes with it when it comes or goes. */
const ALL: readonly Readable[] = ["integrations", "oauthProviders", "domains", "emailServer"];

type Deletion = Waiting & Pick<Request, "before">;

export class AuthApi {
  constructor(private readonly account: Account) {}

  integrations(projectId: string): Collection<AuthIntegrationRecord> {
    return this.account.list("integrations", projectId);
  }

  oauthProviders(projectId: string): Collection<OAuthProviderRecord> {
    return this.account.list("oauthProviders", projectId);
  }

  domains(projectId: string): Collection<WhitelistDomainRecord> {
    return this.account.list("domains", projectId);
  }

  async emailServer(projectId: string, options?: ListOptions): Promise<EmailServerRecord> {
    const [server] = await this.account.list("emailServer", projectId).list(options);
    return shown(server, "the response does not hold the configuration", { method: "GET", template: EMAIL_SERVER });
  }

  /** The key set went with a lost answer and cannot be read again: then a new one is made. */
  async createIntegration(
    projectId: string,
    body: IntegrationRequest,
    creation: Creation<AuthIntegrationRecord>,
    waiting: Waiting = {},
  ): Promise<KeySetRecord> {
    const request = this.#post("/projects/auth/create", projectId, body, waiting);
    return this.account.changing(projectId, ALL, async () => {
      const posting = {
        thing: "the integration",
        request,
        shape: bodies.keySet,
        collection: this.integrations(projectId),
        idOf: (item: AuthIntegrationRecord) => `${item.auth_provider} ${item.auth_provider_project_id}`,
        madeId: (keys: KeySetRecord) => `${body.auth_provider} ${keys.auth_provider_project_id}`,
        alike: body.auth_provider,
      };
      const outcome = await this.account.creations.create(posting, creation, waiting);
      if ("made" in outcome) return outcome.made;
      creation.onFound(outcome.found);
      return this.createKeys(projectId, body.auth_provider, waiting);
    });
  }

  /** Repeatable: it makes another key set and leaves the older ones valid. */
  async createKeys(projectId: string, authProvider: string, waiting: Waiting = {}): Promise<KeySetRecord> {
    const request = this.#post("/projects/auth/keys", projectId, { auth_provider: authProvider }, waiting);
    const { value } = await this.account.requests.change({ ...request, repeatable: true }, bodies.keySet);
    return shown(value, "the keys were made, but the response does not hold them", request);
  }

  async deleteIntegration(
    projectId: string,
    authProvider: string,
    isIt: (item: AuthIntegrationRecord) => boolean,
    deletion: Deletion = {},
  ): Promise<void> {
    const params = { project_id: projectId, auth_provider: authProvider };
    const request = this.#request("DELETE", `${AUTH}/integration/{auth_provider}`, params, deletion);
    const send = () => this.account.requests.change(request);
    await this.account.changing(projectId, ALL, () =>
      this.integrations(projectId).without(isIt, "the integration", send, deletion),
    );
  }

  async createUser(projectId: string, body: UserRequest, waiting: Waiting = {}): Promise<{ id: string }> {
    const request = this.#post("/projects/auth/user", projectId, body, waiting);
    try {
      const { value } = await this.account.requests.change(request, bodies.user);
      return { id: shown(value, "the response does not hold the id of the user", request).id };
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

  /** Users cannot be listed: what leaves it open is settled by sending it again, or by the integration that they live in. */
  async deleteUser(
    projectId: string,
    userId: string,
    isHome: (item: AuthIntegrationRecord) => boolean,
    deletion: Deletion = {},
  ): Promise<void> {
    const params = { project_id: projectId, auth_user_id: userId };
    const request = this.#request("DELETE", `${AUTH}/users/{auth_user_id}`, params, deletion);
    const sendTwice = async () => {
      try {
        return await this.account.requests.change(request);
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        return this.account.requests.change(request);
      }
    };
    // An answer without a word has no list to show in.
    await this.integrations(projectId).without(isHome, "the user's integration", sendTwice, deletion, () => true);
  }

  /** Repeatable: it only asks for an address, nothing is transferred before that is opened and confirmed. */
  async transferOwnership(projectId: string, authProvider: string, waiting: Waiting = {}): Promise<{ url: string }> {
    const body = { auth_provider: authProvider };
    const request = this.#post("/projects/auth/transfer_ownership", projectId, body, waiting);
    const send = () => this.account.requests.change({ ...request, repeatable: true }, bodies.transfer);
    const { value } = await this.account.changing(projectId, ["integrations"], send);
    return { url: shown(value, "the response does not hold the address", request).url };
  }

  async addOAuthProvider(
    projectId: string,
    body: { id: string } & OAuthCredentials,
    creation: Creation<OAuthProviderRecord>,
    waiting: Waiting = {},
  ): Promise<OAuthProviderRecord> {
    const posting = {
      thing: "the OAuth provider",
      request: this.#request("POST", OAUTH_PROVIDERS, { project_id: projectId }, waiting, body),
      shape: bodies.oauthProvider,
      collection: this.oauthProviders(projectId),
      idOf: ({ id }: OAuthProviderRecord) => id,
      alike: body.id,
    };
    return this.account.changing(projectId, ["oauthProviders"], async () => {
      const outcome = await this.account.creations.create(posting, creation, waiting);
      if ("made" in outcome) return outcome.made;
      if (outcome.wasLost) creation.onFound(outcome.found);
      return outcome.found;
    });
  }

  async updateOAuthProvider(
    projectId: string,
    id: string,
    body: OAuthCredentials,
    waiting: Waiting = {},
  ): Promise<OAuthProviderRecord> {
    const params = { project_id: projectId, oauth_provider_id: id };
    const request = this.#request("PATCH", OAUTH_PROVIDER, params, waiting, body);
    const find = (items: readonly OAuthProviderRecord[]) => items.find((item) => item.id === id);
    return this.account.changing(projectId, ["oauthProviders"], async () => {
      const { value } = await this.account.requests.change(request, bodies.oauthProvider);
      if (value !== undefined) return value;
      const listed = await effectOf(() => this.oauthProviders(projectId).lookFor(find, waiting));
      return shown(listed, "it was accepted, but no list shows the provider", request);
    });
  }

  async deleteOAuthProvider(projectId: string, id: string, deletion: Deletion = {}): Promise<void> {
    const params = { project_id: projectId, oauth_provider_id: id };
    const request = this.#request("DELETE", OAUTH_PROVIDER, params, deletion);
    const send = () => this.account.requests.change(request, bodies.oauthProvider);
    await this.account.changing(projectId, ["oauthProviders"], () =>
      this.oauthProviders(projectId).without((item) => item.id === id, id, send, deletion),
    );
  }

  async addDomain(
    projectId: string,
    domain: string,
    authProvider: string,
    creation: Creation<WhitelistDomainRecord>,
    waiting: Waiting = {},
  ): Promise<void> {
    const body = { domain, auth_provider: authProvider };
    const posting = {
      thing: "the domain",
      request: this.#request("POST", DOMAINS, { project_id: projectId }, waiting, body),
      shape: undefined,
      collection: this.domains(projectId),
      idOf: (item: WhitelistDomainRecord) => `${item.auth_provider ?? ""} ${item.domain}`,
      alike: domain,
    };
    await this.account.changing(projectId, ["domains"], async () => {
      const outcome = await this.account.creations.create(posting, creation, waiting);
      if ("found" in outcome) return creation.onFound(outcome.found);
      const listed = await this.domains(projectId).lookFor((items) => items.find(creation.isOurs), waiting);
      shown(listed, "the domain was accepted, but no list shows it", posting.request);
    });
  }

  /** All in one request. `domains` is asked again before each attempt, which leaves in the same tick; none: nothing is sent. */
  async deleteDomains(
    projectId: string,
    domains: () => readonly string[],
    authProvider: string,
    waiting: Waiting = {},
  ): Promise<void> {
    await this.account.changing(projectId, ["domains"], async () => {
      const refused = await this.#deleteAtOnce(projectId, domains, authProvider, waiting);
      if (refused.length < 2) return;
      // One domain that is gone already may have spoilt the request for the others. The whitelist goes with its integration.
      const listed = (await orGone(() => this.domains(projectId).settled(waiting))) ?? [];
      for (const origin of new Set(refused.map(normalisedOrigin))) {
        const isIt = (domain: string): boolean => normalisedOrigin(domain) === origin;
        const spellings = listed.filter((item) => isOf(authProvider)(item) && isIt(item.domain));
        const still = (): string[] => (domains().some(isIt) ? spellings.map(({ domain }) => domain) : []);
        await this.#deleteAtOnce(projectId, still, authProvider, waiting);
      }
    });
  }

  /** Those of a request that was refused, since something in it is gone. */
  async #deleteAtOnce(
    projectId: string,
    domains: () => readonly string[],
    authProvider: string,
    waiting: Waiting,
  ): Promise<readonly string[]> {
    let sent = domains();
    const before = (): void => {
      sent = domains();
      if (sent.length === 0) throw new NothingToDelete();
      request.body = { auth_provider: authProvider, domains: sent.map((domain) => ({ domain })) };
    };
    const request = this.#request("DELETE", DOMAINS, { project_id: projectId }, { ...waiting, before });
    // In whatever spelling: the one that was sent may not be the service's, which passes over what it does not list.
    const isSent = (item: WhitelistDomainRecord): boolean =>
      isOf(authProvider)(item) && sent.map(normalisedOrigin).includes(normalisedOrigin(item.domain));
    const send = () => this.account.requests.change(request);
    try {
      const accepted = await this.domains(projectId).without(isSent, () => sent.join(", "), send, waiting);
      return accepted === undefined ? sent : [];
    } catch (error) {
      if (error instanceof NothingToDelete) return [];
      throw error;
    }
  }

  /** `isShown` decides where the answer has no body. Any other body proves nothing, since a password cannot be read back. */
  async updateEmailServer(
    projectId: string,
    body: EmailServerRequest,
    isShown: (server: EmailServerRecord) => boolean,
    waiting: Deletion = {},
  ): Promise<EmailServerRecord> {
    const request = this.#request("PATCH", EMAIL_SERVER, { project_id: projectId }, waiting, body);
    return this.account.changing(projectId, ["emailServer"], async () => {
      const { value } = await this.account.requests.change(request, bodies.emailServer);
      if (value !== undefined) return value;
      return effectOf(async () => {
        const servers = this.account.list("emailServer", projectId);
        const seen = await servers.lookFor((all) => all.find(isShown), waiting);
        return seen ?? (await this.emailServer(projectId, { ...waiting, since: performance.now() }));
      });
    });
  }

  /** Goes back to the shared server. One that is gone with its integration is fine. */
  async resetEmailServer(projectId: string, deletion: Deletion = {}): Promise<void> {
    const isAnother = ({ type }: EmailServerRecord): boolean => type !== "shared";
    const send = async () => ({
      value: await this.updateEmailServer(projectId, { type: "shared" }, (server) => !isAnother(server), deletion),
    });
    const servers = this.account.list("emailServer", projectId);
    const reset = await servers.without(isAnother, "another e-mail server", send, deletion);
    if (reset !== undefined && isAnother(reset.value))
      throw new FateUnknownError(`the service accepted it, but shows the type ${reset.value.type}`);
  }

  /** Of the routes that name the project in their body. */
  #post(template: string, projectId: string, body: object, waiting: Waiting): Request {
    const params = { project_id: projectId };
    return this.#request("POST", template, params, waiting, { ...body, ...params });
  }

  #request(
    method: Request["method"],
    template: string,
    params: Record<string, string>,
    { deadline, onProgress, before }: Deletion,
    body?: unknown,
  ): Request {
    return { method, template, params, body, before, deadline: this.account.deadline(deadline), onProgress };
  }
}

class NothingToDelete extends Error {}

/** An entry that names no auth provider is anybody's. */
export const isOf =
  (authProvider: string) =>
  ({ auth_provider = authProvider }: WhitelistDomainRecord): boolean =>
    auth_provider === authProvider;

/** What a good answer has to show. */
function shown<T>(value: T | undefined, otherwise: string, request: Pick<Request, "method" | "template">): T {
  if (value === undefined) throw new FateUnknownError(otherwise, { method: request.method, path: request.template });
  return value;
}
