import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { z } from "zod";
import { KINDS } from "../../contract/pointer";
import { isSecretName } from "../../contract/secretNames";
import { projectFolder } from "../stack/projectFile";
import { isObject, segmentsOf } from "./ignoredChanges";

/** What may differ, and why: committed beside Pulumi.yaml. */
export const IGNORE_FILE = "svc-drift.json";

const text = (what: string) => z.string(`must be ${what}`).trim().min(1, "must not be empty");

const common = {
  reason: text("a text").describe("Why it may differ. Reports show it."),
  until: z.iso
    .date("must be a date, as 2027-01-31")
    .optional()
    .describe("The last day (UTC) on which the entry counts, as 2027-01-31. Without it, the entry always counts."),
};

/** Of the values that differ in a resource. */
export const resourceEntry = z.strictObject({
  resource: text("the name or the URN of a resource").describe(
    "The name of a resource, which holds for each stack, or its URN.",
  ),
  property: text("the path of a property")
    .refine((path) => segmentsOf(path).length > 0, "must be a path as a report shows it, as size.max")
    .optional()
    .describe(
      "The path as a report shows it, such as size.max. It also covers what is below it. Without it, each property of the resource may differ; a resource that was deleted is always drift.",
    ),
  found: z
    .json("must be a value of JSON")
    .optional()
    .describe(
      'The value that may be found; null: not set. The order of a list does not count. Another value is drift. Without "found", the property may have any value. Not for a secret.',
    ),
  ...common,
});

const checkedResourceEntry = resourceEntry
  .refine(({ found, property }) => found === undefined || property !== undefined, {
    path: ["found"],
    message: 'is the value of a property: give "property", too',
  })
  .refine(({ found = null, property = "" }) => found === null || !isSecretlyNamed(property, found), {
    path: ["found"],
    message: 'names a secret: leave out "found". The entry then holds for any value',
  })
  .meta({ dependentRequired: { found: ["property"] } });

export const unmanagedEntry = z.strictObject({
  unmanaged: text("the id of an object").describe(
    "The id of an object that is declared nowhere, as --unmanaged shows it. * is any text.",
  ),
  kind: z
    .enum(KINDS, `must be one of ${KINDS.join(", ")}`)
    .optional()
    .describe("The kind of the object, as --unmanaged shows it. Without it, any kind."),
  ...common,
});

const ruleEntry = z.strictObject({
  rule: text("the name of a rule").describe("The name of a rule of the audit."),
  resource: text("the name or the URN of a resource")
    .optional()
    .describe("The name or the URN of a resource. Without it, the rule is not applied to any resource."),
  ...common,
});

export const ignoreFileSchema = z
  .strictObject({
    $schema: z.string("must be a text").optional().describe("Where an editor finds this schema."),
    ignore: z.array(z.union([checkedResourceEntry, unmanagedEntry, ruleEntry]), "must be a list"),
  })
  .describe("What may differ from the program of this folder, and why. `pulumi-svc drift` reads it.");

export type ResourceEntry = z.infer<typeof resourceEntry>;
export type UnmanagedEntry = z.infer<typeof unmanagedEntry>;
type IgnoreFileContent = z.infer<typeof ignoreFileSchema>;
export type Entry = IgnoreFileContent["ignore"][number];

/** The file as it was read. */
export interface IgnoreFile {
  /** As messages name it: from the folder of the command. */
  readonly name: string;
  readonly entries: readonly Entry[];
}

/** Where the file of the program around `folder` is, or would be. Undefined without a Pulumi.yaml there or above. */
export function ignoreFilePath(folder: string): string | undefined {
  const project = projectFolder(folder);
  return project === undefined ? undefined : join(project, IGNORE_FILE);
}

/**
 * The file of the program around `folder`; without entries where there is none.
 * @throws with all that is wrong in it, a line each.
 */
export function readIgnoreFile(folder = process.cwd()): IgnoreFile {
  const path = ignoreFilePath(folder);
  if (path === undefined || !existsSync(path)) return { name: IGNORE_FILE, entries: [] };
  const name = relative(process.cwd(), path);
  return { name, entries: parsedIgnoreFile(name, readFileSync(path, "utf8")).ignore };
}

/** @throws with all that is wrong in it, a line each. */
export function parsedIgnoreFile(name: string, json: string): IgnoreFileContent {
  const content = parsed(name, json);
  const { success, data, error } = ignoreFileSchema.safeParse(content);
  if (success) return data;
  const lines = error.issues.flatMap((issue) => problemsOf(issue, content));
  throw new Error([...new Set(lines)].map((line) => `${name}: ${line}`).join("\n"));
}

function parsed(name: string, json: string): unknown {
  try {
    // Some editors begin a file with this mark.
    return JSON.parse(json.replace(/^\uFEFF/, ""));
  } catch (error) {
    // The words of V8, which repeat the text around the place.
    const [, position] = /at position (\d+)/.exec(error instanceof Error ? error.message : "") ?? [];
    const lines = json.slice(0, position === undefined ? json.length : Number(position)).split("\n");
    throw new Error(`${name} is not JSON: see line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`, {
      cause: error,
    });
  }
}

type Issue = z.core.$ZodIssue;

/** In words, with the path: `ignore[2].until: must be a date`. */
function problemsOf(issue: Issue, content: unknown, above: readonly PropertyKey[] = []): string[] {
  const path = [...above, ...issue.path];
  const at = (key?: string): string => {
    const whole = pathText(key === undefined ? path : [...path, key]);
    return whole === "" ? "" : `${whole}: `;
  };
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => `${at(key)}unknown key`);
  if (issue.code === "invalid_union") {
    const entry = valueAt(content, path);
    if (!isObject(entry)) return [`${at()}must be an object`];
    // The order of the union.
    const [resource = [], unmanaged = [], rule = []] = issue.errors;
    const issues =
      "rule" in entry ? rule : "unmanaged" in entry ? unmanaged : "resource" in entry ? resource : undefined;
    if (issues === undefined) return [`${at()}needs one of "resource", "unmanaged" and "rule"`];
    return issues.flatMap((inner) => problemsOf(inner, content, path));
  }
  if (issue.code === "invalid_type" && path.length === 0) return ['must be an object with the list "ignore"'];
  const isMissing = path.length > 0 && valueAt(content, path) === undefined;
  return [`${at()}${isMissing ? "is missing" : issue.message}`];
}

function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  // zod has walked the path, so each step but the last is an object or a list.
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], content);
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((key, index) => (typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${String(key)}`)).join("");

/** Whether the name of the property, or of one in its value, suggests a secret. */
function isSecretlyNamed(property: string, found: unknown): boolean {
  return segmentsOf(property).some((name) => isSecretName(String(name))) || namesSecret(found);
}

function namesSecret(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(namesSecret);
  return isObject(value) && Object.entries(value).some(([key, inner]) => isSecretName(key) || namesSecret(inner));
}
