import { computeSizes, checkedLimitsOf, type ComputeSize } from "./computeSizes";
import { shownAlone } from "./shownAlone";

/** The limits of sizes below 9 CU (docs/design/api.md, Compute sizes). */
const SMALL: Readonly<Record<string, number>> = {
  0.25: 112,
  0.5: 225,
  1: 450,
  2: 901,
  3: 1351,
  4: 1802,
  5: 2253,
  6: 2703,
  7: 3154,
  8: 3604,
};

const LARGE = 4_000;

/**
 * Postgres' `max_connections` of a fixed size in CU, or of each limit of an autoscaling one (there it depends on
 * both, docs/design/api.md, Compute sizes).
 *
 * `undefined` for 40 to 56 CU, whose limits the service does not publish.
 * @throws RangeError if the service does not offer the size.
 */
export function maxConnections(size: number): number | undefined;
export function maxConnections(size: { readonly min: number; readonly max: number }): {
  min: number | undefined;
  max: number | undefined;
};
export function maxConnections(
  size: ComputeSize,
): number | undefined | { min: number | undefined; max: number | undefined };
export function maxConnections(size: ComputeSize) {
  const { min, max } = checkedLimitsOf(size);
  return typeof size === "number" ? ofFixed(size) : { min: ofFixed(min), max: ofFixed(max) };
}

function ofFixed(sizeCu: number): number | undefined {
  if (!computeSizes.includes(sizeCu))
    throw shownAlone(new RangeError(`${sizeCu} CU is not a size of a compute (see computeSizes)`));
  if (sizeCu > 38) return undefined;
  return SMALL[sizeCu] ?? LARGE;
}
