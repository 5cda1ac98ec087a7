import type { Call } from "./caller";
import type { AuthCollection } from "./core";
import type { Deadline } from "./deadline";
import { DomainBatches } from "./domainBatches";
import { FateUnknownError, NotFoundError, outOfTime } from "./errors";
import { lookFor, sendOrFind } from "./lookFor";
import type {
  CallOptions,
  ClientOptions,
  CreateOptions,
  EmailServerRequest,
  IntegrationRequest,
  OAuthCredentials,
  UserRequest,
} from "./options";
import { normalisedOrigin } from "./origins";
import { ReadApi } from "./reads";
import {
  answers,
  type AuthIntegration,
  type EmailServer,
  type KeySet,
  type OAuthProvider,
  type WhitelistDomain,
} from "./schemas";
import { quietly } from "./progress";
import { sleep, within } from "./within";

const AUTH = "/projects/{project_id}/auth";
const DOMAINS = `${AUTH}/domains`;
const OAUTH_PROVIDERS = `${AUTH}/oauth_providers`;
const OAUTH_PROVIDER = `${OAUTH_PROVIDERS}/{oauth_provider_id}`;
/** What an integration takes with it when it comes or goes. */
const ALL: readonly AuthCollection[] = ["integrations", "oauth_providers", "domains", "email_server"];

/** The changes of the managed auth. */
export class AuthApi extends ReadApi {
  readonly #domainBatches: DomainBatches;

  constructor(options: ClientOptions) {
    super(options);
    this.#domainBatches = new DomainBatches((...batch) => this.#deleteDomainsAtOnce(...batch));
  }

  async createAuthIntegration(
    projectId: string,
    request: IntegrationRequest,
    options: CreateOptions<AuthIntegration> = {},
  ): Promise<KeySet> {
    const { auth_provider, branch_id } = request;
    const identity = (item: AuthIntegration): string => `${item.auth_provider} ${item.auth_provider_project_id}`;
    const known = options.known ?? (await this.listAuthIntegrations(projectId, { deadline: options.deadline }));
    const before = new Set(known.map(identity));
    const find = async (): Promise<KeySet | undefined> => {
      const listed = await this.listAuthIntegrations(projectId, { fresh: true });
      const made = listed.some(
        (item) => item.auth_provider === auth_provider && item.branch_id === branch_id && !before.has(identity(item)),
      );
      // Its key set went with the answer and cannot be read again: a new one is made.
      return made ? this.createAuthKeys(projectId, auth_provider, { onProgress: options.onProgress }) : undefined;
    };
    const call = this.#call("POST", "/projects/auth/create", projectId, options, { ...request, project_id: projectId });
    return this.core.changing(projectId, ALL, () =>
      sendOrFind(
        async () => (await this.core.caller.json(call, answers.keySet)).value,
        () => lookFor(find, this.core.settings.lookMs),
        "the integration",
      ),
    );
  }

  /** Repeatable: it makes another key set and leaves the older ones valid. */
  async createAuthKeys(projectId: string, authProvider: string, options: CallOptions = {}): Promise<KeySet> {
    const body = { project_id: projectId, auth_provider: authProvider };
    const call = this.#call("POST", "/projects/auth/keys", projectId, options, body);
    return (await this.core.caller.json({ ...call, repeatable: true }, answers.keySet)).value;
  }

  async deleteAuthIntegration(projectId: string, authProvider: string, options: CallOptions = {}): Promise<void> {
    const call = this.#call("DELETE", `${AUTH}/integration/{auth_provider}`, projectId, options);
    await this.#delete(projectId, ALL, { ...call, params: { ...call.params, auth_provider: authProvider } });
  }

