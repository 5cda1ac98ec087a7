import typescript from "typescript";
import { editProgram, type Edited, type Target } from "../../src/cli/drift/accept/edit";
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
  readonly isShared?: boolean;
  readonly disproof?: string;
  /** @default a URN without a parent */
  readonly urn?: string;
}

export function targetOf(changes: readonly Change[], asked: Asked = {}): Target {
  const { kind = "ComputeEndpoint", name = "api", place, isShared = false, disproof } = asked;
  const { urn = `urn:pulumi:dev::proj::${typeToken(kind)}::${name}` } = asked;
  return {
    kind,
    name,
    urn,
    place,
    isShared,
    disproof,
    changes: changes.map(([path, declared, found]) => ({ path, declared, found })),
  };
}

/** Edits one file. `text`: its content. */
export async function edit(
  before: string,
  changes: readonly Change[],
  asked: Asked = {},
): Promise<Edited & { text: string }> {
  const { file = "index.ts" } = asked;
  const edited = await editProgram(typescript, new Map([[file, before]]), [targetOf(changes, asked)]);
  return { ...edited, text: edited.files.get(file) ?? before };
}

export const IMPORT = 'import * as svc from "pulumi-svc";\n';

/** A program with one compute. */
export const compute = (args: string, before = ""): string =>
  `${IMPORT}${before}export const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", ${args} });\n`;
