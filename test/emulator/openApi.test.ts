import { allRoutes } from "../../src/emulator/app";
import type { Site } from "../../src/emulator/http/access";
import type { Service } from "../../src/emulator/model/service";
import { api, control, integrate, PRIMARY, start, type Json, type Target } from "../support/emulator";

interface Schema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
}

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
}

interface Described extends Operation {
  method: string;
  template: string;
}

async function describedBy(emulator: { url: string }): Promise<Described[]> {
  const { status, body } = await control(emulator.url, "GET", "/openapi.json");
  expect([status, body.openapi]).toEqual([200, "3.1.0"]);
  const paths = body.paths as Record<string, Record<string, Operation>>;
  return Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      ...{ method: method.toUpperCase(), template },
    })),
  );
}

/** No schema can know these: the names of existing objects. */
const KNOWN: Json = {
  ...{ project_id: "prj-demo", auth_provider: "supported_provider", branch_id: "br-main", email: "ana@example.com" },
  ...{ endpoint_id: PRIMARY, oauth_provider_id: "google", id: "microsoft", domain: "https://app.example.com" },
  ...{ sender_email: "app@example.com", auth_user_id: "none", operation_id: "none" },
};

/** A value that fits the schema, with what is required only. */
function sample(schema: Schema, name = ""): unknown {
  if (name in KNOWN) return KNOWN[name];
  if (schema.const !== undefined) return schema.const;
  const choice = schema.enum?.[0] ?? (schema.anyOf ?? schema.oneOf)?.at(-1);
  if (schema.enum !== undefined) return choice;
  if (choice !== undefined) return sample(choice as Schema);
  if (schema.type === "object") {
    const required = Object.entries(schema.properties ?? {}).filter(([key]) => schema.required?.includes(key));
    return Object.fromEntries(required.map(([key, inner]) => [key, sample(inner, key)]));
  }
  if (schema.type === "array") return [];
  return schema.type === "boolean" ? true : schema.type === "string" ? "text" : 1;
}

const objectsIn = (schema: Schema): Schema =>
  schema.type === "object" ? schema : ((schema.anyOf ?? schema.oneOf)?.map(objectsIn).at(-1) ?? schema);

/** The same body with one thing wrong each: a field of another type, a missing one, one too many; at each depth. */
function spoiled(schema: Schema, body: Json): [what: string, body: unknown][] {
  const { properties = {}, required = [], additionalProperties } = objectsIn(schema);
  const wrong = Object.entries(properties).flatMap(([key, inner]): [string, unknown][] => [
    [`${key} of another type`, { ...body, [key]: inner.type === "array" ? {} : ["of another type"] }],
    ...(inner.type === "object" && key in body
      ? spoiled(inner, body[key] as Json).map(([what, value]): [string, unknown] => [
          `${key}: ${what}`,
          { ...body, [key]: value },
        ])
      : []),
  ]);
  const missing = required.map((key): [string, unknown] => {
    const { [key]: _left, ...rest } = body;
    return [`no ${key}`, rest];
  });
  expect(additionalProperties).toBe(false);
  return [...wrong, ...missing, ["one more field", { ...body, unlisted: 1 }], ["a list", [body]]];
}

const pathOf = (template: string): string =>
  template.replace(/\{(\w+)\}/g, (_all, name: string) => String(KNOWN[name] ?? `no-${name}`));

const schemaOf = ({ requestBody }: Described): Schema | undefined => requestBody?.content["application/json"]?.schema;

test("the document has every route of the API and no other, with what its path takes", async () => {
  const described = await describedBy(await start());
  // Their handlers are not called.
  const routes = allRoutes({} as Service, {} as Site);
  const nameOf = ({ method, template }: { method: string; template: string }): string => `${method} ${template}`;
  expect(described.map(nameOf).sort()).toEqual(routes.map(nameOf).sort());
  expect(new Set(described.map(({ operationId }) => operationId)).size).toBe(routes.length);
  for (const { template, parameters = [], responses } of described) {
    const inPath = parameters.filter((parameter) => parameter.in === "path" && parameter.required);
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(template.match(/\{\w+\}/g) ?? []);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["400", "401", "404", "413"]));
  }
});

test("the document names the server that served it, and with seedOnly lacks what is not served", async () => {
  const emulator = await start({ seedOnly: true });
  const { body } = await control(emulator.url, "GET", "/openapi.json");
  expect(body).toMatchObject({ servers: [{ url: emulator.baseUrl }], security: [{ key: [] }] });
  const described = await describedBy(emulator);
  expect(described.map(({ operationId }) => operationId)).not.toContain("getProject");
  for (const { method, template } of described.filter((one) => one.method === "GET"))
    expect((await api(emulator, method, pathOf(template))).text).not.toContain("route does not exist");
});

/** An emulator in which all that the paths name exists, for one request. */
async function ready(): Promise<Target & { url: string }> {
  const emulator = await start();
  await integrate(emulator);
  return emulator;
}

test("a request that is made from the document alone is never refused for its form", async () => {
  const described = await describedBy(await start());
  for (const operation of described) {
    const schema = schemaOf(operation);
    const answer = await api(
      await ready(),
      operation.method,
      pathOf(operation.template),
      schema === undefined ? undefined : sample(schema),
    );
    const { operationId, responses } = operation;
    // An address of the document's own: each status that comes is described.
    expect([operationId, Object.keys(responses)]).toEqual([
      operationId,
      expect.arrayContaining([String(answer.status)]),
    ]);
    expect([operationId, answer.status, answer.text]).not.toEqual([operationId, 400, expect.any(String)]);
  }
});

test("what the document forbids is refused with 400, for each field of each body", async () => {
  const emulator = await ready();
  let refused = 0;
  for (const operation of await describedBy(emulator)) {
    const schema = schemaOf(operation);
    if (schema === undefined) continue;
    for (const [what, body] of spoiled(schema, sample(schema) as Json)) {
      const { status } = await api(emulator, operation.method, pathOf(operation.template), body);
      expect([operation.operationId, what, status]).toEqual([operation.operationId, what, 400]);
      refused += 1;
    }
    if (operation.requestBody?.required === true) {
      const empty = await api(emulator, operation.method, pathOf(operation.template));
      expect([operation.operationId, empty.status]).toEqual([operation.operationId, 400]);
    }
  }
  expect(refused).toBeGreaterThan(60);
});

test("a query is described as it is checked", async () => {
  const emulator = await start();
  const lists = (await describedBy(emulator)).filter(({ operationId }) => operationId.startsWith("list"));
  expect(lists).toHaveLength(6);
  for (const { parameters } of lists)
    expect(parameters?.slice(1)).toEqual([
      { name: "limit", in: "query", required: false, schema: expect.objectContaining({ minimum: 1, maximum: 1000 }) },
      { name: "cursor", in: "query", required: false, schema: expect.objectContaining({ minLength: 1 }) },
    ]);
  for (const [query, status] of [
    ["limit=1", 200],
    ["limit=1000", 200],
    ["limit=0", 400],
    ["limit=1001", 400],
  ] as const)
    expect((await api(emulator, "GET", `/projects/prj-demo/operations?${query}`)).status).toBe(status);
});
