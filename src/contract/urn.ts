import { isUnknown } from "./unknowns";

const WELL_FORMED = /^urn:pulumi:[^:]+::[^:]+::[^:].*::.+/;

/** The name of a resource in the program. */
export const nameInUrn = (urn: string): string => urn.split("::").at(-1) ?? urn;

/** Whether it names a resource: in a preview a URN may be unknown. */
export const isUrn = (urn: string | undefined): urn is string =>
  urn !== undefined && !isUnknown(urn) && WELL_FORMED.test(urn);

/** ` ("api")`: for messages, behind what the object is at the service. Nothing where the name is not known. */
export const labelOf = (urn: string | undefined): string =>
  urn === undefined || isUnknown(urn) ? "" : ` ("${nameInUrn(urn)}")`;
