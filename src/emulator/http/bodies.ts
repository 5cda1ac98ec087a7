import type { Context } from "hono";
import type { z } from "zod";
import type { ResolvedOptions } from "../options";
import type { Env } from "../model/service";
import { badRequest, notFound } from "./errors";

export function pathParameter(context: Context<Env>, name: string): string {
  const value = context.req.param(name);
  if (value === undefined) throw notFound("not found");
  return value;
}

/** All problems in one line. It names fields and rules, never a value: those may be secrets. */
export const problemsIn = ({ issues }: z.ZodError): string =>
  issues.map(({ path, message }) => [...path.map(String), message].join(": ")).join("; ");

export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw badRequest(`invalid request: ${problemsIn(result.error)}`);
}

/** JSON.stringify is recursive: a record that is nested without measure could be kept, but never answered again. */
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
    throw badRequest("the request body is not valid JSON");
  }
  if (isDeeperThan(value, DEEPEST)) throw badRequest(`the request body is nested deeper than ${DEEPEST} levels`);
  return value;
}

async function readJson(context: Context<Env>): Promise<unknown> {
  const type = context.req.header("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) throw badRequest("the content-type must be application/json");
  return parsedJson(await context.req.text());
}

export const readBody = async <Schema extends z.ZodType>(
  context: Context<Env>,
  schema: Schema,
): Promise<z.output<Schema>> => checked(schema, await readJson(context));

/** For the few routes whose body may be left out. */
export async function readOptionalBody<Schema extends z.ZodType>(
  context: Context<Env>,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  return (await context.req.text()) === "" ? undefined : readBody(context, schema);
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Adds a field nobody has listed to an answer and to the records in it, but not to their maps of free names. */
function withExtraFields(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item) => withExtraFields(item, depth));
  if (!isRecord(value) || depth === 0) return value;
  const inner = Object.entries(value).map(([key, item]) => [key, withExtraFields(item, depth - 1)]);
  return { ...Object.fromEntries(inner), unlisted_field: { since: "v2", flags: [] } };
}

export const answer = (options: ResolvedOptions, body: object, status = 200): Response =>
  Response.json(options.extraFields ? withExtraFields(body, 2) : body, { status });

export const emptyAnswer = (status: 200 | 201 | 204): Response => new Response(null, { status });

/** A record without the keys that are undefined, so that it can be laid over another. */
export function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  // fromEntries forgets which keys belong to which type.
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** A list right after a creation can lag (docs/design/api.md, Delays). */
export const listed = <T extends { created_at: string }>(options: ResolvedOptions, records: readonly T[]): T[] =>
  records.filter(({ created_at }) => Date.now() - Date.parse(created_at) >= options.listLagMs);
