import { newId } from "../model/identifiers";

/** A refusal in the words of the service: `{ request_id, code, message }` (docs/design/api.md, Errors). */
export class WireError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** The real service often leaves it empty, so nothing may depend on it. */
    readonly code = "",
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
    this.name = "WireError";
  }
}

export const badRequest = (message: string): WireError => new WireError(400, message);
export const notFound = (message: string): WireError => new WireError(404, message);
export const conflict = (message: string): WireError => new WireError(409, message);

export function errorAnswer(error: unknown): Response {
  const known = error instanceof WireError ? error : new WireError(500, "internal error of the emulator");
  const body = { request_id: newId(), code: known.code, message: known.message };
  return Response.json(body, { status: known.status, headers: known.headers });
}
