/**
 * Programs of several stacks, as teams write them: whatever `--accept` does for one of them, its plan shows what was accepted and
 * nothing else, and the plan of another stack changes only where both run the same `new`. The oracle runs the program of each stack.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import vm from "node:vm";
import fc from "fast-check";
import { acceptDrift } from "../../../../src/cli/drift/accept/accept";
import type { Refreshed } from "../../../../src/cli/drift/refreshed";
import { StackState } from "../../../../src/cli/stack/state";
import { ROOT } from "../../../support/cli";
import { planWith } from "../../../support/editedPrograms";

const STACKS = ["dev", "prod"] as const;
type StackName = (typeof STACKS)[number];

/** What the program of a stack declares: its arguments, by URN, and the position that the SDK sends to the engine. */
type Declared = ReadonlyMap<
  string,
  {
    readonly args: { readonly size: unknown };
    readonly stackTrace: readonly Frame[];
    /** The component of this package that it is a child of. */
    readonly group?: string;
  }
>;
interface Frame {
  readonly sourcePosition?: string;
}

const CLASS = "project:///node_modules/pulumi-svc/src/resources/computeEndpoint/ComputeEndpoint.ts#32,1";
const TYPE = "pulumi-nodejs:dynamic/svc:ComputeEndpoint";

/** Runs the program in a folder, as far as its plan depends on its text. */
function planOf(folder: string, stack: StackName): Declared {
  const declared = new Map<string, { args: { size: unknown }; stackTrace: Frame[]; group?: string }>();
  class ComponentResource {
    constructor(
      readonly type: string,
      readonly name: string,
    ) {}
  }
  class ComputeEndpoint {
    readonly type = TYPE;
    constructor(name: string, args: { size: unknown }, { parent }: { parent?: ComponentResource } = {}) {
      const urn = `urn:pulumi:${stack}::proj::${parent === undefined ? "" : `${parent.type}$`}${TYPE}::${name}`;
      if (declared.has(urn)) throw new Error(`${urn} is declared twice`);
      const stackTrace = [{ sourcePosition: CLASS }, ...frames(folder)];
      const isOfGroup = parent instanceof ComputeGroup;
      declared.set(urn, {
        args,
        stackTrace,
        ...(isOfGroup && { group: `urn:pulumi:${stack}::proj::${GROUP}::${parent.name}` }),
      });
    }
  }
  /** Its children are named as docs/resources/ComputeGroup.md says. */
  class ComputeGroup extends ComponentResource {
    constructor(name: string, { primary, replicas }: { primary: { size: unknown }; replicas?: unknown }) {
      super(GROUP, name);
      new ComputeEndpoint(`${name}-primary`, primary, { parent: this });
      const each = typeof replicas === "number" ? Array.from({ length: replicas }, () => primary) : replicas;
      const list = (each ?? []) as { size: unknown; key?: string }[];
      for (const [index, { size, key = String(index) }] of list.entries())
        new ComputeEndpoint(`${name}-replica-${key}`, { size }, { parent: this });
    }
  }
  const svc = { ComputeEndpoint, ComputeGroup };
  const packages: Record<string, object> = {
    "pulumi-svc": svc,
    "@pulumi/pulumi": {
      getStack: () => stack,
      ComponentResource,
      Config: class {
        requireNumber = (key: string): number => Number(configured(folder, stack)[`proj:${key}`]?.value);
      },
    },
  };
  const loaded = new Map<string, { exports: unknown }>();
  const load = (path: string, text = readFileSync(path, "utf8")): unknown => {
    const known = loaded.get(path);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(path, module);
    const run = vm.compileFunction(text, ["require", "module", "exports"], { filename: path });
    const require = (name: string): unknown => {
      if (name === "@acme/infra") return load(join(folder, "node_modules", name, "index.js"), INFRA);
      return packages[name] ?? load(join(dirname(path), `${name}.js`));
    };
    run.call(module.exports, require, module, module.exports);
    return module.exports;
  };
  load(join(folder, "index.js"));
  return declared;
}

/** The configuration of a stack, as the CLI prints it. */
function configured(folder: string, stack: StackName): Record<string, { value: string }> {
  const lines = readFileSync(join(folder, `Pulumi.${stack}.yaml`), "utf8").matchAll(/^ {2}(proj:\w+): (.*)$/gm);
  return Object.fromEntries([...lines].map(([, key = "", value = ""]) => [key, { value }]));
}

