import fc from "fast-check";
import { computeSizes } from "../../src/helpers/computeSizes";
import { maxConnections } from "../../src/helpers/maxConnections";

/** The table of docs/design/api.md, Compute sizes, row by row. */
const TABLE: readonly (readonly [cu: number, connections: number])[] = [
  [0.25, 112],
  [0.5, 225],
  [1, 450],
  [2, 901],
  [3, 1351],
  [4, 1802],
  [5, 2253],
  [6, 2703],
  [7, 3154],
  [8, 3604],
];
const FROM_9_TO_38 = [9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38];
const NOT_PUBLISHED = [40, 42, 44, 46, 48, 50, 52, 54, 56];

test.each(TABLE)("%d CU have %d connections", (cu, connections) => {
  expect(maxConnections(cu)).toBe(connections);
});

test.each(FROM_9_TO_38)("%d CU have 4000 connections", (cu) => {
  expect(maxConnections(cu)).toBe(4000);
});

test.each(NOT_PUBLISHED)("%d CU have a number that the service does not publish", (cu) => {
  expect(maxConnections(cu)).toBeUndefined();
});

test("every size falls under one of the three", () => {
  const told = [...TABLE.map(([cu]) => cu), ...FROM_9_TO_38, ...NOT_PUBLISHED];
  expect(told).toEqual([...computeSizes]);
});

test("an autoscaling size has one number at each limit", () => {
  expect(maxConnections({ min: 0.25, max: 8 })).toEqual({ min: 112, max: 3604 });
  expect(maxConnections({ min: 2, max: 2 })).toEqual({ min: 901, max: 901 });
});

test("any number that is no size is refused, alone and as a limit", () => {
  const notASize = fc.oneof(fc.double(), fc.integer({ min: -10, max: 80 })).filter((cu) => !computeSizes.includes(cu));
  fc.assert(
    fc.property(notASize, (cu) => {
      expect(() => maxConnections(cu)).toThrow(RangeError);
      expect(() => maxConnections({ min: 1, max: cu })).toThrow(RangeError);
      expect(() => maxConnections({ min: cu, max: 1 })).toThrow(RangeError);
    }),
  );
});
