import type { ClientOptions } from "../../../../src/client";
import type { Properties, Timeouts } from "../../../../src/contract/hiddenKeys";
import { protocolOf, type Protocol, type Kind } from "../../../../src/contract/pointer";
import { typeInUrn } from "../../../../src/contract/identifiers";
import { dynamicProvider } from "../../../../src/protocols/dynamic/provider";
import type { LogLine } from "../../../../src/runtime/progress";
import { Session, type SessionOptions } from "../../../../src/runtime/session";
import { KIND_CASES } from "../../../kinds";
import { unmarked } from "../../engineMarks";
import { startedPlugin } from "./nativeProvider";
import { Neighbours, type Broken } from "./neighbours";
import type { Stored } from "./state";

export interface Account {
  readonly baseUrl: string;
  /** Undefined: not configured. */
  readonly apiKey: string | undefined;
}

export type Delays = Partial<ClientOptions> & Omit<SessionOptions, "client">;

/** Short, but longer than the lag of lists in the tests. */
const QUICK: Partial<ClientOptions> = {
  baseDelayMs: 2,
  lagMs: 30,
  pollCeilingMs: 5,
  attemptTimeoutMs: 10_000,
  minuteMs: 200,
};

/** The methods that the engine calls. The SDK does not hand on the last parameters to a dynamic provider. */
export interface Provider {
  /** A preview asks it to create and to update. */
  readonly isNative?: true;
  check(olds: Properties, news: Properties): Promise<{ inputs?: object; failures?: readonly { reason: string }[] }>;
  diff(id: string, outs: Properties, news: Properties, oldInputs: Properties): Promise<Difference>;
  create(news: Properties, isPreview: boolean): Promise<{ id: string; outs?: object }>;
  read(
    id: string,
    outs: Properties,
    inputs: Properties,
  ): Promise<{ id?: string | undefined; props?: object | undefined; inputs?: object | undefined }>;
  update(
    id: string,
    outs: Properties,
    news: Properties,
    more: { readonly oldInputs: Properties; readonly isPreview: boolean },
  ): Promise<{ outs?: object }>;
  delete(id: string, outs: Properties, inputs: Properties): Promise<void>;
}
export type Method = Exclude<keyof Provider, "isNative">;

interface Difference {
  /** Undefined: the engine compares the inputs by itself. */
  readonly changes?: boolean | undefined;
  /** Which inputs differ. */
  readonly diffs?: readonly string[];
  readonly replaces?: readonly string[];
  readonly deleteBeforeReplace?: boolean;
}

/** Receives each call of a provider of ours, with what the engine gives (test/support/calls.cjs). */
export type Observe = (call: {
  readonly method: Method;
  readonly urn: string;
  readonly given: readonly unknown[];
}) => void;

type Served<Of extends Kind | "Foreign" = Kind> = Pick<
  Stored<Of>,
  "kind" | "urn" | "provider" | "protocol" | "timeouts" | "ignoreChanges"
>;

/** The provider processes of one command: one for each provider of each protocol, with a session for all kinds. */
export class Process {
  readonly log: LogLine[] = [];
  readonly #providers = new Map<string, (about: Served) => Provider>();
  readonly #sessions = new Map<string, Session>();
  readonly #neighbours = new Neighbours();
  /** Of every call once it is killed. */
  readonly #end = killable();

  constructor(
    readonly account: Account,
    readonly delays: Delays,
    readonly observe: Observe = () => undefined,
  ) {}

  /** Of a resource, by its protocol and its explicit provider. */
  of({ kind, ...about }: Served<Kind | "Foreign">): Provider {
    if (kind === "Foreign") return this.#called(FOREIGN, () => undefined);
    const { urn, provider: instance = "", protocol = protocolOf(typeInUrn(urn)) } = about;
    const key = `${protocol} ${instance} ${protocol === "native" ? "" : kind}`;
    const started = this.#providers.get(key) ?? this.#started(kind, protocol, instance);
    this.#providers.set(key, started);
    const served = { kind, ...about };
    return this.#called(started(served), (method, given) => this.observe({ method, urn, given }), served);
  }

