import type { AuthIntegrationRecord, Client, OAuthProviderRecord } from "../../src/client";
import { Gone, mayHaveTakenEffect, mustBeKnown } from "../../src/client";
import type { Properties } from "../../src/contract/hiddenKeys";
import { type Kind, typeToken } from "../../src/contract/pointer";
import type { ReadSetting } from "../../src/contract/settings";
import { remove } from "../../src/host/calls/deletion";
import { CallError } from "../../src/host/calls/failures";
import { create, read, update } from "../../src/host/calls/verbs";
import type { Hosted, Session } from "../../src/host/session";
import { livesIn } from "../../src/cli/declarations";
import { lifecycleOf } from "../../src/resources/lifecycles";
import { LIVE } from "./kinds";

/** An object that this run has made, with the state that a stack would hold. */
export interface Made {
  readonly kind: Kind;
  /** The Pulumi id, such as `prj-demo/ep-1`. */
  readonly id: string;
  /** The name of the resource in this run. */
  readonly name: string;
  outs: Properties;
  args: Properties;
}

interface Place {
  readonly projectId: string;
  readonly session: Session;
  /** Begins another one. */
  readonly start: () => Session;
  readonly read: ReadSetting;
  readonly client: Client;
  /** What every name of this run contains. */
  readonly token: string;
  /** In seconds. */
  readonly timeouts: Readonly<Record<"create" | "update" | "delete", number>>;
}

/**
 * What this run has made, by the lifecycles of the provider: they are called as the engine calls them. Only what is in
 * here is ever deleted.
 */
export class Objects {
  readonly #made: Made[] = [];
  /** The OAuth providers that the integration had from the start, by themselves. */
  readonly ownProviders = new Set<string>();
  /** The kinds of which something may have been made, and nothing is known of it. */
  readonly unproven = new Set<Kind>();

  constructor(private readonly place: Place) {}

  /** By its Pulumi id. */
  holds(id: string): boolean {
    return this.#made.some((one) => one.id === id);
  }

  /** What still exists, the latest first: an integration is deleted after what it contains. */
  get left(): readonly Made[] {
    return this.#made.toReversed();
  }

  named(name: string): Made {
    const made = this.#made.find((one) => one.name === name);
    if (made === undefined) throw new Error(`"${name}" was not created`);
    return made;
  }

