import type {
  AuthIntegrationRecord,
  BranchRecord,
  Client,
  EmailServerRecord,
  EndpointRecord,
  OAuthProviderRecord,
  WhitelistDomainRecord,
} from "../client";

const now = () => ({ since: performance.now() });

/**
 * Reads for functions: each sends a request, since one process may run a program several times (Automation API) while
 * others change things. Equal reads at the same time share one request.
 */
export class FreshReads {
  readonly #client: Client;
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(client: Client) {
    this.#client = client;
  }

  endpoints(projectId: string): Promise<readonly EndpointRecord[]> {
    return this.#once(`endpoints ${projectId}`, () => this.#client.computes.list(projectId, now()));
  }

  /** Undefined: the service has no such route. */
  branches(projectId: string): Promise<readonly BranchRecord[] | undefined> {
    return this.#once(`branches ${projectId}`, () => this.#client.projects.branches(projectId, now()));
  }

  integrations(projectId: string): Promise<readonly AuthIntegrationRecord[]> {
    return this.#once(`integrations ${projectId}`, () => this.#client.auth.integrations(projectId).list(now()));
  }

  oauthProviders(projectId: string): Promise<readonly OAuthProviderRecord[]> {
    return this.#once(`oauth ${projectId}`, () => this.#client.auth.oauthProviders(projectId).list(now()));
  }

  domains(projectId: string): Promise<readonly WhitelistDomainRecord[]> {
    return this.#once(`domains ${projectId}`, () => this.#client.auth.domains(projectId).list(now()));
  }

  emailServer(projectId: string): Promise<EmailServerRecord> {
    return this.#once(`email ${projectId}`, () => this.#client.auth.emailServer(projectId, now()));
  }

  #once<T>(key: string, read: () => Promise<T>): Promise<T> {
    // One key is only ever asked with one read, so what is under way has that read's type.
    const underWay = this.#underWay.get(key) as Promise<T> | undefined;
    if (underWay !== undefined) return underWay;
    const flight = read().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, flight);
    return flight;
  }
}
