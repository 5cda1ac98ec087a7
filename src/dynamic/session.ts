import { createClient, type Client, type ClientOptions } from "../client";
import { engineLog, type Log } from "./engineLog";
import { Holders } from "./holders";
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
  readonly holders = new Holders();
  readonly #clientOptions: Partial<ClientOptions>;
  readonly #clients = new Map<string, Client>();
  readonly #checked = new Map<string, Checked>();
  readonly #warned = new Set<string>();

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

  /** Shows a warning once per resource and text. */
  warn(urn: string, message: string): void {
    const key = `${urn}\n${message}`;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    this.log({ severity: "warning", message, urn, ephemeral: false });
  }
}
