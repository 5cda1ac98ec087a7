import { pathsTo } from "./untrusted";

/**
 * Texts stored in a state in place of values that the service does not show. They are only compared. Sent, they would
 * become the password or client id of a live set-up, so no request carries one (client/http/request.ts).
 */
export const STAND_INS = {
  /** Stored by an import until the first `pulumi up` sends the real value. */
  notShown: "(not shown by the service)",
  /** The list shows only the type of an OAuth provider, so a plan shows these in place of the client id. */
  sharedByHand: "(shared keys of the service: changed outside Pulumi)",
  standardByHand: "(own credentials: changed outside Pulumi)",
  /** The program gives a reference, so the state holds neither its value nor anybody else's. */
  otherValue: "(another value: changed outside Pulumi)",
} as const;

const TEXTS: ReadonlySet<unknown> = new Set(Object.values(STAND_INS));

export const isStandIn = (value: unknown): boolean => TEXTS.has(value);

/** The paths of stand-ins in a value, at any depth. */
export const standInsIn = (value: unknown): string[] => pathsTo(isStandIn, value);
