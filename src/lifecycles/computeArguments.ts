import { z } from "zod";
import type { ArgumentSpecs, Problem } from "../dynamic/shape";
import { computeSizes, LARGEST_AUTOSCALING_CU, type ComputeSize } from "../helpers/computeSizes";
import type { ComputeEndpointShape } from "../resources/ComputeEndpoint";
import { branchIdSchema, projectIdSchema } from "./identifiers";

const SIZES = "0.25, 0.5, 1 to 16, and the even numbers from 18 to 56";
const boolean = z.boolean({ error: "must be true or false" });

const cu = z.number({ error: "must be a number of compute units (CU)" });
const isSize = (value: number): boolean => computeSizes.includes(value);
const notASize = ({ input }: { input?: unknown }) => `${String(input)} CU is not a size of the service (${SIZES})`;

const sizeCu = cu.refine(isSize, { error: notASize });

const limitCu = cu
  // Beyond the limit there is one thing to say, not two.
  .refine((value) => isSize(value) || value > LARGEST_AUTOSCALING_CU, { error: notASize })
  .refine((value) => value <= LARGEST_AUTOSCALING_CU, {
    error: ({ input }) =>
      `${String(input)} CU is too large to scale: autoscaling goes up to ${LARGEST_AUTOSCALING_CU} CU, larger sizes are fixed`,
  });

const range = z
  .strictObject({ min: limitCu, max: limitCu })
  .refine(({ min, max }) => min <= max, { error: "min must not be larger than max", path: ["min"] });

/** `oneOf`, but with the issues of the member that was meant, not "invalid input". */
function eitherOr<T>(pick: (value: unknown) => z.ZodType<T>): z.ZodType<T> {
  return z.unknown().transform((value, context): T => {
    const parsed = pick(value).safeParse(value);
    if (parsed.success) return parsed.data;
    // The issues of the member, with their own paths and messages.
    for (const issue of parsed.error.issues)
      context.addIssue({ code: "custom", message: issue.message, path: issue.path });
    return z.NEVER;
  });
}

const size = eitherOr<ComputeSize>((value) =>
  typeof value === "object" && value !== null
    ? range
    : typeof value === "number"
      ? sizeCu
      : z.never({ error: "must be a number of compute units (CU), or {min, max}" }),
);

const scaleToZero = eitherOr<boolean | { afterSeconds: number }>((value) =>
  typeof value === "object" && value !== null
    ? z.strictObject({
        afterSeconds: z
          .int({ error: "must be a whole number of seconds" })
          .min(60, { error: "must be at least 60 seconds" })
          .max(604_800, { error: "must be at most 604800 seconds (a week)" }),
      })
    : z.boolean({ error: "must be true, false or {afterSeconds}" }),
);

const settings = z.strictObject(
  {
    pgSettings: z
      .record(z.string(), z.string({ error: "must be a string (Postgres settings are sent as text)" }))
      .exactOptional(),
    preloadLibraries: z
      .strictObject({
        useDefaults: boolean.exactOptional(),
        enabledLibraries: z.array(z.string({ error: "must be the name of a library" })).exactOptional(),
      })
      .exactOptional(),
  },
  {
    error: (issue) =>
      issue.code === "invalid_type" ? "must be an object with pgSettings and preloadLibraries" : undefined,
  },
);

/** The seconds after which a compute is suspended, as the service counts them: 0 is its default, -1 is never. */
export function suspendTimeoutSeconds(value: boolean | { afterSeconds: number }): number {
  if (typeof value === "object") return value.afterSeconds;
  return value ? 0 : -1;
}

const DEFAULT_SUSPEND_SECONDS = 300;
const effectiveSeconds = (value: boolean | { afterSeconds: number }) =>
  suspendTimeoutSeconds(value) === 0 ? DEFAULT_SUSPEND_SECONDS : suspendTimeoutSeconds(value);

const limits = (value: ComputeSize) => (typeof value === "number" ? { min: value, max: value } : value);

export const computeArguments: ArgumentSpecs<ComputeEndpointShape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: true },
  branchId: { schema: branchIdSchema, required: true },
  type: {
    schema: z.enum(["read_write", "read_only"], { error: 'must be "read_write" or "read_only"' }),
    replaces: true,
    assumed: "read_write",
  },
  name: {
    schema: z
      .string({ error: "must be a string" })
      .min(1, { error: "must have 1 to 64 characters" })
      .max(64, { error: "must have 1 to 64 characters" }),
  },
  size: {
    schema: size,
    equal: (left, right) => limits(left).min === limits(right).min && limits(left).max === limits(right).max,
  },
  scaleToZero: { schema: scaleToZero, equal: (left, right) => effectiveSeconds(left) === effectiveSeconds(right) },
  poolerEnabled: { schema: boolean },
  poolerMode: { schema: z.enum(["transaction"], { error: 'must be "transaction"' }) },
  disabled: { schema: boolean },
  passwordlessAccess: { schema: boolean },
  regionId: { schema: z.string({ error: "must be a string" }).min(1, { error: "must not be empty" }), replaces: true },
  provisioner: { schema: z.string({ error: "must be a string" }).min(1, { error: "must not be empty" }) },
  settings: { schema: settings },
  restartTriggers: { schema: z.array(z.unknown(), { error: "must be a list" }), unreadable: true },
  adopt: {
    schema: eitherOr<boolean | string>((value) =>
      typeof value === "string"
        ? z.string().regex(/^ep-[A-Za-z0-9._~-]+$/, {
            error: 'must be true, false or the id of a compute, which begins with "ep-"',
          })
        : z.boolean({ error: 'must be true, false or the id of a compute, which begins with "ep-"' }),
    ),
    createOnly: true,
  },
};

/** Rules over several arguments (service.md 8.1). */
export function computeRules({ size, scaleToZero, type, adopt }: Partial<ComputeEndpointShape>): Problem[] {
  const problems: Problem[] = [];
  if (typeof size === "number" && size > LARGEST_AUTOSCALING_CU && scaleToZero !== undefined && scaleToZero !== false) {
    problems.push({
      path: "scaleToZero",
      reason: `must be false or left out for a size above ${LARGEST_AUTOSCALING_CU} CU, which cannot scale to zero`,
    });
  }
  if (type === "read_only" && adopt === true) {
    problems.push({ path: "adopt", reason: 'must name a read replica by its id ("ep-…"): a branch can have several' });
  }
  return problems;
}
