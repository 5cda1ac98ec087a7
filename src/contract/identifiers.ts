/**
 * How the service, this package and the engine name objects. Every program loads this file, so it does not load zod.
 */
import { isUnknown } from "./hiddenKeys";

/**
 * A path segment of a route, such as the id of a project or the short name of an auth provider. No blank, no slash,
 * nothing that ends a segment.
 */
export const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/;

/** The project in a Pulumi id such as `prj-demo/ep-1`. Every id begins with it. */
export function projectOf(id: string): string {
  return id.split("/", 1)[0] ?? id;
}

export const BRANCH_ID = /^br-[A-Za-z0-9._~-]{1,124}$/;

export const COMPUTE_ID = /^ep-[A-Za-z0-9._~-]{1,124}$/;

const WELL_FORMED_URN = /^urn:pulumi:[^:]+::[^:]+::[^:].*::.+/;

/** The name of a resource in the program. */
export const nameInUrn = (urn: string): string => urn.split("::").slice(3).join("::") || urn;

/** The Pulumi type of a resource, from its URN. */
export const typeInUrn = (urn: string): string => urn.split("::")[2]?.split("$").at(-1) ?? "";

/** Whether it names a resource. In a preview a URN may be unknown. */
export const isUrn = (urn: string | undefined): urn is string =>
  urn !== undefined && !isUnknown(urn) && WELL_FORMED_URN.test(urn);

/** ` ("api")`, to follow the object's name at the service in messages. Empty if the name is unknown. */
export const labelOf = (urn: string | undefined): string =>
  urn === undefined || isUnknown(urn) ? "" : ` ("${nameInUrn(urn)}")`;
