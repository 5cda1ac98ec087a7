/** A creation or an update, with what the state holds if it fails. */
import { Deadline, mayHaveTakenEffect } from "../../client";
import { visible, type Properties } from "../../contract/hiddenKeys";
import { labelOf } from "../../contract/identifiers";
import { messageOf } from "../../contract/untrusted";
import type { Call, Created } from "../lifecycle";
import { checkedArgs } from "../plan/checkNews";
import type { Applied, SecretValues } from "../references";
import type { CreateRequest, Kept } from "../requests";
import type { Hosted } from "../session";
import { marksOf, toOuts, type Unfinished } from "../state";
import { Interrupted, timeoutMsOf, startCall } from "./call";
import { CallError, failure, lostInReplacement, goingOn, timeoutAdvice, keyAdvice, withoutStandIns } from "./failures";

interface Prepared<Outputs> {
  /** The digests of the values that are sent, for the state. */
  readonly applied: (id: string) => Applied;
  readonly work: () => Promise<Created<Outputs>>;
}

/** An object that the service has confirmed, with what it shows of the arguments. */
type Checkpointed<Args, Outputs> = Created<Outputs> & { readonly args: Args; readonly shown: Properties };

interface FailedChange {
  readonly thrown: unknown;
  readonly advice: string;
  readonly unfinished: Unfinished;
}

/**
 * A creation or an update (of `before`). What was checkpointed is stored, whatever fails later. A change that may have
 * taken effect marks the state as unfinished, so that the next update reads the object, or sends again what cannot be
 * read.
 */
export class ChangeCall<Args extends object, Outputs extends object> {
  readonly #verb: "create" | "update";
  readonly #taken: string[] = [];
  /** Starts with what an earlier unfinished change sent: this change continues it. */
  #sent: readonly string[] | undefined;
  #added: readonly string[];
  #checkpointed: Checkpointed<Args, Outputs> | undefined;

  constructor(
    private readonly hosted: Hosted<Args, Outputs>,
    private readonly request: CreateRequest,
    /** `mark`: what a failure leaves in the state as unfinished. */
    private readonly before?: Kept & { readonly mark: "create" | "update" },
  ) {
    this.#verb = before === undefined ? "create" : "update";
    const { __sent, __added = [] } = marksOf(before?.outs ?? {});
    this.#sent = __sent;
    this.#added = __added;
  }

