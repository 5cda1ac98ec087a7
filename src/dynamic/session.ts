import { createClient, type Client } from "../client";
import { engineLog, type Log } from "./engineLog";
import { resolveSettings, type ReadSetting, type Settings } from "./settings";
import type { Properties } from "./properties";

/** What the calls of one dynamic-provider process share: a client per account, the engine's log, what `check` has seen. */
export class Session {
  readonly log: Log;
  readonly #clients = new Map<string, Client>();
  readonly #checked = new Map<string, Properties>();
  readonly #warned = new Set<string>();

  constructor(log: Log = engineLog()) {
    this.log = log;
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
      client = createClient({ baseUrl: settings.baseUrl, apiKey: settings.apiKey });
      this.#clients.set(key, client);
    }
    return { client, settings };
  }

  /** Notes that `check` ran for a resource, with the old inputs that it was given. It never runs in a refresh. */
  rememberCheck(urn: string, oldInputs: Properties): void {
    this.#checked.set(urn, oldInputs);
  }

  /** The old inputs that `check` saw for this resource in this process. */
  checkedInputs(urn: string | undefined): Properties | undefined {
    return urn === undefined ? undefined : this.#checked.get(urn);
  }

  /** Shows a warning once per resource and text. */
  warn(urn: string, message: string): void {
    const key = `${urn}\n${message}`;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    this.log({ severity: "warning", message, urn, ephemeral: false });
  }
}