const GROUP = "svc:components:ComputeGroup";
const OF_GROUP = "project:///node_modules/pulumi-svc/src/components/ComputeGroup.ts#89,20";

/** As the SDK reads the calls that led to a declaration. */
function frames(folder: string): Frame[] {
  const lines = (new Error().stack ?? "").split("\n").slice(3);
  const own = lines.slice(0, lines.findLastIndex((line) => line.includes(folder)) + 1);
  return own.map((line) => {
    if (line.includes("at new ComputeGroup ")) return { sourcePosition: OF_GROUP };
    const [, file = "", at, column] = /^\s*at .* \((.*):(\d+):(\d+)\)$/.exec(line) ?? [];
    return file === "" ? {} : { sourcePosition: `project:///${relative(folder, file)}#${at},${column}` };
  });
}

const INFRA = `module.exports = { Database: class extends require("pulumi-svc").ComputeEndpoint {} };`;

/** What another file exports: only what is used, since a name that is an expression there may be any. */
const EXPORTS: Record<string, string> = {
  svc: "svc",
  Database: "svc.ComputeEndpoint",
  Sub: "class extends svc.ComputeEndpoint {}",
  Own: `class Own extends svc.ComputeEndpoint {
  constructor(name, size) {
    super(name, { projectId: "prj-demo", branchId: "br-dev", size });
  }
}`,
  Stage: `class Stage extends require("@pulumi/pulumi").ComponentResource {
  constructor(name, child, size) {
    super("demo:index:Stage", name);
    new svc.ComputeEndpoint(child, { projectId: "prj-demo", branchId: "br-dev", size }, { parent: this });
  }
}`,
  make: `function make(name, size) {
  return new svc.ComputeEndpoint(name, { projectId: "prj-demo", branchId: "br-dev", size });
}`,
};

const libOf = (program: string): string =>
  Object.entries(EXPORTS)
    .filter(([name]) => program.includes(`lib.${name}`))
    .reduce((text, [name, value]) => `${text}exports.${name} = ${value};\n`, 'const svc = require("pulumi-svc");\n');

const AT = 'projectId: "prj-demo", branchId: "br-dev"';
const args = (size: string): string => `{ ${AT}, size: ${size} }`;

