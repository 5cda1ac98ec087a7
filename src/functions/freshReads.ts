import type { AuthIntegration, Branch, Client, EmailServer, Endpoint, OAuthProvider, WhitelistDomain } from "../client";

/**
 * Reads for functions: each asks the service, since one process may run a program several times (Automation API) while
 * others change things. Those that come while the same is being asked share its answer.
 */
export class FreshReads {
  readonly #client: Client;
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(client: Client) {
    this.#client = client;
  }

  endpoints(projectId: string): Promise<Endpoint[]> {
    return this.#once(`endpoints ${projectId}`, () => this.#client.listEndpoints(projectId, { fresh: true }));
  }

  /** Undefined: the service has no such route (it is not part of service.md). */
  branches(projectId: string): Promise<Branch[] | undefined> {
    return this.#once(`branches ${projectId}`, () => this.#client.listBranches(projectId, { fresh: true }));
  }

  integrations(projectId: string): Promise<AuthIntegration[]> {
    return this.#once(`integrations ${projectId}`, () => this.#client.listAuthIntegrations(projectId, { fresh: true }));
  }

  oauthProviders(projectId: string): Promise<OAuthProvider[]> {
    return this.#once(`oauth ${projectId}`, () => this.#client.listOAuthProviders(projectId, { fresh: true }));
  }

  domains(projectId: string): Promise<WhitelistDomain[]> {
    return this.#once(`domains ${projectId}`, () => this.#client.listDomains(projectId, { fresh: true }));
  }

  emailServer(projectId: string): Promise<EmailServer> {
    return this.#once(`email ${projectId}`, () => this.#client.getEmailServer(projectId, { fresh: true }));
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
