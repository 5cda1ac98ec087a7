import type { Entry, Stack } from "./program";
import { AUTH_PROVIDER, branch, type Json, type World } from "./world";

/** What somebody else does in the same project by hand. */
export type Deed =
  | { readonly do: "primary" | "replica"; readonly branch: number }
  | { readonly do: "delete compute" | "resize compute"; readonly which: number }
  | { readonly do: "add domain" | "remove domain"; readonly domain: string }
  | { readonly do: "add provider" | "remove provider" }
  | { readonly do: "add user" | "remove user"; readonly email: string }
  | { readonly do: "integrate" | "disintegrate" | "mail" }
  /** Replaces the existing integration by another one with objects of the same names. */
  | { readonly do: "replace"; readonly at: "onList" | "onTrouble"; readonly domains: readonly string[] };

/** A size that no program of the model declares: it distinguishes the colleague's computes from ours. */
const THEIR_CU = 3;
export const THEIR_CLIENT = "theirs";
const THEIR_HOST = "theirs.example.com";

/** The second actor, who remembers his objects. He uses nothing of the provider under test. */
export class Colleague {
  readonly computes = new Set<string>();
  readonly integrations = new Set<string>();
  /** Domains and OAuth providers, each with its integration. */
  readonly domains = new Map<string, string>();
  readonly providers = new Map<string, string>();
  /**
   * The integrations whose mail server he has configured, and whose OAuth provider he has given credentials, in a
   * `replace`.
   */
  readonly mails = new Set<string>();
  readonly credentials = new Set<string>();
  /** Users by id, each with the integration and the address. */
  readonly users = new Map<string, { readonly home: string; readonly email: string }>();
  /** The number of objects he removed: then not everything reported by a run must still exist. */
  removals = 0;
  /** The number of existing objects he changed. */
  edits = 0;

  constructor(
    readonly service: World,
    readonly projectId: string,
  ) {}

