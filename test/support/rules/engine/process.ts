import type { ClientOptions } from "../../../../src/client";
import type { Properties } from "../../../../src/contract/hiddenKeys";
import type { Kind } from "../../../../src/contract/pointer";
import { dynamicProvider } from "../../../../src/doors/dynamic/provider";
import type { DynamicProvider } from "../../../../src/doors/dynamic/types";
import type { LogLine } from "../../../../src/host/progress";
import { Session, type SessionOptions } from "../../../../src/host/session";
import { KIND_CASES } from "../../../kinds";
import { unmarked } from "../../engineMarks";
import { Neighbours } from "./neighbours";
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

/** The methods that the engine calls. */
export type Provider = Pick<DynamicProvider, "check" | "diff" | "create" | "read" | "update" | "delete">;
export type Method = keyof Provider;

/** Receives each call of a provider of ours, with what the engine gives. */
export type Observe = (call: {
  readonly method: Method;
  readonly urn: string;
  readonly given: readonly unknown[];
}) => void;

/** The provider processes of one command: one for each explicit provider, with a session for all kinds. */
export class Process {
  readonly log: LogLine[] = [];
  readonly #providers = new Map<string, Provider>();
  readonly #sessions = new Map<string, Session>();
  readonly #neighbours = new Neighbours();
  /** Of every call once it is killed. */
  readonly #end = killable();

  constructor(
    readonly account: Account,
    readonly delays: Delays,
    readonly observe: Observe = () => undefined,
  ) {}

  /** Of a resource, by its explicit provider. */
  of({ kind, urn, provider: instance = "" }: Pick<Stored<Kind | "Foreign">, "kind" | "urn" | "provider">): Provider {
    const key = `${instance} ${kind}`;
    const provider = this.#providers.get(key) ?? (kind === "Foreign" ? FOREIGN : this.#started(kind, instance));
    this.#providers.set(key, provider);
    return this.#called(provider, (method, given) => kind !== "Foreign" && this.observe({ method, urn, given }));
  }

  /** As if it were killed: every call fails, the running ones too. What they go on with must find no service. */
  kill(): void {
    this.#end.kill();
  }

  #started(kind: Kind, instance: string): Provider {
    const { siblingStartsMs, lookAheadMs, digests, ...client } = this.delays;
    const session =
      this.#sessions.get(instance) ??
      new Session((line) => this.log.push(line), {
        client: { ...QUICK, ...client },
        lookAheadMs,
        others: () => this.#neighbours.add(),
        ...(siblingStartsMs !== undefined && { siblingStartsMs }),
        ...(digests !== undefined && { digests }),
      });
    this.#sessions.set(instance, session);
    const provider = dynamicProvider(KIND_CASES[kind].lifecycle, session);
    const settings: Record<string, string | undefined> = {
      "svc:apiKey": this.account.apiKey,
      "svc:baseUrl": this.account.baseUrl,
    };
    void provider.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
    return provider;
  }

  #called(provider: Provider, see: (method: Method, given: readonly unknown[]) => void): Provider {
    const end = this.#end;
    const call = <Result>(method: Method, given: readonly unknown[], work: () => Promise<Result>): Promise<Result> => {
      if (end.isKilled) return end.error;
      see(method, given);
      return Promise.race([work(), end.error]);
    };
    return {
      check: (olds, news) => call("check", [olds, news], () => provider.check(olds, news)),
      diff: (id, olds, news) => call("diff", [id, olds, news], () => provider.diff(id, olds, news)),
      create: (news) => call("create", [news], () => provider.create(news)),
      read: (id, outs) => call("read", [id, outs], () => provider.read(id, outs)),
      update: (id, olds, news) => call("update", [id, olds, news], () => provider.update(id, olds, news)),
      delete: (id, outs) => call("delete", [id, outs], () => provider.delete(id, outs)),
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