/** How a program creates a resource. `n`: a number for names that are used once. */
const FORMS: Record<string, (name: string, size: string, n: number) => string> = {
  direct: (name, size) => `new svc.ComputeEndpoint("${name}", ${args(size)});`,
  destructured: (name, size) => `new ComputeEndpoint("${name}", ${args(size)});`,
  renamed: (name, size) => `new Compute("${name}", ${args(size)});`,
  barrel: (name, size) => `new lib.svc.ComputeEndpoint("${name}", ${args(size)});`,
  "export under another name": (name, size) => `new lib.Database("${name}", ${args(size)});`,
  "subclass of another file": (name, size) => `new lib.Sub("${name}", ${args(size)});`,
  "subclass with a constructor": (name, size) => `new lib.Own("${name}", ${size});`,
  "subclass of the file": (name, size, n) =>
    `class Mine${n} extends svc.ComputeEndpoint {}\nnew Mine${n}("${name}", ${args(size)});`,
  "class of a package": (name, size) => `new (require("@acme/infra").Database)("${name}", ${args(size)});`,
  factory: (name, size) => `lib.make("${name}", ${size});`,
  "function that runs once": (name, size, n) =>
    `const once${n} = () => new svc.ComputeEndpoint("${name}", ${args(size)});\nonce${n}();`,
  callback: (name, size) => `[0].forEach(() => { new svc.ComputeEndpoint("${name}", ${args(size)}); });`,
  loop: (name, size) => `for (const name of ["${name}"]) new svc.ComputeEndpoint(name, ${args(size)});`,
  "loop of two": (name, size) =>
    `for (const name of ["${name}", "${name}-too"]) new svc.ComputeEndpoint(name, ${args(size)});`,
  "loop over sizes": (name, size) =>
    `for (const [name, size] of [["${name}", ${size}], ["${name}-too", 1]]) new svc.ComputeEndpoint(name, ${args("size")});`,
  "function of two": (name, size, n) =>
    `function make${n}(name) { return new svc.ComputeEndpoint(name, ${args(size)}); }\nmake${n}("${name}"); make${n}("${name}-too");`,
  "class of the program": (name, size, n) =>
    `class Own${n} { constructor(name) { new svc.ComputeEndpoint(name, ${args(size)}); } }\nnew Own${n}("${name}");`,
  "spread behind it": (name, size) => `new svc.ComputeEndpoint("${name}", { ...${args("3")}, ...{ size: ${size} } });`,
  "set twice": (name, size) => `new svc.ComputeEndpoint("${name}", { ${AT}, size: ${size}, ...{ size: ${size} } });`,
  template: (name, size) => `new svc.ComputeEndpoint(\`\${stack.slice(9)}${name}\`, ${args(size)});`,
  component: (name, size) => `new lib.Stage("stage-${name}", "${name}", ${size});`,
  child: (name, size) =>
    `new svc.ComputeEndpoint("${name}", ${args(size)}, { parent: new pulumi.ComponentResource("a:b:C", "of-${name}") });`,
  options: (name, size) => `new svc.ComputeEndpoint("${name}", ${args(size)}, { protect: true });`,
  reflection: (name, size) => `Reflect.construct(svc.ComputeEndpoint, ["${name}", ${args(size)}]);`,
  parameter: (name, size) => `((C) => new C("${name}", ${args(size)}))(svc.ComputeEndpoint);`,
  "conditional class": (name, size) => `new (stack ? lib.Sub : svc.ComputeEndpoint)("${name}", ${args(size)});`,
  constant: (name, size, n) => `const size${n} = ${size};\nnew svc.ComputeEndpoint("${name}", ${args(`size${n}`)});`,
  "value of the stack": (name, size) =>
    `new svc.ComputeEndpoint("${name}", ${args(`stack === "prod" ? ${size} : ${size}`)});`,
  // The key says which value its stacks have.
  configuration: (name, size, n) =>
    `new svc.ComputeEndpoint("${name}", ${args(`new pulumi.Config().requireNumber("own${n}of${size}")`)});`,
  "configuration of two": (name, size, n) =>
    `const cu${n} = new pulumi.Config().requireNumber("two${n}of${size}");\nnew svc.ComputeEndpoint("${name}", ${args(`cu${n}`)});\nnew svc.ComputeEndpoint("${name}-too", ${args(`cu${n}`)});`,
  "configuration of a group": (name, size, n) =>
    `new svc.ComputeGroup("${name}", { ${AT}, primary: { size: new pulumi.Config().requireNumber("group${n}of${size}") }, replicas: 1 });`,
  "configuration by a function": (name, size, n) =>
    `const read${n} = (key) => new pulumi.Config().requireNumber(key);\nnew svc.ComputeEndpoint("${name}", ${args(`read${n}("by${n}of${size}")`)});\nnew svc.ComputeEndpoint("${name}-too", ${args(`new pulumi.Config().requireNumber("by${n}of${size}")`)});`,
  group: (name, size) => `new svc.ComputeGroup("${name}", { ${AT}, primary: { size: ${size} } });`,
  "group of three": (name, size) =>
    `new svc.ComputeGroup("${name}", { ${AT}, primary: { size: ${size} }, replicas: 2 });`,
  "group with a list": (name, size, n) =>
    `const one${n} = { key: "b", size: ${size} };\nnew svc.ComputeGroup("${name}", { ${AT}, primary: { size: ${size} }, replicas: [{ size: ${size} }, one${n}] });`,
  "group of another file": (name, size) =>
    `new lib.svc.ComputeGroup("${name}", { ${AT}, primary: { size: ${size} } });`,
  "groups of a loop": (name, size) =>
    `for (const name of ["${name}"]) new svc.ComputeGroup(name, { ${AT}, primary: { size: ${size} } });`,
  "arguments of a constant": (name, size, n) =>
    `const args${n} = ${args(size)};\nnew svc.ComputeEndpoint("${name}", args${n});`,
};

const NAMES = ["api", "jobs", "web"] as const;

interface Resource {
  readonly name: (typeof NAMES)[number];
  readonly form: string;
  readonly size: number;
}

const resource = (name: Resource["name"]): fc.Arbitrary<Resource> =>
  fc.record({
    name: fc.constant(name),
    // Half of them in a form that is edited.
    form: fc.oneof(
      fc.constantFrom("direct", "destructured", "options", "group", "group of three", "group with a list"),
      fc.constantFrom(
        "configuration",
        "configuration of two",
        "configuration of a group",
        "configuration by a function",
      ),
      fc.constantFrom(...Object.keys(FORMS)),
    ),
    size: fc.constantFrom(1, 2),
  });

