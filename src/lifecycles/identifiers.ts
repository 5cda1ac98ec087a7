import { string } from "./argumentSchemas";

/** Any id that is a segment of a path: no blank, no slash, nothing that could end the segment. */
const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/;

/** `error` says what the id is of. */
const segmentSchema = (error: string) => string.regex(SEGMENT, { error });

export const projectIdSchema = segmentSchema("must be the id of a project: letters, digits and . _ ~ -");

export const branchIdSchema = string.regex(/^br-[A-Za-z0-9._~-]{1,124}$/, {
  error: 'must be the id of a branch, which begins with "br-" (not its name)',
});

/** As the service writes them: `google`, `github`, `microsoft`. */
export const oauthProviderIdSchema = string.regex(/^[a-z][a-z0-9_-]{0,63}$/, {
  error: "must be the short name of an OAuth provider, such as google: lower-case letters, digits, _ and -",
});

export const authProviderSchema = segmentSchema("must be the short name of an auth provider");

/** The two parts of a Pulumi id such as `prj-1/ep-2`. The second may hold slashes (a whitelist domain does). */
export function splitId(id: string): { projectId: string; rest: string } {
  const slash = id.indexOf("/");
  if (slash <= 0 || slash === id.length - 1) {
    throw new Error("the id must have the form <project id>/<id in the project>");
  }
  return { projectId: id.slice(0, slash), rest: id.slice(slash + 1) };
}
