import { randomInt } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { EmulatorVariants, ResolvedOptions } from "../emulatorOptions";
import { isUnfinished, type Operations } from "./operations";
import {
  defined,
  now,
  type StoredEndpoint,
  type OperationAction,
  type StoredOperation,
  type StoredProject,
} from "./records";
import { conflict, invalid, notFound, ModelRefusal } from "./refusal";
import { findBranch, findEndpoint } from "./store";

/** Above this size a compute has a fixed size and never suspends (docs/design/api.md, Compute sizes). */
const LARGEST_AUTOSCALING_CU = 16;
const LARGEST_CU = 56;
const NEVER_SUSPEND = -1;

/** 0.25, 0.5, every integer to 16, every even number from 18 to 56 (docs/design/api.md, Compute sizes). */
export const isComputeSize = (cu: number): boolean =>
  cu === 0.25 ||
  cu === 0.5 ||
  (Number.isInteger(cu) && cu >= 1 && cu <= LARGEST_CU && (cu <= LARGEST_AUTOSCALING_CU || cu % 2 === 0));

export const isSuspendTimeout = (seconds: number): boolean =>
  seconds === 0 || seconds === NEVER_SUSPEND || (seconds >= 60 && seconds <= 604_800);

type Sizing = Pick<StoredEndpoint, "autoscaling_limit_min_cu" | "autoscaling_limit_max_cu" | "suspend_timeout_seconds">;

type Changeable = Sizing &
  Pick<
    StoredEndpoint,
    | "name"
    | "branch_id"
    | "settings"
    | "provisioner"
    | "pooler_enabled"
    | "pooler_mode"
    | "disabled"
    | "passwordless_access"
  >;

/** The attributes in a request. */
export type SentAttributes = { [Name in keyof Changeable]?: Changeable[Name] | undefined };

export type NewEndpoint = SentAttributes &
  Pick<StoredEndpoint, "branch_id" | "type"> & { region_id?: string | undefined };

/** The sizing after a request. The rules apply to the result, whichever part was sent. */
function sizingAfter(current: Sizing, sent: SentAttributes): Sizing {
  const min = sent.autoscaling_limit_min_cu ?? current.autoscaling_limit_min_cu;
  const max = sent.autoscaling_limit_max_cu ?? current.autoscaling_limit_max_cu;
  if (min > max) throw invalid("autoscaling_limit_min_cu must not be greater than autoscaling_limit_max_cu");
  if (min !== max && max > LARGEST_AUTOSCALING_CU) {
    throw invalid(`autoscaling goes up to ${LARGEST_AUTOSCALING_CU} CU; larger sizes are fixed`);
  }
  const tooLargeToSuspend = max > LARGEST_AUTOSCALING_CU;
  if (tooLargeToSuspend && (sent.suspend_timeout_seconds ?? NEVER_SUSPEND) !== NEVER_SUSPEND) {
    throw invalid(`a compute above ${LARGEST_AUTOSCALING_CU} CU cannot scale to zero`);
  }
  return {
    autoscaling_limit_min_cu: min,
    autoscaling_limit_max_cu: max,
    suspend_timeout_seconds: tooLargeToSuspend
      ? NEVER_SUSPEND
      : (sent.suspend_timeout_seconds ?? current.suspend_timeout_seconds),
  };
}

const FIRST = ["autumn", "bold", "calm", "cool", "crimson", "dry", "fancy", "green", "late", "misty", "royal", "young"];
const SECOND = ["band", "brook", "cloud", "dew", "field", "forest", "lake", "meadow", "rain", "sound", "sun", "tree"];

const pick = (words: readonly string[]): string => words[randomInt(words.length)] ?? "plain";

/** `ep-<word>-<word>-<number>`, the form of real compute ids. */
const newEndpointId = (): string => `ep-${pick(FIRST)}-${pick(SECOND)}-${randomInt(10_000_000, 100_000_000)}`;

