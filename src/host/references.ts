/**
 * Secrets by reference, at the provider's side (docs/design/decisions.md, Secrets by reference): where one may stand in the
 * arguments, and what it stands for during one call.
 */
import type { Properties } from "../contract/hiddenKeys";
import {
  isReference,
  referenceName,
  resolveReference,
  type Resolved,
  type SecretReference,
} from "../contract/references";
import { STAND_INS } from "../contract/standIns";
import { isPlain, ruleOf, type Rules } from "./arguments";

/** A value that may be a reference: that of an argument, or one below it. */
interface Place {
  /** `password`, `settings.pgSettings.app.token`: for messages, and the name of its digest in the state. */
  readonly path: string;
  readonly argument: string;
  readonly value: unknown;
}

/** A copy with other values in these places. */
function mapPlaces<Args extends object>(rules: Rules, args: Args, replace: (place: Place) => unknown): Args {
  const mapped = Object.entries(args).map(([argument, value]: [string, unknown]) => {
    const rule = ruleOf(rules, argument)?.reference;
    if (rule === undefined) return [argument, value];
    if (rule === true) return [argument, replace({ path: argument, argument, value })];
    const { valuesOf } = rule;
    if (!isPlain(value)) return [argument, value];
    const part = value[valuesOf];
    if (!isPlain(part)) return [argument, value];
    const values = Object.entries(part).map(([name, one]) => [
      name,
      replace({ path: `${argument}.${valuesOf}.${name}`, argument, value: one }),
    ]);
    return [argument, { ...value, [valuesOf]: Object.fromEntries(values) }];
  });
  // The names are those of `args`, and a value has the type of its place.
  return Object.fromEntries(mapped) as Args;
}

function placesIn(rules: Rules, args: object): Place[] {
  const places: Place[] = [];
  mapPlaces(rules, args, (place) => {
    places.push(place);
    return place.value;
  });
  return places;
}

/** What the references of one call stand for. Each is read once, so that a request that is repeated sends the same. */
export class SecretValues {
  readonly #read = new Map<string, Resolved>();

  /** `learn` gets each value that is read: no message repeats it. */
  constructor(
    private readonly rules: Rules,
    private readonly learn: (value: string) => void,
  ) {}

  find(reference: SecretReference): Resolved {
    const key = JSON.stringify(reference);
    let resolved = this.#read.get(key);
    if (resolved === undefined) {
      resolved = resolveReference(reference);
      this.#read.set(key, resolved);
      if ("value" in resolved) this.learn(resolved.value);
    }
    return resolved;
  }

  /** For a request. @throws before anything is sent, where there is no value. */
  resolve(value: string | SecretReference): string {
    if (typeof value === "string") return value;
    const resolved = this.find(value);
    if ("value" in resolved) return resolved.value;
    throw new Error(lacking(value, resolved.problem));
  }

  /** For a comparison with what the service shows: a reference without a value stays. */
  within<Args extends object>(args: Args): Args {
    return mapPlaces(this.rules, args, ({ value }) => {
      if (!isReference(value)) return value;
      const resolved = this.find(value);
      return "value" in resolved ? resolved.value : value;
    });
  }

  /** @throws all that these arguments lack, before anything is sent. */
  require(args: object): void {
    const missing = placesIn(this.rules, args).flatMap(({ path, value }) => {
      const resolved = isReference(value) ? this.find(value) : undefined;
      return isReference(value) && resolved !== undefined && "problem" in resolved
        ? [`"${path}": ${lacking(value, resolved.problem)}`]
        : [];
    });
    if (missing.length > 0) throw new Error(missing.join("; "));
  }

  /** What the service shows in place of what was sent, for the state: never the value of a reference. */
  hidden(args: object, shown: Properties): Properties {
    const sent = new Map(placesIn(this.rules, args).map(({ path, value }) => [path, value]));
    return mapPlaces(this.rules, shown, ({ path, value }) => {
      const reference = sent.get(path);
      if (!isReference(reference) || typeof value !== "string") return value;
      const resolved = this.find(reference);
      return "value" in resolved && resolved.value === value ? reference : STAND_INS.otherValue;
    });
  }
}

function lacking(reference: SecretReference, problem: string): string {
  const advice =
    "fromEnv" in reference
      ? "Set it in the environment of the Pulumi command"
      : "A relative path begins at the folder of Pulumi.yaml";
  return `${referenceName(reference)} ${problem}, so nothing was sent. ${advice}`;
}
