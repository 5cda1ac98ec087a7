/** Values that a program reads directly from the stack's configuration. They are edited there, for this stack only. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import type * as ts from "typescript";
import type { Origin } from "../../../components/origins";
import { projectFile } from "../../../contract/projectFile";
import { sameJson } from "../../../host/arguments";
import { withSetting } from "../../stack/configFile";
import type { Configuration } from "../../stack/configuration";
import { parsed } from "../../stack/state";
import type { Rewritten } from "../writeFiles";
import type { ProgramFile } from "./programFile";
import { literalValue, valueOf, wrapped } from "./value";

/** An edit of the stack's configuration. */
export interface ConfigurationChange {
  /** `proj:size` */
  readonly configure: string;
  /** Within the value. */
  readonly path: Origin;
  readonly value: unknown;
  /** The whole new value. */
  readonly whole: unknown;
  /** Where the program uses it for this property. */
  readonly use: ts.Node;
}

/** A new value in the stack's configuration. */
export interface ConfigurationEdit extends Pick<ConfigurationChange, "path" | "value" | "whole"> {
  readonly key: string;
  /** The resource that differs. */
  readonly urn: string;
}

/** The configuration that a program may read. */
export interface StackConfiguration {
  /** The Pulumi project: the namespace of `new pulumi.Config()`. */
  readonly project: string;
  readonly values: Configuration;
}

/** An expression that only reads a value of the configuration. */
export interface Setting {
  readonly call: ts.CallExpression;
  /** `proj:size` */
  readonly key: string;
  /** As the program receives it; undefined if not set. */
  readonly value: unknown;
  /** Whether this call can return such a value. */
  readonly takes: (value: unknown) => boolean;
}

interface Reader {
  readonly read: (text: string, object: unknown) => unknown;
  readonly takes: (value: unknown) => boolean;
}

const READERS: Readonly<Record<string, Reader>> = {
  "": { read: (text) => text, takes: (value) => typeof value === "string" },
  Number: { read: Number, takes: (value) => typeof value === "number" },
  Boolean: { read: (text) => text === "true", takes: (value) => typeof value === "boolean" },
  Object: { read: (text, object) => object ?? parsed(text), takes: () => true },
};

const METHOD = /^(?:get|require)(Secret)?(Number|Boolean|Object|)$/;

/** The call of an expression: through constants, and with an optional `?? 1`, which applies if nothing is set. */
export function settingOf(
  file: ProgramFile,
  node: ts.Expression,
  { project, values }: StackConfiguration,
): Setting | undefined {
  const { typescript } = file;
  const next = (inner: ts.Expression): Setting | undefined => settingOf(file, inner, { project, values });
  const inside = wrapped(file, node);
  if (inside !== undefined) return next(inside.expression);
  if (typescript.isBinaryExpression(node) && isDefaulted(file, node)) {
    const setting = next(node.left);
    return setting && { ...setting, value: setting.value ?? valueOf(file, node.right) };
  }
  if (typescript.isIdentifier(node)) {
    const constant = file.constantOf(node);
    return constant && next(constant.initializer);
  }
  const read = readIn(file, node, project);
  if (read?.key === undefined || read.isSecret) return undefined;
  const { call, key, reader } = read;
  const { value, objectValue, secret } = values[key] ?? {};
  if (secret === true) return undefined;
  return { call, key, takes: reader.takes, value: value === undefined ? undefined : reader.read(value, objectValue) };
}

const isDefaulted = ({ typescript }: ProgramFile, { operatorToken }: ts.BinaryExpression): boolean =>
  operatorToken.kind === typescript.SyntaxKind.QuestionQuestionToken;

interface Read {
  readonly call: ts.CallExpression;
  /** Undefined: any key with this name. */
  readonly key: string | undefined;
  readonly name: string;
  readonly isSecret: boolean;
  readonly reader: Reader;
}

/** `config.requireNumber("size")` */
function readIn(file: ProgramFile, node: ts.Node, project: string): Read | undefined {
  const { typescript } = file;
  if (!typescript.isCallExpression(node) || !typescript.isPropertyAccessExpression(node.expression)) return undefined;
  const [, secret, kind = ""] = METHOD.exec(node.expression.name.text) ?? [undefined, undefined, "none"];
  const [first, ...options] = node.arguments;
  const name = first && literalValue(file, first);
  const reader = READERS[kind];
  if (reader === undefined || typeof name !== "string") return undefined;
  const namespace = namespaceOf(file, node.expression.expression, project);
  // An option may refuse a value.
  const key = namespace === undefined || options.length > 0 ? undefined : `${namespace}:${name}`;
  return { call: node, key, name, isSecret: secret !== undefined, reader };
}

