import type { Context } from "hono";
import type { z } from "zod";
import { invalid } from "../model/refusal";
import type { ResolvedOptions } from "../options";
import type { Env, Route } from "./route";

/** All problems in one line. It names fields and rules, never a value: a value may be a secret. */
export const problemsIn = ({ issues }: z.ZodError): string =>
  issues.map(({ path, message }) => [...path.map(String), message].join(": ")).join("; ");

export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(`invalid request: ${problemsIn(result.error)}`);
}

/** JSON.stringify is recursive: a record that is nested too deep could be stored, but never sent back. */
const DEEPEST = 32;

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1)));

/** Every body is read by this. */
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

async function readJson(context: Context<Env>): Promise<unknown> {
  const type = context.req.header("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) throw invalid("the content-type must be application/json");
  return parsedJson(await context.req.text());
}

const readBody = async <Schema extends z.ZodType>(context: Context<Env>, schema: Schema): Promise<z.output<Schema>> =>
  checked(schema, await readJson(context));

export const isOptional = (schema: z.ZodType): boolean => schema.safeParse(undefined).success;

/**
 * A route whose handler is given what was sent, checked by the schemas that the OpenAPI document is made from. The body of
 * a few routes is optional: their schema is.
 */
export function route<Body extends z.ZodType, Query extends z.ZodObject>({
  body,
  query,
  handler,
  ...rest
}: Omit<Route, "body" | "query" | "handler"> & {
  body?: Body;
  query?: Query;
  handler: (context: Context<Env>, sent: z.output<Body>, asked: z.output<Query>) => Response | Promise<Response>;
}): Route {
  const read = async (context: Context<Env>, schema: Body): Promise<z.output<Body>> =>
    isOptional(schema) && (await context.req.text()) === "" ? checked(schema, undefined) : readBody(context, schema);
  return {
    ...rest,
    body,
    query,
    handler: async (context) => {
      // Without a schema its type is unknown, and the handler does not take it.
      const sent = body === undefined ? (undefined as z.output<Body>) : await read(context, body);
      const asked = query === undefined ? ({} as z.output<Query>) : checked(query, context.req.query());
      return handler(context, sent, asked);
    },
  };
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Adds an unknown field to a response and to the records in it, but not to their maps of free names. */
function withExtraFields(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item) => withExtraFields(item, depth));
  if (!isRecord(value) || depth === 0) return value;
  const inner = Object.entries(value).map(([key, item]) => [key, withExtraFields(item, depth - 1)]);
  return { ...Object.fromEntries(inner), unlisted_field: { since: "v2", flags: [] } };
}

export const jsonResponse = ({ extraFields }: ResolvedOptions, body: object, status = 200): Response =>
  Response.json(extraFields ? withExtraFields(body, 2) : body, { status });

export const emptyResponse = (status: 200 | 201 | 204): Response => new Response(null, { status });

/** How a stored secret comes back: as it is, masked, or not at all. */
export function secretField(
  { secretAnswers }: ResolvedOptions,
  name: string,
  value: string | undefined,
): Record<string, string> {
  if (value === undefined || secretAnswers === "absent") return {};
  return { [name]: secretAnswers === "masked" ? "****" : value };
}