  /** `meanwhile`: during a command of ours, when he avoids doing exactly the same as we do. */
  async act(deed: Deed, stack: Stack, meanwhile: boolean): Promise<void> {
    const path = `/projects/${this.projectId}`;
    if (deed.do === "primary" || deed.do === "replica") {
      const type = deed.do === "primary" ? "read_write" : "read_only";
      const limits = { autoscaling_limit_min_cu: THEIR_CU, autoscaling_limit_max_cu: THEIR_CU };
      const endpoint = { branch_id: branch(this.projectId, deed.branch), type, ...limits };
      const { status, body } = await this.#send("POST", `${path}/endpoints`, { endpoint });
      // The record is under this key.
      if (status === 201) this.computes.add(String((body["endpoint"] as Json)["id"]));
    } else if (deed.do === "delete compute" || deed.do === "resize compute") {
      const all = await this.service.computes(this.projectId);
      const id = all[deed.which % Math.max(1, all.length)]?.["id"];
      if (id === undefined) return;
      if (deed.do === "resize compute") {
        this.edits += 1;
        const endpoint = { autoscaling_limit_min_cu: 5, autoscaling_limit_max_cu: 5 };
        return void (await this.#send("PATCH", `${path}/endpoints/${String(id)}`, { endpoint }));
      }
      this.removals += 1;
      await this.#send("DELETE", `${path}/endpoints/${String(id)}`);
      this.computes.delete(String(id));
    } else if (deed.do === "add domain") {
      const domain = meanwhile ? "https://theirs.example.com" : deed.domain;
      const home = await this.home();
      const ours = holdsDomain(stack.state, `${this.projectId}/${domain}`, home);
      const { status } = await this.#send("POST", `${path}/auth/domains`, { domain, auth_provider: AUTH_PROVIDER });
      // A Whitelist of ours ignores it until a refresh has shown it.
      if (status === 201) this.edits += 1;
      if (status === 201 && !ours && home !== undefined) this.domains.set(domain, home);
    } else if (deed.do === "remove domain") {
      this.removals += 1;
      const sent = { auth_provider: AUTH_PROVIDER, domains: [{ domain: deed.domain }] };
      await this.#send("DELETE", `${path}/auth/domains`, sent);
      this.domains.delete(deed.domain);
    } else if (deed.do === "add provider") {
      const home = await this.home();
      const ours = isHeld(stack.state, `${this.projectId}/own`, home);
      // A list shows only the type: beside our provider, his has another type.
      const sent = { id: "own", ...(!meanwhile && { client_id: THEIR_CLIENT, client_secret: "their secret" }) };
      const { status } = await this.#send("POST", `${path}/auth/oauth_providers`, sent);
      if (status < 300 && !ours && home !== undefined) this.providers.set("own", home);
    } else if (deed.do === "remove provider") {
      this.removals += 1;
      await this.#send("DELETE", `${path}/auth/oauth_providers/own`);
      this.providers.delete("own");
    } else if (deed.do === "add user") {
      const sent = { project_id: this.projectId, auth_provider: AUTH_PROVIDER, email: deed.email };
      const home = await this.home();
      const { status, body } = await this.#send("POST", "/projects/auth/user", sent);
      if (status === 201 && home !== undefined) this.users.set(String(body["id"]), { home, email: deed.email });
    } else if (deed.do === "remove user") {
      // Only his own: if one of ours were gone, nothing would ever show it.
      const [id] = [...this.users].find(([, { email }]) => email === deed.email) ?? [];
      if (id === undefined) return;
      await this.#send("DELETE", `${path}/auth/users/${id}`);
      this.users.delete(id);
    } else if (deed.do === "integrate") {
      const sent = { project_id: this.projectId, auth_provider: AUTH_PROVIDER, branch_id: branch(this.projectId, 1) };
      const answer = await this.#send("POST", "/projects/auth/create", { ...sent, database_name: "theirs" });
      if (answer.status === 201) this.integrations.add(String(answer.body["auth_provider_project_id"]));
    } else if (deed.do === "disintegrate") {
      this.removals += 1;
      const home = await this.home();
      await this.#send("DELETE", `${path}/auth/integration/${AUTH_PROVIDER}`);
      if (home !== undefined) this.integrations.delete(home);
    } else if (deed.do === "replace") {
      await this.act({ do: "disintegrate" }, stack, meanwhile);
      await this.act({ do: "integrate" }, stack, meanwhile);
      const home = await this.home();
      if (home === undefined || !this.integrations.has(home)) return;
      const sent = { id: "own", client_id: THEIR_CLIENT, client_secret: "their secret" };
      if ((await this.#send("POST", `${path}/auth/oauth_providers`, sent)).status < 300) {
        this.providers.set("own", home);
        this.credentials.add(home);
      }
      for (const domain of deed.domains) {
        const { status } = await this.#send("POST", `${path}/auth/domains`, { domain, auth_provider: AUTH_PROVIDER });
        if (status === 201) this.domains.set(domain, home);
      }
      await this.act({ do: "mail" }, stack, meanwhile);
      this.mails.add(home);
    } else {
      this.edits += 1;
      const smtp = { host: THEIR_HOST, port: 25, username: "t", password: "t", sender_name: "T" };
      const sent = { type: "standard", ...smtp, sender_email: "t@example.com" };
      await this.#send("PATCH", `${path}/auth/email_server`, sent);
    }
  }

  /** The current integration. */
  async home(): Promise<string | undefined> {
    return homeIn(await this.service.holdings(this.projectId));
  }

  /**
   * Conflicts between his objects and our state. What `adopt` took over is ours from then on, and so is everything in a
   * Whitelist, which owns the whole list. `clears`: a Whitelist was declared, which removes everything that it does not
   * list.
   */
  async complaints({ state }: Stack, clears: boolean): Promise<string[]> {
    const found: string[] = [];
    const held = await this.service.holdings(this.projectId);
    const home = homeIn(held);
    const taken = (what: string, entry: Entry, forget: () => unknown): void => {
      if (entry.inputs["adopt"] === true) forget();
      else found.push(`${what} of the colleague is in our state as "${entry.name}", which does not say adopt`);
    };
    for (const entry of state) {
      const [, rest = ""] = entry.id.split(/\/(.*)/s);
      const isHere = [undefined, home].includes(homeOf(entry));
      if (entry.kind === "ComputeEndpoint" && this.computes.has(rest)) {
        taken(`compute ${rest}`, entry, () => this.computes.delete(rest));
      }
      if (entry.kind === "AuthIntegration" && this.integrations.has(homeOf(entry) ?? "")) {
        taken("the integration", entry, () => this.integrations.delete(homeOf(entry) ?? ""));
      }
      if (entry.kind === "WhitelistDomain" && isHere && this.domains.get(rest) === home && home !== undefined) {
        taken(`domain ${rest}`, entry, () => this.domains.delete(rest));
      }
      if (entry.kind === "Whitelist" && isHere && home !== undefined) {
        for (const domain of domainsOf(entry)) this.domains.delete(domain);
      }
      if (entry.kind === "AuthUser" && this.users.has(rest)) {
        found.push(`user ${rest} of the colleague is in our state as "${entry.name}"`);
      }
      if (entry.kind === "OAuthProvider" && isHere && this.providers.get(rest) === home && home !== undefined) {
        taken(`OAuth provider ${rest}`, entry, () => {
          this.providers.delete(rest);
          this.credentials.delete(home);
        });
      }
      // Created there: a project's only configuration is always adopted, and this is announced.
      if (entry.kind === "EmailServer" && isHere && home !== undefined) this.mails.delete(home);
    }
    const keysOf = (list: string, key: string): Set<string> =>
      new Set((held[list] as Json[]).map((record) => String(record[key])));
    const computes = keysOf("endpoints", "id");
    for (const id of this.computes) if (!computes.has(id)) found.push(`compute ${id} of the colleague was deleted`);
    for (const id of this.integrations) if (id !== home) found.push("the integration of the colleague was deleted");
    // Deleting an integration deletes its objects.
    const domains = keysOf("domains", "domain");
    for (const [domain, where] of this.domains) {
      if (where !== home || domains.has(domain)) continue;
      if (clears) this.domains.delete(domain);
      else found.push(`domain ${domain} of the colleague was deleted`);
    }
    const users = keysOf("users", "id");
    for (const [id, { home: where }] of this.users)
      if (where === home && !users.has(id)) found.push(`user ${id} of the colleague was deleted`);
    const providers = keysOf("oauth_providers", "id");
    for (const [id, where] of this.providers)
      if (where === home && !providers.has(id)) found.push(`OAuth provider ${id} of the colleague was deleted`);
    if (home !== undefined && this.mails.has(home) && (held["email_server"] as Json)["host"] !== THEIR_HOST)
      found.push("the mail server of the colleague was changed");
    const own = (held["oauth_providers"] as Json[]).find(({ id }) => id === "own");
    const isHis = home !== undefined && this.credentials.has(home) && this.providers.get("own") === home;
    if (isHis && own !== undefined && own["client_id"] !== THEIR_CLIENT)
      found.push("the OAuth provider of the colleague was changed");
    return found;
  }

  /** Ignores the result: he may be refused. */
  #send(method: string, path: string, body?: Json) {
    return this.service.ask(method, path, body);
  }
}

function homeIn({ integrations }: Json): string | undefined {
  const [integration] = integrations as Json[];
  return integration === undefined ? undefined : String(integration["auth_provider_project_id"]);
}

/** The auth project in which an entry was created, if known. */
export const homeOf = ({ outs }: Entry): string | undefined =>
  outs["authProviderProjectId"] === undefined ? undefined : String(outs["authProviderProjectId"]);

/** The domains in a Whitelist's state. */
const domainsOf = ({ outs }: Entry): string[] => (Array.isArray(outs["domains"]) ? outs["domains"].map(String) : []);

const holdsDomain = (state: readonly Entry[], id: string, home: string | undefined): boolean =>
  isHeld(state, id, home) ||
  state.some(
    (entry) =>
      entry.kind === "Whitelist" &&
      [undefined, home].includes(homeOf(entry)) &&
      domainsOf(entry).some((domain) => `${entry.id}/${domain}` === id),
  );

const isHeld = (state: readonly Entry[], id: string, home: string | undefined): boolean =>
  state.some((entry) => entry.id === id && [undefined, home].includes(homeOf(entry)));
