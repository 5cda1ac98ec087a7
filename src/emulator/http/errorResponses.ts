import { newId } from "../model/records";
import { ModelRefusal, type RefusalKind } from "../model/refusal";
import { MissingPackage } from "../optionalPackage";

/** Refusals of HTTP itself: a missing key, an unknown method, too many requests. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
    this.name = "HttpError";
  }
}

/** docs/design/api.md, Errors. */
const STATUS: Record<RefusalKind, number> = {
  invalid: 400,
  "not found": 404,
  conflict: 409,
  "wrong state": 412,
  "beyond the plan": 412,
  locked: 423,
};

function asHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof ModelRefusal) return new HttpError(STATUS[error.kind], error.message);
  if (error instanceof MissingPackage) return new HttpError(501, error.message);
  return new HttpError(500, "internal error of the emulator");
}

/** An error in the service's format. `code` is empty, as often at the real service: clients must not depend on it. */
export function errorResponse(error: unknown): Response {
  const { status, message, headers } = asHttpError(error);
  return Response.json({ request_id: newId(), code: "", message }, { status, headers });
}
