/** What a run will make, change and cost: told before anything is sent. */
import type { Before, Target } from "./before";
import { partsText, PREFIX } from "./before";
import type { Run, Step } from "./run";

/** The steps that apply, with what they do, as the plan tells them. */
export function planText(run: Run, steps: readonly Step[], target: Target, { notes }: Pick<Before, "notes">): string {
  const { projectId, branchId, authBranchId, moveTo, parts } = target;
  const applying = steps.filter(({ leftOut }) => leftOut?.(run) === undefined);
  const costs = [
    ...(parts.includes("compute")
      ? [
          `computes on branch ${branchId}: one primary of 0.25 and then 0.5 CU, which runs for most of the time, and two read replicas of 0.25 CU, which start only if the service starts them. About 3 to 10 minutes`,
          ...(moveTo === undefined ? [] : [`the primary is moved to branch ${moveTo} before it is deleted`]),
        ]
      : []),
    ...(parts.includes("auth")
      ? [
          `an auth integration on branch ${authBranchId ?? branchId}, with a user, OAuth providers, redirect domains and an e-mail server that do not exist. About 1 minute, no compute`,
          `the service creates the schema svc_auth in the database of that branch, and may keep it when the integration is deleted`,
        ]
      : []),
  ];
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", title, ...lines.flatMap((line) => wrapped(line, "- ", "  "))];
  return [
    ...wrapped(
      `verify: the ${partsText(parts)} of project ${projectId} at ${run.service}, ${applying.length} steps`,
      "",
      "",
    ),
    ...list("what it makes and costs:", costs),
    ...list(
      "in this order:",
      applying.map(({ does }) => does),
    ),
    ...list("afterwards:", [
      `everything that it made is deleted, also after a failure or a signal. It deletes nothing else. Each name contains ${PREFIX}`,
    ]),
    ...list("notes:", notes),
    "",
  ].join("\n");
}

const WIDTH = 80;

/** The text in lines of at most 80 columns, as far as its words allow. */
export function wrapped(text: string, first: string, others: string): string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(" ")) {
    if (!isEmpty && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = others;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
