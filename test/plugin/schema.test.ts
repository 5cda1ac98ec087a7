import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KINDS, typesOf } from "../../src/contract/pointer";
import { SETTING_NAMES } from "../../src/contract/settings";
import { DECLARATIONS } from "../support/declarations";
import { type PackageSchema, type Property, schemaChanges } from "../support/schemaChanges";

const read = (...path: string[]): PackageSchema =>
  JSON.parse(readFileSync(join(__dirname, ...path), "utf8")) as PackageSchema;
const SCHEMA = read("..", "..", "plugin", "schema.json");
/** As it was first checked in, without descriptions. */
const FIRST = read("fixtures", "firstSchema.json");

test("what the first schema had is still there: nothing was removed, has another type or is newly required", () => {
  expect(schemaChanges(FIRST, SCHEMA)).toEqual([]);
});

test("the import of programs in Go stays", () => {
  expect(SCHEMA).toMatchObject({ language: { go: { importBasePath: "example.com/pulumi-svc/sdk/go/svc" } } });
});

describe("the schema", () => {
  test("has each kind by a native type, with an alias for the dynamic one", () => {
    const types = Object.entries(SCHEMA.resources).map(([token, { aliases }]) => [aliases[0]?.type, token]);
    expect(types).toEqual(KINDS.map(typesOf));
  });

  test("has the arguments and outputs of the declarations, and requires what they require", () => {
    for (const { kind, args, outputs } of DECLARATIONS) {
      const { inputProperties, requiredInputs, properties } = SCHEMA.resources[`svc:index:${kind}`] ?? {};
      expect(Object.keys(inputProperties ?? {})).toEqual(Object.keys(args));
      expect(new Set(Object.keys(properties ?? {}))).toEqual(new Set([...Object.keys(args), ...Object.keys(outputs)]));
      expect(requiredInputs).toEqual(Object.keys(args).filter((name) => Reflect.get(args, name)?.required));
    }
  });

  test("has the settings as configuration and as arguments of a provider; only the key is secret", () => {
    const settings = new Set(SETTING_NAMES);
    for (const each of [SCHEMA.config.variables, SCHEMA.provider.inputProperties]) {
      expect(new Set(Object.keys(each))).toEqual(settings);
      expect(Object.keys(each).filter((name) => each[name]?.secret)).toEqual(["apiKey"]);
    }
  });

  test("marks what is always secret, and never what may be a reference, which a plan has to show", () => {
    const marked = Object.entries(SCHEMA.resources).flatMap(([token, { inputProperties, properties }]) =>
      Object.entries({ ...inputProperties, ...properties }).flatMap(([name, { secret }]) =>
        secret ? [`${token}.${name}`] : [],
      ),
    );
    expect(marked).toEqual([
      "svc:index:AuthIntegration.secretServerKey",
      "svc:index:AuthKeys.secretServerKey",
      "svc:index:AuthOwnershipTransfer.url",
      "svc:index:AuthUser.name",
    ]);
    const reference = { oneOf: [{ type: "string" }, { $ref: "#/types/svc:index:SecretReference" }] };
    const { EmailServer, OAuthProvider } = Object.fromEntries(
      KINDS.map((kind) => [kind, SCHEMA.resources[`svc:index:${kind}`]]),
    );
    for (const { password } of [EmailServer?.inputProperties ?? {}, EmailServer?.properties ?? {}]) {
      expect(password).toMatchObject(reference);
    }
    expect(OAuthProvider?.inputProperties["clientSecret"]).toMatchObject(reference);
    expect(SCHEMA.types["svc:index:ComputeSettings"]?.properties?.["pgSettings"]).toMatchObject({
      additionalProperties: reference,
    });
  });

  test("has whole numbers as integers, sizes as numbers, closed sets as enumerations and open ones as texts", () => {
    const compute = SCHEMA.resources["svc:index:ComputeEndpoint"];
    const size = { oneOf: [{ type: "number" }, { $ref: "#/types/svc:index:ComputeEndpointSize" }] };
    expect(SCHEMA.resources["svc:index:EmailServer"]?.inputProperties["port"]).toMatchObject({ type: "integer" });
    expect(compute?.inputProperties["size"]).toMatchObject(size);
    expect(SCHEMA.types["svc:index:ComputeEndpointScaleToZero"]?.properties).toEqual({
      afterSeconds: { type: "integer" },
    });
    expect(compute?.inputProperties["poolerMode"]?.$ref).toBe("#/types/svc:index:ComputeEndpointPoolerMode");
    // The service may show another one.
    expect(compute?.properties["poolerMode"]).toMatchObject({ type: "string" });
    expect(SCHEMA.types["svc:index:ComputeEndpointType"]?.enum).toEqual([
      { name: "ReadOnly", value: "read_only" },
      { name: "ReadWrite", value: "read_write" },
    ]);
    expect(SCHEMA.resources["svc:index:OAuthProvider"]?.inputProperties["providerId"]).toMatchObject({
      type: "string",
    });
  });

  test("has neither defaults, which would manage what a program leaves out, nor variables that a program would read", () => {
    const text = JSON.stringify(SCHEMA, (key, value: unknown) =>
      key === "properties" ? Object.values(Object(value)) : value,
    );
    expect(text).not.toMatch(/"(default|defaultInfo|const|replaceOnChanges|willReplaceOnChanges|pluginDownloadURL)":/);
  });

  test("shows no password: every result of a function is plain", () => {
    expect(JSON.stringify(SCHEMA.functions)).not.toContain('"password":');
    const lists = Object.entries(SCHEMA.functions).filter(([, { outputs }]) => outputs.properties?.["results"]);
    expect(lists.map(([token]) => token)).toEqual([
      "svc:index:getAuthIntegrations",
      "svc:index:getBranches",
      "svc:index:getComputeEndpoints",
      "svc:index:getOAuthProviders",
      "svc:index:getWhitelistDomains",
    ]);
  });

  test("has a description for each resource, function, argument and output, and says that it is experimental", () => {
    const described = [...Object.values(SCHEMA.resources), ...Object.values(SCHEMA.functions)];
    const properties = Object.values(SCHEMA.resources).flatMap((one) => [
      ...Object.values(one.inputProperties),
      ...Object.values(one.properties),
    ]);
    for (const one of [...described, ...properties]) {
      expect(Reflect.get(one, "description")).toMatch(/\w/);
    }
    expect(Reflect.get(SCHEMA, "description")).toContain("Experimental");
  });
});

