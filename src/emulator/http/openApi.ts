import { z } from "zod";
import { isOptional } from "./bodies";
import type { ApiRoute } from "./route";

/** docs/design/api.md, Errors. */
const ERROR = {
  type: "object",
  properties: { request_id: { type: "string" }, code: { type: "string" }, message: { type: "string" } },
  required: ["request_id", "code", "message"],
} as const;

const REFUSALS: Readonly<Record<string, string>> = {
  400: "The request breaks a rule",
  401: "No key, or a wrong one",
  404: "Something that the request names does not exist",
  409: "The object exists already",
  412: "The object is not in a state that allows it",
  413: "The request body is larger than 1 MiB",
  423: "The project is locked by an operation; nothing was executed",
  429: "Too many requests",
};

/** The request's form before defaults and transformations. Rules that JSON Schema cannot express are left out. */
function schemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return rest;
}

function parametersOf({ template, query }: ApiRoute): object[] {
  const inPath = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: "path", required: true, schema: { type: "string", minLength: 1 } },
  }));
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, field]) => ({
    ...{ name, in: "query", required: !isOptional(field), schema: schemaOf(field) },
  }));
  return [...inPath, ...inQuery];
}

function operationOf(route: ApiRoute): object {
  const { name, summary, body, success } = route;
  const parameters = parametersOf(route);
  return {
    operationId: name,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: !isOptional(body), content: { "application/json": { schema: schemaOf(body) } } },
    }),
    responses: {
      ...Object.fromEntries(success.map((status) => [status, { description: "Success" }])),
      ...Object.fromEntries(
        Object.keys(REFUSALS).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  };
}

/** The OpenAPI document of these routes. It contains the schemas that validate the requests. */
export function openApiDocument(routes: readonly ApiRoute[], server: string, version: string): object {
  const templates = [...new Set(routes.map(({ template }) => template))];
  const pathItem = (template: string): object =>
    Object.fromEntries(
      routes
        .filter((route) => route.template === template)
        .map((route) => [route.method.toLowerCase(), operationOf(route)]),
    );
  return {
    openapi: "3.1.0",
    info: { title: "The API that the pulumi-svc emulator serves", version },
    servers: [{ url: server }],
    security: [{ key: [] }],
    paths: Object.fromEntries(templates.map((template) => [template, pathItem(template)])),
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer" } },
      schemas: { Error: ERROR },
      responses: Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [
          status,
          { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } },
        ]),
      ),
    },
  };
}
