import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { z } from "zod";
import { auditRules, stateRules } from "../../audit/rules";
import { KINDS } from "../../contract/pointer";
import { mayBeSecret } from "../../contract/secretNames";
import { projectFolder } from "../../contract/projectFile";
import { segmentsOf } from "../../contract/propertyPath";
import { isObject } from "../../contract/ignoredChanges";

/** The accepted differences and their reasons, committed beside Pulumi.yaml. */
export const IGNORE_FILE = "svc-drift.json";

const text = (what: string) => z.string(`must be ${what}`).regex(/\S/, "must not be empty");

const common = {
  reason: text("a text").describe("Why it may differ. Reports show it."),
  until: z.iso
    .date("must be a date, as 2027-01-31")
    .optional()
    .describe("The last day (UTC) on which the entry counts, as 2027-01-31. Without it, the entry always counts."),
};

/** For properties that differ in a resource. */
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
  .refine(({ found = null, property = "" }) => found === null || !mayHoldSecret(property, found), {
    path: ["found"],
    message: 'looks like a secret by its name or its form: leave out "found". The entry then covers any value',
  })
  .meta({ dependencies: { found: ["property"] } });

export const unmanagedEntry = z.strictObject({
  unmanaged: text("the id of an object").describe(
    "The id of an object that is declared nowhere, as --unmanaged shows it. * matches any text.",
  ),
  kind: z
    .enum(KINDS, `must be one of ${KINDS.join(", ")}`)
    .optional()
    .describe("The kind of the object, as --unmanaged shows it. Without it, any kind."),
  ...common,
});

/** An accepted finding of `pulumi-svc doctor --audit`. */
export const ruleEntry = z.strictObject({
  rule: text("the name of a rule")
    .describe("The name of a rule of `pulumi-svc doctor --audit`: what it finds is accepted.")
    .meta({ examples: [...auditRules, ...stateRules].map(({ name }) => name) }),
  resource: text("the name or the URN of a resource")
    .optional()
    .describe("The name or the URN of a resource. Without it, what the rule finds is accepted in every resource."),
  ...common,
});

const outline = z.strictObject({
  $schema: z.string("must be a string").optional().describe("Where an editor finds this schema."),
  ignore: z.array(z.unknown(), "must be a list"),
});

/**
 * The schema that editors use. The command selects the form of an entry by its keys, so that messages refer to that
 * form.
 */
export const ignoreFileSchema = outline
  .extend({ ignore: z.array(z.union([checkedResourceEntry, unmanagedEntry, ruleEntry])) })
  .describe(
    "What may differ from the program of this folder, and what the audit may find, each with the reason. `pulumi-svc drift` and `pulumi-svc doctor --audit` read it.",
  );

export type ResourceEntry = z.infer<typeof resourceEntry>;
export type RuleEntry = z.infer<typeof ruleEntry>;
export type UnmanagedEntry = z.infer<typeof unmanagedEntry>;
type IgnoreFileContent = z.infer<typeof ignoreFileSchema>;
export type Entry = IgnoreFileContent["ignore"][number];

/** The file's content. */
export interface IgnoreFile {
  /** The name used in messages: relative to the working directory. */
  readonly name: string;
  readonly entries: readonly Entry[];
}

/** The path of the file for the program around `folder`, even if it does not exist. Undefined without a Pulumi.yaml. */
export function ignoreFilePath(folder: string): string | undefined {
  const project = projectFolder(folder);
  return project === undefined ? undefined : join(project, IGNORE_FILE);
}

/**
 * Reads the file of the program around `folder`; without entries if it does not exist.
 * @throws a message with all problems of the file, one on each line.
 */
export function readIgnoreFile(folder = process.cwd()): IgnoreFile {
  const path = ignoreFilePath(folder);
  const name = path === undefined ? IGNORE_FILE : relative(process.cwd(), path);
  if (path === undefined || !existsSync(path)) return { name, entries: [] };
  return { name, entries: parsedIgnoreFile(name, textOf(path, name)).ignore };
}

function textOf(path: string, name: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // of the file system
    throw new Error(`${name} cannot be read: ${code ?? message}`, { cause: error });
  }
}

/** @throws a message with all problems of the file, one on each line. */
export function parsedIgnoreFile(name: string, json: string): IgnoreFileContent {
  const problems: string[] = [];
  const content = parsed(name, json);
  /** Undefined if the value is invalid; the problem is recorded. */
  const checked = <T>(schema: z.ZodType<T>, value: unknown, above: readonly PropertyKey[] = []): T | undefined => {
    const { data, error } = schema.safeParse(value);
    problems.push(...(error?.issues ?? []).flatMap((issue) => problemsOf(issue, value, above)));
    return data;
  };
  const whole = checked(outline, content);
  // Entries are checked even if the outline is invalid, so that one run reports every problem.
  const list = isObject(content) && Array.isArray(content["ignore"]) ? (content["ignore"] as unknown[]) : [];
  const ignore = list.flatMap((entry, index) => checked<Entry>(formOf(entry), entry, ["ignore", index]) ?? []);
  if (whole === undefined || problems.length > 0)
    throw new Error(problems.map((problem) => `${name}: ${problem}`).join("\n"));
  return { ...whole, ignore };
}

function formOf(entry: unknown): z.ZodType<Entry> {
  if (!isObject(entry)) return z.never("must be an object");
  if ("rule" in entry) return ruleEntry;
  if ("unmanaged" in entry) return unmanagedEntry;
  return "resource" in entry ? checkedResourceEntry : z.never('needs one of "resource", "unmanaged" and "rule"');
}

function parsed(name: string, json: string): unknown {
  try {
    // Some editors write a byte order mark.
    return JSON.parse(json.replace(/^\uFEFF/, ""));
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    // V8 quotes the surrounding text and does not always give the position.
    const [words = ""] = message.split(/, (?:\.{3})?"| (?:in|after) JSON at /);
    const [, position] = /at position (\d+)/.exec(message) ?? [];
    const line = json.slice(0, Number(position)).split("\n").length;
    const place = position === undefined ? "" : ` (line ${line})`;
    throw new Error(`${name} is not JSON: ${words}${place}`, { cause: error });
  }
}

/** Messages with the path: `ignore[2].until: must be a date`. */
function problemsOf(issue: z.core.$ZodIssue, checked: unknown, above: readonly PropertyKey[]): string[] {
  const path = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => `${pathText([...path, key])}: unknown key`);
  if (path.length === 0) return ['must be an object with the list "ignore"'];
  // zod has followed this path, so each step but the last is an object.
  const value = issue.path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)[key], checked);
  return [`${pathText(path)}: ${value === undefined ? "is missing" : issue.message}`];
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((key, index) => (typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${String(key)}`)).join("");

/** Whether the value is secret, judged by its form or by the name of the property or of a nested one. */
function mayHoldSecret(property: string, found: unknown): boolean {
  return ["", ...segmentsOf(property)].some((name) => holdsOne(found, String(name)));
}

function holdsOne(value: unknown, name: string): boolean {
  if (mayBeSecret(name, value)) return true;
  if (Array.isArray(value)) return value.some((item) => holdsOne(item, name));
  return isObject(value) && Object.entries(value).some(([key, inner]) => holdsOne(inner, key));
}
