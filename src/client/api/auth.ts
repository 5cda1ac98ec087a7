import { type Account, listsOf, PROJECT, type Readable } from "../account";
import { FateUnknownError } from "../http/errors";
import type { Request } from "../http/requests";
import type { EmailServerRequest, IntegrationRequest, OAuthCredentials, UserRequest } from "../options";
import { type Collection, deleted, type Gone, type ListOptions, orGone } from "../reads/absence";
import type { Waiting } from "../reads/sharedReads";
import { type Creation, Creations, effectOf } from "../unknownFate";
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

/** How a creation is told from others; see `Creation`. */
export interface AuthCreation<Item> extends Pick<
  Creation<Item, unknown>,
  "check" | "isOurs" | "isAccepted" | "isCandidate" | "describe" | "ways"
> {
  /** The answer was lost, and the thing was found. */
  readonly onFound: (item: Item) => void;
}

export interface Deletion extends Waiting {
  /** Runs before each attempt, which leaves in the same tick. */
  readonly before?: (() => void) | undefined;
}

/** The managed auth of a project. */
export class AuthApi {
  readonly #account: Account;
  readonly #creations = new Map<string, ReturnType<typeof creationsOf>>();

  constructor(account: Account) {
    this.#account = account;
  }

  integrations(projectId: string): Collection<AuthIntegrationRecord> {
    return listsOf(this.#account, projectId).integrations;
  }

  oauthProviders(projectId: string): Collection<OAuthProviderRecord> {
    return listsOf(this.#account, projectId).oauthProviders;
  }

  domains(projectId: string): Collection<WhitelistDomainRecord> {
    return listsOf(this.#account, projectId).domains;
  }

  async emailServer(projectId: string, options?: ListOptions): Promise<EmailServerRecord> {
    const [server] = await this.#emailServers(projectId).list(options);
    return shown(server, "the response does not hold the configuration", { method: "GET", template: EMAIL_SERVER });
  }

  /** A list of one, which lags as lists do. */
  #emailServers(projectId: string): Collection<EmailServerRecord> {
    return this.#account.collection("emailServer", projectId, bodies.emailServer, (server) => [server]);
  }

  /** The key set went with a lost answer and cannot be read again: then a new one is made. */
  async createIntegration(
    projectId: string,
    request: IntegrationRequest,
    { onFound, ...how }: AuthCreation<AuthIntegrationRecord>,
    waiting: Waiting = {},
  ): Promise<KeySetRecord> {
    const body = { ...request, project_id: projectId };
    const call = this.#request("POST", "/projects/auth/create", projectId, waiting, body);
    return this.#account.changing(projectId, ALL, async () => {
      const outcome = await this.#creationsOf(projectId).integrations.create(
        {
          ...how,
          thing: "the integration",
          collection: this.integrations(projectId),
          alike: request.auth_provider,
          idOf: ({ auth_provider, auth_provider_project_id }) => `${auth_provider} ${auth_provider_project_id}`,
          send: (before) => this.#account.requests.change({ ...call, before }, bodies.keySet),
          says: ({ value }) => value !== undefined,
          madeId: ({ value }) => value && `${request.auth_provider} ${value.auth_provider_project_id}`,
        },
        waiting,
      );
      if ("made" in outcome && outcome.made.value !== undefined) return outcome.made.value;
      if ("found" in outcome) onFound(outcome.found);
      return this.createKeys(projectId, request.auth_provider, waiting);
    });
  }

  /** Repeatable: it makes another key set and leaves the older ones valid. */
  async createKeys(projectId: string, authProvider: string, waiting: Waiting = {}): Promise<KeySetRecord> {
    const body = { project_id: projectId, auth_provider: authProvider };
    const call = this.#request("POST", "/projects/auth/keys", projectId, waiting, body);
    const { value } = await this.#account.requests.change({ ...call, repeatable: true }, bodies.keySet);
    return shown(value, "the keys were made, but the response does not hold them", call);
  }

  async deleteIntegration(
    projectId: string,
    authProvider: string,
    isIt: (item: AuthIntegrationRecord) => boolean,
    { before, ...waiting }: Deletion = {},
  ): Promise<void> {
    const call = this.#request("DELETE", `${AUTH}/integration/{auth_provider}`, projectId, waiting);
    const request = { ...call, before, params: { ...call.params, auth_provider: authProvider } };
    await this.#account.changing(projectId, ALL, () =>
      deleted(
        () => this.#account.requests.change(request),
        this.integrations(projectId).gone("the integration", isIt, waiting),
      ),
    );
  }

  async createUser(projectId: string, request: UserRequest, waiting: Waiting = {}): Promise<{ id: string }> {
    const body = { ...request, project_id: projectId };
    const call = this.#request("POST", "/projects/auth/user", projectId, waiting, body);
    try {
      const { value } = await this.#account.requests.change(call, bodies.user);
      return { id: shown(value, "the response does not hold the id of the user", call).id };
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

  /**
   * Users cannot be listed: what leaves it open is settled by sending it again, or by their integration, which takes them
   * along.
   */
  async deleteUser(
    projectId: string,
    userId: string,
    isHome: (item: AuthIntegrationRecord) => boolean,
    { before, ...waiting }: Deletion = {},
  ): Promise<void> {
    const call = this.#request("DELETE", `${AUTH}/users/{auth_user_id}`, projectId, waiting);
    const request = { ...call, before, params: { ...call.params, auth_user_id: userId } };
    const send = () => this.#account.requests.change(request);
    const home = this.integrations(projectId).gone("the user's integration", isHome, waiting);
    const sendTwice = async () => {
      try {
        return await send();
      } catch (error) {
        if (!(error instanceof FateUnknownError)) throw error;
        return send();
      }
    };
    // An answer without a word has no list to show in.
    await deleted(sendTwice, { ...home, shows: () => Promise.resolve(true) });
  }

  /** Repeatable: it only asks for an address, nothing is transferred before that is opened and confirmed. */
  async transferOwnership(projectId: string, authProvider: string, waiting: Waiting = {}): Promise<{ url: string }> {
    const body = { project_id: projectId, auth_provider: authProvider };
    const call = this.#request("POST", "/projects/auth/transfer_ownership", projectId, waiting, body);
    const send = () => this.#account.requests.change({ ...call, repeatable: true }, bodies.transfer);
    const { value } = await this.#account.changing(projectId, ["integrations"], send);
    return { url: shown(value, "the response does not hold the address", call).url };
  }

  async addOAuthProvider(
    projectId: string,
    request: { id: string } & OAuthCredentials,
    { onFound, ...how }: AuthCreation<OAuthProviderRecord>,
    waiting: Waiting = {},
  ): Promise<OAuthProviderRecord> {
    const call = this.#request("POST", OAUTH_PROVIDERS, projectId, waiting, request);
    return this.#account.changing(projectId, ["oauthProviders"], async () => {
      const outcome = await this.#creationsOf(projectId).oauth.create(
        {
          ...how,
          thing: "the OAuth provider",
          collection: this.oauthProviders(projectId),
          alike: request.id,
          idOf: (item) => item.id,
          send: (before) => this.#account.requests.change({ ...call, before }, bodies.oauthProvider),
          says: ({ value }) => value !== undefined,
        },
        waiting,
      );
      if ("made" in outcome) return shown(outcome.made.value, "the response does not hold the provider", call);
      if (outcome.wasLost) onFound(outcome.found);
      return outcome.found;
    });
  }

  async updateOAuthProvider(
    projectId: string,
    id: string,
    request: OAuthCredentials,
    waiting: Waiting = {},
  ): Promise<OAuthProviderRecord> {
    const call = this.#request("PATCH", OAUTH_PROVIDER, projectId, waiting, request);
    const params = { ...call.params, oauth_provider_id: id };
    return this.#account.changing(projectId, ["oauthProviders"], async () => {
      const { value } = await this.#account.requests.change({ ...call, params }, bodies.oauthProvider);
      return value ?? effectOf(() => this.#listedProvider(projectId, id, call, waiting));
    });
  }

  async deleteOAuthProvider(projectId: string, id: string, { before, ...waiting }: Deletion = {}): Promise<void> {
    const call = this.#request("DELETE", OAUTH_PROVIDER, projectId, waiting);
    const request = { ...call, before, params: { ...call.params, oauth_provider_id: id } };
    await this.#account.changing(projectId, ["oauthProviders"], () =>
      deleted(
        () => this.#account.requests.change(request, bodies.oauthProvider),
        this.oauthProviders(projectId).gone(id, (item) => item.id === id, waiting),
      ),
    );
  }

  /** The service answers without a body, so the list has to show the domain. */
  async addDomain(
    projectId: string,
    domain: string,
    authProvider: string,
    { onFound, ...how }: AuthCreation<WhitelistDomainRecord>,
    waiting: Waiting = {},
  ): Promise<void> {
    const call = this.#request("POST", DOMAINS, projectId, waiting, { domain, auth_provider: authProvider });
    await this.#account.changing(projectId, ["domains"], async () => {
      const outcome = await this.#creationsOf(projectId).domains.create(
        {
          ...how,
          thing: "the domain",
          collection: this.domains(projectId),
          alike: domain,
          idOf: domainKey,
          send: (before) => this.#account.requests.change({ ...call, before }),
          // Never: that it is listed is looked for below.
          says: () => true,
        },
        waiting,
      );
      if ("found" in outcome) return onFound(outcome.found);
      const listed = await this.domains(projectId).lookFor((items) => items.find(how.isOurs), waiting);
      if (listed === undefined)
        throw new FateUnknownError("the domain was accepted, but no list shows it", { method: "POST", path: DOMAINS });
    });
  }

  /** All in one request. `domains` is asked again before each attempt, which leaves in the same tick; none: nothing is sent. */
  async deleteDomains(
    projectId: string,
    domains: () => readonly string[],
    authProvider: string,
    waiting: Waiting = {},
  ): Promise<void> {
    await this.#account.changing(projectId, ["domains"], async () => {
      const sent = await this.#deleteAtOnce(projectId, domains, authProvider, waiting);
      if (sent === undefined) return;
      // One domain that is gone already may have spoilt the request for the others.
      const listed = await this.#domainsOrNone(projectId, authProvider, waiting);
      for (const { domain } of listed.filter((item) => sent.includes(item.domain))) {
        const still = (): string[] => domains().filter((one) => one === domain);
        await this.#deleteAtOnce(projectId, still, authProvider, waiting);
      }
    });
  }

  /** The domains of a request for several that was refused, since something in it is gone. */
  async #deleteAtOnce(
    projectId: string,
    domains: () => readonly string[],
    authProvider: string,
    waiting: Waiting,
  ): Promise<readonly string[] | undefined> {
    let sent = domains();
    const request = this.#request("DELETE", DOMAINS, projectId, waiting);
    request.before = () => {
      sent = domains();
      if (sent.length === 0) throw new NothingToDelete();
      request.body = { auth_provider: authProvider, domains: sent.map((domain) => ({ domain })) };
    };
    const lacks = (listed: readonly WhitelistDomainRecord[]): true | undefined =>
      listed.some((item) => isOf(authProvider)(item) && sent.includes(item.domain)) ? undefined : true;
    const list = this.domains(projectId);
    const gone: Gone = {
      thing: () => sent.join(", "),
      // The integration may be gone, and its whitelist with it.
      shows: async () => {
        const looked = await orGone(async () => ({ seen: await list.lookFor(lacks, waiting) }));
        return looked === undefined || looked.seen === true;
      },
      isCertain: async () => lacks(await this.#domainsOrNone(projectId, authProvider, waiting)) === true,
    };
    try {
      const accepted = await deleted(() => this.#account.requests.change(request), gone);
      return accepted === undefined && sent.length > 1 ? sent : undefined;
    } catch (error) {
      if (error instanceof NothingToDelete) return undefined;
      throw error;
    }
  }

  /** None where the integration is gone, and its whitelist with it. */
  async #domainsOrNone(
    projectId: string,
    authProvider: string,
    waiting: Waiting,
  ): Promise<readonly WhitelistDomainRecord[]> {
    const listed = await orGone(() => this.domains(projectId).settled(waiting));
    return (listed ?? []).filter(isOf(authProvider));
  }

  /**
   * An answer without a body is read: `isShown` tells whether it shows what was sent. Any other answer than the
   * configuration proves nothing, since a password cannot be read back.
   */
  async updateEmailServer(
    projectId: string,
    request: EmailServerRequest,
    isShown: (server: EmailServerRecord) => boolean,
    { before, ...waiting }: Deletion = {},
  ): Promise<EmailServerRecord> {
    const call = this.#request("PATCH", EMAIL_SERVER, projectId, waiting, request);
    return this.#account.changing(projectId, ["emailServer"], async () => {
      const { value } = await this.#account.requests.change({ ...call, before }, bodies.emailServer);
      if (value !== undefined) return value;
      return effectOf(async () => {
        const seen = await this.#emailServers(projectId).lookFor((servers) => servers.find(isShown), waiting);
        return seen ?? (await this.emailServer(projectId, { ...waiting, since: performance.now() }));
      });
    });
  }

  /** Goes back to the shared server: the deletion of a configuration. One that is gone with its integration is fine. */
  async resetEmailServer(projectId: string, deletion: Deletion = {}): Promise<void> {
    const { before: _before, ...waiting } = deletion;
    const isShared = ({ type }: EmailServerRecord): boolean => type === "shared";
    const shows = async (): Promise<boolean> => {
      const servers = this.#emailServers(projectId);
      const looked = await orGone(async () => ({ seen: await servers.lookFor((all) => all.find(isShared), waiting) }));
      return looked === undefined || looked.seen !== undefined;
    };
    const send = async () => ({
      value: await this.updateEmailServer(projectId, { type: "shared" }, isShared, deletion),
    });
    const reset = await deleted(send, { thing: () => "another e-mail server", shows, isCertain: shows });
    if (reset !== undefined && !isShared(reset.value))
      throw new FateUnknownError(`the service accepted it, but shows the type ${reset.value.type}`);
  }

  /** What an answer without a body was about. */
  async #listedProvider(
    projectId: string,
    id: string,
    { method, template }: Request,
    waiting: Waiting,
  ): Promise<OAuthProviderRecord> {
    const find = (items: readonly OAuthProviderRecord[]) => items.find((item) => item.id === id);
    return shown(
      await this.oauthProviders(projectId).lookFor(find, waiting),
      "it was accepted, but no list shows the provider",
      { method, template },
    );
  }

  #creationsOf(projectId: string): ReturnType<typeof creationsOf> {
    const known = this.#creations.get(projectId) ?? creationsOf(this.#account);
    this.#creations.set(projectId, known);
    return known;
  }

  #request(
    method: Request["method"],
    template: string,
    projectId: string,
    { deadline, onProgress }: Waiting,
    body?: unknown,
  ): Request {
    const params = { project_id: projectId };
    return { method, template, params, body, deadline: this.#account.deadline(deadline), onProgress };
  }
}

/** The creations of one project. */
const creationsOf = (account: Account) => ({
  integrations: new Creations<AuthIntegrationRecord>(account),
  oauth: new Creations<OAuthProviderRecord>(account),
  domains: new Creations<WhitelistDomainRecord>(account),
});

class NothingToDelete extends Error {}

/** An entry that names no auth provider is anybody's. */
export const isOf =
  (authProvider: string) =>
  ({ auth_provider }: WhitelistDomainRecord): boolean =>
    auth_provider === undefined || auth_provider === authProvider;

const domainKey = ({ domain, auth_provider }: WhitelistDomainRecord): string => `${auth_provider ?? ""} ${domain}`;

/** What a good answer has to show. */
function shown<T>(
  value: T | undefined,
  otherwise: string,
  { method, template }: Pick<Request, "method" | "template">,
): T {
  if (value === undefined) throw new FateUnknownError(otherwise, { method, path: template });
  return value;
}
