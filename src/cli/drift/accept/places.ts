import { resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { nameInUrn } from "../../../contract/identifiers";
import type { StackState, StoredResource } from "../../stack/state";

/** A call in a program, counted from 1. */
export interface SourcePlace {
  /** An absolute path: it may be one of another machine. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

type Frame = SourcePlace | undefined;

/**
 * Where the program declares each resource of the state (docs/design/engine.md, What a state tells of the program). Undefined where
 * nothing tells: at the top of an ES module, and in a function without a name.
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
   * Other resources are declared there as well: by a loop, a function that is called again, or a component. Where no place
   * is known, another one of this type and name may be.
   * @param whole of a component of ours, which is declared with its children: the component. One of them tells the place.
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

/** Its own type and its name: what of a URN no parent changes. */
const namedAs = (urn: string): string => `${urn.split("::").at(2)?.split("$").at(-1)}::${nameInUrn(urn)}`;

const keyOf = ({ file, line, column }: SourcePlace): string => `${file}:${line}:${column}`;

function placeOf({ type, stackTrace }: StoredResource, project: string): Frame {
  let frames = (stackTrace ?? []).map(({ sourcePosition }) => frameOf(sourcePosition, project));
  const ours = ownSource(type, frames[0]);
  // Behind our class come the calls of our components, some of them without a place.
  for (;;) {
    const next = frames.findIndex((frame) => frame !== undefined);
    const file = frames[next]?.file;
    if (file === undefined || ours === undefined || !ours.some((folder) => file.startsWith(folder))) break;
    frames = frames.slice(next + 1);
  }
  // A call without a place in front of the user's first one is a function of the user, and that one is not the declaration.
  return frames.find((frame) => frame === undefined || !frame.file.split(sep).includes("node_modules"));
}

/** The folders of this package, by the file of the class that the first frame names. A linked one is not in node_modules. */
function ownSource(type: string, frame: Frame): string[] | undefined {
  const kind = type.split(":").at(-1) ?? "";
  const parts = frame?.file.split(sep) ?? [];
  const [folder = "", resources, , file = ""] = parts.slice(-4);
  if (!["src", "dist"].includes(folder) || resources !== "resources" || !file.startsWith(`${kind}.`)) return undefined;
  const root = parts.slice(0, -4).join(sep);
  return ["src", "dist"].map((name) => `${root}${sep}${name}${sep}`);
}

/** Of `project:///index.ts#7,14`, which counts from the folder of the project. */
function frameOf(position: string | undefined, project: string): Frame {
  const [, path = "", line, column] = /^project:\/\/\/(.*)#(\d+),(\d+)$/.exec(position ?? "") ?? [];
  const file = pathIn(path, project);
  return file === undefined ? undefined : { file, line: Number(line), column: Number(column) };
}

function pathIn(encoded: string, project: string): string | undefined {
  if (encoded === "") return undefined;
  try {
    const path = decodeURIComponent(encoded);
    // The SDK takes the address of an ES module for a path.
    const [, address] = /(?:^|\/)file:(\/.*)$/.exec(path) ?? [];
    return address === undefined ? resolve(project, path) : fileURLToPath(`file://${address}`);
  } catch {
    return undefined;
  }
}