  async createAuthUser(projectId: string, request: UserRequest, options: CallOptions = {}): Promise<{ id: string }> {
    const call = this.#call("POST", "/projects/auth/user", projectId, options, { ...request, project_id: projectId });
    try {
      const { value } = await this.core.caller.json(call, answers.user);
      return { id: value.id };
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

  async deleteAuthUser(projectId: string, userId: string, options: CallOptions = {}): Promise<void> {
    const call = this.#call("DELETE", `${AUTH}/users/{auth_user_id}`, projectId, options);
    await this.#delete(projectId, [], { ...call, params: { ...call.params, auth_user_id: userId } });
  }

  /** Repeatable: it only asks for an address, nothing is transferred before that is opened and confirmed (service.md 4.1). */
  async transferOwnership(
    projectId: string,
    authProvider: string,
    options: CallOptions = {},
  ): Promise<{ url: string }> {
    const body = { project_id: projectId, auth_provider: authProvider };
    const call = this.#call("POST", "/projects/auth/transfer_ownership", projectId, options, body);
    const send = () => this.core.caller.json({ ...call, repeatable: true }, answers.transfer);
    const { value } = await this.core.changing(projectId, ["integrations"], send);
    return { url: value.url };
  }

  async addOAuthProvider(
    projectId: string,
    request: { id: string } & OAuthCredentials,
    options: CreateOptions<OAuthProvider> = {},
  ): Promise<OAuthProvider> {
    const known = options.known ?? (await this.listOAuthProviders(projectId, { deadline: options.deadline }));
    const wasThere = known.some(({ id }) => id === request.id);
    const find = async (): Promise<OAuthProvider | undefined> =>
      wasThere ? undefined : this.#oauthProvider(projectId, request.id);
    const call = this.#call("POST", OAUTH_PROVIDERS, projectId, options, request);
    return this.core.changing(projectId, ["oauth_providers"], () =>
      sendOrFind(
        async () => (await this.core.caller.json(call, answers.oauthProvider)).value,
        () => lookFor(find, wasThere ? 0 : this.core.settings.lookMs),
        "the OAuth provider",
      ),
    );
  }

  async updateOAuthProvider(
    projectId: string,
    id: string,
    request: OAuthCredentials,
    options: CallOptions = {},
  ): Promise<OAuthProvider> {
    const call = this.#call("PATCH", OAUTH_PROVIDER, projectId, options, request);
    const params = { ...call.params, oauth_provider_id: id };
    return this.core.changing(projectId, ["oauth_providers"], async () => {
      const { value } = await this.core.caller.maybe({ ...call, params }, answers.oauthProvider);
      const stored = value ?? (await this.#oauthProvider(projectId, id));
      if (stored === undefined) {
        throw new NotFoundError("updated, but the list lacks it", { method: "GET", path: OAUTH_PROVIDERS });
      }
      return stored;
    });
  }

  async deleteOAuthProvider(projectId: string, id: string, options: CallOptions = {}): Promise<void> {
    const call = this.#call("DELETE", OAUTH_PROVIDER, projectId, options);
    await this.#delete(projectId, ["oauth_providers"], { ...call, params: { ...call.params, oauth_provider_id: id } });
  }

  async addDomain(
    projectId: string,
    domain: string,
    authProvider: string,
    options: CreateOptions<WhitelistDomain> = {},
  ): Promise<void> {
    const origin = normalisedOrigin(domain);
    const among = (domains: readonly WhitelistDomain[]): boolean =>
      domains.some((item) => normalisedOrigin(item.domain) === origin);
    const wasThere = among(options.known ?? (await this.listDomains(projectId, { deadline: options.deadline })));
    const find = async (): Promise<true | undefined> =>
      !wasThere && among(await this.listDomains(projectId, { fresh: true })) ? true : undefined;
    const call = this.#call("POST", DOMAINS, projectId, options, { domain, auth_provider: authProvider });
    await this.core.changing(projectId, ["domains"], () =>
      sendOrFind<unknown>(
        () => this.core.caller.maybe(call, answers.domains),
        () => lookFor(find, wasThere ? 0 : this.core.settings.lookMs),
        "the domain",
      ),
    );
  }

  /** Calls that come close together travel in one request. */
  async deleteDomains(
    projectId: string,
    domains: string[],
    authProvider: string,
    options: CallOptions = {},
  ): Promise<void> {
    if (domains.length === 0) return;
    const deadline = this.core.mutationDeadline(options.deadline);
    await within(deadline, this.#domainBatches.add(projectId, domains, authProvider, deadline), ({ totalMs }) =>
      outOfTime(totalMs, { method: "DELETE", path: DOMAINS }),
    );
  }

  async updateEmailServer(
    projectId: string,
    request: EmailServerRequest,
    options: CallOptions = {},
  ): Promise<EmailServer> {
    const call = this.#call("PATCH", `${AUTH}/email_server`, projectId, options, request);
    return this.core.changing(projectId, ["email_server"], async () => {
      const { value } = await this.core.caller.maybe(call, answers.emailServer);
      return value ?? this.getEmailServer(projectId, { fresh: true, deadline: options.deadline });
    });
  }

  #call(method: Call["method"], template: string, projectId: string, options: CallOptions, body?: unknown): Call {
    const deadline = this.core.mutationDeadline(options.deadline);
    return {
      method,
      template,
      params: { project_id: projectId },
      body,
      deadline,
      onProgress: quietly(options.onProgress),
    };
  }

  async #oauthProvider(projectId: string, id: string): Promise<OAuthProvider | undefined> {
    const listed = await this.listOAuthProviders(projectId, { fresh: true });
    return listed.find((item) => item.id === id);
  }

  /** What is gone already is as good as deleted. */
  async #delete(projectId: string, collections: readonly AuthCollection[], call: Call): Promise<void> {
    await this.core.changing(projectId, collections, async () => {
      try {
        await this.core.caller.maybe(call, answers.user);
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
      }
    });
  }

  async #deleteDomainsAtOnce(
    projectId: string,
    domains: string[],
    authProvider: string,
    deadline: Deadline,
  ): Promise<void> {
    const send = async (some: string[]): Promise<void> => {
      const body = { auth_provider: authProvider, domains: some.map((domain) => ({ domain })) };
      await this.core.caller.maybe(this.#call("DELETE", DOMAINS, projectId, { deadline }, body), answers.domains);
    };
    await this.core.changing(projectId, ["domains"], async () => {
      try {
        await send(domains);
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
        // One domain that is gone already may have spoilt the request for the others.
        const left = await this.#stillListed(projectId, domains);
        if (left.length < domains.length) {
          if (left.length > 0) await send(left);
          return;
        }
        // All of them are listed still: lists lag, and what is gone already is deleted.
        await sleep(this.core.settings.lookMs);
        for (const domain of await this.#stillListed(projectId, domains)) {
          await send([domain]).catch((one: unknown) => {
            if (!(one instanceof NotFoundError)) throw one;
          });
        }
      }
    });
  }

  async #stillListed(projectId: string, domains: readonly string[]): Promise<string[]> {
    try {
      const listed = await this.listDomains(projectId, { fresh: true });
      return domains.filter((domain) => listed.some((item) => item.domain === domain));
    } catch (error) {
      // The whitelist itself is gone, and all domains with it.
      if (error instanceof NotFoundError) return [];
      throw error;
    }
  }
}