/** A record with the service's defaults, not yet part of a project. */
export function newEndpoint({
  project,
  branchId,
  type,
  id = newEndpointId(),
  createdAt = now(),
}: {
  project: Pick<StoredProject, "id" | "region_id">;
  branchId: string;
  type: StoredEndpoint["type"];
  id?: string | undefined;
  createdAt?: string;
}): StoredEndpoint {
  const proxyHost = `${project.region_id}.svc.localhost`;
  return {
    id,
    host: `${id}.${proxyHost}`,
    project_id: project.id,
    branch_id: branchId,
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 2,
    region_id: project.region_id,
    type,
    current_state: "init",
    settings: {},
    pooler_enabled: false,
    pooler_mode: "transaction",
    disabled: false,
    passwordless_access: true,
    creation_source: "console",
    created_at: createdAt,
    updated_at: createdAt,
    proxy_host: proxyHost,
    suspend_timeout_seconds: 0,
    provisioner: "k8s-pod",
  };
}

export const primaryOf = (project: StoredProject, branchId: string): StoredEndpoint | undefined =>
  project.endpoints.find((endpoint) => endpoint.branch_id === branchId && endpoint.type === "read_write");

function refuseSecondPrimary(project: StoredProject, branchId: string): void {
  if (primaryOf(project, branchId) !== undefined) throw conflict("the branch already has a read_write endpoint");
}

/** Attributes that an active compute applies by an operation; other changes are only stored. */
const NEEDS_APPLYING = [
  "branch_id",
  "autoscaling_limit_min_cu",
  "autoscaling_limit_max_cu",
  "suspend_timeout_seconds",
  "pooler_enabled",
  "pooler_mode",
  "provisioner",
  "settings",
] as const;

const KB_IN: Readonly<Record<string, number>> = { MB: 1024, GB: 1024 ** 2, TB: 1024 ** 3 };

/** `128MB` in the unit of Postgres: `131072kB`. */
const inKb = (value: string): string =>
  value.replace(/^(\d+) ?([MGT]B)$/, (same, count: string, unit: string) => {
    const factor = KB_IN[unit];
    return factor === undefined ? same : `${Number(count) * factor}kB`;
  });

/** The settings that a service keeps which adds its own, or writes values in another way. */
function keptSettings(
  settings: StoredEndpoint["settings"],
  { addedPgSettings, pgSettingsInKb }: Required<EmulatorVariants>,
): StoredEndpoint["settings"] {
  const all = Object.entries({ ...settings.pg_settings, ...addedPgSettings });
  if (all.length === 0) return settings;
  const kept = all.map(([name, value]) => [name, pgSettingsInKb ? inKb(value) : value]);
  return { ...settings, pg_settings: Object.fromEntries(kept) };
}

/** Assigns the attributes to the compute. Returns whether an active compute must apply them. */
function assign(endpoint: StoredEndpoint, sent: SentAttributes, variants: Required<EmulatorVariants>): boolean {
  const before = { ...endpoint };
  const { settings, ...plain } = sent;
  const sizing = sizingAfter(endpoint, sent);
  Object.assign(endpoint, defined(plain), sizing);
  endpoint.settings = keptSettings({ ...endpoint.settings, ...defined(settings ?? {}) }, variants);
  endpoint.suspend_timeout_seconds = variants.fixedSuspendTimeout ?? endpoint.suspend_timeout_seconds;
  return NEEDS_APPLYING.some((field) => !isDeepStrictEqual(before[field], endpoint[field]));
}

/** A compute, and the operations that a request has started for it. */
export interface ComputeResult {
  endpoint: StoredEndpoint;
  operations: StoredOperation[];
}

/** Operations on computes (docs/design/api.md, Compute routes). */
export class Computes {
  constructor(
    private readonly options: ResolvedOptions,
    private readonly operations: Operations,
  ) {}

  create(project: StoredProject, sent: NewEndpoint): ComputeResult {
    const { type, region_id, branch_id, ...attributes } = sent;
    findBranch(project, branch_id);
    if (region_id !== undefined && region_id !== project.region_id) {
      throw invalid("region_id must be the region of the project");
    }
    const endpoint = newEndpoint({ project, branchId: branch_id, type });
    this.refuseLargerThanPlan(attributes);
    assign(endpoint, attributes, this.options.variants);
    this.refuseWhenLocked(project);
    if (type === "read_write") refuseSecondPrimary(project, branch_id);
    project.endpoints.push(endpoint);
    const staysIdle = (type === "read_only" && !this.options.variants.startReplicas) || endpoint.disabled;
    if (staysIdle) endpoint.current_state = "idle";
    return this.started(project, endpoint, staysIdle ? [] : ["start_compute"]);
  }