  /** The program's process has made such a resource. */
  declare(kind: Kind, urn: string, given: Properties): void {
    this.#neighbours.declare(kind, urn, unmarked(given));
  }

  /** From now on the processes of the command cannot tell each other what they do. */
  breakChannel(how: Broken): void {
    this.#neighbours.break(how);
  }

  /** As if it were killed: every call fails, the running ones too. What they go on with must find no service. */
  kill(): void {
    this.#end.kill();
  }

  #started(kind: Kind, protocol: Protocol, instance: string): (about: Served) => Provider {
    const session = this.#session(`${protocol} ${instance}`);
    const { apiKey, baseUrl } = this.account;
    if (protocol === "native") return startedPlugin(session, { ...(apiKey !== undefined && { apiKey }), baseUrl });
    const provider = dynamicProvider(KIND_CASES[kind].lifecycle, session);
    const settings: Record<string, string | undefined> = { "svc:apiKey": apiKey, "svc:baseUrl": baseUrl };
    void provider.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
    return () => provider;
  }

  #session(process: string): Session {
    const { siblingStartsMs, lookAheadMs, digests, ...client } = this.delays;
    const session =
      this.#sessions.get(process) ??
      new Session((line) => this.log.push(line), {
        client: { ...QUICK, ...client },
        lookAheadMs,
        others: (address) => this.#neighbours.add(address),
        ...(siblingStartsMs !== undefined && { siblingStartsMs }),
        ...(digests !== undefined && { digests }),
      });
    this.#sessions.set(process, session);
    return session;
  }

  #called(
    provider: Provider,
    see: (method: Method, given: readonly unknown[]) => void,
    { timeouts = {}, ignoreChanges = [] }: Pick<Served, "timeouts" | "ignoreChanges"> = {},
  ): Provider {
    const end = this.#end;
    const until = (verb: keyof Timeouts): number => timeouts[verb] ?? 0;
    const call = <Result>(method: Method, given: readonly unknown[], work: () => Promise<Result>): Promise<Result> => {
      if (end.isKilled) return end.error;
      see(method, given);
      return Promise.race([work(), end.error]);
    };
    return {
      ...(provider.isNative && { isNative: true }),
      check: (olds, news) => call("check", [olds, news], () => provider.check(olds, news)),
      diff: (...given) => call("diff", [...given, ignoreChanges], () => provider.diff(...given)),
      create: (...given) => call("create", [...given, until("create")], () => provider.create(...given)),
      read: (...given) => call("read", [...given, until("read")], () => provider.read(...given)),
      update: (id, outs, news, more) => {
        const { oldInputs, isPreview } = more;
        const given = [id, outs, news, oldInputs, ignoreChanges, isPreview, until("update")];
        return call("update", given, () => provider.update(id, outs, news, more));
      },
      delete: (...given) => call("delete", [...given, until("delete")], () => provider.delete(...given)),
    };
  }
}

function killable() {
  let reject = (): void => undefined;
  const error = new Promise<never>((_, fail) => (reject = () => fail(new Error("error reading from server: EOF"))));
  // Mostly nobody waits for it.
  error.catch(() => undefined);
  const end = { isKilled: false, error, kill: () => ((end.isKilled = true), reject()) };
  return end;
}

/** Somebody else's provider: its output `text` is what it was given. Without `check`, `diff` and `read` the SDK answers. */
const FOREIGN: Provider = {
  check: async (_, news) => ({ inputs: unmarkedResult(news), failures: [] }),
  diff: async () => ({}),
  create: async (news) => ({ id: "foreign", outs: unmarkedResult({ ...news, text: news["given"] }) }),
  read: async (id, outs = {}) => ({ id, props: unmarkedResult(outs) }),
  update: async (_, __, news) => ({ outs: unmarkedResult({ ...news, text: news["given"] }) }),
  delete: async () => undefined,
};

/** The type of a result says that its secrets are marked: here there are none. */
const unmarkedResult = (properties: Properties) => unmarked(properties) as never;
