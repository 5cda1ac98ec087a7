import type { Kind } from "../contract/pointer";
import { type Asked, LISTED_KINDS, type ProjectObject, toolsOf } from "../resources/tools";
import { containersOf } from "./declarations";
import { compareText } from "./output";

/**
 * Everything that exists in a project, with one request for each list.
 * @throws NotFoundError if the project does not exist.
 */
export async function listProjectObjects(asked: Asked): Promise<ProjectObject[]> {
  const listed = async (kinds: readonly Kind[]): Promise<ProjectObject[]> => {
    const lists = kinds.map(async (kind) => {
      const { list } = toolsOf(kind);
      return typeof list === "string" ? [] : (await list(asked)).toSorted(byAge);
    });
    return (await Promise.all(lists)).flat();
  };
  const stage = (of: Stage): Kind[] => LISTED_KINDS.filter((kind) => stageOf(kind) === of);
  // Alone: it fails if the project does not exist.
  const objects = await listed(stage("first"));
  objects.push(...(await listed(stage("next"))));
  // What a project has no container for is not asked for. Where it has one and the list is not shown, nothing is known.
  const exists = (container: Kind): boolean => objects.some(({ kind }) => kind === container);
  const inside = stage("inside").filter((kind) => [...containersOf(kind).values()].every(exists));
  return [...objects, ...(await listed(inside))];
}

type Stage = "first" | "next" | "inside";

const stageOf = (kind: Kind): Stage =>
  toolsOf(kind).isListedFirst === true ? "first" : containersOf(kind).size === 0 ? "next" : "inside";

/** Keeps its order when another object is created. */
const byAge = (left: ProjectObject, right: ProjectObject): number =>
  compareText(left.createdAt ?? "", right.createdAt ?? "") || compareText(left.id, right.id);
