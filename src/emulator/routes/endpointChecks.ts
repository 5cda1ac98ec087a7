import { z } from "zod";
import type { EndpointRecord } from "../model/records";
import { badRequest } from "../http/errors";

/** Above it a compute is fixed and never rests (docs/design/api.md, Compute sizes). */
const LARGEST_AUTOSCALING_CU = 16;
const LARGEST_CU = 56;
const NEVER_SUSPEND = -1;

/** 0.25, 0.5, every integer to 16, every even number from 18 to 56 (docs/design/api.md, Compute sizes). */
const isComputeSize = (cu: number): boolean =>
  cu === 0.25 ||
  cu === 0.5 ||
  (Number.isInteger(cu) && cu >= 1 && cu <= LARGEST_CU && (cu <= LARGEST_AUTOSCALING_CU || cu % 2 === 0));

const isSuspendTimeout = (seconds: number): boolean =>
  seconds === 0 || seconds === NEVER_SUSPEND || (seconds >= 60 && seconds <= 604_800);

const size = z.number().refine(isComputeSize, "is not a compute size on offer");

const settings = z.strictObject({
  pg_settings: z.record(z.string().min(1), z.string()).optional(),
  preload_libraries: z
    .strictObject({ use_defaults: z.boolean().optional(), enabled_libraries: z.array(z.string()).optional() })
    .optional(),
});

const attributes = {
  name: z.string().min(1).max(64).optional(),
  settings: settings.optional(),
  autoscaling_limit_min_cu: size.optional(),
  autoscaling_limit_max_cu: size.optional(),
  provisioner: z.string().min(1).optional(),
  pooler_enabled: z.boolean().optional(),
  pooler_mode: z.literal("transaction").optional(),
  disabled: z.boolean().optional(),
  passwordless_access: z.boolean().optional(),
  suspend_timeout_seconds: z.int().refine(isSuspendTimeout, "must be 0, -1 or a number from 60 to 604800").optional(),
};

const branchId = z.string().startsWith("br-");

export const createEndpointBody = z.strictObject({
  endpoint: z.strictObject({
    ...attributes,
    branch_id: branchId,
    type: z.enum(["read_write", "read_only"]),
    region_id: z.string().optional(),
  }),
});

export const updateEndpointBody = z.strictObject({
  endpoint: z.strictObject({ ...attributes, branch_id: branchId.optional() }),
});

export type EndpointAttributes = z.output<typeof updateEndpointBody>["endpoint"];
type Sizing = Pick<EndpointRecord, "autoscaling_limit_min_cu" | "autoscaling_limit_max_cu" | "suspend_timeout_seconds">;

/** The sizing that a request leads to. The rules bind the result, whichever part of it was sent. */
export function sizingAfter(current: Sizing, sent: EndpointAttributes): Sizing {
  const min = sent.autoscaling_limit_min_cu ?? current.autoscaling_limit_min_cu;
  const max = sent.autoscaling_limit_max_cu ?? current.autoscaling_limit_max_cu;
  if (min > max) throw badRequest("autoscaling_limit_min_cu must not be greater than autoscaling_limit_max_cu");
  if (min !== max && max > LARGEST_AUTOSCALING_CU) {
    throw badRequest(`autoscaling goes up to ${LARGEST_AUTOSCALING_CU} CU; larger sizes are fixed`);
  }
  const tooLargeToRest = max > LARGEST_AUTOSCALING_CU;
  if (tooLargeToRest && (sent.suspend_timeout_seconds ?? NEVER_SUSPEND) !== NEVER_SUSPEND) {
    throw badRequest(`a compute above ${LARGEST_AUTOSCALING_CU} CU cannot scale to zero`);
  }
  return {
    autoscaling_limit_min_cu: min,
    autoscaling_limit_max_cu: max,
    suspend_timeout_seconds: tooLargeToRest
      ? NEVER_SUSPEND
      : (sent.suspend_timeout_seconds ?? current.suspend_timeout_seconds),
  };
}
