import { createHash } from "node:crypto";
import { splitId } from "./identifiers";

/** Of a thing without an id of its own: the parts of its home, and a short hash of what tells it from its siblings. */
export function childId(projectId: string, authProvider: string, distinction: string): string {
  const hash = createHash("sha256").update(distinction).digest("hex").slice(0, 12);
  return `${projectId}/${authProvider}/${hash}`;
}

export function splitChildId(id: string): { projectId: string; authProvider: string } {
  const { projectId, rest } = splitId(id);
  const [authProvider = "", hash = ""] = rest.split("/");
  if (authProvider === "" || hash === "") {
    throw new Error("the id must have the form <project id>/<auth provider>/<hash>");
  }
  return { projectId, authProvider };
}
