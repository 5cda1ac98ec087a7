import { resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { typeInUrn } from "../../../contract/identifiers";
import { sameJson } from "../../../runtime/arguments";
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
 * Where the program declares a resource of the state (docs/design/engine.md, What a state tells of the program).
 * Undefined if the state has no position: at the top of an ES module, and in a function without a name.
 * @param project the folder of Pulumi.yaml
 */
export function placeOf({ resources }: StackState, urn: string, project: string): SourcePlace | undefined {
  const resource = resources.find((one) => one.urn === urn && one.delete !== true);
  return resource && placeIn(resource, project);
}

/** The other resources of this type that the state has at the same place, such as those of a loop. */
export function besideIn(state: StackState, urn: string, project: string): string[] {
  const place = placeOf(state, urn, project);
  const others = state.resources.filter(
    (one) => one.urn !== urn && one.delete !== true && typeInUrn(one.urn) === typeInUrn(urn),
  );
  return place === undefined
    ? []
    : others.filter((one) => sameJson(placeIn(one, project), place)).map((one) => one.urn);
}

function placeIn({ type, stackTrace }: StoredResource, project: string): Frame {
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
