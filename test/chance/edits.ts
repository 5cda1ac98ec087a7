import { KIND_CASES } from "../kinds";
import { DEMO, wholeIn } from "../kinds/KindCase";
import { built, canary, conflicts, ENVIRONMENT, isOurs, lacksIntegration } from "./programs";
import type { Declared, Edit, Options, Program, Value } from "./history";

/* The next version of a program, as a person makes it: what names a resource is edited along with it. */

export function edited(program: Program, edit: Edit): Program {
  if (edit.edit === "add") return added(program, edit.resource);
  const { which } = edit;
  const at = typeof which === "string" ? program.findIndex(({ kind }) => kind === which) : which % program.length;
  const found = program[at];
  if (found === undefined) return program;
  const replaced = (next: Declared): Program => program.map((one) => (one === found ? next : one));
  // As the messages ask for: what is protected is freed first.
  const ends = edit.edit === "remove" || ((edit.edit === "rename" || edit.edit === "move") && !edit.aliased);
  if (ends && isKept(found)) return replaced(freed(found));
  switch (edit.edit) {
    case "remove": {
      const gone = program.filter((one) => one === found || (found.kind === "AuthIntegration" && isInside(one)));
      return gone.reduce<Program>(
        (left, one) => left.map((other) => withoutNaming(other, one)),
        program.filter((one) => !gone.includes(one)),
      );
    }
    case "argument":
      return replaced(withArgument(found, edit.argument, edit.to));
    case "rename":
      return renamedByHand(program, found, edit);
    case "move":
      return moved(program, found, edit.aliased);
    case "options": {
      const { parent, dependsOn, aliases, deletedWith, provider } = found.options;
      const kept = { parent, dependsOn, aliases, deletedWith, provider };
      const names = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
      return found.kind === "Group" ? program : replaced({ ...found, options: { ...edit.options, ...names } });
    }
    case "depend": {
      const before = program.slice(0, at).filter(({ kind }) => kind !== "Group");
      if (found.kind === "Group" || before.length === 0) return program;
      return replaced({ ...found, options: { ...found.options, dependsOn: before.map(({ name }) => name) } });
    }
    case "reorder":
      return reordered(program, at);
  }
}

const isKept = ({ args, options }: Declared): boolean =>
  options.protect === true || args["deletionProtection"] === true;

/** Nothing keeps it any more. */
export function freed(one: Declared): Declared {
  const { protect: _protect, retainOnDelete: _retain, ignoreChanges: _ignored, ...options } = one.options;
  const { deletionProtection: _protection, ...args } = one.args;
  return { ...one, args: isOurs(one.kind) ? args : one.args, options };
}

const isInside = ({ kind }: Declared): boolean => isOurs(kind) && KIND_CASES[kind].inIntegration;

function added(program: Program, resource: Declared): Program {
  const name = program.some((one) => one.name === resource.name) ? `${resource.name}b` : resource.name;
  const isIn = program.some((one) => one.name === name || conflicts(one, resource));
  return isIn || lacksIntegration(resource, program) || program.length >= 8
    ? program
    : [...program, { ...inIntegration(resource, program), name }];
}

/** With the project of the program's integration, on which it depends then. */
function inIntegration(resource: Declared, program: Program): Declared {
  const auth = program.find(({ kind }) => kind === "AuthIntegration");
  if (auth === undefined || !isInside(resource)) return resource;
  return { ...resource, args: { ...resource.args, projectId: { $output: [auth.name, "projectId"] } } };
}

/** The arguments of components of ours are left as they are drawn. */
function withArgument(one: Declared, argument: number, to: To): Declared {
  if (one.kind === "Foreign") return { ...one, args: { text: `text ${argument % 3}` } };
  if (!isOurs(one.kind)) return one;
  const kindCase = KIND_CASES[one.kind];
  const names = Object.keys(to === "reference" ? kindCase.secretArguments : kindCase.arguments).filter(
    (name) => !["projectId", "authProvider", "regionId"].includes(name),
  );
  const name = names[argument % names.length];
  const its = name === undefined ? undefined : kindCase.arguments[name];
  if (name === undefined || its === undefined) return one;
  const { [name]: had, ...others } = one.args;
  if (to === "reversed") return Array.isArray(had) ? { ...one, args: { ...one.args, [name]: had.toReversed() } } : one;
  // The others of its form go with it.
  if (one.kind === "EmailServer" && name === "type" && to !== "none" && to !== "reference")
    return { ...one, args: emailServer(one, to) };
  if (one.kind === "AuthIntegration" && name === "branchId") return one;
  if (one.kind === "OAuthProvider" && ["clientId", "clientSecret"].includes(name))
    return { ...one, args: credentials(one, to) };
  const isRequired = name in kindCase.least(DEMO);
  if (to === "none") return had === undefined || isRequired ? one : { ...one, args: others };
  const secret = kindCase.secretArguments[name];
  if (to === "reference") return had === undefined || secret === undefined ? one : withReference(one, name, secret);
  const drawn = secret === undefined ? its[to] : secret(canary(`${to}-${name}`));
  // The case's values are plain JSON.
  const value = (typeof drawn === "function" ? drawn(DEMO) : drawn) as Value | undefined;
  if (value === undefined) return one;
  const without = Object.fromEntries(Object.entries(others).filter(([key]) => its.without?.includes(key) !== true));
  return { ...one, args: { ...without, [name]: value } };
}

type To = Extract<Edit, { readonly edit: "argument" }>["to"];

