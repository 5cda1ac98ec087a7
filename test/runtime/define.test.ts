import { z } from "zod";
import type { Declaration } from "../../src/contract/declaration";
import { define, type Methods } from "../../src/runtime/define";
import type { SchemasOf } from "../../src/runtime/arguments";
import { GONE, grant } from "../support/proven";

interface Shape {
  home: string;
  size?: number;
}
interface Outputs {
  host: string;
}

const declaration: Declaration<Shape, Outputs> = {
  kind: "AuthUser",
  id: { parts: ["projectId"], form: "<project id>", example: "prj-demo" },
  args: {
    home: { required: true, replaces: true, container: "AuthIntegration" },
    size: { form: (size) => Math.abs(size) },
  },
  outputs: { host: { secret: true, identity: true, stays: true } },
};
const schemas: SchemasOf<Shape> = { size: z.number(), home: z.string() };
const methods: Methods<Shape, Outputs & Partial<Shape>> = {
  objects: (id) => [id],
  replacement: () => "it is made anew",
  replaceable: { asks: "it may", ask: async () => grant() },
  create: async () => ({ id: "1", outputs: { host: "h" } }),
  read: async () => GONE,
  update: async () => ({ host: "h" }),
  delete: async () => GONE,
};

test("a resource is its declaration with the schemas, in the order of the declaration, and its methods", () => {
  const { args, ...made } = define(declaration, schemas, methods);
  const { kind, id, identity, secretOutputs, staying, ...rest } = made;
  expect(kind).toBe("AuthUser");
  expect(id).toBe(declaration.id);
  expect(Object.entries(args)).toEqual([
    ["home", { required: true, replaces: true, container: "AuthIntegration", schema: schemas.home }],
    ["size", { form: declaration.args.size.form, schema: schemas.size }],
  ]);
  expect(identity).toEqual(["host"]);
  expect(secretOutputs).toEqual(["host"]);
  expect(staying).toEqual(["host"]);
  expect(rest).toEqual(methods);
});

test("the type check refuses a table or schemas that do not fit the types of the arguments and outputs", () => {
  const { args, outputs } = declaration;
  const tables: Declaration<Shape, Outputs>["args"][] = [
    args,
    // @ts-expect-error -- "size" is missing.
    { home: { required: true } },
    // @ts-expect-error -- "sise" is no argument.
    { ...args, home: { required: true }, sise: {} },
    // @ts-expect-error -- The type requires "home".
    { ...args, home: {} },
    // @ts-expect-error -- The type does not require "size".
    { ...args, size: { required: true } },
    // @ts-expect-error -- No rule has that name.
    { ...args, size: { replace: true } },
    // @ts-expect-error -- "size" is a number.
    { ...args, size: { assumed: "1" } },
  ];
  const shown: Declaration<Shape, Outputs>["outputs"][] = [
    outputs,
    // @ts-expect-error -- "host" is missing.
    {},
    // @ts-expect-error -- "port" is no output.
    { host: {}, port: {} },
  ];
  const checked: SchemasOf<Shape>[] = [
    schemas,
    // @ts-expect-error -- "size" is missing.
    { home: z.string() },
    // @ts-expect-error -- "sise" is no argument.
    { ...schemas, sise: z.number() },
    // @ts-expect-error -- "size" is a number.
    { ...schemas, size: z.string() },
  ];
  // Types cannot be tested at run time: `npm run check -- types` fails if one of the lines compiles.
  expect([tables.length, shown.length, checked.length]).toEqual([7, 3, 4]);
});
