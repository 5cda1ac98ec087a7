import type { ResolvedOptions } from "../emulatorOptions";
import {
  newId,
  now,
  type StoredEndpoint,
  type OperationAction,
  type OperationOutcome,
  type StoredOperation,
  type StoredProject,
} from "./records";
import type { Store } from "./store";

const UNFINISHED: ReadonlySet<string> = new Set(["scheduling", "running", "cancelling"]);

export const isUnfinished = (operation: StoredOperation): boolean => UNFINISHED.has(operation.status);

/** The resulting state of an action; other actions do not change the state. */
const TARGET: Partial<Record<OperationAction, "active" | "idle">> = {
  start_compute: "active",
  apply_config: "active",
  suspend_compute: "idle",
};

/** A longer history costs memory, and no test needs it. */
const KEPT_OPERATIONS = 5000;

/** The outcome of the next operation with this action, if a test has set one; undefined = as the options say. */
export type InjectedOutcome = (action: OperationAction) => OperationOutcome | undefined;

/**
 * Moves computes through their states. Each compute runs its operations in sequence; each takes its time and then
 * changes the state. Timers never keep the process alive.
 */
export class Operations {
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly options: ResolvedOptions,
    private readonly store: Store,
    private readonly injectedOutcome: InjectedOutcome,
  ) {}

  /** Queues the actions after those already queued for the compute. */
  schedule({
    project,
    endpoint,
    actions,
    durationMs,
  }: {
    project: StoredProject;
    endpoint: StoredEndpoint;
    actions: readonly OperationAction[];
    /** @default as the options say */
    durationMs?: number | undefined;
  }): StoredOperation[] {
    const operations = actions.map((action): StoredOperation => {
      const at = now();
      return {
        id: newId(),
        project_id: project.id,
        branch_id: endpoint.branch_id,
        endpoint_id: endpoint.id,
        action,
        status: "scheduling",
        failures_count: 0,
        created_at: at,
        updated_at: at,
        total_duration_ms: 0,
        run: { duration_ms: durationMs ?? this.durationOf(action), outcome: this.outcomeOf(action) },
      };
    });
    project.operations.push(...operations);
    project.operations.splice(0, Math.max(0, project.operations.length - KEPT_OPERATIONS));
    this.startNext(project, endpoint);
    return operations;
  }

  /** Whether the compute is active after all its operations have succeeded. */
  willBeActive(project: StoredProject, endpoint: StoredEndpoint): boolean {
    const targets = this.unfinishedOf(project, endpoint.id).flatMap(({ action }) => TARGET[action] ?? []);
    return (targets.at(-1) ?? endpoint.current_state) === "active";
  }

  /** Skips the queued operations of a deleted compute. */
  skipUnfinished(project: StoredProject, endpointId: string): void {
    for (const operation of this.unfinishedOf(project, endpointId)) this.end(operation, { status: "skipped" });
  }

  /** Continues the operations that were running when the state was saved. */
  resume(): void {
    for (const project of this.store.projects) {
      for (const operation of project.operations.filter(isUnfinished)) {
        if (operation.status === "running") this.startTimer(project, operation);
      }
      for (const endpoint of project.endpoints) {
        this.startNext(project, endpoint);
        if (endpoint.current_state === "active") this.suspendWhenIdle(project, endpoint);
      }
    }
  }

  stop(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  /** With the option idleAfterMs: nothing ever connects, so each active compute counts as unused. */
  private suspendWhenIdle(project: StoredProject, endpoint: StoredEndpoint): void {
    if (this.options.idleAfterMs === 0) return;
    this.after(`idle ${endpoint.id}`, this.options.idleAfterMs, () => {
      const maySuspend = endpoint.suspend_timeout_seconds !== -1 && project.endpoints.includes(endpoint);
      if (maySuspend && endpoint.current_state === "active" && this.unfinishedOf(project, endpoint.id).length === 0) {
        this.schedule({ project, endpoint, actions: ["suspend_compute"] });
        this.store.changed();
      }
    });
  }

  private durationOf(action: OperationAction): number {
    return action === "suspend_compute" ? Math.ceil(this.options.activationMs / 3) : this.options.activationMs;
  }

  private outcomeOf(action: OperationAction): OperationOutcome {
    return this.injectedOutcome(action) ?? { status: "finished" };
  }

  private unfinishedOf(project: StoredProject, endpointId: string): StoredOperation[] {
    return project.operations.filter((operation) => operation.endpoint_id === endpointId && isUnfinished(operation));
  }

  private startNext(project: StoredProject, endpoint: StoredEndpoint): void {
    const [next] = this.unfinishedOf(project, endpoint.id);
    if (next === undefined || next.status !== "scheduling") return;
    next.status = "running";
    next.updated_at = now();
    next.run.started_ms = Date.now();
    const target = TARGET[next.action];
    if (target !== undefined) endpoint.pending_state = target;
    endpoint.updated_at = next.updated_at;
    this.startTimer(project, next);
  }

  private startTimer(project: StoredProject, operation: StoredOperation): void {
    const { outcome, duration_ms, started_ms = Date.now() } = operation.run;
    if (outcome.status === "stuck") return;
    this.after(operation.id, Math.max(0, started_ms + duration_ms - Date.now()), () => {
      this.end(operation, outcome);
      const endpoint = project.endpoints.find(({ id }) => id === operation.endpoint_id);
      if (endpoint !== undefined) this.applyResult(project, endpoint, operation);
      this.store.changed();
    });
  }

  private applyResult(project: StoredProject, endpoint: StoredEndpoint, operation: StoredOperation): void {
    const target = TARGET[operation.action];
    endpoint.updated_at = now();
    if (operation.status !== "finished") {
      delete endpoint.pending_state;
      for (const later of this.unfinishedOf(project, endpoint.id)) this.end(later, { status: "cancelled" });
      return;
    }
    if (target !== undefined) {
      delete endpoint.pending_state;
      endpoint.current_state = target;
      if (target === "idle") endpoint.suspended_at = endpoint.updated_at;
      else {
        endpoint.last_active = endpoint.updated_at;
        delete endpoint.suspended_at;
        this.suspendWhenIdle(project, endpoint);
      }
    }
    this.startNext(project, endpoint);
  }

  private end(
    operation: StoredOperation,
    outcome: { status: "finished" | "skipped" | "failed" | "error" | "cancelled"; error?: string | undefined },
  ): void {
    clearTimeout(this.timers.get(operation.id));
    this.timers.delete(operation.id);
    operation.status = outcome.status;
    operation.updated_at = now();
    operation.total_duration_ms = operation.run.started_ms === undefined ? 0 : Date.now() - operation.run.started_ms;
    if (outcome.status === "failed" || outcome.status === "error") operation.failures_count = 1;
    if (outcome.error !== undefined) operation.error = outcome.error;
  }

  private after(key: string, delayMs: number, action: () => void): void {
    clearTimeout(this.timers.get(key));
    const timer = setTimeout(() => {
      this.timers.delete(key);
      action();
    }, delayMs);
    this.timers.set(key, timer.unref());
  }
}
