import type { Call } from "./caller";
import { type Collection, Core } from "./core";
import { Deadline } from "./deadline";
import { inSeconds, SvcError, TimeoutError } from "./errors";
import { LaterLists } from "./laterLists";
import type { ClientOptions, ListOptions, ReadOptions } from "./options";
import {
  answers,
  type AuthIntegration,
  type Branch,
  type EmailServer,
  type Endpoint,
  type OAuthProvider,
  type Operation,
  type Project,
  type WhitelistDomain,
} from "./schemas";
import { within } from "./within";

type Extra = Pick<Call, "query" | "retry">;

const PROJECT = "/projects/{project_id}";

/** What a route answers that the service does not have, and a route whose object is gone. */
const isAbsent = (error: unknown): error is SvcError =>
  error instanceof SvcError && (error.status === 404 || error.status === 405);

/** The reads: shared, and kept until a change of what they read. */
export class ReadApi {
  /** Held back from inspection: a Client that is logged must not show the key. */
  readonly #core: Core;
  readonly baseUrl: string;
  /** Routes found to be absent, with their project. */
  readonly #absent = new Set<string>();
  readonly #laterEndpoints = new LaterLists<Endpoint[]>();
  readonly #laterIntegrations = new LaterLists<AuthIntegration[]>();
  readonly #laterProviders = new LaterLists<OAuthProvider[]>();
  readonly #laterDomains = new LaterLists<WhitelistDomain[]>();

  constructor(options: ClientOptions) {
    this.#core = new Core(options);
    this.baseUrl = this.#core.settings.baseUrl;
  }

  protected get core(): Core {
    return this.#core;
  }

  /** Closes kept connections. Not needed for the process to end. */
  close(): void {
    this.#core.close();
  }

