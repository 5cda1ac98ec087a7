import type * as o from "./options";
import type * as s from "./schemas";

function notYet(..._args: unknown[]): never {
  throw new Error("this call is not written yet");
}

/** The typed API of one account. */
export class Client {
  readonly baseUrl: string;
  constructor(options: o.ClientOptions) {
    this.baseUrl = options.baseUrl;
  }
  async listEndpoints(projectId: string, options?: o.ReadOptions): Promise<s.Endpoint[]> {
    return notYet(projectId, options);
  }
  async getEndpoint(projectId: string, endpointId: string, options?: o.ReadOptions): Promise<s.Endpoint | undefined> {
    return notYet(projectId, endpointId, options);
  }
  async listOperations(projectId: string, options?: o.ReadOptions): Promise<s.Operation[] | undefined> {
    return notYet(projectId, options);
  }
  async listBranches(projectId: string, options?: o.ReadOptions): Promise<s.Branch[] | undefined> {
    return notYet(projectId, options);
  }
  async getProject(projectId: string, options?: o.ReadOptions): Promise<s.Project | undefined> {
    return notYet(projectId, options);
  }
  async listAuthIntegrations(projectId: string, options?: o.ReadOptions): Promise<s.AuthIntegration[]> {
    return notYet(projectId, options);
  }
  async listOAuthProviders(projectId: string, options?: o.ReadOptions): Promise<s.OAuthProvider[]> {
    return notYet(projectId, options);
  }
  async listDomains(projectId: string, options?: o.ReadOptions): Promise<s.WhitelistDomain[]> {
    return notYet(projectId, options);
  }
  async getEmailServer(projectId: string, options?: o.ReadOptions): Promise<s.EmailServer> {
    return notYet(projectId, options);
  }
  async createAuthIntegration(
    projectId: string,
    request: o.IntegrationRequest,
    options?: o.CreateOptions<s.AuthIntegration>,
  ): Promise<s.KeySet> {
    return notYet(projectId, request, options);
  }
  async createAuthKeys(projectId: string, authProvider: string, options?: o.CallOptions): Promise<s.KeySet> {
    return notYet(projectId, authProvider, options);
  }
  async deleteAuthIntegration(projectId: string, authProvider: string, options?: o.CallOptions): Promise<void> {
    return notYet(projectId, authProvider, options);
  }
  async createAuthUser(projectId: string, request: o.UserRequest, options?: o.CallOptions): Promise<{ id: string }> {
    return notYet(projectId, request, options);
  }
  async deleteAuthUser(projectId: string, userId: string, options?: o.CallOptions): Promise<void> {
    return notYet(projectId, userId, options);
  }
  async transferOwnership(projectId: string, authProvider: string, options?: o.CallOptions): Promise<{ url: string }> {
    return notYet(projectId, authProvider, options);
  }
  async addOAuthProvider(
    projectId: string,
    request: { id: string } & o.OAuthCredentials,
    options?: o.CreateOptions<s.OAuthProvider>,
  ): Promise<s.OAuthProvider> {
    return notYet(projectId, request, options);
  }
  async updateOAuthProvider(
    projectId: string,
    id: string,
    request: o.OAuthCredentials,
    options?: o.CallOptions,
  ): Promise<s.OAuthProvider> {
    return notYet(projectId, id, request, options);
  }
  async deleteOAuthProvider(projectId: string, id: string, options?: o.CallOptions): Promise<void> {
    return notYet(projectId, id, options);
  }
  async addDomain(
    projectId: string,
    domain: string,
    authProvider: string,
    options?: o.CreateOptions<s.WhitelistDomain>,
  ): Promise<void> {
    return notYet(projectId, domain, authProvider, options);
  }
  async deleteDomains(
    projectId: string,
    domains: string[],
    authProvider: string,
    options?: o.CallOptions,
  ): Promise<void> {
    return notYet(projectId, domains, authProvider, options);
  }
  async updateEmailServer(
    projectId: string,
    request: o.EmailServerRequest,
    options?: o.CallOptions,
  ): Promise<s.EmailServer> {
    return notYet(projectId, request, options);
  }
  async createEndpoint(
    projectId: string,
    attributes: o.EndpointAttributes,
    options?: o.CreateEndpointOptions,
  ): Promise<s.Endpoint> {
    return notYet(projectId, attributes, options);
  }
  async updateEndpoint(
    projectId: string,
    endpointId: string,
    attributes: o.EndpointAttributes,
    options?: o.ChangeOptions,
  ): Promise<s.Endpoint> {
    return notYet(projectId, endpointId, attributes, options);
  }
  async deleteEndpoint(projectId: string, endpointId: string, options?: o.CallOptions): Promise<void> {
    return notYet(projectId, endpointId, options);
  }
  async restartEndpoint(projectId: string, endpointId: string, options?: o.ChangeOptions): Promise<s.Endpoint> {
    return notYet(projectId, endpointId, options);
  }
  async startEndpoint(
    projectId: string,
    endpointId: string,
    options?: o.ChangeOptions,
  ): Promise<s.Endpoint | undefined> {
    return notYet(projectId, endpointId, options);
  }
  async waitForEndpoint(projectId: string, endpointId: string, options?: o.ChangeOptions): Promise<s.Endpoint> {
    return notYet(projectId, endpointId, options);
  }
}

export function createClient(options: o.ClientOptions): Client {
  return new Client(options);
}
