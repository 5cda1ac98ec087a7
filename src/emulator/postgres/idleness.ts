/** Suspends computes without queries, by the usual operation. */
import type { StoredEndpoint } from "../model/records";
import type { Service } from "../model/service";
import { LONGEST_TIMER_MS } from "../emulatorOptions";
import { findCompute } from "./target";

/** docs/design/api.md, Compute record: 0 is the service's default, -1 is never. */
const STANDARD_SECONDS = 300;
const NEVER = -1;

interface Watch {
  /** By performance.now(). */
  usedAt: number;
  timeoutMs: number;
  timer: NodeJS.Timeout;
}

export class Idleness {
  readonly #watches = new Map<string, Watch>();

  constructor(
    private readonly service: Service,
    /** Whether a session of the compute has a query or a transaction, or is being opened. */
    private readonly isBusy: (endpointId: string) => boolean,
  ) {}

  /** Call after each change of the service's state: an active compute is watched from its activation on. */
  follow(): void {
    const active = this.service.store.projects
      .flatMap(({ endpoints }) => endpoints)
      .filter(({ current_state, pending_state }) => current_state === "active" && pending_state === undefined);
    const ids = new Set(active.map(({ id }) => id));
    for (const id of [...this.#watches.keys()]) if (!ids.has(id)) this.#forget(id);
    for (const endpoint of active) {
      const timeoutMs = this.#timeoutOf(endpoint);
      const watch = this.#watches.get(endpoint.id);
      if (timeoutMs === undefined) this.#forget(endpoint.id);
      else if (watch?.timeoutMs !== timeoutMs) this.#watch(endpoint.id, timeoutMs, watch?.usedAt ?? performance.now());
    }
  }

  /** A client has sent or received something. */
  used(endpointId: string): void {
    const watch = this.#watches.get(endpointId);
    if (watch !== undefined) watch.usedAt = performance.now();
  }

  stop(): void {
    for (const id of [...this.#watches.keys()]) this.#forget(id);
  }

  #timeoutOf({ suspend_timeout_seconds: seconds }: StoredEndpoint): number | undefined {
    if (seconds === NEVER) return undefined;
    return ((seconds === 0 ? STANDARD_SECONDS : seconds) * 1000) / this.service.options.timeScale;
  }

  #watch(id: string, timeoutMs: number, usedAt: number): void {
    this.#forget(id);
    const restMs = Math.max(0, usedAt + timeoutMs - performance.now());
    const timer = setTimeout(() => this.#look(id), Math.min(restMs, LONGEST_TIMER_MS)).unref();
    this.#watches.set(id, { usedAt, timeoutMs, timer });
  }

  #look(id: string): void {
    const watch = this.#watches.get(id);
    const compute = findCompute(this.service.store, id);
    if (watch === undefined || compute === undefined) return;
    const usedAt = this.isBusy(id) ? performance.now() : watch.usedAt;
    if (performance.now() < usedAt + watch.timeoutMs) {
      this.#watch(id, watch.timeoutMs, usedAt);
      return;
    }
    this.#forget(id);
    this.service.operations.schedule({ ...compute, actions: ["suspend_compute"] });
    this.service.store.changed();
  }

  #forget(id: string): void {
    clearTimeout(this.#watches.get(id)?.timer);
    this.#watches.delete(id);
  }
}
