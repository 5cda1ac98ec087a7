import { pathsTo } from "./untrusted";

/**
 * Texts that stand in a state where the service shows no value. They are there to be compared: as a value of a request each
 * would become the password or the client id of somebody's live set-up, so no request carries one (client/http/requests.ts).
 */
export const STAND_INS = {
  /** Of an import: until the first `pulumi up` sends the real value. */
  notShown: "(not shown by the service)",
  /** A list shows only the type of an OAuth provider, so a plan shows these in place of the client id. */
  sharedByHand: "(shared keys of the service: changed outside Pulumi)",
  standardByHand: "(own credentials: changed outside Pulumi)",
  /** The program gives a reference, so the state holds none of its values, and that of somebody else neither. */
  otherValue: "(another value: changed outside Pulumi)",
} as const;

const TEXTS: ReadonlySet<unknown> = new Set(Object.values(STAND_INS));

export const isStandIn = (value: unknown): boolean => TEXTS.has(value);

/** Where a value holds such a text, at any depth. */
export const standInsIn = (value: unknown): string[] => pathsTo(isStandIn, value);
