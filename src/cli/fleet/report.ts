import { readFile } from "node:fs/promises";
import { z } from "zod";
import { parsed } from "../stack/state";
import { say } from "../report/terminal";
import { message, text } from "../report/text";
import { fingerprint, type Report, reportSchema, toldEntry } from "../drift/report";

/** The report of one stack: that of `pulumi-svc drift`, and the stack's name in the backend. */
const ofStack = reportSchema.extend({
  name: z.string(),
  project: z.string(),
  /** When a report first had this drift; null: no drift. */
  since: z.iso.datetime().nullable(),
});

const { unmanaged, toleratedUnmanaged, byItself } = reportSchema.shape;

/** The output of `--json`: a contract with scripts (docs/fleet.md). */
export const fleetSchema = z.object({
  checkedAt: z.iso.datetime(),
  stacks: z.array(ofStack),
  /** The stacks without a result, and why. */
  notKnown: z.array(z.object({ name: z.string(), reason: z.string() })),
  /** The stacks that hold no resource of this package. */
  withoutResources: z.array(z.string()),
  unmanaged,
  toleratedUnmanaged,
  byItself,
  /** Whether the undeclared objects were asked for, and all are known. */
  unmanagedChecked: z.boolean(),
  /** Why the undeclared objects are not known, of all projects or of one. */
  unmanagedNotKnown: z.array(z.string()),
  /** Entries of the files svc-drift.json, each with its file. */
  expired: z.array(toldEntry),
  unused: z.array(toldEntry),
  requests: z.number(),
  /** How long reading the states took, and the rest. */
  seconds: z.object({ states: z.number(), service: z.number() }),
  fingerprint: z.string(),
});

export type StackReport = z.infer<typeof ofStack>;
export type FleetReport = z.infer<typeof fleetSchema>;

/** Fingerprint of all drift and undeclared objects, computed as for one stack. */
export const fleetFingerprint = (stacks: readonly Report[], objects: Report["unmanaged"]): string =>
  fingerprint({ project: "", stack: "", drift: stacks.flatMap(({ drift }) => drift), unmanaged: objects });

/**
 * The stacks of an earlier report. None, with a note, before the first one: the file is missing, or `--out` has just
 * created it.
 * @throws if the file has something else.
 */
export async function previousStacks(file: string): Promise<readonly StackReport[]> {
  const content = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw new Error(`${file} cannot be read: ${error.code ?? error.message}`);
  });
  if (content === "") {
    say(text`${message(file)} does not exist, or is empty: no earlier report, so all drift counts from now on`);
    return [];
  }
  const { success, data } = fleetSchema.safeParse(parsed(content));
  if (!success) throw new Error(`${file} is not a report of pulumi-svc fleet drift written with --json`);
  return data.stacks;
}
