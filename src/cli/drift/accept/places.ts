import { resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { nameInUrn, typeInUrn } from "../../../contract/identifiers";
import type { StackState, StoredResource } from "../../stack/state";

/** A call in a program, with line and column counted from 1. */
export interface SourcePlace {
  /** An absolute path, possibly of another machine. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

type Frame = SourcePlace | undefined;

/**
 * Where the program declares each resource of the state (docs/design/engine.md, What a state tells of the program).
 * Undefined if the state has no position: at the top of an ES module, and in a function without a name.
 * @param project the folder of Pulumi.yaml
 */
export class Places {
  readonly #byUrn = new Map<string, SourcePlace>();
  readonly #urns = new Map<string, Set<string>>();
  readonly #named = new Map<string, Set<string>>();

  constructor({ resources }: StackState, project: string) {
    for (const resource of resources) {
      const { urn } = resource;
      this.#named.set(namedAs(urn), (this.#named.get(namedAs(urn)) ?? new Set()).add(urn));
      const place = resource.delete === true ? undefined : placeOf(resource, project);
      if (place === undefined) continue;
      this.#byUrn.set(resource.urn, place);
      const urns = this.#urns.get(keyOf(place)) ?? new Set();
      this.#urns.set(keyOf(place), urns.add(resource.urn));
    }
  }

  of(urn: string): SourcePlace | undefined {
    return this.#byUrn.get(urn);
  }

  /**
   * Whether other resources are declared at the same place: by a loop, a function that is called again, or a component.
   * If no place is known: whether another resource has this type and name.
   * @param whole the component of this package that declares the resource with its siblings. Any of them shows the
   * place.
   */
  isShared(
    urn: string,
    whole?: { readonly urn: string; readonly children: readonly { readonly urn: string }[] },
  ): boolean {
    const place = this.of(urn);
    const own = whole === undefined ? [urn] : [whole.urn, ...whole.children.map((child) => child.urn)];
    if (place !== undefined) return [...(this.#urns.get(keyOf(place)) ?? [])].some((one) => !own.includes(one));
    return (this.#named.get(namedAs(whole?.urn ?? urn))?.size ?? 0) > 1;
  }
}

/** Its own type and name: the parts of a URN that do not depend on a parent. */
const namedAs = (urn: string): string => `${typeInUrn(urn)}::${nameInUrn(urn)}`;

const keyOf = ({ file, line, column }: SourcePlace): string => `${file}:${line}:${column}`;

function placeOf({ type, stackTrace }: StoredResource, project: string): Frame {
  let frames = (stackTrace ?? []).map(({ sourcePosition }) => frameOf(sourcePosition, project));
  const ours = ownSource(type, frames[0]);
  // Our class is followed by the calls of our components, some without a position.
  for (;;) {
    const next = frames.findIndex((frame) => frame !== undefined);
    const file = frames[next]?.file;
    if (file === undefined || ours === undefined || !ours.some((folder) => file.startsWith(folder))) break;
    frames = frames.slice(next + 1);
  }
  // A call without a position before the user's first call is a function of the user, so the first call is not the
  // declaration.
  return frames.find((frame) => frame === undefined || !frame.file.split(sep).includes("node_modules"));
}

/**
 * This package's folders, found by the file of the class in the first frame. A linked package is not in node_modules.
 */
function ownSource(type: string, frame: Frame): string[] | undefined {
  const kind = type.split(":").at(-1) ?? "";
  const parts = frame?.file.split(sep) ?? [];
  const [folder = "", resources, , file = ""] = parts.slice(-4);
  if (!["src", "dist"].includes(folder) || resources !== "resources" || !file.startsWith(`${kind}.`)) return undefined;
  const root = parts.slice(0, -4).join(sep);
  return ["src", "dist"].map((name) => `${root}${sep}${name}${sep}`);
}

/** From `project:///index.ts#7,14`, which is relative to the project's folder. */
function frameOf(position: string | undefined, project: string): Frame {
  const [, path = "", line, column] = /^project:\/\/\/(.*)#(\d+),(\d+)$/.exec(position ?? "") ?? [];
  const file = pathIn(path, project);
  return file === undefined ? undefined : { file, line: Number(line), column: Number(column) };
}

function pathIn(encoded: string, project: string): string | undefined {
  if (encoded === "") return undefined;
  try {
    const path = decodeURIComponent(encoded);
    // The SDK treats the URL of an ES module as a path.
    const [, address] = /(?:^|\/)file:(\/.*)$/.exec(path) ?? [];
    return address === undefined ? resolve(project, path) : fileURLToPath(`file://${address}`);
  } catch {
    return undefined;
  }
}
