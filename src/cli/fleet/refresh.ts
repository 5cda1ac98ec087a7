import type { Client } from "../../client";
import { projectOf } from "../../contract/identifiers";
import { kindOfType } from "../../contract/pointer";
import { type ReadSetting, requestTrace } from "../../contract/settings";
import { dynamicProvider } from "../../protocols/dynamic/provider";
import type { DynamicProvider } from "../../protocols/dynamic/types";
import { Session } from "../../runtime/session";
import { lifecycleOf } from "../../resources/lifecycles";
import type { RefreshResult } from "../drift/eventLog";
import type { StoredResource } from "../stack/state";
import { refreshResult } from "./engineRefresh";
import { limiter } from "./inParallel";
import type { ProgressLine } from "./progress";
import type { FleetStack } from "./stacks";
import { type FleetState, settingsOf } from "./states";

/** One entry of a state, and what asks the service for it. */
interface Entry {
  readonly of: FleetState;
  readonly resource: StoredResource;
  readonly client: Client;
  readonly provider: DynamicProvider;
}

/**
 * Refreshes the resources of many stacks in this process. They share the clients of one session, so each list of a
 * project is read once for each account, however many stacks need it.
 */
export class FleetRefresh {
  readonly session: Session;
  requests = 0;
  /** Stacks whose settings are incomplete: it is not known which projects they are about. */
  readonly unreachable = new Set<FleetStack>();
  /** By account: the smallest configured share, since the stacks use it together. */
  readonly #shares = new Map<Client, number>();
  /** By stack, and by the reference to a provider. */
  readonly #settings = new Map<FleetState, ReadonlyMap<string, ReadSetting>>();
  readonly #limit: <Result>(work: () => Promise<Result>) => Promise<Result>;

  /** `onNote`: why a request waits. */
  constructor(parallel: number, onNote: (text: string) => void) {
    const trace = requestTrace();
    const count = (line: string): void => {
      this.requests += 1;
      trace?.(line);
    };
    this.session = new Session(({ message, ephemeral }) => ephemeral && onNote(message), { client: { trace: count } });
    this.#limit = limiter(parallel);
  }

  /** The results by stack, one for each of its resources, or why nothing is known about the stack. */
  async results(
    states: readonly FleetState[],
    progress: ProgressLine,
  ): Promise<ReadonlyMap<FleetState, readonly RefreshResult[] | Error>> {
    const results = new Map<FleetState, RefreshResult[] | Error>(states.map((state) => [state, []]));
    const fail = (state: FleetState, error: Error): void => {
      if (!(results.get(state) instanceof Error)) results.set(state, error);
    };
    const entries = states.flatMap((state) => {
      try {
        return this.#entriesOf(state);
      } catch (error) {
        this.unreachable.add(state.stack);
        fail(state, error as Error); // Session and settingsOf throw nothing else.
        return [];
      }
    });
    const projects = [...byProject(entries)];
    progress.begin("projects read", projects.length);
    await Promise.all(
      projects.map((inProject) =>
        this.#limit(async () => {
          await Promise.all(
            inProject.map(async ({ of, resource, provider }) => {
              const result = await refreshResult(provider, resource).catch((error: Error) => error);
              const known = results.get(of);
              if (result instanceof Error) fail(of, result);
              else if (Array.isArray(known)) known.push(result);
            }),
          );
          progress.step();
        }),
      ),
    );
    return results;
  }

  /** As the refresh of the stack has them, with the share of all stacks of the account. */
  settingsOf(state: FleetState, provider: string): ReadSetting {
    const known = this.#settings.get(state)?.get(provider);
    if (known === undefined) throw new Error(`the settings of ${state.stack.name} were not read`);
    return known;
  }

  /** Runs a look at one project beside the others. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#limit(work);
  }

  /** Before the first request: each call with a share of its own would change the limit of all. */
  #entriesOf(of: FleetState): Entry[] {
    const providers = new Map<string, Pick<Entry, "client" | "provider">>();
    const settings = new Map<string, ReadSetting>();
    this.#settings.set(of, settings);
    return of.resources.map((resource) => {
      const { type, provider: reference = "" } = resource;
      const key = `${type} ${reference}`;
      const known = providers.get(key) ?? this.#reach(of, { type, reference, settings });
      providers.set(key, known);
      return { of, resource, ...known };
    });
  }

  #reach(
    of: FleetState,
    { type, reference, settings }: { type: string; reference: string; settings: Map<string, ReadSetting> },
  ): Pick<Entry, "client" | "provider"> {
    const kind = kindOfType(type);
    if (kind === undefined) throw new Error(`${type} is not a type of this package`);
    const own = settingsOf(of, reference);
    const { client, settings: resolved } = this.session.account(own);
    const share = Math.min(resolved.maxRequestsPerMinute ?? Infinity, this.#shares.get(client) ?? Infinity);
    if (share !== Infinity) this.#shares.set(client, share);
    const read: ReadSetting = (name) => {
      const shared = name === "maxRequestsPerMinute" ? this.#shares.get(client) : undefined;
      return shared === undefined ? own(name) : String(shared);
    };
    settings.set(reference, read);
    const provider = dynamicProvider(lifecycleOf(kind), this.session);
    // Only settings are asked for.
    const get = (key: string) => read(key.slice("svc:".length) as Parameters<ReadSetting>[0]);
    void provider.configure({ config: { get, require: (key) => get(key) ?? "" } });
    return { client, provider };
  }
}

function byProject(entries: readonly Entry[]): Iterable<readonly Entry[]> {
  const groups = new Map<Client, Map<string, Entry[]>>();
  for (const entry of entries) {
    const { client, resource } = entry;
    const ofAccount = groups.get(client) ?? new Map<string, Entry[]>();
    groups.set(client, ofAccount);
    const projectId = projectOf(resource.id ?? "");
    const inProject = ofAccount.get(projectId) ?? [];
    ofAccount.set(projectId, inProject);
    inProject.push(entry);
  }
  return [...groups.values()].flatMap((ofAccount) => [...ofAccount.values()]);
}
