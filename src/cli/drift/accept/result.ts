import { z } from "zod";
import { KINDS } from "../../../contract/pointer";
import { EXIT } from "../../exitCodes";
import type { CommandReport } from "../../report/commandReport";
import { columns, joined, message, type Text, text, word } from "../../report/text";
import { valueText } from "../driftReport";

const named = { urn: z.string(), kind: z.enum(KINDS), name: z.string() };

/** `null`: not set. */
const values = { declared: z.json(), found: z.json() };

const accepted = z.object({ ...named, path: z.string(), ...values, file: z.string(), line: z.int() });

const left = z.object({
  ...named,
  /** `null`: the whole resource. */
  path: z.string().nullable(),
  ...values,
  file: z.string().nullable(),
  line: z.int().nullable(),
  reason: z.string(),
  /** `property: value` as code of the program. */
  code: z.string().nullable(),
});

/** The output of `drift --accept --format json`: a contract with scripts (docs/drift.md). */
export const acceptSchema = z.object({
  stack: z.string(),
  dryRun: z.boolean(),
  accepted: z.array(accepted),
  left: z.array(left),
  /** Paths relative to the project's folder. */
  files: z.array(z.string()),
  /** The program's other stacks, whose plans the edit may change. */
  otherStacks: z.array(z.string()),
  /**
   * The URNs of resources whose drift svc-drift.json covers and that were not accepted. `up --refresh` repairs them.
   */
  tolerated: z.array(z.string()),
  /** After a dry run: why the edit would be refused without it, such as "index.ts is not added to git". */
  refusals: z.array(z.string()),
  /** The edit as a unified diff. */
  patch: z.string(),
  /** Why it failed. */
  messages: z.array(z.string()),
  /** Fingerprint of the drift to accept, as in a report. */
  fingerprint: z.string(),
});

export type AcceptResult = z.infer<typeof acceptSchema>;
export type AcceptedProperty = AcceptResult["accepted"][number];
export type LeftProperty = AcceptResult["left"][number];

export const COMMIT_FIRST = "Commit first, so that the edit can be undone, or use --force";

const PROPERTIES = columns`resource, property, declared before, accepted, place`;

export function acceptReport(result: AcceptResult): CommandReport {
  const { dryRun, accepted, left, files, otherStacks, patch, messages, fingerprint } = result;
  return {
    json: result,
    title: text`Accepted drift`,
    ...(messages.length === 0 && { headline: headlineOf(result) }),
    sections: [
      { lines: messages.map(message) },
      { head: PROPERTIES, rows: accepted.map(acceptedCells) },
      { title: text`Not edited`, lines: left.map(leftLine) },
      { patch: dryRun ? patch : "" },
      { lines: files.length === 0 ? [] : [next(result)] },
      { title: theirs(otherStacks), lines: otherStacks.map((name) => text`${name}`) },
    ],
    fingerprint: accepted.length + left.length === 0 ? undefined : fingerprint,
    exitCode: messages.length > 0 ? EXIT.failure : left.length > 0 ? EXIT.drift : EXIT.done,
  };
}

function headlineOf({ stack, dryRun, accepted, left }: AcceptResult): Text {
  const counts = [
    ...(accepted.length > 0 ? [text`${accepted.length} ${dryRun ? text`can be accepted` : text`accepted`}`] : []),
    ...(left.length > 0 ? [text`${left.length} left`] : []),
  ];
  return text`Stack ${stack}: ${counts.length === 0 ? text`no drift` : joined(counts)}`;
}

const acceptedCells = ({ kind, name, path, declared, found, file, line }: AcceptedProperty): Text[] => [
  text`${word(kind)} ${name}`,
  text`${path}`,
  text`${valueText(declared)}`,
  text`${valueText(found)}`,
  text`${`${file}:${line}`}`,
];

function leftLine({ kind, name, path, file, line, reason, code }: LeftProperty): Text {
  const property = path === null ? text`` : text` ${path}`;
  const at = file === null ? text`` : text` (${line === null ? file : `${file}:${line}`})`;
  // In Markdown the whole reason is code, so its own backticks are left out.
  const why = message(reason.replaceAll("`", ""));
  const toDeclare = code === null ? text`` : text`. To be declared: ${message(code)}`;
  return text`${word(kind)} ${name}${property}${at}: ${why}${toDeclare}`;
}

/** The next step for the user. */
function next({ dryRun, refusals, tolerated, files }: AcceptResult): Text {
  const names = joined(files.map((file) => text`${file}`));
  if (refusals.length > 0)
    return text`Nothing was written. Without --dry-run this edit is refused: ${joined(refusals.map(message), text`; `)}. ${word(COMMIT_FIRST)}.`;
  if (dryRun)
    return text`Nothing was written. Without --dry-run it edits ${names}, if the plan of the stack confirms it.`;
  if (tolerated.length === 0)
    return text`Edited ${names}. Now run pulumi up --refresh: it shows no change for what was accepted.`;
  return text`Edited ${names}. pulumi up --refresh shows no change for what was accepted, but also repairs what svc-drift.json tolerates. To keep that, run it with --target for the accepted resources, or name the property in ignoreChanges.`;
}

const theirs = (names: readonly string[]): Text =>
  names.length === 1
    ? text`Another stack uses this program, too. Check its plan before you commit the edit`
    : text`Other stacks use this program, too. Check their plans before you commit the edit`;