  /** `prepare`: the work that must precede the first request. */
  async run(
    prepare: (call: Call<Outputs>, args: Args, values: SecretValues) => Promise<Prepared<Outputs>>,
  ): Promise<Kept> {
    const { hosted, request, before } = this;
    const verb = this.#verb;
    const { urn, news, carried } = request;
    try {
      const args = checkedArgs(hosted, news);
      const deadline = new Deadline(timeoutMsOf(request, verb));
      let isInterrupted = false;
      const endOnceStored = (): void => {
        if (isInterrupted) deadline.interrupt((before ?? this.#checkpointed) !== undefined);
      };
      const { call, values, finish } = startCall<Args, Outputs>(hosted, {
        verb,
        hasBegun: marksOf(before?.outs ?? {}).__unfinished !== undefined,
        urn,
        deadline,
        secrets: [visible(before?.outs ?? {}), news],
        onTakeOver: (object) => this.#taken.push(object),
        checkpoint: (id, outputs, shown = {}) => {
          this.#checkpointed = { id, outputs, args, shown: values.withoutValues(args, shown) };
          endOnceStored();
        },
        onInterrupt: () => {
          isInterrupted = true;
          endOnceStored();
        },
        sending: (names) => (this.#sent = [...new Set([...(this.#sent ?? []), ...names])].sort()),
        added: (names) => (this.#added = [...names].sort()),
      });
      const working = async (): Promise<Created<Outputs> & Pick<Prepared<Outputs>, "applied">> => {
        // Digests wait for a processor with those of all other resources, so the deadline pauses.
        const goOn = deadline.pause();
        const { applied, work } = await prepare(call, args, values);
        goOn();
        return { ...(await work()), applied };
      };
      const { id, outputs, applied } = await finish(working());
      this.#remember(id, { ...outputs, ...args });
      const held = { before: before?.outs ?? {}, applied: applied(id), added: this.#added };
      return { id, outs: toOuts(hosted.resource, { outputs, args, carried, ...held }) };
    } catch (error) {
      throw this.#failure(withoutStandIns(error, news));
    }
  }

  #failure(thrown: unknown): CallError {
    const { hosted, request } = this;
    if (request.urn !== undefined) hosted.session.memory.ownership.noteFailed(request.urn);
    const advice = timeoutAdvice(thrown, this.#verb, timeoutMsOf(request, this.#verb)) + keyAdvice(hosted, thrown);
    const unfinished: Unfinished = {
      __unfinished: this.before?.mark ?? this.#verb,
      ...(this.#sent && { __sent: this.#sent }),
    };
    return this.#checkpointed === undefined
      ? this.#failureWithoutObject({ thrown, advice, unfinished })
      : this.#failureWithObject(this.#checkpointed, { thrown, advice, unfinished });
  }

  /** Nothing of this call is known to exist. */
  #failureWithoutObject({ thrown, advice, unfinished }: FailedChange): CallError {
    const { hosted, before } = this;
    const { objects, plans } = hosted.session.memory;
    const { urn, carried } = this.request;
    const verb = this.#verb;
    this.#taken.forEach((object) => objects.forgetOwner(object));
    const isOpen =
      thrown instanceof Interrupted ? thrown.hasBegun && mayHaveTakenEffect(thrown.cause) : mayHaveTakenEffect(thrown);
    // With the pointer, which outs of the other protocol lack.
    const kept =
      before !== undefined && isOpen
        ? { id: before.id, outs: { ...before.outs, ...carried, ...unfinished } }
        : undefined;
    const lost = verb === "create" ? plans.lost(urn ?? "") : undefined;
    return lost === undefined
      ? failure(hosted, { verb, urn, id: before?.id, thrown, advice, kept })
      : lostInReplacement(hosted, { urn, id: lost, thrown, advice });
  }

  /** The state keeps the object, whatever failed later. */
  #failureWithObject(
    { id, outputs, args, shown }: Checkpointed<Args, Outputs>,
    { thrown, advice, unfinished }: FailedChange,
  ): CallError {
    const { hosted, before } = this;
    this.#remember(id, { ...outputs, ...args });
    const object = `${hosted.resource.kind} ${id}`;
    const [what, it] =
      before === undefined
        ? [`${object} exists, but `, "It"]
        : [`The update of ${object} did not finish: `, "The change"];
    const reason = `${what}${messageOf(thrown)}. ${it} is kept in the stack${goingOn(thrown)}.${advice}`;
    // What the program does not give is not managed, even if its value is known.
    const known = Object.entries(shown).filter(([name]) => Object.hasOwn(args, name));
    const keptArgs = { ...args, ...Object.fromEntries(known) };
    // The digests stay the earlier ones, so that the next update sends the values again.
    const held = before?.outs ?? {};
    const { __applied: applied = {} } = marksOf(held);
    const marks = { applied, unfinished, added: this.#added };
    const { carried } = this.request;
    const outs = toOuts(hosted.resource, { outputs, args: keptArgs, carried, before: held, ...marks });
    return new CallError(reason, thrown, { id, outs });
  }

  #remember(id: string, outs: object): void {
    const { resource, session } = this.hosted;
    const { urn = "" } = this.request;
    // The result of the lifecycle has its types.
    const objects = resource.objects(id, outs as Partial<Outputs & Args>);
    if (this.#verb === "update") session.memory.ownership.setStored(urn, objects);
    else {
      session.memory.ownership.noteCreated(urn);
      objects.forEach((object) => session.memory.objects.setOwner(object, urn));
      if (this.#taken.length > 0 && objects.length > 0 && (Reflect.get(outs, "adopt") ?? false) !== false)
        tellOfTakeOver(this.hosted, { id, urn });
    }
  }
}

/** The run may not look at the entry of the state that had the object until now. */
export function tellOfTakeOver<Args extends object, Outputs extends object>(
  { resource, session }: Hosted<Args, Outputs>,
  { id, urn }: Pick<CreateRequest, "urn"> & { readonly id: string },
): void {
  const message = `${resource.kind} ${id}${labelOf(urn)} was taken over: destroying it deletes the object, unless retainOnDelete is set. If an earlier entry stays in a stack, remove it with pulumi state delete '<its URN>': destroying that one deletes the object, too`;
  session.log({ severity: "info", message, urn, ephemeral: false });
}
