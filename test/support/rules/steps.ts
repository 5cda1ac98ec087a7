import { unmarked } from "../engineMarks";
import type { Properties } from "../../../src/contract/hiddenKeys";
import type { Harness, State } from "../harness";

/** The result of one engine step, and what it leaves in the state. */
export type Outcome =
  { ended: "well"; state: State | undefined } | { ended: "badly"; words: string; kept: State | undefined };

/** What a step leaves in the state, even if it fails: a partial error has an id and outs. */
export async function outcomeOf(step: () => Promise<State | undefined>): Promise<Outcome> {
  try {
    return { ended: "well", state: await step() };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const id: unknown = Reflect.get(error, "id");
    // Complete outs, by the contract of a partial error.
    const properties = Reflect.get(error, "properties") as Properties;
    // As the engine passes them next time: without marks.
    const kept = typeof id === "string" ? { id, outs: unmarked(properties) } : undefined;
    return { ended: "badly", words: error.message, kept };
  }
}

/** The engine's step from a state to a program. Without a program it deletes. */
export async function step(
  given: Harness,
  state: State | undefined,
  program: Properties | undefined,
): Promise<State | undefined> {
  if (program === undefined) {
    if (state !== undefined) await given.delete(state);
    return undefined;
  }
  if (state === undefined) return given.create(program);
  const { changes, replaces = [] } = await given.diff(state, program);
  if (replaces.length > 0) throw new Error(`it would be replaced for ${replaces.join(", ")}`);
  return changes === false ? state : given.update(state, program);
}

/** A whole `up` in its own process. A step that fails without a partial error leaves the state unchanged. */
export async function up(given: Harness, state: State | undefined, program: Properties | undefined) {
  given.restart();
  const outcome = await outcomeOf(() => step(given, state, program));
  return { outcome, state: outcome.ended === "well" ? outcome.state : (outcome.kept ?? state) };
}

/** The lines that a user sees afterwards. */
export const lastingLines = ({ log }: Harness): string[] =>
  log.filter(({ ephemeral }) => !ephemeral).map(({ message }) => message);

/** The message of a step that must have failed. */
export function wordsOf(outcome: Outcome): string {
  if (outcome.ended === "well") throw new Error(`it ended well: ${outcome.state?.id ?? "nothing left"}`);
  return outcome.words;
}
