import vm from "node:vm";
import typescript from "typescript";
import { candidatesIn, textsWith, type Told } from "../../src/cli/drift/accept/edit";
import type { StackPlan } from "../../src/cli/drift/accept/proof";
import type { Target } from "../../src/cli/drift/accept/target";
import type { Properties } from "../../src/contract/hiddenKeys";
import { typeToken } from "../../src/contract/pointer";

type Json = Target["changes"][number]["found"];

/** A property that differs. */
export type Change = readonly [path: string, declared: Json, found: Json];

/** Anything omitted is as in `compute`. */
export interface Asked {
  readonly kind?: Target["kind"];
  readonly name?: string;
  readonly file?: string;
  readonly place?: Target["place"];
  /** @default a URN without a parent */
  readonly urn?: string;
}

export function targetOf(changes: readonly Change[], asked: Asked = {}): Target {
  const { kind = "ComputeEndpoint", name = "api", place } = asked;
  const { urn = `urn:pulumi:dev::proj::${typeToken(kind)}::${name}` } = asked;
  return {
    kind,
    name,
    urn,
    stack: { name: "dev", project: "proj" },
    beside: [],
    place,
    changes: changes.map(([path, declared, found]) => ({ path, declared, found })),
  };
}

export interface Edited {
  /** The new texts. */
  readonly files: ReadonlyMap<string, string>;
  readonly accepted: readonly {
    readonly name: string;
    readonly path: string;
    readonly file: string;
    readonly line: number;
  }[];
  readonly told: readonly Told[];
}

/** Edits a program as its text says, without a plan. */
export async function editFiles(files: ReadonlyMap<string, string>, targets: readonly Target[]): Promise<Edited> {
  const { candidates, told } = await candidatesIn(typescript, files, targets);
  const accepted = candidates.map(({ target: { name }, property: { path }, file, line }) => ({
    ...{ name, path, line },
    file: file.name,
  }));
  return { files: textsWith(candidates), accepted, told };
}

/** Edits one file. `before`: its text. */
export async function edit(
  before: string,
  changes: readonly Change[],
  asked: Asked = {},
): Promise<Edited & { text: string }> {
  const { file = "index.ts" } = asked;
  const edited = await editFiles(new Map([[file, before]]), [targetOf(changes, asked)]);
  return { ...edited, text: edited.files.get(file) ?? before };
}

/** The plan of a program that gives these arguments to resources, by URN. */
export const planWith = (args: Iterable<readonly [urn: string, inputs: object]>): StackPlan =>
  new Map([...args].map(([urn, inputs]) => [urn, { op: "same", inputs: inputs as Properties }]));

/** What programs create, by name: each text is run by itself. */
export function createdBy(...texts: string[]): Map<string, Properties> {
  const created = new Map<string, Properties>();
  const create = class {
    constructor(name: string, args: Properties) {
      created.set(name, args);
    }
  };
  const svc = new Proxy(
    { fromEnv: (name: string) => ({ fromEnv: name }) },
    {
      get: (own, name) => (Object.hasOwn(own, name) ? Reflect.get(own, name) : create),
    },
  );
  for (const text of texts) {
    const { outputText } = typescript.transpileModule(text, {
      compilerOptions: { module: typescript.ModuleKind.CommonJS, target: typescript.ScriptTarget.ES2022 },
    });
    vm.runInNewContext(outputText, { require: () => svc, exports: {}, process: { argv: [] } });
  }
  // Out of the other context, whose objects have other prototypes.
  return new Map([...created].map(([name, args]) => [name, JSON.parse(JSON.stringify(args)) as Properties]));
}

export const IMPORT = 'import * as svc from "pulumi-svc";\n';

/** A program with one compute. */
export const compute = (args: string, before = ""): string =>
  `${IMPORT}${before}export const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", ${args} });\n`;