/** What one stack declares alone. */
const own: fc.Arbitrary<readonly Resource[]> = fc
  .subarray([...NAMES])
  .chain((names) => fc.tuple(...names.map(resource)));

const HEAD = `const pulumi = require("@pulumi/pulumi");
const svc = require("pulumi-svc");
const { ComputeEndpoint, ComputeEndpoint: Compute } = svc;
const lib = require("./lib");
const stack = pulumi.getStack();
`;

interface Model {
  readonly dev: readonly Resource[];
  readonly prod: readonly Resource[];
  /** What both stacks declare, in one file. */
  readonly shared: readonly Resource[];
  /** In code that no stack runs. */
  readonly dead: readonly Resource[];
  /** Each stack in its own file, or both in one, with a condition. */
  readonly layout: "files" | "conditions";
}

const code = (resources: readonly Resource[], from: number): string =>
  resources.map(({ name, form, size }, at) => `${FORMS[form]?.(name, String(size), from + at) ?? ""}\n`).join("");

function filesOf({ dev, prod, shared, dead, layout }: Model): Record<string, string> {
  const both = `${HEAD}${code(
    shared.map((one) => ({ ...one, name: `shared-${one.name}` as Resource["name"] })),
    0,
  )}if (stack === "none") {\n${code(dead, 10)}}\n`;
  if (layout === "conditions") {
    const index = `${both}if (stack === "dev") {\n${code(dev, 20)}} else {\n${code(prod, 30)}}\n`;
    return { "index.js": index, "lib.js": libOf(index) };
  }
  const [devFile, prodFile] = [HEAD + code(dev, 20), HEAD + code(prod, 30)];
  return {
    "index.js": `require("./shared");\nrequire("./" + require("@pulumi/pulumi").getStack());\n`,
    "shared.js": both,
    "dev.js": devFile,
    "prod.js": prodFile,
    "lib.js": libOf(both + devFile + prodFile),
  };
}

const model: fc.Arbitrary<Model> = fc.record({
  dev: own,
  prod: own,
  shared: own,
  dead: own,
  layout: fc.constantFrom("files", "conditions"),
});

const cases = fc.record({
  deployed: model,
  /** The program after the change. */
  since: fc.oneof(
    { weight: 3, arbitrary: fc.constant("nothing" as const) },
    fc.constantFrom("a line more" as const, "the stacks swapped" as const),
    model,
  ),
  asked: fc.constantFrom(...STACKS),
  /** 2: the program may have it already, as an edit that is not deployed. */
  found: fc.constantFrom(2, 8),
  /** As in an ES module, whose top has no place. */
  hasPlaces: fc.boolean(),
  drifted: fc.infiniteStream(fc.boolean()),
});

function changedSince(deployed: Model, since: typeof cases extends fc.Arbitrary<infer Case> ? Case : never): Model {
  if (typeof since.since === "object") return since.since;
  return since.since === "the stacks swapped" ? { ...deployed, dev: deployed.prod, prod: deployed.dev } : deployed;
}

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "accept stacks-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Record<string, string>): void {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const keys = new Set(Object.values(files).flatMap((text) => text.match(/\w+\d+of\d/g) ?? []));
  const values = [...keys].map((key) => `  proj:${key}: ${key.slice(-1)}\n`).join("");
  for (const stack of STACKS) writeFileSync(join(folder, `Pulumi.${stack}.yaml`), `config:\n  proj:none: 0\n${values}`);
}

const texts = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name.endsWith(".js"))
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );

const plans = (): Record<StackName, Declared> => ({ dev: planOf(folder, "dev"), prod: planOf(folder, "prod") });

/** A campaign in which nothing is edited, or nothing is shared, would be no proof. */
const counts = { accepted: 0, left: 0, undone: 0, theirs: 0, stale: 0, grouped: 0, configured: 0 };

