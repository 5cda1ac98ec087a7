/**
 * A secret by reference: a program and the state hold a name or a path, and the value is read where the request is sent. What is
 * stored of it is for ever: `{ fromEnv }` or `{ fromFile }`, and nothing else. Every program loads this file.
 */
import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { projectFolder } from "./projectFile";
import { pathsTo } from "./untrusted";

/** The value of an environment variable. */
export interface FromEnv {
  readonly fromEnv: string;
}

/** The text of a file, without a byte order mark before it and one line break at its end. */
export interface FromFile {
  readonly fromFile: string;
}

/** A secret by name or path, made by `fromEnv` or `fromFile`. The state holds only this (docs/secrets.md). */
export type SecretReference = FromEnv | FromFile;

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
/** Capitals and digits in two or more words, none of them long. A generated value has another form. */
const USUAL_NAME = /^[A-Z][A-Z0-9]{0,19}(?:_[A-Z0-9]{1,20})+$/;
const PATH = /^[^\p{Cc}\p{Cs}]{1,1000}$/u;

/** Whether it is meant as a reference; what is wrong with it tells `referenceProblem`. */
export function isReference(value: unknown): value is SecretReference {
  return (
    typeof value === "object" && value !== null && (Object.hasOwn(value, "fromEnv") || Object.hasOwn(value, "fromFile"))
  );
}

/** What is wrong with a reference, behind its path; undefined where nothing is. Nothing of it is shown: by mistake it may be the secret. */
export function referenceProblem(reference: SecretReference, folder?: string): string | undefined {
  const [[form, name] = ["", undefined], ...more] = Object.entries(reference);
  if (more.length > 0) return "must have fromEnv or fromFile, and nothing else";
  if (form === "fromEnv") {
    // A usual name may be the value of a variable, too: a job without the secrets may hold a list of their names.
    const isName =
      typeof name === "string" && VARIABLE.test(name) && (USUAL_NAME.test(name) || !isValueOfVariable(name));
    return isName
      ? undefined
      : "fromEnv must be the name of an environment variable (letters, digits and _), not its value";
  }
  if (typeof name !== "string" || !PATH.test(name)) return "fromFile must be the path of a file, not its text";
  if (isPath(name, folder)) return undefined;
  return (
    "fromFile must be the path of a file, not the value of a variable: there is no such file, and the name of no variable with this value " +
    "ends in FILE, PATH or DIR"
  );
}

/** Where a value holds one, at any depth. */
export const referencesIn = (value: unknown): string[] => pathsTo(isReference, value);

/** For messages: `GOOGLE_SECRET`, `the file secrets/google`. What may be the secret is not shown. */
export function referenceName(reference: SecretReference): string {
  const isShown = referenceProblem(reference) === undefined;
  if ("fromEnv" in reference) return isShown ? reference.fromEnv : "the variable";
  return isShown ? `the file ${reference.fromFile}` : "the file";
}

/** Undefined for what is not set, and for what every object inherits. */
export const variable = (name: string): string | undefined =>
  Object.hasOwn(process.env, name) ? process.env[name] : undefined;

/** The names of the variables with this value; blanks around it are often cut. */
function variablesWith(value: string): string[] {
  const all = value.trim() === "" ? [] : Object.entries(process.env);
  return all.flatMap(([name, other]) => (other?.trim() === value.trim() ? name : []));
}

/** Of what should be the name of a variable: it is none, and is what some variable holds. */
export const isValueOfVariable = (name: string): boolean =>
  variable(name) === undefined && variablesWith(name).length > 0;

/** By custom such a variable holds no secret: `SMTP_PASSWORD_FILE`. */
const NAMED_LIKE_PATH = /(?:FILE|PATH|DIR)$/i;

/** Of what should be a path: no variable has it as its value, but for one that is named like a path, or there is a file. */
function isPath(path: string, folder: string | undefined): boolean {
  const names = variablesWith(path);
  if (names.length === 0 || names.some((name) => NAMED_LIKE_PATH.test(name))) return true;
  try {
    return statSync(resolve(folder ?? startFolder(), path)).isFile();
  } catch {
    return false;
  }
}

/** Far more than any secret; a larger file was not meant. */
const LARGEST_FILE_BYTES = 64 * 1024;

const NO_TEXT = "is no text (UTF-8)";

/** What a reference stands for now, or why it has no value, in words behind its name: `is not set`. */
export type Resolved = { readonly value: string } | { readonly problem: string };

let start: { readonly cwd: string; readonly folder: string } | undefined;

/**
 * Where relative paths begin: the folder of Pulumi.yaml. The provider's process runs in that of the program, which `main` may put
 * elsewhere; without a Pulumi.yaml there or above (an inline program) it is that one. Looked for once in a process.
 */
function startFolder(): string {
  const cwd = process.cwd();
  if (start?.cwd !== cwd) start = { cwd, folder: projectFolder(cwd) ?? cwd };
  return start.folder;
}

/** `folder`: where relative paths begin, in place of that of the Pulumi project. */
export function resolveReference(reference: SecretReference, folder?: string): Resolved {
  if ("fromFile" in reference) return fileText(resolve(folder ?? startFolder(), reference.fromFile));
  const value = variable(reference.fromEnv);
  if (value === undefined) return { problem: "is not set" };
  // Node puts this in place of bytes that are no UTF-8.
  if (value.includes("\uFFFD")) return { problem: NO_TEXT };
  return value === "" ? { problem: "is empty" } : { value };
}

/** The values of all references in a value, as far as they have one. What somebody has edited is passed over. */
export function valuesBehind(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (!isReference(value)) return Object.values(value).flatMap(valuesBehind);
  const found = referenceProblem(value) === undefined ? resolveReference(value) : undefined;
  return found !== undefined && "value" in found ? [found.value] : [];
}

/** As Docker and Kubernetes mount secrets: one line break at the end is no part of the value. Nor is a byte order mark. */
function fileText(path: string): Resolved {
  let bytes: Buffer;
  try {
    const found = statSync(path);
    if (found.isDirectory()) return { problem: "is a folder" };
    // A pipe or a device may never end.
    if (!found.isFile()) return { problem: "is no regular file" };
    if (found.size > LARGEST_FILE_BYTES) return { problem: "is larger than 64 kB" };
    bytes = readFileSync(path);
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), "code");
    if (code === "ENOENT" || code === "ENOTDIR") return { problem: "does not exist" };
    return { problem: `cannot be read${typeof code === "string" ? ` (${code})` : ""}` };
  }
  const text = bytes.toString("utf8");
  if (!isUtf8(bytes) || text.includes("\0")) return { problem: NO_TEXT };
  const value = text.replace(/^\uFEFF/, "").replace(/\r?\n$/, "");
  return value === "" ? { problem: "is empty" } : { value };
}