/** With the text of the environment in place of the secret. */
const withReference = (one: Declared, name: string, build: (secret: string) => unknown): Declared => ({
  ...one,
  args: { ...one.args, [name]: built(build, { $env: ENVIRONMENT[0] }) },
});

function emailServer({ args }: Declared, to: "other" | "value"): Declared["args"] {
  const projectId = args["projectId"] ?? DEMO.projectId;
  if (to === "other") return { projectId, type: "shared" };
  const whole = wholeIn(KIND_CASES.EmailServer, DEMO) as Declared["args"];
  return { ...whole, projectId, password: canary("edited-password") };
}

function credentials({ args }: Declared, to: Exclude<To, "reversed">): Declared["args"] {
  const { clientId, clientSecret: _secret, absent: _absent, ...others } = args;
  if (to === "none") return others;
  if (to === "reference") return { ...others, clientId: clientId ?? "own-id", clientSecret: { $env: ENVIRONMENT[0] } };
  return { ...others, clientId: `${to}-id`, clientSecret: canary(`${to}-clientSecret`) };
}

/** With another value for each resource's name that it has. */
function naming(one: Declared, name: (known: string) => string): Declared {
  const { dependsOn, deletedWith, parent } = one.options;
  const options: Options = {
    ...one.options,
    ...(dependsOn !== undefined && { dependsOn: dependsOn.map(name) }),
    ...(deletedWith !== undefined && { deletedWith: name(deletedWith) }),
    ...(parent !== undefined && { parent: name(parent) }),
  };
  const args = Object.fromEntries(
    Object.entries(one.args).map(([key, value]) => {
      const from = outputOf(value);
      return [key, from === undefined ? value : { $output: [name(from[0]), from[1]] as const }];
    }),
  );
  return { ...one, args, options };
}

export function outputOf(value: Value): readonly [string, string] | undefined {
  if (typeof value !== "object" || value === null || !("$output" in value)) return undefined;
  // The only form of this mark.
  return value.$output as readonly [string, string];
}

/** What it took from the other is given as a literal. */
function withoutNaming(one: Declared, { name }: Declared): Declared {
  const { dependsOn, deletedWith, parent, ...options } = one.options;
  const depends = dependsOn?.filter((other) => other !== name) ?? [];
  const args = Object.fromEntries(
    Object.entries(one.args).map(([key, value]) => [
      key,
      outputOf(value)?.[0] === name ? (key === "projectId" ? DEMO.projectId : "literal") : value,
    ]),
  );
  return {
    ...one,
    args,
    options: {
      ...options,
      ...(depends.length > 0 && { dependsOn: depends }),
      ...(deletedWith !== undefined && deletedWith !== name && { deletedWith }),
      ...(parent !== undefined && parent !== name && { parent }),
    },
  };
}

/** With another name for a resource, and for what names it. */
export function renamed(program: Program, from: string, to: string): Program {
  const name = (known: string): string => (known === from ? to : known);
  return program.map((one) => ({ ...naming(one, name), name: name(one.name) }));
}

function renamedByHand(
  program: Program,
  found: Declared,
  { aliased, adopts, elsewhere }: Extract<Edit, { readonly edit: "rename" }>,
): Program {
  const name = found.name.endsWith("-b") ? found.name.slice(0, -2) : `${found.name}-b`;
  if (program.some((one) => one.name === name)) return program;
  const options = aliased ? withAlias(found) : found.options;
  const next = { ...(adopts === true ? adopting(found) : found), options };
  const known = program.map((one) => (one === found ? (elsewhere === true ? withOtherProvider(next) : next) : one));
  return renamed(known, found.name, name);
}

/** Nothing but its id tells a read replica from others. */
function adopting(one: Declared): Declared {
  const adopts = isOurs(one.kind) && one.args["type"] !== "read_only" ? KIND_CASES[one.kind].adopts : undefined;
  return { ...one, args: { ...one.args, ...(adopts as Declared["args"] | undefined) } };
}

/** One Provider has all of the auth (`withProvider`). */
const withOtherProvider = (one: Declared): Declared =>
  one.kind === "ComputeEndpoint"
    ? { ...one, options: { ...one.options, provider: one.options.provider === "first" ? "second" : "first" } }
    : one;

const withAlias = ({ name, options }: Declared): Options => ({
  ...options,
  aliases: [...(options.aliases ?? []), { name, parent: options.parent ?? null }],
});

/** Out of its component, or into the program's component, which is made for it if there is none. */
function moved(program: Program, found: Declared, isAliased: boolean): Program {
  if (["Group", "ComputeGroup", "ProjectAuth"].includes(found.kind)) return program;
  const options = isAliased ? withAlias(found) : found.options;
  const { parent, ...others } = options;
  if (parent !== undefined) return program.map((one) => (one === found ? { ...one, options: others } : one));
  const group = program.find(({ kind }) => kind === "Group");
  const box: Declared = group ?? { kind: "Group", name: "box", args: {}, options: {} };
  const rest = program.filter((one) => one !== group);
  return [box, ...rest.map((one) => (one === found ? { ...one, options: { ...others, parent: box.name } } : one))];
}

/** One place later, unless the next one needs it. */
function reordered(program: Program, at: number): Program {
  const [one, next] = [program[at], program[at + 1]];
  if (one === undefined || next === undefined) return program;
  if (JSON.stringify(next).includes(JSON.stringify(one.name))) return program;
  return program.toSpliced(at, 2, next, one);
}
