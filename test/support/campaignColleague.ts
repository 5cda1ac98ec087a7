import { SHOPS_APART } from "./faultCampaign";
import { type Asked, Gateway } from "./Gateway";
import type { Json } from "./emulator";
import type { Service } from "./service";

const DEMO = "prj-demo";
const LOCKED = { status: 423, body: { request_id: "r", code: "", message: "project already has running operations" } };

interface Thing {
  readonly kind: string;
  readonly project: string;
  readonly id: string;
}

/** What the colleague forestalled: a request of ours. */
export interface Met {
  readonly route: string;
  /** Its name in the message of a failure. */
  readonly named: string;
}

const listOf = (project: Json | undefined, name: string): Json[] => (project?.[name] ?? []) as Json[];

/**
 * The colleague of the fault campaign. At the first attempt of each changing request he replaces its object; that
 * attempt is answered with a 423, so another one follows. He acts by the control routes, like an operator.
 */
export class CampaignColleague {
  /** What he forestalled since this was emptied. */
  readonly met: Met[] = [];
  /** What he failed to do: an error of the test. */
  readonly failures: string[] = [];
  /** Computes that he created or deleted: their operations do not concern ours. */
  readonly hisComputes = new Set<string>();
  readonly #armed = new Map<string, RegExp>();
  /** What he created since the last `giveWay`, as stored by the service. */
  #made: (Thing & { readonly record: string })[] = [];
  /** His actions run in sequence. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly service: Service,
    readonly gateway: Gateway,
    /** The compute that the program adopts. */
    public adopted: string,
  ) {
    gateway.instead = (asked) => {
      const deed = this.#last.then(() => this.#meet(asked));
      this.#last = deed.catch((error: unknown) => this.failures.push(String(error)));
      return deed;
    };
  }

  static async start(service: Service, adopted: string): Promise<CampaignColleague> {
    for (const id of SHOPS_APART) {
      await service.addProject({ id });
      await service.edit({ kind: "integration", project_id: id, create: { branch_id: `br-main-${id}` } });
    }
    return new CampaignColleague(service, await Gateway.start(service.emulator.baseUrl), adopted);
  }

  arm(route: string): void {
    const [method = "", path = ""] = route.split(" ");
    this.#armed.set(route, new RegExp(`^${method} ${path.replace(/\{\w+\}/g, "([^/]+)")}$`));
  }

  /** Routes that he has not met yet. */
  get left(): string[] {
    return [...this.#armed.keys()];
  }

  /** Objects that he created and that are missing or changed. */
  async harm(): Promise<string[]> {
    const now = await this.#records();
    return this.#made
      .filter(({ record }) => !now.some((one) => one.record === record))
      .map(({ record }) => `${record} is now ${now.map((one) => one.record).join("; ")}`);
  }

  /** Removes his objects that conflict with ours; the others stay and are returned. */
  async giveWay(): Promise<string[]> {
    for (const { kind, project, id } of this.#made.filter(isInTheWay(this.adopted)))
      await this.service.edit({ kind, project_id: project, id, delete: true });
    const there = await this.#records();
    // Deleting his integration in our project deletes its objects.
    this.#made = this.#made.filter(
      ({ id, record }) => id !== this.adopted && there.some((one) => one.record === record),
    );
    return this.#made.map(({ record }) => record);
  }

  async #meet({ method, path, sent }: Asked): Promise<Json | undefined> {
    const [route, pattern] = [...this.#armed].find(([, one]) => one.test(`${method} ${path}`)) ?? [];
    if (route === undefined || pattern === undefined || method === "GET") return undefined;
    const body = (sent === "" ? {} : JSON.parse(sent)) as Json;
    const [, inPath, id] = pattern.exec(`${method} ${path}`) ?? [];
    const project = inPath ?? String(body["project_id"]);
    // For an integration's objects, only the request in their own project: in the other one everything is deleted
    // together.
    if (route.includes("/auth/") && !/auth\/(create|integration)/.test(route) && project === DEMO) return undefined;
    if (id === this.adopted && !route.endsWith("/start")) return undefined;
    this.#armed.delete(route);
    const before = (await this.#records()).map(({ record }) => record);
    const isCompute = route.includes("/endpoints");
    const made = isCompute ? await this.#replaceCompute(body["endpoint"] as Json | undefined, id) : undefined;
    if (!isCompute) await this.#replaceIntegration(project);
    // Other requests of ours go on meanwhile, and create computes of ours.
    const isHis = (one: Thing) => (isCompute ? one.id === made : one.kind !== "endpoint" && one.project === project);
    this.#made.push(...(await this.#records()).filter((one) => isHis(one) && !before.includes(one.record)));
    const creation = isCompute ? "create ComputeEndpoint" : "create AuthIntegration";
    const isOfCreation = id === undefined || route.endsWith("/start");
    this.met.push({ route, named: project !== DEMO ? project : isOfCreation ? creation : id });
    return LOCKED;
  }

  /** Returns the id of the new compute. */
  async #replaceCompute(declared: Json | undefined, id: string | undefined): Promise<string> {
    const { projects } = await this.service.state();
    const old = listOf(
      projects.find((one) => one["id"] === DEMO),
      "endpoints",
    ).find((one) => one["id"] === id);
    const { branch_id, type = "read_write" } = old ?? declared ?? {};
    if (id !== undefined) {
      await this.service.edit({ kind: "endpoint", id, delete: true });
      this.hisComputes.add(id);
    }
    const size = id === this.adopted ? 1 : 3;
    const limits = { autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size };
    const made = String((await this.service.edit({ kind: "endpoint", create: { branch_id, type, ...limits } }))["id"]);
    // He replaces the adopted object by the new one.
    if (id === this.adopted) this.adopted = made;
    else this.hisComputes.add(made);
    return made;
  }

  async #replaceIntegration(project_id: string): Promise<void> {
    const plant = (kind: string, create: object) => this.service.edit({ kind, project_id, create });
    // Replacing it also deletes his objects inside it.
    this.#made = this.#made.filter(({ project, kind }) => project !== project_id || kind === "endpoint");
    const { projects } = await this.service.state();
    const [standing] = listOf(
      projects.find(({ id }) => id === project_id),
      "integrations",
    );
    if (standing !== undefined)
      await this.service.edit({ kind: "integration", project_id, id: standing["auth_provider"], delete: true });
    const branch_id = project_id === DEMO ? "br-main" : `br-main-${project_id}`;
    await plant("integration", { branch_id, database_name: "theirs", role_name: "theirs" });
    for (const name of ["list1", "app1", "app2", "theirs"])
      await plant("domain", { domain: `https://${name}.example.com` });
    for (const name of ["user1", "user2", "theirs"]) await plant("user", { email: `${name}@example.com` });
    const credentials = { type: "standard", client_id: "theirs", client_secret: "theirs-too" };
    for (const id of ["gitlab", "discord"]) await plant("oauth_provider", { id, ...credentials });
    const sender = { sender_email: "t@example.com", sender_name: "Theirs" };
    await plant("email_server", {
      type: "standard",
      host: "theirs",
      port: 25,
      username: "t",
      password: "t",
      ...sender,
    });
  }

  async #records(): Promise<(Thing & { record: string })[]> {
    const { projects } = await this.service.state();
    return projects
      .filter(({ id }) => id === DEMO || SHOPS_APART.includes(String(id)))
      .flatMap((project) => {
        const of = (kind: string, key: string, all: readonly Json[]) =>
          all.map((one) => {
            // A compute becomes idle by itself, and anyone can request a token.
            const { transfer_token_hashes: _, ...kept } = one;
            const { id, branch_id, type, autoscaling_limit_max_cu: cu } = one;
            const shown = kind === "endpoint" ? { id, branch_id, type, cu } : kept;
            return {
              kind,
              project: String(project["id"]),
              id: String(one[key] ?? ""),
              record: `${String(project["id"])} ${JSON.stringify(shown)}`,
            };
          });
        return [
          ...of("endpoint", "id", listOf(project, "endpoints")),
          ...of("integration", "auth_provider", listOf(project, "integrations")),
          ...of("domain", "domain", listOf(project, "domains")),
          ...of("user", "id", listOf(project, "users")),
          ...of("oauth_provider", "id", listOf(project, "oauth_providers")),
          ...of("email_server", "type", [project["email_server"] as Json]),
        ];
      });
  }
}

const isInTheWay =
  (adopted: string) =>
  ({ kind, project, id }: Thing): boolean =>
    kind === "endpoint" ? id !== adopted : project === DEMO ? kind === "integration" : isOfOurNames(kind, id);

/** Whether the program declares an object with this name; users have generated ids and are all removed. */
const isOfOurNames = (kind: string, id: string): boolean =>
  ["user", "email_server"].includes(kind) || /\/\/(list|app)\d|gitlab/.test(id);
