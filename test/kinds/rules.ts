import fc from "fast-check";
import { anyCharacter } from "../support/characters";
import type { Rule } from "./KindCase";

/*
 * Values that the service accepts and refuses, from docs/design/api.md and not from the schemas: the building blocks of
 * each kind's rules.
 */

/** docs/design/api.md, Compute sizes. */
export const SIZES = [
  0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42,
  44, 46, 48, 50, 52, 54, 56,
];

/** Part of each string value without its own rule: no reason may contain it. */
export const CANARY = "cAnArYq";

export const letters = (most: number) => fc.stringMatching(new RegExp(`^[a-z][a-z0-9]{0,${most - 1}}$`));
export const canary = fc.string({ unit: anyCharacter, maxLength: 40 }).map((text) => CANARY + text);
const huge = fc.constantFrom(20_000, 1_000_000).map((length) => CANARY.repeat(Math.ceil(length / CANARY.length)));
export const numbers = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 2 ** 53, 1e308),
);
export const objects = fc.dictionary(fc.constantFrom("a", "min", "__proto__", "constructor"), canary);
export const lists = fc.array(fc.oneof(canary, numbers, objects), { maxLength: 3 });
export const notText = fc.oneof(numbers, fc.boolean(), lists, objects);
export const notFlag = fc.oneof(numbers, canary, lists, objects);
export const notList = fc.oneof(numbers, canary, fc.boolean(), objects);

export const text = (good: fc.Arbitrary<string>, ...bad: fc.Arbitrary<string>[]): Rule => ({
  good,
  bad: fc.oneof(notText, fc.constant(""), ...bad),
});
export const flag: Rule = { good: fc.boolean(), bad: notFlag };
export const free: Rule = { good: lists, bad: notList };
export const oneOf = (...words: string[]): Rule => text(fc.constantFrom(...words), canary, huge);
/** Values that would leave their segment of a path. */
export const PATHS = ["..", ".", "a/b", "../x", "%2f", "a b", "a\nb", "a?b", "a#b", "\u202ea", "a\u0000"].map(
  (odd) => odd + (odd.includes(".") ? "/" : "") + CANARY,
);
export const segment = text(letters(30), fc.constantFrom(...PATHS, "..", "."), huge);
export const branch = text(
  letters(30).map((id) => `br-${id}`),
  canary,
  fc.constantFrom("br-", ...PATHS),
);
/** Texts of exactly this length, without blanks around them. */
const ofLength = (length: number) =>
  fc
    .string({ unit: "grapheme-ascii", minLength: length, maxLength: length })
    .map((one) => one.replace(/^ +| +$/g, (blanks) => "x".repeat(blanks.length)));
/** A text on one line, without blanks around it. */
export const line = text(
  canary.map((one) => `${one.replace(/[\p{Cc}\u2028\u2029]/gu, "")}.`),
  fc.constantFrom(`${CANARY}\n`, `${CANARY}\r\nBcc: x`, ` ${CANARY}`, `${CANARY}\u00a0`, `${CANARY}\u0000`),
);
/** The shortest and longest are explicit, since fast-check rarely generates long texts. */
export const counted = (longest: number): Rule =>
  text(
    fc.oneof(ofLength(1), ofLength(longest), fc.integer({ min: 1, max: longest }).chain(ofLength)),
    fc
      .oneof(fc.constant(longest + 1), fc.integer({ min: longest + 1, max: longest + 20 }))
      .map((length) => CANARY.repeat(length).slice(0, length)),
    huge,
  );
export const address = text(
  fc.tuple(letters(20), letters(20)).map(([name, host]) => `${name}@${host}.example`),
  fc.constantFrom(CANARY, `@${CANARY}`, `${CANARY}@`, `a b@${CANARY}`, `a@b@${CANARY}`),
  huge,
);
export const origins = fc
  .tuple(fc.constantFrom("http", "https"), letters(20), fc.constantFrom("", ":8080", "/"))
  .map(([scheme, host, rest]) => `${scheme}://${host}.example${rest}`);
export const notOrigin = fc.oneof(
  canary,
  huge,
  fc
    .constantFrom(
      "javascript:",
      "ftp://",
      "//",
      "https://",
      "http:// ",
      ["https://u", "p@h/"].join(":"),
      "https://h?",
      "https://h#",
    )
    .map((start) => `${start}/${CANARY}`),
);
export const days = fc
  .date({ min: new Date("2000-01-01T00:00:00Z"), max: new Date("2999-12-31T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
export const notDay = fc.oneof(
  canary,
  fc.constantFrom(
    "2027-02-30",
    "2027-1-31",
    "31.01.2027",
    "2027-01-31T00:00:00Z",
    "2027-01-31 ",
    "27-01-31",
    "2027-13-01",
  ),
);
export const sizes = fc.constantFrom(...SIZES);
export const limits = fc.constantFrom(...SIZES.filter((size) => size <= 16));
