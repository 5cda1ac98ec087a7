/** The known and required names of an object that a program gives. */
export interface Expected {
  readonly known: readonly string[];
  readonly required?: readonly string[];
}

/**
 * The problems with an object that a program gives, each with its path. A program without types can give anything. No
 * value is shown: it may be a secret.
 */
export function objectProblems(value: unknown, path: string, { known, required = [] }: Expected): string[] {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  if (value === undefined) return [path === "" ? "the arguments are missing" : `${path}: is required`];
  if (!isObject(value)) {
    return [`${path === "" ? "the arguments" : `${path}:`} must be an object, not ${wordFor(value)}`];
  }
  return [
    ...unknownNames(value, known).map((name) => `${at(name)}: ${unknownProperty(name, known)}`),
    ...required.filter((name) => (value[name] ?? undefined) === undefined).map((name) => `${at(name)}: is required`),
  ];
}

/** The unknown names of a given object. A name without a value counts as absent. */
export function unknownNames(value: Readonly<Record<string, unknown>>, known: readonly string[]): string[] {
  return Object.keys(value).filter((name) => value[name] !== undefined && !known.includes(name));
}

/** `unknown property. Did you mean "size"?` */
export function unknownProperty(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? `Known: ${known.join(", ")}` : `Did you mean "${nearest}"?`;
  return `unknown property. ${hint}`;
}

const LONGEST_NAME = 100;

/**
 * The known name that was most likely meant: the given one differs in case or `_`, is cut short, or has a few wrong
 * letters.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  // The comparison is letter by letter, so a very long name would hold up the plan.
  if (name.length > LONGEST_NAME) return undefined;
  const given = letters(name);
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: distanceOf(given, letters(candidate)) }))
    .filter(({ distance }) => distance <= Math.max(1, given.length / 3))
    .sort((left, right) => left.distance - right.distance);
  return nearest?.candidate;
}

/** Configuration keys, from their names in a namespace: `svc:strictplan (did you mean svc:strictPlan?), svc:colour`. */
export function keysWithNearest(namespace: string, names: readonly string[], known: readonly string[]): string {
  const keys = names.map((name) => {
    const nearest = nearestName(name, known);
    return `${namespace}:${name}${nearest === undefined ? "" : ` (did you mean ${namespace}:${nearest}?)`}`;
  });
  return keys.sort().join(", ");
}

const letters = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

const sorted = (name: string): string => [...name].sort().join("");

function distanceOf(left: string, right: string): number {
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  if (left !== right && short.length >= 3 && long.startsWith(short)) return 1;
  // Swapped letters count as one mistake.
  if (sorted(left) === sorted(right)) return left === right ? 0 : 1;
  // Levenshtein, one row at a time: insertions, deletions and substitutions.
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1];
    for (const [place, other] of [...right].entries()) {
      const [above = 0, diagonal = 0, before = 0] = [row[place + 1], row[place], next[place]];
      next.push(Math.min(above + 1, before + 1, diagonal + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && wordFor(value) === "an object";
}

/** `a list`, `an Output`: the kind of a value, without the value. */
export function wordFor(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (isOutput(value)) return "an Output";
  if (Array.isArray(value)) return "a list";
  if (Number.isNaN(value)) return "NaN";
  if (typeof value !== "object") return `a ${typeof value}`;
  return "then" in value && typeof value.then === "function" ? "a promise" : "an object";
}

/** The type of a value that an argument takes. */
type Taken = "number" | "boolean" | "string" | "list" | "object";

/** Strings that only have the wrong type. A longer number may be a secret. */
const FORMS: Partial<Record<Taken, RegExp>> = { number: /^-?\d{1,6}(\.\d{1,4})?$/, boolean: /^(true|false)$/ };

/** The usual source of a value of the wrong type, and how to get the right one (docs/troubleshooting.md, Arguments). */
const WAYS_OUT: Record<Taken, string> = {
  number: inConfiguration("config.requireNumber", "float"),
  boolean: inConfiguration("config.requireBoolean", "bool"),
  string: ". If it comes from an object of the configuration, set it there with `--type string`",
  list: ". The configuration holds strings: read it with config.requireObject",
  object: ". The configuration holds strings: read it with config.requireObject",
};

function inConfiguration(reader: string, type: string): string {
  // The CLI keeps writing a string over an existing string, whatever type it is given.
  return `. The configuration holds strings: read it with ${reader}. Inside an object, remove it with \`pulumi config rm --path\` and set it with \`pulumi config set --path --type ${type}\``;
}

/**
 * `must be a number of compute units (CU), not the string "0.25". …`: what an argument takes, and what it was given
 * instead. The value is shown only if it is a number or a flag: anything else may be a secret.
 */
export function mustBe(words: string, type: Taken, value: unknown): string {
  if (value === undefined) return `must be ${words}, and is missing`;
  const given = wordFor(value);
  if (given === TYPE_WORDS[type]) return `must be ${words}`;
  if (typeof value === "string") {
    const shown = FORMS[type]?.test(value) === true ? `the string "${value}"` : given;
    return `must be ${words}, not ${shown}${WAYS_OUT[type]}`;
  }
  const isScalar = typeof value === "number" || typeof value === "boolean";
  return `must be ${words}, not ${given}${type === "string" && isScalar ? WAYS_OUT.string : ""}`;
}

const TYPE_WORDS: Record<Taken, string> = {
  number: "a number",
  boolean: "a boolean",
  string: "a string",
  list: "a list",
  object: "an object",
};

/** The SDK's own test for an Output; helpers do not load the SDK. */
export function isOutput(value: unknown): boolean {
  return typeof value === "object" && value !== null && Reflect.get(value, "__pulumiOutput") === true;
}
