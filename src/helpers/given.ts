/** What is known of an object that a program gives. */
export interface Expected {
  readonly known: readonly string[];
  readonly required?: readonly string[];
}

/**
 * What is wrong with an object that a program gives, each problem with its path. A program without types can give
 * anything. No value is shown: it may be a secret.
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

/** The names of a given object that are not known. A name without a value counts as left out. */
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

/** The known name that was most likely meant: it differs in case or `_`, is cut short, or in few letters. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  // Compared letter by letter: a book would hold up the plan.
  if (name.length > LONGEST_NAME) return undefined;
  const given = letters(name);
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: distanceOf(given, letters(candidate)) }))
    .filter(({ distance }) => distance <= Math.max(1, given.length / 3))
    .sort((left, right) => left.distance - right.distance);
  return nearest?.candidate;
}

const letters = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

const sorted = (name: string): string => [...name].sort().join("");

function distanceOf(left: string, right: string): number {
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  if (left !== right && short.length >= 3 && long.startsWith(short)) return 1;
  // Letters that changed places are one slip.
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

/** `a list`, `an Output`: what a value is, without the value. */
export function wordFor(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (isOutput(value)) return "an Output";
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object") return `a ${typeof value}`;
  return "then" in value && typeof value.then === "function" ? "a promise" : "an object";
}

/** The SDK's own test for an Output; helpers do not load the SDK. */
export function isOutput(value: unknown): boolean {
  return typeof value === "object" && value !== null && Reflect.get(value, "__pulumiOutput") === true;
}
