import { existsSync } from "node:fs";
import { join } from "node:path";
import { KINDS, type Kind } from "../../src/contract/pointer";
import type { KindCase } from "./KindCase";

/**
 * The case of each kind, from the file of its name: one that is missing is one error, in kinds.test.ts.
 */
const cases = KINDS.filter((kind) => existsSync(join(__dirname, `${kind}.ts`))).map((kind) => [
  kind,
  jest.requireActual<{ kindCase: KindCase }>(`./${kind}`).kindCase,
]);
// kinds.test.ts asserts that there is one for each kind.
export const KIND_CASES = Object.fromEntries(cases) as Readonly<Record<Kind, KindCase>>;

export const EACH_CASE: readonly KindCase[] = Object.values(KIND_CASES);
/** For `test.each`, with the name of the kind in the title. */
export const EACH_KIND: readonly (readonly [Kind, KindCase])[] = EACH_CASE.map((one) => [one.kind, one]);
/** Kinds that belong to an auth integration. */
export const EACH_CHILD = EACH_KIND.filter(([, { inIntegration }]) => inIntegration);
