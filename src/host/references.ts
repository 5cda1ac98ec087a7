/**
 * Secrets by reference at the provider's side (docs/design/decisions.md, Secrets by reference): where references may
 * occur in the arguments, their values during one call, and whether these are the values last applied.
 */
import type { Properties } from "../contract/hiddenKeys";
import {
  isReference,
  referenceName,
  resolveReference,
  type Resolved,
  type SecretReference,
} from "../contract/references";
import { blanksAround } from "../contract/blanks";
import { settingForm } from "../contract/forms";
import { leadsTo } from "../contract/propertyPath";
import { STAND_INS } from "../contract/standIns";
import type { ArgumentRules } from "../contract/declaration";
import { isPlain, ruleOf, sameJson, type Rules } from "./arguments";
import { withValueAt } from "./differences";
import type { DigestOf, DigestPlace, Digests } from "./digests";

/** A value that may be a reference: an argument, or a value inside one. */
interface ReferencePlace {
  /** `password`, `settings.pgSettings.app.token`: for messages, and as the name of its digest in the state. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly argument: string;
  readonly value: unknown;
  /** The one form of all values that mean the same here. */
  readonly formOf: (value: string) => string;
}

/** A copy with other values in these places. */
function mapPlaces<Args extends object>(rules: Rules, args: Args, replace: (place: ReferencePlace) => unknown): Args {
  const inPlace = (value: unknown, argument: string, ...inner: string[]): unknown => {
    const segments = [argument, ...inner];
    const formOf = (one: string): string => formAt(ruleOf(rules, argument) ?? {}, inner, one);
    return replace({ path: segments.join("."), segments, argument, value, formOf });
  };
  const mapped = Object.entries(args).map(([argument, value]: [string, unknown]) => {
    const rule = ruleOf(rules, argument)?.reference;
    if (rule === undefined) return [argument, value];
    if (rule === true) return [argument, inPlace(value, argument)];
    const { valuesOf } = rule;
    if (!isPlain(value)) return [argument, value];
    const part = value[valuesOf];
    if (!isPlain(part)) return [argument, value];
    const values = Object.entries(part).map(([name, one]) => [name, inPlace(one, argument, valuesOf, name)]);
    return [argument, { ...value, [valuesOf]: Object.fromEntries(values) }];
  });
  // The names are those of `args`, and each value has the type of its place.
  return Object.fromEntries(mapped) as Args;
}

/** The form of a value in an argument that has nothing else: only the argument knows which values mean the same. */
function formAt(rule: ArgumentRules<unknown>, keys: readonly string[], value: string): string {
  const [form] = textsIn(rule.form?.(withValueAt(undefined, keys, value)) ?? value);
  return form ?? value;
}

const textsIn = (value: unknown): string[] =>
  isPlain(value) ? Object.values(value).flatMap(textsIn) : typeof value === "string" ? [value] : [];

function placesIn(rules: Rules, args: object): ReferencePlace[] {
  const places: ReferencePlace[] = [];
  mapPlaces(rules, args, (place) => {
    places.push(place);
    return place.value;
  });
  return places;
}

/** The values of the references of one call. Each is read once, so that a repeated request sends the same value. */
export class SecretValues {
  readonly #read = new Map<string, Resolved>();

  /** `learn` receives each value that is read, so that no message repeats it. */
  constructor(
    private readonly rules: Rules,
    private readonly learn: (value: string) => void,
  ) {}

  read(reference: SecretReference): Resolved {
    const key = JSON.stringify(reference);
    let resolved = this.#read.get(key);
    if (resolved === undefined) {
      resolved = resolveReference(reference);
      this.#read.set(key, resolved);
      if ("value" in resolved) this.learn(resolved.value);
    }
    return resolved;
  }

  /** For a request. @throws before anything is sent, if there is no value. */
  valueOf(value: string | SecretReference): string {
    if (typeof value === "string") return value;
    const resolved = this.read(value);
    if ("value" in resolved) return resolved.value;
    throw new Error(lacking(value, resolved.problem));
  }

  /** For a comparison with what the service shows: a reference without a value stays. */
  withValues<Args extends object>(args: Args): Args {
    return mapPlaces(this.rules, args, ({ value }) => {
      if (!isReference(value)) return value;
      const resolved = this.read(value);
      return "value" in resolved ? resolved.value : value;
    });
  }

