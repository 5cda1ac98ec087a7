import { z } from "zod";
import { ONE_LINE, WITHOUT_BLANKS_AROUND } from "../../contract/blanks";
import { isReference, referenceProblem, type SecretReference } from "../../contract/references";
import { MEMBERS } from "../../runtime/argumentPaths";
import { UNKNOWN_NAME } from "../../runtime/arguments";
import { mustBe, unknownProperty } from "../../helpers/given";

/** Schemas of arguments. Each has its own messages, and no message contains a string that may be a secret. */

/** The message for a value of the wrong type. `words` follow "must be". */
export const needs =
  (words: string, type: Parameters<typeof mustBe>[1]) =>
  ({ input }: { readonly input?: unknown }): string =>
    mustBe(words, type, input);

export const boolean = z.boolean({ error: needs("true or false", "boolean") });
export const string = z.string({ error: needs("a string", "string") });
// Patterns instead of lengths: zod compares the `length` of anything that has one, even an object, and throws if that
// is not a number.
const NOT_EMPTY = { error: "must not be empty" };

/** Any text, such as a secret. */
export const text = string.regex(/[^]/, NOT_EMPTY);

/** `words`: what it is. */
const oneLine = (words: string) =>
  z
    .string({ error: needs(words, "string") })
    .regex(ONE_LINE, { error: "must not contain a line break or another control character" })
    .regex(WITHOUT_BLANKS_AROUND, { error: "must not begin or end with a blank" });

/** A name, or what goes into the header of a mail. */
export const line = (words = "a string") => oneLine(words).regex(/[^]/, NOT_EMPTY);

/** In code points, as the service counts. */
export function lineUpTo(longest: number) {
  return oneLine("a string").regex(new RegExp(`^[^]{1,${longest}}$`, "u"), {
    error: `must have 1 to ${longest} characters`,
  });
}

/** Checks only the form of an address: the service decides which addresses it accepts. */
export const email = string.regex(/^[^\s\p{Cc}@<>,;]+@[^\s\p{Cc}@<>,;]+$/u, { error: "must be an e-mail address" });

/** `words`: what it is a list of. */
export const list = <Element extends z.ZodType>(element: Element, words: string) =>
  z.array(element, { error: needs(`a list of ${words}`, "list") });

const PARTS_OF_REFERENCE = z.object({ fromEnv: z.string(), fromFile: z.string() });

/** A string, or a reference to one. The value of a reference is never empty. */
export function orReference(
  literal: z.ZodType<string>,
  error = needs("a string", "string"),
): z.ZodType<string | SecretReference> {
  const reference = z.custom<SecretReference>(isReference).check(({ value, issues }) => {
    const message = referenceProblem(value);
    if (message !== undefined) issues.push({ code: "custom", message, input: value });
  });
  MEMBERS.set(reference, [PARTS_OF_REFERENCE]);
  const form: z.ZodType<unknown> = z.union([z.string(), z.looseObject({})], { error });
  return form.pipe(eitherOr<string | SecretReference>(reference, literal, isReference));
}

/** Values whose only effect is their change. */
export const triggersSchema = list(z.unknown(), "any values");

/**
 * `z.strictObject`, but each unknown property is a problem of its own, with the nearest known name. `words`: what the
 * object is.
 */
export function object<Shape extends z.ZodRawShape>(shape: Shape, words: string) {
  const known = Object.keys(shape);
  const unknown = z.custom<never>(() => false, {
    error: ({ path }) => unknownProperty(String(path?.at(-1)), known),
    params: UNKNOWN_NAME,
  });
  // No value passes `unknown`, so the result has only the properties of `shape`.
  const strict = z.object(shape, { error: needs(words, "object") }).catchall(unknown) as unknown as z.ZodObject<
    Shape,
    z.core.$strict
  >;
  return withoutPrototype(unknownProperty(PROTOTYPE, known)).pipe(strict);
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

const PROTOTYPE = "__proto__";

/** Placed before a schema of objects: zod silently drops a property of this name. */
export function withoutPrototype(message: string) {
  return z.unknown().check(({ value, issues }) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, PROTOTYPE)) return;
    issues.push({ code: "custom", message, path: [PROTOTYPE], params: UNKNOWN_NAME, input: value });
  });
}

/** A union of two, with the issues of the intended one instead of "invalid input". */
export function eitherOr<T>(
  one: z.ZodType<T>,
  other: z.ZodType<T>,
  isOne: (value: unknown) => boolean = isObject,
): z.ZodType<T> {
  const chosen = z.unknown().transform((value, context): T => {
    const parsed = (isOne(value) ? one : other).safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      const params = issue.code === "custom" ? { params: issue.params } : {};
      context.addIssue({ code: "custom", message: issue.message, path: issue.path, ...params });
    }
    return z.NEVER;
  });
  MEMBERS.set(chosen, [one, other]);
  return chosen;
}
