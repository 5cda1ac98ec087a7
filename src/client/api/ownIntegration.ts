/**
 * Decides whether an integration is still the one that a change is meant for, and is the only code that does
 * (docs/design/rules.md, 2). Routes name an integration by its project and auth provider, so a change could reach
 * another one that took its place.
 */
import type { SendOptions } from "../changes";
import type { Collection, ListOptions } from "../collection";
import type { WaitOptions } from "../reads/sharedReads";
import { Gone, Granted, mustBeKnown, type Permission, Refused, type Sighting, Unknown } from "../proof";
import { undefinedIfNotShown } from "../reads/absence";
import type { AuthIntegrationRecord } from "../records";

/** What a change of what lives in an integration is sent with. */
export interface ProvenOptions extends SendOptions {
  readonly integration: OwnIntegration;
}

/** Thrown in place of sending a change: its integration does not exist any more. `instead`: the one in its place. */
export class NotOursError extends Error {
  /** What happened to the integration, and what to do: for a plan, which sends nothing anyway. */
  readonly forPlan: string;

  constructor(
    id: string | undefined,
    /** What proves that it is gone, with all that was in it. */
    readonly proof: Gone,
    readonly instead: AuthIntegrationRecord | undefined,
  ) {
    const which = id === undefined ? "" : ` (${id})`;
    const gone = `the auth integration of this resource${which} no longer exists`;
    const what = instead === undefined ? gone : `${gone}: another one has replaced it (${identityOf(instead)})`;
    const advice =
      instead === undefined
        ? "Run pulumi up --refresh, which creates what is missing"
        : 'Run pulumi up --refresh, which creates this resource there, or adopts an existing one with "adopt: true"';
    super(`${what}. Nothing was sent. ${advice}`);
    this.forPlan = `${what}. ${advice}`;
  }
}

/** For messages: what distinguishes it from others of the same name. */
export function identityOf(item: AuthIntegrationRecord): string {
  const database = item.db_name === undefined ? "" : `, database ${item.db_name}`;
  const created = item.created_at === undefined ? "" : `, created ${item.created_at}`;
  return `${item.auth_provider_project_id}, on ${item.branch_id}${database}${created}`;
}

/** Whether an integration is the one that is meant. `listed`: the whole list, if it could be read. */
export type IsNamed = (item: AuthIntegrationRecord, listed: readonly AuthIntegrationRecord[] | undefined) => boolean;

/** The integration that a change is meant for: the one in the state, or else the one that the first read finds. */
export class OwnIntegration {
  #id: string | undefined;
  #hasRead = false;

  /** `id`: the `auth_provider_project_id`. `isNamed`: which integration is meant if the id is unknown. */
  constructor(
    private readonly integrations: Pick<Collection<AuthIntegrationRecord>, "list" | "find">,
    private readonly isNamed: IsNamed,
    id: string | undefined,
  ) {
    this.#id = id;
  }

  /** The `auth_provider_project_id`, if it is known by now. */
  get id(): string | undefined {
    return this.#id;
  }

  /** See `Collection.find`. */
  async find(options: ListOptions): Promise<Sighting<AuthIntegrationRecord>> {
    const found = await this.integrations.find(this.#isOurs, options);
    this.#hasRead = true;
    return found;
  }

  /**
   * Call right before each attempt: reads a list for it. If no integration is known and none is listed, nothing can be
   * proven, and the response to the request decides.
   * @throws NotOursError when it is gone, NotKnownError when that cannot be seen.
   */
  async prove(options: WaitOptions): Promise<void> {
    await this.check({ ...options, since: performance.now() });
  }

  /** The same with a list that was read before, for a plan. */
  async check(options: ListOptions): Promise<void> {
    const found = mustBeKnown(await this.find(options));
    if (!(found instanceof Gone)) this.#id = found.auth_provider_project_id;
    else if (this.#id !== undefined) throw await this.#notOurs(found, options);
  }

  /** Whether the integration is the one that a destruction in it is meant for. If it is gone, so is what was in it. */
  readonly isMeant = async (options: WaitOptions): Promise<Permission> => {
    const found = await this.find({ ...options, since: performance.now() });
    if (found instanceof Unknown) return found;
    if (found instanceof Gone) return Refused.proven(await this.#notOurs(found, options));
    this.#id = found.auth_provider_project_id;
    return Granted.proven();
  };

  /** For a call that has sent nothing, and so has not read the list yet. */
  async ensureKnown(options: WaitOptions): Promise<void> {
    if (this.#id === undefined && !this.#hasRead) await this.prove(options);
  }

  async #notOurs(gone: Gone, options: ListOptions): Promise<NotOursError> {
    const listed = await undefinedIfNotShown(() => this.integrations.list({ ...options, since: undefined }));
    return new NotOursError(this.#id, gone, listed?.find((item) => this.isNamed(item, listed)) ?? listed?.[0]);
  }

  readonly #isOurs: IsNamed = (item, listed) => {
    if (this.#id !== undefined && item.auth_provider_project_id !== this.#id) return false;
    return this.isNamed(item, listed);
  };
}
