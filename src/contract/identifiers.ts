/** How the service and this package name objects. Every program loads this file, so it does without zod. */

/**
 * A segment of a route, such as the id of a project or the short name of an auth provider: no blank, no slash, nothing that
 * could end it.
 */
export const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/;

/** The project in the Pulumi id of a resource, such as `prj-demo/ep-1`: every id begins with it. */
export function projectOf(id: string): string {
  return id.split("/", 1)[0] ?? id;
}
