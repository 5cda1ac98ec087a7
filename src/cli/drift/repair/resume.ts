/** A repair that was cut off: brings back the state from before it, so that the same repair can go on. */
import { z } from "zod";
import { terminalText } from "../../output";
import type { Pulumi } from "../../stack/pulumi";
import { parsed, type StackState } from "../../stack/state";
import { BusyError, quotedNames, refuseLocked, UnfinishedError } from "../../stack/unfinished";
import { MESSAGE } from "./engineRun";
import { type Begun, begunIn } from "./mark";
import { isSameBesideMark, putBack } from "./putBack";

const history = z.array(z.object({ kind: z.string(), message: z.string() }));

/**
 * Removes the mark of a repair, and what its refresh has stored in place of what was deployed. What the repair has done
 * stays. Does nothing if the state is not of this version's repair.
 * @param marked a state with the mark, and with decrypted secrets
 * @throws if the repair may still run, or if the state before it may no longer be what is deployed.
 */
export async function resume(pulumi: Pulumi, marked: StackState): Promise<void> {
  const begun = begunIn(marked);
  if (begun === undefined) return;
  if (marked.creating.length > 0) throw new UnfinishedError(...creations(marked.creating));
  if (!isSameBesideMark(marked, begun.before)) await mustBeLast(pulumi);
  await restored(pulumi, begun);
  process.stderr.write(
    `pulumi-svc: ${terminalText("a repair of this stack was cut off: the state holds again what was deployed before it, and what it has repaired")}\n`,
  );
}

async function restored(pulumi: Pulumi, begun: Begun): Promise<void> {
  try {
    await putBack(pulumi, { ...begun, isDone: false });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    refuseLocked(reason, "run pulumi cancel, and then the same pulumi-svc drift --repair again");
    throw new BusyError(
      `a repair of this stack was cut off, and the state from before it cannot be restored: ${reason}. ${DEPLOY}`,
    );
  }
}

/** For whoever cannot or must not go on. */
const DEPLOY = "Run pulumi up --refresh, which repairs it too and deploys pending edits of the program";

const creations = (urns: readonly string[]): [sign: string, goOn: string] => [
  `its creation of ${quotedNames(urns)} has not ended`,
  `run pulumi cancel if the stack is locked, look at the service whether ${urns.length === 1 ? "this object exists" : "these objects exist"}, ` +
    "run pulumi refresh --clear-pending-creates --preview-only, and then the same pulumi-svc drift --repair",
];

/**
 * Whoever has deployed a part of the stack since (`--target` leaves the mark) has put other values into the state, and
 * restoring the earlier ones would undo that. A refresh deploys nothing.
 */
async function mustBeLast(pulumi: Pulumi): Promise<void> {
  const { ok, stdout, reason } = await pulumi(["stack", "history", "--json", "--page-size", "50"]);
  const { success, data = [] } = history.safeParse(ok ? parsed(stdout) : undefined);
  const last = data.find(({ kind }) => kind !== "refresh");
  if (success && last?.kind === "update" && last.message === MESSAGE) return;
  const why = !ok
    ? `pulumi stack history failed: ${reason}`
    : last === undefined
      ? "the history of the stack does not show it"
      : `the last update in the history of the stack is another one`;
  throw new BusyError(
    `a repair of this stack was cut off, and it is not known whether somebody has deployed something since: ${why}. ${DEPLOY}`,
  );
}
