import type { Kind } from "../contract/pointer";
import { type Asked, LISTED_KINDS, type ProjectObject, toolsOf } from "../resources/tools";
import { containersOf, livesInside } from "./declarations";
import { compareText } from "./output";

/**
 * Everything that exists in a project, with one request for each list.
 * @throws NotFoundError if the project does not exist.
 */
export async function listProjectObjects(asked: Asked): Promise<ProjectObject[]> {
  const listed = async (matches: (kind: Kind) => boolean): Promise<ProjectObject[]> => {
    const lists = LISTED_KINDS.filter(matches).map(async (kind) => {
      const { list } = toolsOf(kind);
      return typeof list === "string" ? [] : (await list(asked)).toSorted(byAge);
    });
    return (await Promise.all(lists)).flat();
  };
  const isFirst = (kind: Kind): boolean => toolsOf(kind).isListedFirst === true;
  // First and alone: it fails if the project does not exist. Not every project supports auth. One that has an
  // integration has the lists of what is in it: where one is not shown, nothing is known of it.
  const objects = await listed(isFirst);
  objects.push(...(await listed((kind) => !isFirst(kind) && !livesInside(kind))));
  const exists = (container: Kind): boolean => objects.some(({ kind }) => kind === container);
  const inside = await listed((kind) => livesInside(kind) && [...containersOf(kind).values()].every(exists));
  return [...objects, ...inside];
}

/** Keeps its order when another object is created. */
const byAge = (left: ProjectObject, right: ProjectObject): number =>
  compareText(left.createdAt ?? "", right.createdAt ?? "") || compareText(left.id, right.id);
