/** Why the service refuses a request. Each kind has its own HTTP status (http/errorResponses.ts). */
export type RefusalKind =
  /** The request breaks a rule, independent of the state. */
  | "invalid"
  | "not found"
  /** The object exists already. With `lockStatus` 409 also: an operation of the project is running. */
  | "conflict"
  /** The object is not in a state that allows the request. */
  | "wrong state"
  /** The plan of the account does not allow it. */
  | "beyond the plan"
  /** An operation of the project is running. Nothing was executed. */
  | "locked";

/** The service refuses a request, with its own message (docs/design/api.md, Errors). */
export class ModelRefusal extends Error {
  constructor(
    readonly kind: RefusalKind,
    message: string,
  ) {
    super(message);
    this.name = "ModelRefusal";
  }
}

export const invalid = (message: string): ModelRefusal => new ModelRefusal("invalid", message);
export const notFound = (message: string): ModelRefusal => new ModelRefusal("not found", message);
export const conflict = (message: string): ModelRefusal => new ModelRefusal("conflict", message);
