/**
 * Secrets by reference: a program and the state hold a name or a path, and the value is read when the request is sent.
 * The stored form never changes: `{ fromEnv }` or `{ fromFile }`, nothing else. Every program loads this file.
 */
import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { projectFolder } from "./projectFile";
import { pathsTo } from "./untrusted";

/** The value of an environment variable. */
export interface FromEnv {
  /** The name of the environment variable that holds the secret. */
  readonly fromEnv: string;
}

/** The text of a file, without a byte order mark before it and one line break at its end. */
export interface FromFile {
  /** The path of the file that holds the secret, relative to the folder of Pulumi.yaml. */
  readonly fromFile: string;
}

/** A secret by name or path: `fromEnv` or `fromFile`. The state holds only this (docs/secrets.md). */
export type SecretReference = FromEnv | FromFile;

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
/** Capitals and digits in two or more short words. A generated value looks different. */
const USUAL_NAME = /^[A-Z][A-Z0-9]{0,19}(?:_[A-Z0-9]{1,20})+$/;
const PATH = /^[^\p{Cc}\p{Cs}]{1,1000}$/u;

/** Whether it is meant as a reference. `referenceProblem` says whether it is valid. */
export function isReference(value: unknown): value is SecretReference {
  return (
    typeof value === "object" && value !== null && (Object.hasOwn(value, "fromEnv") || Object.hasOwn(value, "fromFile"))
  );
}

/**
 * The problem with a reference, to follow its path; undefined if there is none. Its text is never shown: by mistake it
 * may be the secret.
 */
export function referenceProblem(reference: SecretReference, folder?: string): string | undefined {
  const [[form, name] = ["", undefined], ...more] = Object.entries(reference);
  if (more.length > 0) return "must have fromEnv or fromFile, and nothing else";
  if (form === "fromEnv") {
    // A usual name may also be a variable's value: a job without the secrets may hold a list of their names.
    const isName =
      typeof name === "string" && VARIABLE.test(name) && (USUAL_NAME.test(name) || !isValueOfVariable(name));
    return isName
      ? undefined
      : "fromEnv must be the name of an environment variable (letters, digits and _), not its value";
  }
  if (typeof name !== "string" || !PATH.test(name)) return "fromFile must be the path of a file, not its content";
  if (isPath(name, folder)) return undefined;
  return (
    "fromFile must be the path of a file, not the value of a variable: there is no such file, and no variable whose name ends in FILE, " +
    "PATH or DIR has this value"
  );
}

/** The paths of the references in a value, at any depth. */
export const referencesIn = (value: unknown): string[] => pathsTo(isReference, value);

/** `GOOGLE_SECRET`, `the file secrets/google`, for messages. A text that may be the secret is not shown. */
export function referenceName(reference: SecretReference): string {
  const isShown = referenceProblem(reference) === undefined;
  if ("fromEnv" in reference) return isShown ? reference.fromEnv : "the variable";
  return isShown ? `the file ${reference.fromFile}` : "the file";
}

/** Undefined for variables that are not set, and for names that every object inherits. */
export const variable = (name: string): string | undefined =>
  Object.hasOwn(process.env, name) ? process.env[name] : undefined;

/** The variables with this value; surrounding blanks are ignored because they are often cut. */
function variablesWith(value: string): string[] {
  const all = value.trim() === "" ? [] : Object.entries(process.env);
  return all.flatMap(([name, other]) => (other?.trim() === value.trim() ? name : []));
}

/** Whether a text given as a variable's name is no variable, but the value of one. */
export const isValueOfVariable = (name: string): boolean =>
  variable(name) === undefined && variablesWith(name).length > 0;

/** A variable so named holds a path by convention, no secret: `SMTP_PASSWORD_FILE`. */
const NAMED_LIKE_PATH = /(?:FILE|PATH|DIR)$/i;

/**
 * Whether a text given as a path is one: the file exists, or no variable has this value, except one named like a path.
 */
function isPath(path: string, folder: string | undefined): boolean {
  const names = variablesWith(path);
  if (names.length === 0 || names.some((name) => NAMED_LIKE_PATH.test(name))) return true;
  try {
    return statSync(resolve(folder ?? startFolder(), path)).isFile();
  } catch {
    return false;
  }
}

/** Far larger than any secret; a larger file is a mistake. */
const LARGEST_FILE_BYTES = 64 * 1024;

const NO_TEXT = "is not UTF-8 text";

/** The current value of a reference, or why it has none, to follow its name: `is not set`. */
export type Resolved = { readonly value: string } | { readonly problem: string };

let start: { readonly cwd: string; readonly folder: string } | undefined;

/**
 * Where relative paths begin: the folder of Pulumi.yaml. The provider's process runs in the program's folder, which
 * `main` may place elsewhere; without a Pulumi.yaml there or above (an inline program), that folder counts. Looked up
 * once per process.
 */
function startFolder(): string {
  const cwd = process.cwd();
  if (start?.cwd !== cwd) start = { cwd, folder: projectFolder(cwd) ?? cwd };
  return start.folder;
}

/** `folder`: where relative paths begin, instead of the folder of the Pulumi project. */
export function resolveReference(reference: SecretReference, folder?: string): Resolved {
  if ("fromFile" in reference) return fileText(resolve(folder ?? startFolder(), reference.fromFile));
  const value = variable(reference.fromEnv);
  if (value === undefined) return { problem: "is not set" };
  // Node puts this in place of bytes that are not UTF-8.
  if (value.includes("\uFFFD")) return { problem: NO_TEXT };
  return value === "" ? { problem: "is empty" } : { value };
}

/** The values of all references in a value. References without a value, and edited ones, are skipped. */
export function valuesBehind(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (!isReference(value)) return Object.values(value).flatMap(valuesBehind);
  const found = referenceProblem(value) === undefined ? resolveReference(value) : undefined;
  return found !== undefined && "value" in found ? [found.value] : [];
}

/**
 * Docker and Kubernetes mount secrets with one line break at the end, which is not part of the value. Nor is a byte
 * order mark.
 */
function fileText(path: string): Resolved {
  let bytes: Buffer;
  try {
    const found = statSync(path);
    if (found.isDirectory()) return { problem: "is a folder" };
    // Reading a pipe or a device may never end.
    if (!found.isFile()) return { problem: "is not a regular file" };
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
