import { createHash } from "node:crypto";

import { BRANCH_ID, SEGMENT } from "../../contract/identifiers";
import { string } from "./argumentSchemas";

const segmentSchema = (error: string) => string.regex(SEGMENT, { error });

export const projectIdSchema = segmentSchema("must be the id of a project: letters, digits and . _ ~ -");

export const branchIdSchema = string.regex(BRANCH_ID, {
  error: 'must be the id of a branch, which begins with "br-" (not its name)',
});

/** The service decides which ones it has. One that it is known to refuse would be refused here. */
export const oauthProviderIdSchema = string.regex(/^[a-z][a-z0-9_-]{0,63}$/, {
  error: "must be the short name of an OAuth provider, such as google: lower-case letters, digits, _ and -",
});

export const authProviderSchema = segmentSchema("must be the short name of an auth provider");

/** The two parts of a Pulumi id such as `prj-1/ep-2`. The second may contain slashes (a whitelist domain does). */
export function splitId(id: string): { projectId: string; rest: string } {
  const slash = id.indexOf("/");
  if (slash <= 0 || slash === id.length - 1) {
    throw new Error("the id must have the form <project id>/<id in the project>");
  }
  return { projectId: id.slice(0, slash), rest: id.slice(slash + 1) };
}

/** The id of an object that has none at the service: a short hash of what distinguishes it from its siblings. */
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