  /** What a failed creation leaves behind counts as made. */
  async create(kind: Kind, name: string, given: Properties): Promise<Made> {
    const args = { projectId: this.place.projectId, ...given };
    const request = { urn: urnOf(kind, name), news: args, carried: {}, timeouts: this.place.timeouts };
    if (livesIn(kind, "AuthIntegration")) await this.proveIntegration();
    await this.#refuseForeign(kind);
    try {
      return this.adopt({ kind, name, args, ...(await create(this.#hosted(kind), request)) });
    } catch (error) {
      const kept = error instanceof CallError ? error.kept() : undefined;
      if (kept !== undefined) this.adopt({ kind, name, args, ...kept });
      else if (error instanceof CallError && mayHaveTakenEffect(error.cause)) this.unproven.add(kind);
      throw error;
    }
  }

  /**
   * Call right before something is created in the integration of this run: the name of an integration proves nothing,
   * and somebody may have put another one in its place.
   * @throws if it is not there any more.
   */
  async proveIntegration(): Promise<void> {
    const { client, projectId } = this.place;
    const id = this.#integration?.outs["authProviderProjectId"];
    if (typeof id !== "string") throw new Error("this run has no integration");
    await client.auth.ownIntegration(projectId, (item) => item.auth_provider_project_id === id, id).prove({});
  }

  /** Call right after an integration was created: what it has by then, it has by itself. */
  async noteOwnProviders(isOwn: (provider: OAuthProviderRecord) => boolean = () => true): Promise<void> {
    const { client, projectId } = this.place;
    const providers = await client.auth.oauthProviders(projectId).list({ since: performance.now() });
    for (const provider of providers.filter(isOwn)) this.ownProviders.add(provider.id);
  }

  /** An object that a request without a lifecycle makes. */
  adopt(made: Made): Made {
    this.#made.push(made);
    return made;
  }

  /** The same, if the service should have refused that: its state is read. */
  async take(kind: Kind, name: string, id: string): Promise<Made> {
    const made = this.adopt({ kind, name, id, args: {}, outs: {} });
    made.outs = (await this.read(made)) ?? {};
    return made;
  }

  /** @throws if a refresh does not find it. */
  async find(name: string): Promise<void> {
    if ((await this.read(this.named(name))) === undefined) throw new Error("a refresh does not find it");
  }

  /** Creates, reads, changes and removes it. */
  async tryOut(kind: Kind, name: string, args: Properties, changes?: Properties): Promise<void> {
    const made = await this.create(kind, name, args);
    await this.read(made);
    if (changes !== undefined) await this.update(name, changes);
    await this.remove(made);
  }

  async update(name: string, changes: Properties): Promise<Made> {
    const made = this.named(name);
    const { kind, id, outs, args } = made;
    const news = { ...args, ...changes };
    await this.#refuseForeign(kind);
    const request = { urn: urnOf(kind, name), id, outs, news, carried: {}, timeouts: this.place.timeouts };
    try {
      made.outs = await update(this.#hosted(kind), request);
      made.args = news;
    } catch (error) {
      made.outs = (error instanceof CallError ? error.kept()?.outs : undefined) ?? outs;
      throw error;
    }
    return made;
  }

  /** What a refresh would store; undefined: the object is gone. */
  async read({ kind, id, name, outs }: Made): Promise<Properties | undefined> {
    const request = { urn: urnOf(kind, name), id, outs, carried: {}, timeouts: undefined };
    return (await read(this.#hosted(kind), request))?.outs;
  }

  /** @throws if it may still exist. */
  async remove(made: Made): Promise<void> {
    await this.#refuseForeign(made.kind);
    const { kind, id, name, outs } = made;
    const { session, ...hosted } = this.#hosted(kind);
    // A run deletes nothing that it has created, nor after a failure (rules 4 and 9 of docs/design/rules.md).
    const another = { ...hosted, session: this.place.start() };
    await remove(another, { urn: urnOf(kind, name), id, outs, timeouts: this.place.timeouts });
    hosted.resource.objects(id, outs).forEach((object) => session.memory.objects.forgetOwner(object));
    if (await this.#isShown(made)) throw new Error("it was deleted, but the service still shows it");
    this.#made.splice(this.#made.indexOf(made), 1);
  }

  /** Whether a name was made for this run. */
  isOwn(text: unknown): boolean {
    return typeof text === "string" && text.toLowerCase().includes(this.place.token);
  }

  /** For what costs money or stands in the way of others: there the lifecycle is not believed. */
  async #isShown({ kind, id, outs }: Made): Promise<boolean> {
    const { client, projectId } = this.place;
    const fresh = { since: performance.now() };
    const isIt = (item: AuthIntegrationRecord): boolean =>
      item.auth_provider_project_id === outs["authProviderProjectId"];
    if (kind !== "ComputeEndpoint" && kind !== "AuthIntegration") return false;
    const found =
      kind === "ComputeEndpoint"
        ? await client.computes.find(projectId, id.slice(projectId.length + 1), fresh)
        : await client.auth.integrations(projectId).find(isIt, fresh);
    return !(mustBeKnown(found) instanceof Gone);
  }

  get #integration(): Made | undefined {
    return this.#made.find(({ kind }) => kind === "AuthIntegration");
  }

  /** An integration is deleted with everything in it, and every change of an e-mail server overwrites it. */
  async #refuseForeign(kind: Kind): Promise<void> {
    const { client, projectId } = this.place;
    if (kind !== "AuthIntegration" && kind !== "EmailServer") return;
    // If another one is in its place, the lifecycle deletes nothing.
    if (this.#integration === undefined || (await this.read(this.#integration)) === undefined) return;
    // The integration is there, so a list that is not shown proves nothing.
    const mail = await client.auth.emailServer(projectId, { since: performance.now() });
    const foreign = mail.type === "standard" && !this.isOwn(mail.host) ? ["an e-mail server"] : [];
    if (kind === "AuthIntegration") {
      const since = { since: performance.now() };
      const domains = await client.auth.domains(projectId).list(since);
      const providers = await client.auth.oauthProviders(projectId).list(since);
      foreign.push(...domains.filter(({ domain }) => !this.isOwn(domain)).map(({ domain }) => `domain ${domain}`));
      const others = providers.filter(({ id }) => !this.ownProviders.has(id) && !this.holds(`${projectId}/${id}`));
      foreign.push(...others.map(({ id }) => `OAuth provider ${id}`));
    }
    if (foreign.length > 0)
      throw new Error(`it stays, because it contains what this run cannot prove to be its own: ${foreign.join(", ")}`);
  }

  /** For one call. It knows only what it reads itself, like a command of its own. */
  #hosted(kind: Kind): Hosted<object, object> {
    this.place.client.forgetReads();
    return { resource: lifecycleOf(kind), session: this.place.session, readSetting: this.place.read };
  }
}

const urnOf = (kind: Kind, name: string): string => `urn:pulumi:live::pulumi-svc::${typeToken(kind)}::${name}`;

/** The request that deletes it by hand, for a person: or the integration that it is deleted with. */
export function byHand({ kind, id, args }: Pick<Made, "kind" | "id" | "args">, authProvider: string): string {
  const [projectId = "", ...rest] = id.split("/");
  const requestOf = LIVE[kind].byHand ?? LIVE.AuthIntegration.byHand;
  return requestOf?.({ projectId, rest: rest.join("/"), args, authProvider }) ?? "";
}
