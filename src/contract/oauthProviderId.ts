/** What programs, states and commands agree on about OAuth providers beside their arguments. */

/** Those that a new integration has from the start, with the shared keys of the service (docs/design/api.md, OAuth providers). */
export const SHARED_FROM_THE_START: readonly string[] = ["github", "google"];

/** The end of the Pulumi id where the provider is declared absent: a deletion knows by it that there is nothing of ours. */
const ABSENT = "/absent";

/** The Pulumi id of a provider: `<project>/<provider id>`. */
export const oauthProviderId = (projectId: string, providerId: string, isAbsent = false): string =>
  `${projectId}/${providerId}${isAbsent ? ABSENT : ""}`;

/** The Pulumi id that the provider has where it is not declared absent, and whether it is. */
export function presentId(id: string): { id: string; isAbsent: boolean } {
  const isAbsent = id.endsWith(ABSENT) && id.indexOf("/") < id.length - ABSENT.length;
  return { id: isAbsent ? id.slice(0, -ABSENT.length) : id, isAbsent };
}
