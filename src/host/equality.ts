import { isDeepStrictEqual } from "node:util";
import { clean } from "../contract/hiddenKeys";

/** Equal as JSON: key order does not count, an absent key and an `undefined` are the same. */
export function sameJson(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(clean({ value: left }), clean({ value: right }));
}
