/** Whether a path of `ignoreChanges` or `replaceOnChanges` leads to an argument, or to a part of one. */
import type { z } from "zod";
import { type Segment, pathTo, segmentsOf } from "../contract/propertyPath";
import { nearestName } from "../helpers/given";
import { specEntries, type ArgumentSpecs } from "./arguments";

/** The members of each schema that chooses one of them by the value. */
export const MEMBERS = new WeakMap<z.core.$ZodType, readonly z.core.$ZodType[]>();

/** What to say about a path that leads nowhere; undefined: it leads to something. */
export function strayPath<Args extends object>(specs: ArgumentSpecs<Args>, path: string): string | undefined {
  const [first, ...rest] = segmentsOf(path);
  // Hidden inputs are ours.
  if (first === undefined || first === "*" || String(first).startsWith("__")) return undefined;
  const schemas = Object.fromEntries(specEntries(specs).map(([name, { schema }]) => [name, schema]));
  const stray = strayIn([{ keys: schemas }], [first, ...rest], "");
  if (stray === undefined) return undefined;
  const { known, at, name } = stray;
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `Did you mean "${pathTo(at, nearest)}"?`;
  const where = at === "" ? "Its arguments" : `The parts of "${at}"`;
  return known.length === 0 ? `"${at}" has no parts` : `${where}: ${known.join(", ")}`;
}

/** What may come next on a path: one of these keys, any key, or an index. */
type Step =
  | { readonly keys: Readonly<Record<string, z.core.$ZodType>> }
  | { readonly each: z.core.$ZodType; readonly isList: boolean }
  | "anything";

/** Where a path stops to lead to something: the name there, and the names that there are. */
interface Stray {
  readonly at: string;
  readonly name: string;
  readonly known: readonly string[];
}

function strayIn(steps: readonly Step[], path: readonly Segment[], at: string): Stray | undefined {
  const [segment, ...rest] = path;
  if (segment === undefined || steps.includes("anything")) return undefined;
  const next = steps.flatMap((step) => followed(step, segment));
  if (next.length > 0) {
    const here = typeof segment === "number" || segment === "*" ? `${at}[${segment}]` : pathTo(at, segment);
    return strayIn(next.flatMap(stepsOf), rest, here);
  }
  const known = steps.flatMap((step) => (step !== "anything" && "keys" in step ? Object.keys(step.keys) : []));
  return { at, name: String(segment), known };
}

function followed(step: Step, segment: Segment): z.core.$ZodType[] {
  if (step === "anything") return [];
  if ("each" in step) return segment === "*" || step.isList === (typeof segment === "number") ? [step.each] : [];
  if (segment === "*") return Object.values(step.keys);
  const schema = Object.hasOwn(step.keys, segment) ? step.keys[segment] : undefined;
  return schema === undefined ? [] : [schema];
}

/** None for a plain value. */
function stepsOf(schema: z.core.$ZodType): Step[] {
  const members = MEMBERS.get(schema);
  if (members !== undefined) return members.flatMap(stepsOf);
  // All argument schemas use zod's own classes.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return [{ keys: def.shape }];
    case "record":
      return [{ each: def.valueType, isList: false }];
    case "array":
      return [{ each: def.element, isList: true }];
    case "optional":
      return stepsOf(def.innerType);
    case "union":
      return def.options.flatMap(stepsOf);
    case "pipe":
      // One of the two only checks, or transforms.
      return [def.out, def.in].map(stepsOf).find((steps) => !steps.includes("anything")) ?? ["anything"];
    case "unknown":
    case "transform":
      return ["anything"];
    default:
      return [];
  }
}