  update(project: StoredProject, endpointId: string, sent: SentAttributes): ComputeResult {
    const endpoint = this.unlocked(project, endpointId);
    if (sent.branch_id !== undefined && sent.branch_id !== endpoint.branch_id) {
      findBranch(project, sent.branch_id);
      if (endpoint.type === "read_write") refuseSecondPrimary(project, sent.branch_id);
    }
    this.refuseLargerThanPlan(sent);
    const needsApplying = assign(endpoint, sent, this.options.variants);
    endpoint.updated_at = now();
    if (!this.operations.willBeActive(project, endpoint)) return this.started(project, endpoint, []);
    if (endpoint.disabled) return this.started(project, endpoint, ["suspend_compute"]);
    if (!needsApplying) return this.started(project, endpoint, []);
    const restart = ["suspend_compute", "start_compute"] as const;
    return this.started(project, endpoint, ["apply_config", ...(this.options.variants.restartToApply ? restart : [])]);
  }

  /** Undefined if the compute was already deleted and the service reports that as success. */
  delete(project: StoredProject, endpointId: string): ComputeResult | undefined {
    if (project.deleted_endpoints.includes(endpointId)) {
      if (this.options.variants.goneEndpointDelete === 204) return undefined;
      throw notFound("endpoint not found");
    }
    const endpoint = this.unlocked(project, endpointId);
    const runs = endpoint.current_state === "active" || endpoint.pending_state === "active";
    this.remove(project, endpointId);
    delete endpoint.pending_state;
    return this.started(project, endpoint, runs ? ["suspend_compute"] : []);
  }

  restart(project: StoredProject, endpointId: string): ComputeResult {
    const endpoint = this.unlocked(project, endpointId);
    if (endpoint.current_state !== "active") {
      throw new ModelRefusal("wrong state", "only an active endpoint can be restarted");
    }
    return this.started(project, endpoint, ["suspend_compute", "start_compute"]);
  }

  start(project: StoredProject, endpointId: string): ComputeResult {
    const endpoint = this.unlocked(project, endpointId);
    if (endpoint.disabled) throw new ModelRefusal("wrong state", "the endpoint is disabled");
    const active = this.operations.willBeActive(project, endpoint);
    return this.started(project, endpoint, active ? [] : ["start_compute"]);
  }

  suspend(project: StoredProject, endpointId: string): ComputeResult {
    const endpoint = this.unlocked(project, endpointId);
    const active = this.operations.willBeActive(project, endpoint);
    return this.started(project, endpoint, active ? ["suspend_compute"] : []);
  }

  /** Removes the compute from the project at once, with its queued operations. No lock prevents it. */
  remove(project: StoredProject, endpointId: string): void {
    this.operations.skipUnfinished(project, endpointId);
    project.deleted_endpoints.push(endpointId);
    project.endpoints = project.endpoints.filter(({ id }) => id !== endpointId);
  }

  private started(
    project: StoredProject,
    endpoint: StoredEndpoint,
    actions: readonly OperationAction[],
  ): ComputeResult {
    return { endpoint, operations: this.operations.schedule({ project, endpoint, actions }) };
  }

  private unlocked(project: StoredProject, endpointId: string): StoredEndpoint {
    const endpoint = findEndpoint(project, endpointId);
    this.refuseWhenLocked(project);
    return endpoint;
  }

  /** Only what the request contains counts: a compute that is larger already can still be renamed or made smaller. */
  private refuseLargerThanPlan({ autoscaling_limit_min_cu = 0, autoscaling_limit_max_cu = 0 }: SentAttributes): void {
    const { maxSizeCu } = this.options.variants;
    if (maxSizeCu > 0 && Math.max(autoscaling_limit_min_cu, autoscaling_limit_max_cu) > maxSizeCu)
      throw new ModelRefusal("beyond the plan", `the plan of this account allows up to ${maxSizeCu} CU`);
  }

  /** Nothing is executed while the project is locked, so the client may retry (docs/design/api.md, Operations). */
  private refuseWhenLocked(project: StoredProject): void {
    if (!this.options.lockProjects || !project.operations.some(isUnfinished)) return;
    if (this.options.lockStatus === 409) {
      throw conflict("project already has running conflicting operations, scheduling of new ones is prohibited");
    }
    throw new ModelRefusal("locked", "project already has running operations, scheduling of new ones is prohibited");
  }
}