/** The namespace of `new pulumi.Config()`, or of a constant with that value. */
function namespaceOf(file: ProgramFile, node: ts.Expression, project: string): string | undefined {
  const { typescript } = file;
  const bare = file.bare(node);
  const created = typescript.isIdentifier(bare) ? file.constantOf(bare)?.initializer : bare;
  if (created === undefined || !typescript.isNewExpression(created)) return undefined;
  const isConfig = /(^|\.)Config$/.test(created.expression.getText(file.source));
  if (!isConfig || file.moduleOf(created.expression) !== "@pulumi/pulumi") return undefined;
  const [name] = created.arguments ?? [];
  const value = name === undefined ? project : literalValue(file, name);
  return typeof value === "string" ? value : undefined;
}

interface Use {
  readonly file: ProgramFile;
  readonly node: ts.Node;
  readonly isKnown: boolean;
}

/**
 * Where files use the value of a key: follows constants to the expressions that use them. There may be unknown uses,
 * such as those of an exported constant.
 */
export function usesOf(files: readonly ProgramFile[], key: string, project: string): Use[] {
  return files.flatMap((file) =>
    file.all(file.typescript.isCallExpression).flatMap((node) => {
      const read = readIn(file, node, project);
      if (read === undefined || (read.key ?? key) !== key || !key.endsWith(`:${read.name}`)) return [];
      if (read.key === undefined) return [{ file, node, isKnown: false }];
      return usesOfValue(file, node).map((use) => ({ file, ...use }));
    }),
  );
}

function usesOfValue(file: ProgramFile, node: ts.Expression): { readonly node: ts.Node; readonly isKnown: boolean }[] {
  const { typescript } = file;
  const { parent } = node;
  // Any other node has none of the kinds that are compared.
  const isInside = wrapped(file, parent as ts.Expression)?.expression === node;
  const isLeft = typescript.isBinaryExpression(parent) && parent.left === node && isDefaulted(file, parent);
  // Both are expressions, as the tests above have shown.
  if (isInside || isLeft) return usesOfValue(file, parent as ts.Expression);
  if (!typescript.isVariableDeclaration(parent) || parent.initializer !== node) return [{ node, isKnown: true }];
  if (!typescript.isIdentifier(parent.name)) return [{ node, isKnown: false }];
  const isExported = (typescript.getCombinedModifierFlags(parent) & typescript.ModifierFlags.Export) !== 0;
  return [
    ...(isExported || file.constantOf(parent.name) === undefined ? [{ node, isKnown: false }] : []),
    ...file.usesOf(parent.name).flatMap((use) => usesOfValue(file, use)),
  ];
}

/** `Pulumi.<stack>.yaml` */
export class StackFile {
  /** Relative to the folder of Pulumi.yaml. */
  readonly name: string;
  readonly #path: string;
  readonly #text: string | undefined;

  constructor(project: string, stack: string) {
    const file = projectFile(project) ?? "";
    const [, folder = "."] =
      /^stackConfigDir:[ \t]*["']?([^"'#\r\n]+?)["']?[ \t]*(?:#.*)?$/m.exec(
        file === "" ? "" : readFileSync(file, "utf8"),
      ) ?? [];
    // The name that the CLI uses.
    this.name = join(folder, `Pulumi.${stack}${extname(file)}`);
    this.#path = resolve(project, this.name);
    this.#text = existsSync(this.#path) ? readFileSync(this.#path, "utf8") : undefined;
  }

  /** The file with new values, or a key whose value has an unsupported form. */
  with(
    edits: readonly ConfigurationEdit[],
    project: string,
  ): { readonly files: readonly Rewritten[] } | { readonly refused: string } {
    let after = this.#text ?? "";
    for (const edit of edits) {
      const next = withSetting(after, namesOf(edit.key, project), edit);
      if (next === undefined) return { refused: edit.key };
      after = next;
    }
    const file = { name: this.name, path: this.#text === undefined ? this.#path : realpathSync(this.#path) };
    return { files: after === (this.#text ?? "") ? [] : [{ ...file, before: this.#text, after }] };
  }

  /** The current or future position of a key. */
  placeOf(key: string, project: string): { readonly file: string; readonly line: number } {
    const lines = (this.#text ?? "").split("\n");
    const names = namesOf(key, project);
    const at = lines.findIndex((line) =>
      names.some((name) => line.replaceAll(/["']/g, "").trimStart().startsWith(`${name}:`)),
    );
    return { file: this.name, line: at < 0 ? Math.max(1, lines.length) : at + 1 };
  }
}

/** A key of the project itself may be written without the namespace. */
const namesOf = (key: string, project: string): string[] =>
  key.startsWith(`${project}:`) ? [key, key.slice(project.length + 1)] : [key];

/** @throws if an edit has changed the value of another key. */
export function mustDifferInKeys(
  before: Configuration,
  after: Configuration,
  edits: readonly Pick<ConfigurationEdit, "key">[],
): void {
  const others = ([key]: readonly [string, unknown]): boolean => edits.every((edit) => edit.key !== key);
  const [one, other] = [before, after].map((all) => Object.fromEntries(Object.entries(all).filter(others)));
  if (!sameJson(one, other)) throw new Error("the edit would change another value of the stack's configuration");
}
