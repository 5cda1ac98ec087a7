import type { Context, MiddlewareHandler } from "hono";
import type { z } from "zod";
import { invalid } from "../model/refusal";
import type { ResolvedOptions } from "../emulatorOptions";
import { HttpError } from "./errorResponses";
import type { Env, ApiRoute } from "./route";

/** All problems on one line, each once. Names fields and rules, never a value, which may be secret. */
export const problemsIn = ({ issues }: z.ZodError): string =>
  [...new Set(issues.map(({ path, message }) => [...path.map(String), message].join(": ")))].join("; ");

export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(`invalid request: ${problemsIn(result.error)}`);
}

/** A body is kept in memory several times, and in the log. */
const LARGEST = 1024 * 1024;

const tooLarge = (): HttpError => new HttpError(413, "the request body is larger than 1 MiB");

/**
 * Reads the rest and discards it: a client that sends its whole body before it reads would get a connection reset
 * instead of the response. The web server closes a connection whose body does not end soon after the response.
 */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done) continue;
}

/** A body without a declared length. */
async function streamed(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(parts).toString();
    size += value.length;
    if (size > LARGEST) {
      discard(reader).catch(() => undefined); // The client has gone away.
      throw tooLarge();
    }
    parts.push(value);
  }
}

/**
 * Reads the body of a request once, for everything that uses it. Hono's own limit creates a new Request for a streamed
 * body, which works only if the global Request is replaced.
 */
export const takeBody: MiddlewareHandler<Env> = async (context, next) => {
  const { raw } = context.req;
  // Before `raw.body` is accessed, which creates a stream: the web server discards a body only if nothing has begun to
  // read it.
  if (Number(raw.headers.get("content-length") ?? 0) > LARGEST) throw tooLarge();
  const stream = raw.headers.has("transfer-encoding") ? raw.body : null;
  context.set("body", stream === null ? await context.req.text() : await streamed(stream));
  await next();
};

/** JSON.stringify is recursive: a record that is nested too deeply could be stored, but not sent back. */
const DEEPEST = 32;

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1)));

/** Parses every body. */
export function parsedJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid("the request body is not valid JSON");
  }
  if (isDeeperThan(value, DEEPEST)) throw invalid(`the request body is nested deeper than ${DEEPEST} levels`);
  return value;
}

function readJson(context: Context<Env>): unknown {
  const type = context.req.header("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) throw invalid("the content-type must be application/json");
  return parsedJson(context.get("body"));
}

export const isOptional = (schema: z.ZodType): boolean => schema.safeParse(undefined).success;

/**
 * A route whose handler receives the request's body and query, validated by the schemas of the OpenAPI document. The
 * body of a few routes is optional: so is their schema.
 */
export function route<Body extends z.ZodType, Query extends z.ZodObject>({
  body,
  query,
  handler,
  ...rest
}: Omit<ApiRoute, "body" | "query" | "handler"> & {
  body?: Body;
  query?: Query;
  handler: (context: Context<Env>, sent: z.output<Body>, asked: z.output<Query>) => Response | Promise<Response>;
}): ApiRoute {
  const read = (context: Context<Env>, schema: Body): z.output<Body> =>
    checked(schema, isOptional(schema) && context.get("body") === "" ? undefined : readJson(context));
  return {
    ...rest,
    body,
    query,
    handler: (context) => {
      // Without a schema its type is unknown, and the handler does not use it.
      const sent = body === undefined ? (undefined as z.output<Body>) : read(context, body);
      const asked = query === undefined ? ({} as z.output<Query>) : checked(query, context.req.query());
      return handler(context, sent, asked);
    },
  };
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Adds an unknown field to a response and its records, but not to maps with free keys. */
function withExtraFields(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item) => withExtraFields(item, depth));
  if (!isRecord(value) || depth === 0) return value;
  const inner = Object.entries(value).map(([key, item]) => [key, withExtraFields(item, depth - 1)]);
  return { ...Object.fromEntries(inner), unlisted_field: { since: "v2", flags: [] } };
}

export const jsonResponse = ({ variants }: ResolvedOptions, body: object, status = 200): Response =>
  Response.json(variants.extraFields ? withExtraFields(body, 2) : body, { status });

export const emptyResponse = (status: 200 | 201 | 204): Response => new Response(null, { status });

/** A stored secret in a response: unchanged, masked or omitted. */
export function secretField(
  { secretAnswers }: ResolvedOptions,
  name: string,
  value: string | undefined,
): Record<string, string> {
  if (value === undefined || secretAnswers === "absent") return {};
  return { [name]: secretAnswers === "masked" ? "****" : value };
}
