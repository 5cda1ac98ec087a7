import { isObject, isOutput, mustBe } from "./given";
import { shownAlone } from "./shownAlone";

/**
 * Any other number, such as one from the configuration; the plan checks it. Beside the listed sizes, it keeps the
 * editor's suggestions.
 */
type OtherCu = number & Record<never, never>;

/**
 * A limit of an autoscaling compute, in compute units (CU): editors offer the current sizes, and the plan refuses
 * others.
 */
// prettier-ignore
export type AutoscalingCu = 0.25 | 0.5 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | OtherCu;

/** A fixed size, in compute units (CU): editors offer the current sizes, and the plan refuses others. */
// prettier-ignore
export type ComputeCu =
  | AutoscalingCu
  | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 32 | 34 | 36 | 38 | 40 | 42 | 44 | 46 | 48 | 50 | 52 | 54 | 56;

/** A compute's size in compute units (CU): fixed, or the limits for autoscaling. */
export type ComputeSize = ComputeCu | { readonly min: AutoscalingCu; readonly max: AutoscalingCu };

/** The largest size of an autoscaling compute, in CU; larger ones are fixed and never scale to zero (docs/design/api.md, Compute sizes). */
export const LARGEST_AUTOSCALING_CU = 16;

const steps = (from: number, to: number, step: number): number[] =>
  Array.from({ length: (to - from) / step + 1 }, (_, index) => from + index * step);

/** Every size a compute can have, in CU, ascending: 0.25, 0.5, 1 to 16, then the even numbers to 56 (docs/design/api.md, Compute sizes). */
export const computeSizes: readonly number[] = Object.freeze([0.25, 0.5, ...steps(1, 16, 1), ...steps(18, 56, 2)]);

/** For a fixed size, both limits are that size. */
export const limitsOf = (size: ComputeSize): { min: number; max: number } =>
  typeof size === "number" ? { min: size, max: size } : size;

/** @throws TypeError for anything but a size, such as an Output: a program without types can give anything. */
export function checkedLimitsOf(size: ComputeSize): { min: number; max: number } {
  const { min, max } = isObject(size) ? size : { min: size, max: size };
  if (typeof min === "number" && typeof max === "number") return { min, max };
  const words = "a number of compute units (CU), or {min, max}";
  const problem = isObject(size)
    ? `must be ${words}, not an object without both of them`
    : mustBe(words, "number", size);
  throw shownAlone(new TypeError(`a size ${problem}${isOutput(size) ? ". Use size.apply(…)" : ""}`));
}

/** The largest size of a compute, in CU. */
const largest = (size: ComputeSize): number => checkedLimitsOf(size).max;

/** RAM in GB: 4 GB for each CU (docs/design/api.md, Compute sizes). For an autoscaling size, at its maximum. */
export function ramGb(size: ComputeSize): number {
  return 4 * largest(size);
}

/** Upper bound of the Local File Cache in GB: 75 percent of the RAM (docs/design/api.md, Compute sizes). */
export function localFileCacheGb(size: ComputeSize): number {
  return 0.75 * ramGb(size);
}

/** Local disk for temporary files in GiB: 15 GiB for each CU of the maximum, at least 20 GiB (docs/design/api.md, Compute sizes). */
export function localDiskGib(size: ComputeSize): number {
  return Math.max(20, 15 * largest(size));
}
