import { Client, type ClientOptions, SvcError } from "../client";
import type { Lifecycle } from "./lifecycle";
import { Digests } from "./digests";
import { LookAhead } from "./lookAhead";
import { RunMemory } from "./run/memory";
import type { Others } from "./run/others";
import type { Log } from "./progress";
import { keyName, keySource, type KeySource, placeOf } from "../contract/apiKey";
import { goneProjects, resolveSettings, type ReadSetting, type Settings } from "../contract/settings";

/** What to do when the service refuses the key, depending on where the key comes from. */
function keyAdvice(source: KeySource): string {
  const { isConfigured, form, reference } = source;
  if (isConfigured && form === "apiKey") {
    return (
      "It comes from svc:apiKey in the stack's configuration, or from the apiKey of an explicit Provider, which takes precedence over SVC_API_KEY. " +
      "Set it again with `pulumi config set --secret svc:apiKey`, or in the program"
    );
  }
  if (form === "apiKey") return "It comes from SVC_API_KEY in the environment. Set a valid key there";
  const where = `${keyName(source)}, which ${placeOf(source)} names`;
  return reference !== undefined && "fromFile" in reference
    ? `It comes from ${where}. The file was read again and holds no other key. Write a valid key to it`
    : `It comes from ${where}. Set a valid key in the environment`;
}

/** A resource with the session that all resources of this provider share. */
export interface Hosted<Args extends object, Outputs extends object> {
  readonly resource: Lifecycle<Args, Outputs>;
  readonly session: Session;
  /** Called anew in each call: the environment may have arrived after the process started. */
  readonly readSetting: ReadSetting;
}

/** For tests, which use short delays. */
export interface SessionOptions {
  /** Options other than the account. */
  readonly client?: Partial<ClientOptions>;
  readonly siblingStartsMs?: number;
  readonly lookAheadMs?: number | undefined;
  readonly digests?: Digests;
  /** The other provider processes of the run, for one that uses this address. Undefined: there are none. */
  readonly others?: ((address: string) => Others) | undefined;
}

/** State that the calls of one process share: a client per account, the log, the memory of the run. */
export class Session {
  readonly memory = new RunMemory();
  readonly lookAhead: LookAhead;
  readonly digests: Digests;
  /** How long the engine may take to begin a sibling's change. */
  readonly siblingStartsMs: number;
  readonly #clientOptions: Partial<ClientOptions>;
  /** Undefined once they are met. */
  #others: SessionOptions["others"];
  readonly #clients = new Map<string, Client>();
  readonly #warned = new Set<string>();
  /** The advice on a refused key that was already shown. */
  readonly #advised = new Set<string>();
  /** What an interruption ends. */
  readonly #calls = new Set<() => void>();

  constructor(
    readonly log: Log,
    { client = {}, siblingStartsMs = 1_500, lookAheadMs, digests = new Digests(), others }: SessionOptions = {},
  ) {
    this.#others = others;
    this.#clientOptions = client;
    this.siblingStartsMs = siblingStartsMs;
    this.lookAhead = new LookAhead(this.memory.claims, lookAheadMs);
    this.digests = digests;
  }

  /** From now on the memory covers the other processes of this run. */
  meetOthers({ baseUrl }: Settings): void {
    const others = this.#others?.(baseUrl);
    this.#others = undefined;
    if (others !== undefined) this.memory.meet(others);
  }

  /** Warns if it is not known what the other processes do: what two Providers declare twice is not refused then. */
  warnOfUnheard(): void {
    const unheard = this.memory.unheard();
    if (unheard === undefined) return;
    const { why, waysOut } = unheard;
    this.warn(
      "",
      `it is not known whether two Providers of this run declare one object: ${why}. ${waysOut}. Until then, nothing is taken over or deleted`,
    );
  }

  /** @throws one error with all problems of the settings. */
  account(read: ReadSetting): { client: Client; settings: Settings; keyAdvice: string } {
    const { settings, problems } = resolveSettings(read);
    if (settings === undefined) {
      throw new Error(problems.length > 0 ? problems.join("; ") : "the settings of the provider are not known yet");
    }
    this.meetOthers(settings);
    const source = keySource(read);
    const { baseUrl, apiKey, renewKey } = settings;
    const { reference } = source ?? {};
    // A key in a file may change while the command runs: it is the same account, with one queue and one budget.
    const account = reference !== undefined && "fromFile" in reference ? reference : apiKey;
    const key = JSON.stringify([baseUrl, account]);
    let client = this.#clients.get(key);
    if (client === undefined) {
      client = new Client({ ...this.#clientOptions, baseUrl, apiKey, renewKey });
      this.#clients.set(key, client);
    }
    client.limitRequests(settings.maxRequestsPerMinute);
    client.believeGone(goneProjects());
    return { client, settings, keyAdvice: source === undefined ? "" : keyAdvice(source) };
  }

  /**
   * What to do about a refused key, depending on where these settings have it from: two Providers may name one account
   * differently. Such a key fails every call, so the advice is shown with the first error of the account and of each
   * place; empty for any other error.
   */
  adviceOn(thrown: unknown, read: ReadSetting): string {
    // The key may also be refused while the effect of a change is read: then the fate of the change is unknown.
    if (!(thrown instanceof SvcError) || thrown.status !== 401) return "";
    const source = keySource(read);
    if (source === undefined) return "";
    const advice = keyAdvice(source);
    // The client adds its own advice to the first error, and again after another key was found.
    if (thrown.advice === undefined && this.#advised.has(advice)) return "";
    this.#advised.add(advice);
    return advice;
  }

  /** Ends what the calls that are under way wait for, and no request. Later calls are not affected. */
  interrupt(): void {
    for (const end of [...this.#calls]) end();
  }

  /** `end` is called once the run is interrupted, unless the returned function was called before. */
  onInterrupt(end: () => void): () => void {
    this.#calls.add(end);
    return () => this.#calls.delete(end);
  }

  /** Shows a warning once per resource and text. */
  warn(urn: string, message: string): void {
    const key = `${urn}\n${message}`;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    this.log({ severity: "warning", message, urn, ephemeral: false });
  }
}
