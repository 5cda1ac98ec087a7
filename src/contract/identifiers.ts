/** How the service and the engine name things. Every program loads this file, so it does without zod. */

/** A segment of a route, such as the id of a project or the short name of an auth provider. */
export const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/;

/** The project in the Pulumi id of a resource, such as `prj-demo/ep-1`: every id begins with it. */
export function projectOf(id: string): string {
  return id.split("/", 1)[0] ?? id;
}

/** The name that the program gives, of `urn:pulumi:<stack>::<project>::<types>::<name>`. */
export function nameInUrn(urn: string): string {
  return urn.split("::").at(-1) ?? urn;
}