/** A schema with one of everything. */
const SMALL: PackageSchema = {
  config: { variables: { url: { type: "string" } } },
  provider: { inputProperties: { url: { type: "string" } } },
  resources: {
    Thing: {
      inputProperties: { size: { type: "number" }, names: { type: "array", items: { type: "string" } } },
      requiredInputs: [],
      properties: { host: { type: "string" }, key: { type: "string", secret: true } },
      required: ["host"],
      aliases: [{ type: "Old" }],
    },
  },
  functions: {
    getThing: {
      inputs: { properties: { id: { type: "string" } }, required: ["id"] },
      outputs: { properties: { host: { type: "string" } }, required: ["host"] },
    },
  },
  types: {
    Mode: { type: "string", enum: [{ name: "On", value: "on" }] },
    Range: { type: "object", properties: { min: { type: "number" }, max: { type: "number" } }, required: ["min"] },
  },
};

type Edit = (schema: ReturnType<typeof editable>) => void;
/** Any part of it can be edited. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test takes any part away
const editable = (): any => structuredClone(SMALL);
function changesOf(edit: Edit): string[] {
  const after = editable();
  edit(after);
  return schemaChanges(SMALL, after as PackageSchema);
}

describe("a comparison of schemas", () => {
  test.each<[string, Edit, string]>([
    ["a removed resource", (s) => delete s.resources.Thing, "Thing: was removed"],
    ["a removed argument", (s) => delete s.resources.Thing.inputProperties.size, "Thing: input size was removed"],
    ["a removed output", (s) => delete s.resources.Thing.properties.key, "Thing: output key was removed"],
    ["a removed alias", (s) => s.resources.Thing.aliases.pop(), "Thing: the alias Old was removed"],
    [
      "another type",
      (s) => (s.resources.Thing.inputProperties.size = { type: "integer" }),
      "Thing: input size changed its type",
    ],
    [
      "another type of elements",
      (s) => (s.resources.Thing.inputProperties.names.items = { $ref: "Range" }),
      "Thing: input names changed its type",
    ],
    [
      "a newly required argument",
      (s) => s.resources.Thing.requiredInputs.push("size"),
      "Thing: input size is now required",
    ],
    [
      "a new argument that is required",
      (s) => {
        s.resources.Thing.inputProperties.zone = { type: "string" };
        s.resources.Thing.requiredInputs.push("zone");
      },
      "Thing: input zone is now required",
    ],
    [
      "an output that may be absent",
      (s) => s.resources.Thing.required.pop(),
      "Thing: output host is no longer required",
    ],
    [
      "an output in clear",
      (s) => delete s.resources.Thing.properties.key.secret,
      "Thing: output key is no longer secret",
    ],
    ["a removed function", (s) => delete s.functions.getThing, "getThing: was removed"],
    [
      "a function that asks for more",
      (s) => s.functions.getThing.inputs.required.push("zone"),
      "getThing: input zone is now required",
    ],
    [
      "a function that shows less",
      (s) => s.functions.getThing.outputs.required.pop(),
      "getThing: output host is no longer required",
    ],
    ["a removed type", (s) => delete s.types.Range, "Range: was removed"],
    ["a removed value", (s) => s.types.Mode.enum.pop(), "Mode: the value on was removed or renamed"],
    ["a renamed value", (s) => (s.types.Mode.enum[0].name = "Yes"), "Mode: the value on was removed or renamed"],
    ["a type of another kind", (s) => (s.types.Mode.type = "integer"), "Mode: changed its type"],
    ["a member that is newly required", (s) => s.types.Range.required.push("max"), "Range: max is now required"],
    ["a member that may be absent", (s) => s.types.Range.required.pop(), "Range: min is no longer required"],
    ["a removed setting", (s) => delete s.config.variables.url, "config: input url was removed"],
    ["a required setting", (s) => (s.provider.requiredInputs = ["url"]), "provider: input url is now required"],
  ])("finds %s", (_, edit, expected) => expect(changesOf(edit)).toEqual([expected]));

  test("accepts additions, and other descriptions", () => {
    const text: Property = { type: "string", description: "new" };
    const changes = changesOf((s) => {
      s.description = "another";
      s.resources.Other = s.resources.Thing;
      s.resources.Thing = structuredClone(s.resources.Thing);
      Object.assign(s.resources.Thing.inputProperties, { zone: text, size: { type: "number", description: "new" } });
      s.resources.Thing.properties.zone = text;
      s.resources.Thing.required.push("zone", "key");
      s.functions.getThing.outputs.properties.zone = text;
      s.types.Mode.enum.push({ name: "Off", value: "off" });
      s.types.Range.properties.step = text;
      s.config.variables.zone = text;
    });
    expect(changes).toEqual([]);
  });
});