  /**
   * @throws all missing values of these arguments, before anything is sent. `names`: only these arguments are checked;
   * `left`: except at the paths of these forms, whose values are not sent.
   */
  requireAll(args: object, names?: ReadonlySet<string>, left: ReadonlySet<string> = new Set()): void {
    const missing = this.missingIn(args).filter(
      ({ argument, path }) => names?.has(argument) !== false && !left.has(settingForm(path)),
    );
    if (missing.length === 0) return;
    throw new Error(
      missing.map(({ path, reference, problem }) => `"${path}": ${lacking(reference, problem)}`).join("; "),
    );
  }

  /** The references without a value. `text`: which one, and why. */
  missingIn(args: object) {
    return placesIn(this.rules, args).flatMap(({ path, argument, value: reference }) => {
      if (!isReference(reference)) return [];
      const resolved = this.read(reference);
      if ("value" in resolved) return [];
      const { problem } = resolved;
      return [{ path, argument, reference, problem, text: `${referenceName(reference)} ${problem}` }];
    });
  }

  /**
   * A plan's remarks on the blanks around the secrets of these arguments that are new, or were given otherwise: they may
   * be meant. No text shows the secret.
   */
  blanksIn(args: object, before: object): { readonly path: string; readonly text: string }[] {
    const earlier = new Map(placesIn(this.rules, before).map(({ path, value }) => [settingForm(path), value]));
    return placesIn(this.rules, args).flatMap(({ path, argument, value }) => {
      if (sameJson(value, earlier.get(settingForm(path)))) return [];
      // A setting that is given as text is no secret.
      const isSecret = isReference(value) || ruleOf(this.rules, argument)?.secret === true;
      const text = isSecret ? this.blanksOf(value) : undefined;
      return text === undefined ? [] : [{ path, text }];
    });
  }

  /** What is around the value of a secret, and what to do; undefined: nothing, or it has no value. */
  blanksOf(value: unknown): string | undefined {
    const resolved = isReference(value) ? this.read(value) : { value };
    const text = "value" in resolved && typeof resolved.value === "string" ? resolved.value : "";
    const words = blanksAround(text);
    const what = isReference(value) ? `the value of ${referenceName(value)}` : "it";
    return words && `${what} ${words}, which is sent with it. If that is not meant, remove it there`;
  }

