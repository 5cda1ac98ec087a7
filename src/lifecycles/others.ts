import type { Properties } from "../dynamic/properties";

/** Whether one of these declared resources is about the same project. */
export function anyOf(declared: readonly Properties[], projectId: string | undefined): boolean {
  return projectId !== undefined && declared.some((other) => other["projectId"] === projectId);
}
