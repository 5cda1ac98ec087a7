import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "../lib/paths.mjs";
import { type Declared, isOptional, type Reference, shapesOf, textsOf } from "./reference.mts";

/** A type or a property in the schema of a Pulumi package. */
type Spec = Record<string, unknown>;

/** An object in it. */
interface ObjectSpec {
  properties: Record<string, Spec>;
  required?: string[];
}

const EXPERIMENTAL =
  "Experimental: until it is declared stable, a new version may need changes to programs. It is part of the npm package `pulumi-svc`, which contains the documentation.";

const PROVIDER =
  "The settings of one account. A setting that is left out comes from the environment. Changing a setting replaces no resource.";

/**
 * The schema of the native plugin, by the terms of Pulumi's package schema: from the declarations of the resources, and
 * from the published types with their doc comments (docs/design/native.md, Schema of the native plugin).
 */
export class PluginSchema {
  readonly #reference: Reference;
  /** The types that properties refer to, by name. */
  readonly #types: Record<string, Spec> = {};

  constructor(reference: Reference) {
    this.#reference = reference;
  }

  whole(): Spec {
    const { version, description, license, keywords } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const { exported, declared } = this.#reference;
    const functions = [...exported].filter(([name]) => /^get(?!.*Output$)/.test(name));
    return {
      name: "svc",
      displayName: "svc (experimental)",
      version,
      description: `${description}. ${EXPERIMENTAL}`,
      keywords,
      license,
      // As `pulumi package add` sets it: generated code has the version of the plugin.
      meta: { supportPack: true },
      // What the generator makes of the name: written down, because programs import it.
      language: { go: { importBasePath: "example.com/pulumi-svc/sdk/go/svc" } },
      config: {
        variables: this.#settings((variable) => `If it is not set: the environment variable \`${variable}\`.`),
      },
      provider: { description: `${PROVIDER}\n\n${EXPERIMENTAL}`, inputProperties: this.#settings() },
      resources: byToken([...declared].map(([kind, table]) => [kind, this.#resource(kind, table)])),
      functions: byToken(functions.map(([name, symbol]) => [name, this.#function(name, symbol)])),
      // Known once all others are made.
      types: byToken(Object.entries(this.#types)),
    };
  }

  /** `otherwise`: a sentence about the environment variable of a setting. */
  #settings(otherwise?: (variable: string) => string): Record<string, Spec> {
    const { checker, exported } = this.#reference;
    const table = this.#reference.exportsOf("src/contract/settings.ts").find(({ name }) => name === "ENVIRONMENT");
    const variables = this.#members(checker.getTypeOfSymbol(expected(table, "ENVIRONMENT")));
    const args = this.#members(checker.getDeclaredTypeOfSymbol(expected(exported.get("ProviderArgs"), "ProviderArgs")));
    // `svc.Provider` takes them from the configuration; an explicit provider of the plugin sees only its own settings.
    const flags = [...variables.values()].filter(({ name }) => !args.has(name));
    return Object.fromEntries(
      [...args.values(), ...flags].map((setting) => {
        const variable = variables.get(setting.name);
        const value = variable && checker.getTypeOfSymbol(variable);
        const { description, ...more } = this.#described(setting, { hasDefault: false });
        if (description === "") throw new Error(`the setting ${setting.name} has no description`);
        const sentence = value?.isStringLiteral() ? otherwise?.(value.value) : undefined;
        const type = flags.includes(setting) ? { type: "boolean" } : this.#setting(setting);
        return [
          setting.name,
          {
            ...type,
            description: [description, sentence].filter(Boolean).join(" "),
            ...more,
            ...(setting.name === "apiKey" && { secret: true }),
          },
        ];
      }),
    );
  }

  /** An `Input` of a text or of a number: its other members are no types of the schema. */
  #setting(setting: ts.Symbol): Spec {
    const type = this.#typeOf(setting);
    const plain = (type.isUnion() ? type.types : [type]).filter(({ flags }) => flags & PRIMITIVE);
    return this.#spec(expected(plain[0], setting.name), this.#place(setting, "Provider"));
  }

  #resource(kind: string, { args, outputs }: Declared): Spec {
    const { checker } = this.#reference;
    const symbol = expected(this.#reference.exported.get(kind), kind);
    const shapes = shapesOf(expected(symbol.declarations?.find(ts.isClassDeclaration), kind));
    const shape = this.#members(checker.getTypeAtLocation(expected(shapes.shape, kind)));
    const results = this.#members(checker.getTypeAtLocation(expected(shapes.outputs, kind)));
    const inputProperties = Object.fromEntries(
      Object.entries(args).map(([name, rules]) => {
        // A secret may be given by reference, which a plan shows.
        const isSecret = rules.secret === true && rules.reference === undefined;
        return [name, this.#property(expected(shape.get(name), name), kind, { isSecret })];
      }),
    );
    const outputProperties = Object.fromEntries(
      Object.entries(outputs).map(([name, { secret }]) => [
        name,
        this.#property(expected(results.get(name), name), kind, { isSecret: secret === true }),
      ]),
    );
    const requiredInputs = Object.keys(args).filter((name) => args[name].required);
    const always = Object.keys(outputs).filter((name) => !isOptional(results.get(name)));
    return {
      ...this.#described(symbol),
      inputProperties,
      requiredInputs,
      properties: { ...inputProperties, ...outputProperties },
      required: [...new Set([...requiredInputs, ...always])],
      aliases: [{ type: `pulumi-nodejs:dynamic/svc:${kind}` }],
    };
  }

  /** In the form that returns a promise: its result has nothing that is always secret. */
  #function(name: string, symbol: ts.Symbol): Spec {
    const { checker } = this.#reference;
    const [signature] = checker.getTypeOfSymbol(symbol).getCallSignatures();
    const args = checker.getTypeOfSymbol(signature.parameters[0]);
    const result = expected(checker.getAwaitedType(signature.getReturnType()), name);
    // The result of a call to a plugin is an object.
    const outputs = checker.isArrayType(result)
      ? { properties: { results: this.#spec(result, { name, isInteger: false }) }, required: ["results"] }
      : this.#object(result, name);
    return { ...this.#described(symbol), inputs: this.#object(args, name), outputs };
  }

  #members(type: ts.Type): Map<string, ts.Symbol> {
    return new Map(this.#reference.checker.getPropertiesOfType(type).map((each) => [each.name, each]));
  }

  #object(type: ts.Type, name: string, isInteger = false): ObjectSpec {
    const members = [...this.#members(type).values()];
    const required = members.filter((each) => !isOptional(each)).map((each) => each.name);
    return {
      properties: Object.fromEntries(members.map((each) => [each.name, this.#property(each, name, { isInteger })])),
      ...(required.length > 0 && { required }),
    };
  }

  #property(symbol: ts.Symbol, owner: string, { isSecret = false, isInteger = false } = {}): Spec {
    const place = this.#place(symbol, owner);
    const spec = this.#spec(this.#typeOf(symbol), { ...place, isInteger: isInteger || place.isInteger });
    const { description, ...more } = this.#described(symbol);
    return { ...spec, ...(description && { description }), ...more, ...(isSecret && { secret: true }) };
  }

  #typeOf(symbol: ts.Symbol): ts.Type {
    return this.#reference.checker.getTypeOfSymbol(symbol);
  }

  #place(symbol: ts.Symbol, owner: string): Place {
    return {
      name: owner + capital(symbol.name),
      property: symbol,
      isInteger: this.#reference.tag(symbol, "integer") !== undefined,
    };
  }

  #described(symbol: ts.Symbol, { hasDefault = true } = {}): { description: string; deprecationMessage?: string } {
    const standard = hasDefault ? this.#reference.tag(symbol, "default") : undefined;
    const texts = this.#texts(symbol);
    // The members of a union differ.
    const text =
      texts.length > 1 ? texts.map(([type, each]) => `\`${type}\`: ${each}`).join(" ") : this.#plainText(symbol);
    const deprecationMessage = this.#reference.tag(symbol, "deprecated");
    return {
      description: standard === undefined ? text : `${text}\n\nDefault: ${standard}`,
      ...(deprecationMessage !== undefined && { deprecationMessage }),
    };
  }

  /** The text of a property for each of its types as written. */
  #texts(symbol: ts.Symbol): [string, string][] {
    const { checker } = this.#reference;
    const texts = textsOf(symbol, (name) => this.#plainText(checker.getSymbolAtLocation(name)));
    return Object.entries(texts);
  }

  /** Markdown that is right in every language, with a line for each paragraph. */
  #plainText(symbol: ts.Symbol | undefined): string {
    return this.#reference
      .plainText(symbol)
      .replace(/`svc\.(from\w+)\("(\w+)"\)`/g, '`{ $1: "$2" }`')
      .replace(/\bdocs\/[\w/-]+\.md/g, "`$&`")
      .replace(/(?<!\n)\n(?![\n-])/g, " ");
  }

  #spec(whole: ts.Type, place: Place): Spec {
    if (whole.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return { $ref: "pulumi.json#/Any" };
    const type = this.#reference.checker.getNonNullableType(whole);
    const members = type.isUnion() ? type.types : [type];
    const values = members.flatMap((member) => (member.isStringLiteral() ? [member.value] : []));
    if (values.length === members.length) return this.#enumeration(values, place);
    // Beside an open type, its known values are no type of their own.
    const specs = new Map(
      members.map((member) => this.#member(member, place)).map((each) => [JSON.stringify(each), each]),
    );
    // The order of a union's types depends on what else the compiler has seen. Plain types come first.
    const sorted = [...specs].toSorted(([one], [other]) => (one < other ? 1 : -1));
    const [only, ...others] = sorted.map(([, spec]) => spec);
    return others.length === 0 ? only : { oneOf: [only, ...others] };
  }

  #member(type: ts.Type, place: Place): Spec {
    const { checker } = this.#reference;
    if (type.flags & ts.TypeFlags.StringLike) return { type: "string" };
    if (type.flags & ts.TypeFlags.NumberLike) return { type: place.isInteger ? "integer" : "number" };
    if (type.flags & ts.TypeFlags.BooleanLike) return { type: "boolean" };
    // Such as `string & Record<never, never>`: any text, but editors offer the known ones.
    if (type.isIntersection()) {
      const open = type.types.find(({ flags }) => flags & PRIMITIVE);
      return this.#member(expected(open, place.name), place);
    }
    const [element] = checker.isArrayType(type) ? checker.getTypeArguments(type as ts.TypeReference) : [];
    if (element) return { type: "array", items: this.#spec(element, place) };
    const index = checker.getIndexInfoOfType(type, ts.IndexKind.String);
    if (index) return { type: "object", additionalProperties: this.#spec(index.type, place) };
    if (REFERENCES.includes(type.symbol.name)) return this.#secretReference();
    const isNamed = type.symbol.name !== "__type";
    const name = isNamed ? type.symbol.name : place.name;
    const description = isNamed ? this.#plainText(type.symbol) : "";
    const members = this.#object(type, name, place.isInteger);
    return this.#refersTo(name, { type: "object", ...(description && { description }), ...members });
  }

  /** A closed set. Each value has its own text if the members of a union differ. */
  #enumeration(values: string[], { name, property }: Place): Spec {
    const texts = property ? this.#texts(property) : [];
    const each = values.toSorted().map((value) => {
      const [, description] = (texts.length > 1 && texts.find(([type]) => type === JSON.stringify(value))) || [];
      // Generated code would keep the underscores of the value in the names.
      return { name: value.split("_").map(capital).join(""), value, ...(description && { description }) };
    });
    return this.#refersTo(name, { type: "string", enum: each });
  }

  /** The members of the union, each with one property, as one type: the schema has no such unions. */
  #secretReference(): Spec {
    const { checker, exported } = this.#reference;
    const symbol = expected(exported.get("SecretReference"), "SecretReference");
    const union = checker.getDeclaredTypeOfSymbol(symbol);
    const members = (union.isUnion() ? union.types : []).map((member) => this.#object(member, symbol.name).properties);
    const description = `${this.#plainText(symbol)} Give one of the two.`;
    return this.#refersTo(symbol.name, { type: "object", description, properties: Object.assign({}, ...members) });
  }

  #refersTo(name: string, type: Spec): Spec {
    const before = (this.#types[name] ??= type);
    if (JSON.stringify(before) !== JSON.stringify(type)) throw new Error(`the schema has two types ${name}`);
    return { $ref: `#/types/${tokenOf(name)}` };
  }
}

/** Where a type stands. */
interface Place {
  /** For a type without a name of its own. */
  name: string;
  property?: ts.Symbol;
  /** Its numbers are whole numbers. */
  isInteger: boolean;
}

const PRIMITIVE = ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike;

/** The members of the union `SecretReference`. */
const REFERENCES = ["FromEnv", "FromFile"];

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const tokenOf = (name: string): string => `svc:index:${name}`;

const byToken = (specs: [string, Spec][]): Record<string, Spec> =>
  Object.fromEntries(
    specs
      .map(([name, spec]): [string, Spec] => [tokenOf(name), spec])
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );

function expected<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`the sources have no ${name}, or in another form than the schema expects`);
  return value;
}
