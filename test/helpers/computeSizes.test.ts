import fc from "fast-check";
import { computeSizes, localDiskGib, localFileCacheGb, ramGb } from "../../src/helpers/computeSizes";

/** Written out from docs/design/api.md, Compute sizes, so that it shares nothing with the code. */
const SIZES = [
  0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42,
  44, 46, 48, 50, 52, 54, 56,
];

const anySize = fc.constantFrom(...SIZES);
const anyRange = fc
  .tuple(anySize, anySize)
  .map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }))
  .filter(({ max }) => max <= 16);

test("the sizes are those of the service, ascending, and cannot be changed by who reads them", () => {
  expect(computeSizes).toEqual(SIZES);
  expect(Object.isFrozen(computeSizes)).toBe(true);
});

test.each([
  [0.25, 1, 0.75, 20],
  [0.5, 2, 1.5, 20],
  [1, 4, 3, 20],
  [2, 8, 6, 30],
  [16, 64, 48, 240],
  [56, 224, 168, 840],
])("%d CU have %d GB of RAM, %d GB of file cache and %d GiB of local disk", (cu, ram, cache, disk) => {
  expect([ramGb(cu), localFileCacheGb(cu), localDiskGib(cu)]).toEqual([ram, cache, disk]);
});

test("an autoscaling size counts at its maximum, whatever its minimum", () => {
  fc.assert(
    fc.property(anyRange, (size) => {
      for (const measure of [ramGb, localFileCacheGb, localDiskGib]) expect(measure(size)).toBe(measure(size.max));
    }),
  );
});

test("the cache is at most three quarters of the RAM, and the disk never below 20 GiB", () => {
  fc.assert(
    fc.property(anySize, (cu) => {
      expect(localFileCacheGb(cu) / ramGb(cu)).toBe(0.75);
      expect(localDiskGib(cu)).toBeGreaterThanOrEqual(20);
      expect(localDiskGib(cu)).toBeGreaterThanOrEqual(15 * cu);
    }),
  );
});
