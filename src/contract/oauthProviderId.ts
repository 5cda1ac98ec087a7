/** The ids of OAuth providers, shared by programs, states and commands. */

/**
 * The providers that a new integration starts with, on the shared keys of the service
 * (docs/design/api.md, OAuth providers).
 */
export const SHARED_FROM_THE_START: readonly string[] = ["github", "google"];

/**
 * The suffix of the Pulumi id of a provider that is declared absent: it tells a deletion that there is nothing to
 * delete.
 */
const ABSENT = "/absent";

/** The Pulumi id of a provider: `<project>/<provider id>`. */
export const oauthProviderId = (projectId: string, providerId: string, isAbsent = false): string =>
  `${projectId}/${providerId}${isAbsent ? ABSENT : ""}`;

/** The Pulumi id without the suffix, and whether it had one. */
export function presentId(id: string): { id: string; isAbsent: boolean } {
  const isAbsent = id.endsWith(ABSENT) && id.indexOf("/") < id.length - ABSENT.length;
  return { id: isAbsent ? id.slice(0, -ABSENT.length) : id, isAbsent };
}
