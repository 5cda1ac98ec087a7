/** What the backend that is logged in to holds, of all stacks and all packages. */
import { z } from "zod";
import type { ProgressLine } from "../fleet/progress";
import { inParallel } from "../fleet/inParallel";
import { fleetStacks } from "../fleet/stacks";
import { type FleetState, reliableState } from "../fleet/states";
import { nameForm } from "../../contract/forms";
import { type Kind, kindOfEntry } from "../../contract/pointer";
import { objectForm } from "../declarations";
import { pulumiIn, withoutSecrets } from "../stack/pulumi";
import { parsed } from "../stack/state";
import { BusyError, UnfinishedError } from "../stack/unfinished";

/** Each state is read by a process of the Pulumi CLI. */
const PARALLEL = 8;

/** Parameters of the address of a bucket. */
const TELLING = ["endpoint", "storage_account"];

const identity = z.object({ url: z.string(), user: z.string().optional() });

interface Backend {
  /** As the CLI has it, which may hold a secret. */
  readonly address: string;
  /** For messages: its address without secrets, and as whom it was read. */
  readonly name: string;
}

/** The one that is logged in to. @throws the CLI's message. */
export async function currentBackend(): Promise<Backend> {
  const { ok, stdout, reason } = await pulumiIn(process.cwd(), undefined)(["whoami", "--json"]);
  if (!ok) throw new Error(`pulumi whoami failed: ${reason}`);
  const { success, data } = identity.safeParse(parsed(stdout));
  if (!success) throw new Error("pulumi whoami --json did not print the backend");
  // Without the parts that may hold a secret, but with those that tell backends apart.
  const [place = "", query = ""] = data.url.replace(/(?<=:\/\/)[^/]*@/, "").split(/\?(.*)/s);
  const telling = [...new URLSearchParams(query)].filter(([name]) => TELLING.includes(name));
  const url = [place, ...telling.map(([name, value]) => `${name}=${value}`)].join(" ");
  const name = withoutSecrets(
    data.user === undefined ? url : `${url} (as ${data.user})`,
    "[a backend whose address repeats a secret]",
  );
  return { address: data.url, name };
}

/** The states of all stacks. @throws if one of them is not known: it may hold anything. */
export async function allStates(progress: ProgressLine): Promise<readonly FleetState[]> {
  const stacks = await fleetStacks([], []);
  progress.begin("states read", stacks.length);
  const problems: { name: string; error: Error }[] = [];
  const states = await inParallel(PARALLEL, stacks, async (stack) => {
    const state = await reliableState(stack).catch((error: Error) => void problems.push({ name: stack.name, error }));
    progress.step();
    return state ?? [];
  });
  if (problems.length === 0) return states.flat();
  const lines = problems.map(({ name, error }) => {
    const reason = error instanceof UnfinishedError ? error.what : error.message;
    return `${name} may hold anything: ${reason.replaceAll("\n", "; ")}`;
  });
  const Same = problems.every(({ error }) => error instanceof BusyError) ? BusyError : Error;
  throw new Same(["the state of a stack is not known", ...lines].join("\n"));
}

/** @throws if any state has changed since then: it may hold by now what none held. */
export async function mustBeUnchanged(before: readonly FleetState[], progress: ProgressLine): Promise<void> {
  const texts = new Map(before.map(({ stack, state }) => [stack.name, state.text]));
  const now = await allStates(progress);
  const changed = now.filter(({ stack, state }) => texts.get(stack.name) !== state.text).map(({ stack }) => stack.name);
  const removed = [...texts.keys()].filter((name) => !now.some(({ stack }) => stack.name === name));
  const [first] = [...changed, ...removed];
  if (first !== undefined) throw new BusyError(`the state of ${first} has changed meanwhile`);
}

/** What the states name, in any place: also what a program only looks up, or another package uses. */
export class NamedInStates {
  readonly #states: readonly { name: string; text: string; entries: readonly { kind: Kind; id: string }[] }[];

  constructor(states: readonly FleetState[]) {
    this.#states = states.map(({ stack: { name }, state }) => ({
      name,
      // The CLI escapes more characters than JSON requires.
      text: nameForm(JSON.stringify(parsed(state.text))),
      entries: state.resources.flatMap(({ id = "", ...one }) => {
        const kind = kindOfEntry(one);
        return kind === undefined || id === "" ? [] : [{ kind, id }];
      }),
    }));
  }

  /** The first stack whose state contains this text. */
  stackWith(text: string): string | undefined {
    const stored = JSON.stringify(nameForm(text)).slice(1, -1);
    return this.#states.find((one) => one.text.includes(stored))?.name;
  }

  /** The first stack that holds this object. */
  stackHolding(kind: Kind, id: string): string | undefined {
    const form = objectForm(kind, id);
    const isIt = (one: { kind: Kind; id: string }): boolean => one.kind === kind && objectForm(kind, one.id) === form;
    return this.#states.find(({ entries }) => entries.some(isIt))?.name;
  }
}