async function expectOwnPlan(given: typeof cases extends fc.Arbitrary<infer Case> ? Case : never): Promise<void> {
  const { deployed, asked, found, hasPlaces, drifted } = given;
  write(filesOf(deployed));
  const state = planOf(folder, asked);
  const now = filesOf(changedSince(deployed, given));
  if (given.since === "a line more") {
    const file = deployed.layout === "files" ? "shared.js" : "index.js";
    now[file] = `// One more.\n${now[file] ?? ""}`;
  }
  write(now);
  const before = plans();
  const picks = drifted[Symbol.iterator]();
  const resources = [...state].map(
    ([
      urn,
      {
        args: { size },
      },
    ]): Refreshed => {
      const kind = "ComputeEndpoint";
      const name = urn.split("::").at(-1) ?? "";
      const named = { urn, kind, id: `prj-demo/${name}` } as const;
      const properties = [{ path: "size", declared: size as number, found }];
      const repair = { action: "update", restarts: false, messages: [] } as const;
      const drift = { ...named, name, change: "changed", properties, repair } as const;
      const isDrifted = picks.next().value === true && size !== found;
      return {
        ...named,
        provider: "",
        authProvider: undefined,
        isHeld: true,
        ignored: undefined,
        expiredDomains: [],
        drift: isDrifted ? drift : undefined,
      };
    },
  );
  const deployment = {
    resources: [...new Set([...state.values()].flatMap(({ group }) => group ?? []))]
      .map((urn): object => ({ urn, type: GROUP }))
      .concat(
        [...state].map(([urn, { stackTrace, group }]) => ({
          urn,
          type: TYPE,
          inputs: state.get(urn)?.args,
          ...(group !== undefined && { parent: group }),
          stackTrace: hasPlaces ? stackTrace : [{ sourcePosition: CLASS }, {}],
        })),
      ),
  };
  const result = await acceptDrift(
    { resources, state: new StackState(JSON.stringify({ deployment })) },
    {
      names: [],
      folder,
      ignored: { name: "svc-drift.json", entries: [] },
      force: true,
      planned: () => Promise.resolve(planWith([...planOf(folder, asked)].map(([urn, one]) => [urn, one.args]))),
      others: () => Promise.resolve(STACKS.filter((name) => name !== asked)),
    },
  ).catch((error: Error) => {
    expect(error.message).toMatch(/the position no longer fits the file/);
    counts.stale += 1;
    return undefined;
  });
  if (result === undefined) {
    expect(texts()).toEqual(now);
    return;
  }
  const after = plans();
  const accepted = new Set(result.accepted.map(({ urn }) => urn));
  // The stack that was asked for: what was accepted is as it was found, and all else as before. A replica that is still to be
  // created may have the size of its primary.
  const groups = new Set([...accepted].flatMap((urn) => state.get(urn)?.group ?? []));
  const follows = (urn: string, { group = "" }: { group?: string }): boolean =>
    !state.has(urn) && groups.has(group) && after[asked].get(urn)?.args.size === found;
  const expected = [...before[asked]].map(([urn, one]) => [
    urn,
    accepted.has(urn) || follows(urn, one) ? { ...one.args, size: found } : one.args,
  ]);
  expect([...after[asked]].map(([urn, one]) => [urn, one.args])).toEqual(expected);
  for (const urn of accepted) expect(after[asked].has(urn)).toBe(true);
  // Another one: only what the same `new` creates there.
  for (const other of STACKS.filter((name) => name !== asked)) {
    for (const [urn, one] of after[other]) {
      if (one.args.size === before[other].get(urn)?.args.size) continue;
      const own = [...accepted].map((name) => JSON.stringify(before[asked].get(name)?.stackTrace));
      expect(own).toContain(JSON.stringify(before[other].get(urn)?.stackTrace));
      expect(result.otherStacks).toEqual([other]);
      counts.theirs += 1;
    }
  }
  expect(result.accepted.length + result.left.length).toBe(resources.filter(({ drift }) => drift !== undefined).length);
  if (result.files.length === 0) expect(texts()).toEqual(now);
  counts.accepted += result.accepted.length;
  counts.left += result.left.length;
  counts.undone += result.left.filter(({ reason }) => /undone/.test(reason)).length;
  counts.configured += result.left.filter(({ code: text }) => text?.startsWith("pulumi config set ")).length;
  counts.grouped += [...accepted].filter((urn) => state.get(urn)?.group !== undefined).length;
}

const RUNS = 300;

test("what is accepted is in the plan of the stack that was asked for, and no other `new` changes", async () => {
  await fc.assert(fc.asyncProperty(cases, expectOwnPlan), { numRuns: RUNS });
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(RUNS / 50);
}, 600_000);
