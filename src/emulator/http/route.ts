import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { z } from "zod";
import { matchedRoutes } from "hono/route";
import type { StoredProject } from "../model/records";
import type { PagingFault } from "../model/pages";
import { notFound } from "../model/refusal";
import type { EmulatorRequest } from "../controlTypes";
import type { Service } from "../model/service";

/** What Hono keeps for a request: Node's own objects, its log entry, and its body. */
export interface Env {
  Bindings: HttpBindings;
  /** `isOwners`: whether the key is that of the account to which the projects belong. */
  Variables: { logged: EmulatorRequest; body: string; isOwners: boolean; pagingFault?: PagingFault };
}

export interface ApiRoute {
  /** The method name in a generated client. */
  name: string;
  summary: string;
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Relative to the API root, in the notation of the API document. */
  template: string;
  /** The schemas that validated the handler's body and query (`route` of bodies.ts). */
  body?: z.ZodType | undefined;
  query?: z.ZodObject | undefined;
  /** The status of a success; several if it depends on the state. */
  success: readonly number[];
  handler: (context: Context<Env>) => Response | Promise<Response>;
  /** Observed, not described (docs/design/api.md): missing with `seedOnly`. */
  completes?: true;
}

/** The versioned root of every API path. */
export const API_ROOT = "/api/v2";

export const pathInApi = (context: Context<Env>): string => context.req.path.slice(API_ROOT.length);

/** A template in Hono's notation. */
export const honoPath = (template: string): string => template.replace(/\{(\w+)\}/g, ":$1");

/** The template of the route that handles a request, in the notation of the API document; null if none. */
export function templateOf(context: Context<Env>): string | null {
  const route = matchedRoutes(context).findLast(({ path }) => !path.includes("*"));
  return route === undefined ? null : route.path.slice(API_ROOT.length).replace(/:(\w+)/g, "{$1}");
}

export function pathParameter(context: Context<Env>, name: string): string {
  const value = context.req.param(name);
  if (value === undefined) throw notFound("not found");
  return value;
}

/** The project in the path of a request. */
export const projectOf = ({ store }: Service, context: Context<Env>): StoredProject =>
  store.project(pathParameter(context, "project_id"));