  async listEndpoints(projectId: string, options?: ListOptions<Endpoint>): Promise<Endpoint[]> {
    return this.#showing("endpoints", this.#laterEndpoints, projectId, options, (look) =>
      this.endpointsOf(projectId, look),
    );
  }

  /** From the list, so that undefined has the word of a good answer. */
  async getEndpoint(projectId: string, endpointId: string, options?: ReadOptions): Promise<Endpoint | undefined> {
    const endpoints = await this.listEndpoints(projectId, options);
    return endpoints.find(({ id }) => id === endpointId);
  }

  /**
   * Undefined when it is gone for sure: a list right after a creation can lag (service-notes.md, "Behaviour"), so one that
   * lacks the compute is not believed before its own route (where there is one) and a later list say the same.
   */
  async findEndpoint(projectId: string, endpointId: string, options?: ReadOptions): Promise<Endpoint | undefined> {
    const isIt = ({ id }: Endpoint): boolean => id === endpointId;
    const listed =
      (await this.getEndpoint(projectId, endpointId, options)) ??
      (await this.#ownRecord(projectId, endpointId, options));
    if (listed !== undefined) return listed;
    const shows = (endpoints: readonly Endpoint[]): boolean => endpoints.some(isIt);
    return (await this.listEndpoints(projectId, { deadline: options?.deadline, shows })).find(isIt);
  }

  /** The newest operations of the project, newest first; undefined: the service has no such route. */
  async listOperations(projectId: string, options?: ReadOptions): Promise<Operation[] | undefined> {
    return this.operationsOf(projectId, options);
  }

  /** Undefined: the service has no such route. */
  async listBranches(projectId: string, options?: ReadOptions): Promise<Branch[] | undefined> {
    return this.#optional("branches", projectId, options, async () => {
      const { branches } = await this.#core.read(
        "branches",
        projectId,
        `${PROJECT}/branches`,
        answers.branches,
        options,
      );
      return [...branches];
    });
  }

  /** Undefined: the service has no such route. */
  async getProject(projectId: string, options?: ReadOptions): Promise<Project | undefined> {
    return this.#optional("project", projectId, options, async () => {
      const { project } = await this.#core.read("project", projectId, PROJECT, answers.project, options);
      return project;
    });
  }

  async listAuthIntegrations(projectId: string, options?: ListOptions<AuthIntegration>): Promise<AuthIntegration[]> {
    const template = `${PROJECT}/auth/integrations`;
    return this.#showing("integrations", this.#laterIntegrations, projectId, options, async (look) => {
      const { data } = await this.#core.read("integrations", projectId, template, answers.integrations, look);
      return [...data];
    });
  }

  async listOAuthProviders(projectId: string, options?: ListOptions<OAuthProvider>): Promise<OAuthProvider[]> {
    const template = `${PROJECT}/auth/oauth_providers`;
    return this.#showing("oauth_providers", this.#laterProviders, projectId, options, async (look) => {
      const answer = await this.#core.read("oauth_providers", projectId, template, answers.oauthProviders, look);
      return [...answer.providers];
    });
  }

  async listDomains(projectId: string, options?: ListOptions<WhitelistDomain>): Promise<WhitelistDomain[]> {
    const template = `${PROJECT}/auth/domains`;
    return this.#showing("domains", this.#laterDomains, projectId, options, async (look) => {
      const { domains } = await this.#core.read("domains", projectId, template, answers.domains, look);
      return [...domains];
    });
  }

  async getEmailServer(projectId: string, options?: ReadOptions): Promise<EmailServer> {
    const template = `${PROJECT}/auth/email_server`;
    return this.#core.read("email_server", projectId, template, answers.emailServer, options);
  }

  protected async endpointsOf(projectId: string, options?: ReadOptions, extra?: Extra): Promise<Endpoint[]> {
    const template = `${PROJECT}/endpoints`;
    const answer = await this.#core.read("endpoints", projectId, template, answers.endpoints, options, extra);
    return [...answer.endpoints];
  }

  protected async operationsOf(
    projectId: string,
    options?: ReadOptions,
    extra?: Extra,
  ): Promise<Operation[] | undefined> {
    return this.#optional("operations", projectId, options, async () => {
      const template = `${PROJECT}/operations`;
      const query = { query: "limit=100", ...extra };
      const answer = await this.#core.read("operations", projectId, template, answers.operations, options, query);
      return [...answer.operations];
    });
  }

  async #ownRecord(
    project_id: string,
    endpoint_id: string,
    { deadline = new Deadline(this.#core.settings.readDeadlineMs) }: ReadOptions = {},
  ): Promise<Endpoint | undefined> {
    const template = `${PROJECT}/endpoints/{endpoint_id}`;
    const call: Call = { method: "GET", template, params: { project_id, endpoint_id }, deadline };
    try {
      return (await this.#core.caller.json(call, answers.endpointChange)).value.endpoint;
    } catch (error) {
      if (!isAbsent(error)) throw error;
      return undefined;
    }
  }

  async #showing<T>(
    collection: Collection,
    later: LaterLists<T[]>,
    projectId: string,
    { shows, ...options }: ListOptions<T> = {},
    list: (look: ReadOptions) => Promise<T[]>,
  ): Promise<T[]> {
    const epoch = this.#core.epoch(collection, projectId);
    const items = await list(options);
    if (shows === undefined || shows(items)) return items;
    const missing = { list: items, isLackedBy: (some: T[]) => !shows(some), epoch };
    const coming = later.get(projectId, this.#core.settings.lookMs, missing, () => list({ fresh: true }));
    const late = ({ totalMs }: Deadline): Error =>
      new TimeoutError(`no second list of its ${collection} within ${inSeconds(totalMs)}`);
    return within(options.deadline, coming, late);
  }

  /** For routes that not every service has (404, 405). What the project itself lacks is told apart by its endpoint list. */
  async #optional<T>(
    route: string,
    projectId: string,
    { deadline }: ReadOptions = {},
    read: () => Promise<T>,
  ): Promise<T | undefined> {
    const key = `${route} ${projectId}`;
    if (this.#absent.has(key)) return undefined;
    try {
      return await read();
    } catch (error) {
      if (!isAbsent(error)) throw error;
      // For a project that does not exist this throws, and says so.
      await this.listEndpoints(projectId, { deadline });
      this.#absent.add(key);
      return undefined;
    }
  }
}
