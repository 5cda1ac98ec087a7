import { runInNewContext } from "node:vm";
import { CANARY, type Alias, type Declared, type Options, type Program, type Value } from "./history";

/** A program as the JavaScript of its index.js, a statement for each resource, and such a text as a program again. */

/** What index.js loads from beside it: the resources and helpers that are not ours. */
export const OTHERS = `const pulumi = require("@pulumi/pulumi");

exports.Group = class Group extends pulumi.ComponentResource {
  constructor(name, args, options) {
    super("chance:index:Group", name, args, options);
  }
};

/** Its output is unknown until it is created or updated, and needs no service. */
const provider = {
  create: async ({ given }) => ({ id: "foreign", outs: { given, text: given } }),
  update: async (id, olds, { given }) => ({ outs: { given, text: given } }),
};
exports.Foreign = class Foreign extends pulumi.dynamic.Resource {
  constructor(name, { text }, options) {
    super(provider, name, { given: text, text: undefined }, options);
  }
};

/** A transform that marks a text argument secret. */
exports.secretly = (argument) => ({ props, opts }) =>
  typeof props[argument] === "string"
    ? { props: { ...props, [argument]: pulumi.secret(props[argument]) }, opts }
    : undefined;

/** A group that the program does not have any more. */
exports.former = (name) => pulumi.createUrn(name, "chance:index:Group");
`;

const variable = (name: string): string => name.replace(/\W/g, "_");
const quoted = (text: string): string => JSON.stringify(text);

function literal(value: Value): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(literal).join(", ")}]`;
  const { $output, $secret, $env, ...properties } = value as { readonly [key: string]: Value };
  if (isList($output)) return `${variable(String($output[0]))}.${String($output[1])}`;
  if (typeof $secret === "string") return `pulumi.secret(${quoted($secret)})`;
  if (typeof $env === "string") return `svc.fromEnv(${quoted($env)})`;
  const texts = Object.entries(properties).map(
    ([key, one]) => `${/^[a-z_]\w*$/i.test(key) ? key : quoted(key)}: ${literal(one)}`,
  );
  return texts.length === 0 ? "{}" : `{ ${texts.join(", ")} }`;
}

// Array.isArray does not narrow a list that is read-only.
const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value);

/** `before`: the names of what is declared before it. */
function optionsText(options: Options, before: readonly string[]): string {
  const { parent, dependsOn, aliases, deletedWith, customTimeouts, transform, provider, ...plain } = options;
  const alias = ({ name, parent: of }: Alias): string => {
    const place =
      of === null
        ? "parent: pulumi.rootStackResource"
        : `parent: ${before.includes(of) ? variable(of) : `former(${quoted(of)})`}`;
    return `{ name: ${quoted(name)}, ${place} }`;
  };
  const given = {
    parent: parent && variable(parent),
    dependsOn: dependsOn && `[${dependsOn.map(variable).join(", ")}]`,
    aliases: aliases && `[${aliases.map(alias).join(", ")}]`,
    deletedWith: deletedWith && variable(deletedWith),
    customTimeouts: customTimeouts && `{ create: "20m", update: "20m", delete: "20m" }`,
    transforms: transform && `[secretly(${quoted(transform)})]`,
    provider,
    ...Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, literal(value)])),
  };
  const texts = Object.entries(given).flatMap(([name, text]) => (text === undefined ? [] : `${name}: ${text}`));
  return texts.length === 0 ? "" : `, { ${texts.join(", ")} }`;
}

/** Without the lines that load Pulumi and this package. */
export function textOf(program: Program): string {
  const providers = [...new Set(program.flatMap(({ options }) => options.provider ?? []))];
  return [
    'const { Group, Foreign, secretly, former } = require("./others");',
    ...providers.map((name) => `const ${name} = new svc.Provider(${quoted(name)});`),
    ...program.map(({ kind, name, args, options }, at) => {
      const type = kind === "Group" || kind === "Foreign" ? kind : `svc.${kind}`;
      const before = program.slice(0, at).map((one) => one.name);
      return `const ${variable(name)} = new ${type}(${quoted(name)}, ${literal(args)}${optionsText(options, before)});`;
    }),
  ].join("\n");
}

/** What such a program, or one of `pulumi-svc import`, declares, without its options. */
export function declaredIn(text: string): readonly Pick<Declared, "kind" | "name" | "args">[] {
  const found: object[] = [];
  const recorder = (kind: string) =>
    function record(name: string, args: object) {
      found.push({ kind, name, args });
      // Each property is an output.
      return new Proxy({}, { get: (_target, property) => ({ $output: [name, property] }) });
    };
  const svc = new Proxy(
    { fromEnv: ($env: string) => ({ $env }), Provider: Object },
    { get: (target, name) => Reflect.get(target, name) ?? recorder(String(name)) },
  );
  const config = {
    require: (key: string) => `import-${key}`,
    requireSecret: (key: string) => ({ $secret: `${CANARY}import-${key}` }),
  };
  const pulumi = {
    secret: ($secret: string) => ({ $secret }),
    getStack: () => "dev",
    Config: function Config() {
      return config;
    },
  };
  const others = { Group: recorder("Group"), Foreign: recorder("Foreign"), secretly: String, former: String };
  const modules: Readonly<Record<string, object>> = { "@pulumi/pulumi": pulumi, "pulumi-svc": svc, "./others": others };
  runInNewContext(text, { require: (name: string) => modules[name], exports: {} });
  // Without the prototypes of that context; its form is that of the text.
  return JSON.parse(JSON.stringify(found)) as Declared[];
}
