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

/** The text of a file, without one line break at its end. */
export interface FromFile {
  readonly fromFile: string;
}

/** A secret by its name or its place: made by `fromEnv` or `fromFile`. The state holds this alone (docs/secrets.md). */
export type SecretReference = FromEnv | FromFile;

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
const PATH = /^[^\p{Cc}\p{Cs}]{1,1000}$/u;

/** Whether it is meant as a reference; what is wrong with it tells `referenceProblem`. */
export function isReference(value: unknown): value is SecretReference {
  return (
    typeof value === "object" && value !== null && (Object.hasOwn(value, "fromEnv") || Object.hasOwn(value, "fromFile"))
  );
}

/** What is wrong with a reference, behind its path; undefined where nothing is. Nothing of it is shown: by mistake it may be the secret. */
export function referenceProblem(reference: SecretReference): string | undefined {
  const [[form, name] = ["", undefined], ...more] = Object.entries(reference);
  if (more.length > 0) return "must have fromEnv or fromFile, and nothing else";
  if (form === "fromEnv") {
    const isName = typeof name === "string" && VARIABLE.test(name);
    return isName
      ? undefined
      : "fromEnv must be the name of an environment variable (letters, digits and _), not its value";
  }
  return typeof name === "string" && PATH.test(name) ? undefined : "fromFile must be the path of a file, not its text";
}

/** Where a value holds one, at any depth. */
export const referencesIn = (value: unknown): string[] => pathsTo(isReference, value);

/** For messages: `GOOGLE_SECRET`, `the file secrets/google`. */
export function referenceName(reference: SecretReference): string {
  return "fromEnv" in reference ? reference.fromEnv : `the file ${reference.fromFile}`;
}

/** Of what should be the name of a variable: it is none, and is what some variable holds. */
export function isValueOfVariable(name: string): boolean {
  return process.env[name] === undefined && Object.values(process.env).includes(name);
}

/** Far more than any secret; a larger file was not meant. */
const LARGEST_FILE_BYTES = 64 * 1024;

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
  const value = process.env[reference.fromEnv];
  if (value === undefined) return { problem: "is not set" };
  return value === "" ? { problem: "is empty" } : { value };
}

/** As Docker and Kubernetes mount secrets: one line break at the end is no part of the value. */
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
  if (!isUtf8(bytes) || text.includes("\0")) return { problem: "is no text (UTF-8)" };
  const value = text.replace(/\r?\n$/, "");
  return value === "" ? { problem: "is empty" } : { value };
}