  /** For the state: what the service shows instead of what was sent. A reference stays if the service shows nothing. */
  withoutValues(args: object, shown: Properties): Properties {
    const read = [...this.#read.values()];
    const isRead = (value: string): boolean => read.some((one) => "value" in one && one.value === value);
    return hideValues(this.rules, {
      given: args,
      shown: withReferences(this.rules, args, shown),
      // The service may repeat a value under another name.
      isSecret: isRead,
      isValueOf: (reference, value, { formOf }) => {
        const resolved = this.read(reference);
        return "value" in resolved && formOf(resolved.value) === formOf(value);
      },
    });
  }
}

interface Hiding {
  /** What the program or the state gives, including references. */
  readonly given: object;
  readonly shown: Properties;
  /** Whether a value at a place where nothing is given is the value of a reference. */
  readonly isSecret?: (value: string) => boolean;
  readonly isValueOf: (reference: SecretReference, value: string, place: ReferencePlace) => boolean;
}

/**
 * What the service shows, without the value of any reference. In its place is the reference, or a text that says that
 * the value differs. If that text is given, the reference is unknown, so the value is not shown either.
 */
function hideValues(rules: Rules, { given, shown, isSecret = () => false, isValueOf }: Hiding): Properties {
  // The service may show the name of a setting in another case.
  const before = new Map(placesIn(rules, given).map(({ path, value }) => [settingForm(path), value]));
  return mapPlaces(rules, shown, (place) => {
    const { path, value } = place;
    const was = before.get(settingForm(path));
    if (typeof value !== "string" || value === was) return value;
    if (isReference(was)) return isValueOf(was, value, place) ? was : STAND_INS.otherValue;
    return was === STAND_INS.otherValue || isSecret(value) ? STAND_INS.otherValue : value;
  });
}

/** `shown`, with the references of `args` added where it has no value. */
function withReferences(rules: Rules, args: object, shown: Properties): Properties {
  const valued = placesIn(rules, shown).filter(({ value }) => value !== undefined);
  const seen = new Set(valued.map(({ path }) => settingForm(path)));
  return (
    placesIn(rules, args)
      .filter(({ path, argument, value }) => isReference(value) && argument in shown && !seen.has(settingForm(path)))
      // An object stays an object.
      .reduce((completed, { segments, value }) => withValueAt(completed, segments, value) as Properties, shown)
  );
}

function lacking(reference: SecretReference, problem: string): string {
  const advice =
    "fromEnv" in reference
      ? "Set it in the environment of the Pulumi command"
      : "A relative path begins at the folder of Pulumi.yaml";
  return `${referenceName(reference)} ${problem}, so nothing was sent. ${advice}`;
}

/** By path: the digests of the values that were last applied. */
export type Applied = Readonly<Record<string, string>>;

/** What is needed to compare and digest the arguments of one object. */
interface Digesting {
  readonly rules: Rules;
  readonly digests: Digests;
}

/** Identifies the object. */
export type DigestedObject = Omit<DigestPlace, "path">;

export interface Compared {
  /**
   * The outs for the comparison with the arguments: a reference with the same value is equal, one with another value is
   * removed.
   */
  readonly outs: Properties;
  /** The arguments that are given in another form (a literal, another name), with the value that was last applied. */
  readonly sameValue: ReadonlySet<string>;
  /** The arguments that are given in another form, and have no value to compare. */
  readonly lacking: ReadonlySet<string>;
  /** The forms of the paths whose changes are ignored. They were not compared. */
  readonly ignored: ReadonlySet<string>;
  /** A plan's messages, each about the argument that its path names. */
  readonly remarks: readonly { readonly path: string; readonly text: string }[];
  /** The digests that still hold. */
  readonly applied: Applied;
}

/** What a comparison found at one place. `isSameForm`: both are the same text or reference. */
type Found =
  /** There is nothing to compare, or both are literals. */
  | { readonly is: "no reference" }
  | { readonly is: "ignored" }
  /** The reference has no value. */
  | { readonly is: "lacking"; readonly isSameForm: boolean }
  | { readonly is: "same"; readonly isSameForm: boolean }
  | { readonly is: "other"; readonly remarks: readonly string[] };

interface Place extends ReferencePlace {
  /** What the state has there. */
  readonly was: unknown;
  /** The digest of the value that was last applied. */
  readonly held: Held | undefined;
}

/** Compares the values of a program's references with those last applied. */
export async function compareValues(
  { rules, values, digests }: Digesting & { values: SecretValues },
  about: { object: DigestedObject; outs: Properties; applied: Applied; news: Properties; ignored: readonly string[] },
): Promise<Compared> {
  const { object, outs, applied, news, ignored } = about;
  const before = new Map(placesIn(rules, outs).map(({ path, value }) => [settingForm(path), value]));
  const comparing = placesIn(rules, news).map(async (one) => {
    const held = digestOf({ digests, applied, path: one.path });
    const place = { ...one, was: before.get(settingForm(one.path)), held };
    return { place, found: await comparedAt(place, { values, digests, object, ignored }) };
  });
  // In parallel: each digest takes time.
  return comparisonOf(await Promise.all(comparing), { rules, outs });
}

async function comparedAt(
  { segments, value: now, was, held, formOf }: Place,
  about: { values: SecretValues; digests: Digests; object: DigestedObject; ignored: readonly string[] },
): Promise<Found> {
  const { values, digests, object } = about;
  if (was === undefined || now === undefined || !(isReference(was) || isReference(now))) return { is: "no reference" };
  const isSameForm = sameJson(was, now);
  if (isSameForm && about.ignored.some((one) => leadsTo(one, segments))) return { is: "ignored" };
  const resolved = isReference(now) ? values.read(now) : { value: now };
  if ("problem" in resolved) return { is: "lacking", isSameForm };
  const { value } = resolved;
  const isLiteralOf = (text: string): boolean => typeof was === "string" && formOf(was) === formOf(text);
  const isSame =
    typeof value === "string" &&
    (isReference(was)
      ? held !== undefined && (await isDigestOf(value, formOf, { digests, held, object }))
      : isLiteralOf(value));
  if (isSame) return { is: "same", isSameForm };
  if (!isReference(now) || was === STAND_INS.otherValue) return { is: "other", remarks: [] };
  const name = referenceName(now);
  const text =
    isReference(was) && held === undefined
      ? `the state does not record which value was last applied, so the value of ${name} is sent`
      : `the value of ${name} differs from the last applied one`;
  const blanks = isSameForm ? values.blanksOf(now) : undefined;
  return { is: "other", remarks: blanks === undefined ? [text] : [text, blanks] };
}

function comparisonOf(
  all: readonly { readonly place: Place; readonly found: Found }[],
  { rules, outs }: { rules: Rules; outs: Properties },
): Compared {
  const seen = new Map<string, unknown>();
  const [sameValue, lacking, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const remarks: { path: string; text: string }[] = [];
  const applied: Record<string, string> = {};
  for (const { place, found } of all) {
    const { path, argument, value, was, held } = place;
    const form = settingForm(path);
    if (found.is === "lacking" || found.is === "same") seen.set(form, value);
    if (found.is === "other") seen.set(form, undefined);
    if (found.is === "same" && !found.isSameForm) sameValue.add(argument);
    if (found.is === "lacking" && !found.isSameForm) lacking.add(argument);
    if (found.is === "ignored") ignored.add(form);
    if (found.is === "other") remarks.push(...found.remarks.map((text) => ({ path, text })));
    const stillHolds = found.is === "ignored" || found.is === "lacking" || (found.is === "same" && isReference(was));
    if (stillHolds && held !== undefined) applied[held.path] = held.digest;
  }
  const compared = mapPlaces(rules, outs, ({ path, value }) => {
    const form = settingForm(path);
    return seen.has(form) ? seen.get(form) : value;
  });
  return { outs: compared, sameValue, lacking, ignored, remarks, applied };
}

interface Held {
  /** The path that it is bound to. */
  readonly path: string;
  readonly digest: string;
}

/** The stored digest, unless it is too cheap to be trusted. */
function digestOf({ digests, applied, path }: { digests: Digests; applied: Applied; path: string }): Held | undefined {
  const form = settingForm(path);
  const [found] = Object.entries(applied).filter(([one]) => settingForm(one) === form);
  return found !== undefined && digests.isBelieved(found[1]) ? { path: found[0], digest: found[1] } : undefined;
}

/** The digest is that of the form. Earlier versions made it of the value. */
async function isDigestOf(
  value: string,
  formOf: ReferencePlace["formOf"],
  { digests, held, object }: { digests: Digests; held: Held; object: DigestedObject },
): Promise<boolean> {
  const isOf = (text: string): Promise<boolean> => digests.matches(held.digest, text, { ...object, path: held.path });
  const form = formOf(value);
  return (await isOf(form)) || (form !== value && (await isOf(value)));
}

/**
 * The digests to store once these arguments are applied: the valid ones, and new ones. They are computed before
 * anything is sent; the object's id may be known only later.
 */
export async function digestsOf(
  { rules, digests, kind, values }: Digesting & { kind: string; values: SecretValues },
  args: object,
  holding: Applied,
): Promise<(id: string) => Applied> {
  const made = placesIn(rules, args).map(async ({ path, value, formOf }): Promise<[string, DigestOf][]> => {
    if (!isReference(value)) return [];
    const held = digestOf({ digests, applied: holding, path });
    const resolved = values.read(value);
    // A digest of an earlier version has no place, and is replaced.
    const isKept = held !== undefined && (digests.isBound(held.digest) || !("value" in resolved));
    if (isKept) return [[held.path, () => held.digest]];
    return "value" in resolved ? [[path, await digests.of(formOf(resolved.value))]] : [];
  });
  const entries = (await Promise.all(made)).flat();
  return (id) => Object.fromEntries(entries.map(([path, digest]) => [path, digest({ kind, id, path })]));
}

/** For the state: what a read found, compared by digest with the references in the state. */
export async function withoutStoredValues(
  { rules, digests }: Digesting,
  about: { object: DigestedObject; outs: Properties; applied: Applied; found: Properties },
): Promise<Properties> {
  const { object, outs, applied, found } = about;
  const references = new Map(placesIn(rules, outs).map(({ path, value }) => [settingForm(path), isReference(value)]));
  const matching = placesIn(rules, found).map(async ({ path, value, formOf }) => {
    const held = references.get(settingForm(path)) === true ? digestOf({ digests, applied, path }) : undefined;
    if (held === undefined || typeof value !== "string") return [];
    return (await isDigestOf(value, formOf, { digests, held, object })) ? [path] : [];
  });
  const same = new Set((await Promise.all(matching)).flat());
  return hideValues(rules, { given: outs, shown: found, isValueOf: (_reference, _value, { path }) => same.has(path) });
}
