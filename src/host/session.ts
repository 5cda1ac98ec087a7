import { Client, type ClientOptions } from "../client";
import { engineLog, type Log } from "./engineLog";
import { LookAhead } from "./lookAhead";
import { RunMemory } from "./memory";
import { KEY_ADVICE } from "./messages";
import type { Properties } from "../contract/hiddenKeys";
import { keyOrigin, resolveSettings, type ReadSetting, type Settings } from "../contract/settings";

/** What the calls of one dynamic-provider process share: a client per account, the engine's log, the memory of the run. */
export class Session {
  readonly memory = new RunMemory();
  readonly lookAhead: LookAhead;
  /** By URN, the old inputs that `check` saw in this process. It never runs in a refresh. */
  readonly checkedInputs = new Map<string, Properties>();
  /** By URN, the resources whose hidden inputs change, and would stand in a diff that the engine makes. */
  readonly hiddenChanges = new Set<string>();
  readonly #clients = new Map<string, Client>();
  readonly #warned = new Set<string>();

  /** `clientOptions` (beyond the account), `siblingStartsMs` and `lookAheadMs` are for tests, whose delays are short. */
  constructor(
    readonly log: Log = engineLog(),
    private readonly clientOptions: Partial<ClientOptions> = {},
    readonly siblingStartsMs = 1_500,
    lookAheadMs?: number,
  ) {
    this.lookAhead = new LookAhead(lookAheadMs);
  }

  /** Throws all that is wrong with the settings at once. */
  account(read: ReadSetting): { client: Client; settings: Settings; keyAdvice: string } {
    const { settings, problems } = resolveSettings(read);
    if (settings === undefined) {
      throw new Error(problems.length > 0 ? problems.join("; ") : "the settings of the provider are not known yet");
    }
    const key = JSON.stringify([settings.baseUrl, settings.apiKey]);
    const keyAdvice = KEY_ADVICE[keyOrigin(read)];
    let client = this.#clients.get(key);
    if (client === undefined) {
      const { baseUrl, apiKey } = settings;
      client = new Client({ ...this.clientOptions, baseUrl, apiKey, keyAdvice });
      this.#clients.set(key, client);
    }
    client.limitRequests(settings.maxRequestsPerMinute);
    return { client, settings, keyAdvice };
  }

  /** Shows a warning once per resource and text. */
  warn(urn: string, message: string): void {
    const key = `${urn}\n${message}`;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    this.log({ severity: "warning", message, urn, ephemeral: false });
  }
}
