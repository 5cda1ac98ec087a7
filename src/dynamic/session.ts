import { createClient, type Client, type ClientOptions } from "../client";
import { engineLog, type Log } from "./engineLog";
import { resolveSettings, type ReadSetting, type Settings } from "./settings";
import type { Kind } from "./pointer";
import type { Properties } from "./properties";

/** What `check` saw of a resource. */
export interface Checked {
  readonly kind: Kind;
  readonly oldInputs: Properties;
  /** The new arguments that are known and well formed. */
  readonly args: Properties;
}

/** What the calls of one dynamic-provider process share: a client per account, the engine's log, what `check` has seen. */
export class Session {
  readonly log: Log;
  readonly #clientOptions: Partial<ClientOptions>;
  readonly #clients = new Map<string, Client>();
  readonly #checked = new Map<string, Checked>();
  readonly #warned = new Set<string>();
  /** Who holds an object of the service, by the URNs that the states carry. */
  readonly #holders = new Map<string, Set<string>>();
  /** What was created or taken over in this process, by whom. */
  readonly #made = new Map<string, string>();

  /** `clientOptions`: beyond the account; for tests, whose delays are short. */
  constructor(log: Log = engineLog(), clientOptions: Partial<ClientOptions> = {}) {
    this.log = log;
    this.#clientOptions = clientOptions;
  }

  /** Throws all that is wrong with the settings at once. */
  account(read: ReadSetting): { client: Client; settings: Settings } {
    const { settings, problems } = resolveSettings(read);
    if (settings === undefined) {
      throw new Error(problems.length > 0 ? problems.join("; ") : "the settings of the provider are not known yet");
    }
    const key = JSON.stringify([settings.baseUrl, settings.apiKey]);
    let client = this.#clients.get(key);
    if (client === undefined) {
      client = createClient({ ...this.#clientOptions, baseUrl: settings.baseUrl, apiKey: settings.apiKey });
      this.#clients.set(key, client);
    }
    return { client, settings };
  }

  /** Notes that `check` ran for a resource, and what it saw. It never runs in a refresh. */
  rememberCheck(urn: string, checked: Checked): void {
    this.#checked.set(urn, checked);
  }

  /** The old inputs that `check` saw for this resource in this process. */
  checkedInputs(urn: string | undefined): Properties | undefined {
    return urn === undefined ? undefined : this.#checked.get(urn)?.oldInputs;
  }

  /** The known arguments of the resources of a kind that `check` saw in this process, but for one. */
  declared(kind: Kind, exceptUrn: string): Properties[] {
    const others = [...this.#checked].filter(([urn, checked]) => checked.kind === kind && urn !== exceptUrn);
    return others.map(([, { args }]) => args);
  }

  /**
   * Notes that a resource of the program holds these objects of the service. A resource that was renamed without an alias
   * is created under its new name, takes over what stands, and is deleted under its old one: what somebody else holds then stays.
   */
  hold(objects: readonly string[], urn: string | undefined): void {
    for (const object of objects) {
      const holders = this.#holders.get(object) ?? new Set();
      this.#holders.set(object, holders.add(urn ?? ""));
    }
  }

  release(objects: readonly string[], urn: string | undefined): void {
    for (const object of objects) this.#holders.get(object)?.delete(urn ?? "");
  }

  /** The URN of a resource other than this one that holds the object. */
  otherHolder(object: string, urn: string | undefined): string | undefined {
    return [...(this.#holders.get(object) ?? [])].find((holder) => holder !== (urn ?? ""));
  }

  /**
   * Notes that this process has created an object, or taken it over. What the engine deletes afterwards under the same id
   * is what stood there before under another name, also where an alias has left the same URN in both states.
   */
  made(object: string, urn: string | undefined): void {
    this.#made.set(object, urn ?? "");
  }

  maker(object: string): string | undefined {
    return this.#made.get(object);
  }

  /** Shows a warning once per resource and text. */
  warn(urn: string, message: string): void {
    const key = `${urn}\n${message}`;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    this.log({ severity: "warning", message, urn, ephemeral: false });
  }
}
