/** In which order each argument replaces its resource: asked of the code that tells the engine. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../lib/paths.mjs";
import type { Reference } from "./reference.mts";
import { table } from "./reference.mts";

/** Two values of each argument. Of the others any two differ. */
const VALUES: Record<string, readonly [before: unknown, after: unknown]> = {
  type: ["read_write", "read_only"],
  absent: [undefined, true],
  domains: [["https://a.example.com"], ["https://b.example.com"]],
};

interface Order {
  /** The names of the arguments whose change deletes the old object first, and of those whose change creates first. */
  readonly deleted: readonly string[];
  readonly created: readonly string[];
  /** What is asked before a deletion. */
  readonly asks: string;
}

interface Rules {
  readonly replaces?: unknown;
  readonly unset?: string;
}

/** The parts of src/runtime and src/resources that decide. */
interface Sources {
  readonly excludeEachOther: (resource: object, stored: object, news: object, authProvider: string) => boolean;
  readonly lifecycleOf: (kind: string) => {
    readonly args: Record<string, Rules>;
    readonly replaceable: { readonly asks: string };
  };
}

/** Call it once the compiler of `Reference` is registered. */
function orderOf(kind: string): Order {
  const load = createRequire(join(ROOT, "package.json"));
  const from = (path: string): Sources => load(join(ROOT, "src", path)) as Sources;
  const { excludeEachOther } = from("runtime/replacement.ts");
  const resource = from("resources/lifecycles.ts").lifecycleOf(kind);
  const valueOf = (name: string, at: 0 | 1): unknown => (VALUES[name] ?? [`a-${name}`, `b-${name}`])[at];
  const names = Object.keys(resource.args);
  const outs = Object.fromEntries(names.map((name) => [name, valueOf(name, 0)]));
  const stored = { id: "a-projectId/a/a", outs };
  const deletesFirst = (name: string, value: unknown): boolean =>
    excludeEachOther(resource, stored, { ...outs, [name]: value }, "a-authProvider");
  const changes = Object.entries(resource.args).flatMap(([name, { replaces, unset }]) => [
    ...(replaces ? [{ text: `\`${name}\``, isFirst: deletesFirst(name, valueOf(name, 1)) }] : []),
    ...(unset === "replace" ? [{ text: `\`${name}\` (left out)`, isFirst: deletesFirst(name, undefined) }] : []),
  ]);
  const of = (isFirst: boolean): string[] => changes.flatMap((one) => (one.isFirst === isFirst ? [one.text] : []));
  return { deleted: of(true), created: of(false), asks: resource.replaceable.asks };
}

/** For the page of a resource. */
export function orderText(kind: string): string {
  const { deleted, created } = orderOf(kind);
  if (deleted.length === 0) return "A replacement creates the new object first.";
  const those = `a change of ${deleted.join(", ")} deletes the old object first`;
  return created.length === 0
    ? "A replacement deletes the old object first."
    : `A replacement creates the new object first, but ${those}.`;
}

/** For docs/plan.md. */
export function howTheyAreReplaced({ declared }: Reference): string {
  const rows = [...declared.keys()].sort().flatMap((kind) => {
    const { deleted, created, asks } = orderOf(kind);
    const row = (names: readonly string[], order: string, asked: string) =>
      names.length === 0
        ? []
        : [
            {
              Resource: `[\`${kind}\`](resources/${kind}.md)`,
              "A change of": names.join(", "),
              Order: order,
              "Asked before": asked,
            },
          ];
    return [
      ...row(created, "created first", "nothing: a refusal keeps the old one"),
      ...row(deleted, "**deleted first**", `whether ${asks}`),
    ];
  });
  return table(rows);
}
