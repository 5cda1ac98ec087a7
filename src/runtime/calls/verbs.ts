/** Creations, updates and reads; deletions are in deletion.ts. */
import { Deadline, Gone } from "../../client";
import { visible, type Properties } from "../../contract/hiddenKeys";
import { idProblem } from "../../contract/objectIds";
import { sameJson } from "../arguments";
import { echoOf } from "../echo";
import type { Stored } from "../lifecycle";
import { isOfProtectionAlone, withoutProtection } from "../protection";
import { digestsOf, withoutStoredValues } from "../references";
import type { CreateRequest, Kept, ReadRequest, ReadResult, UpdateRequest } from "../requests";
import type { Hosted } from "../session";
import { compareWithValues, marksOf, refuseEdited, storedFrom, toOuts } from "../state";
import { timeoutMsOf, digesting, startCall } from "./call";
import { ChangeCall } from "./changeCall";
import { failure, readTimeoutAdvice, keyAdvice } from "./failures";

export async function create<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: CreateRequest,
): Promise<Kept> {
  const { resource } = hosted;
  return new ChangeCall(hosted, request).run(async (call, args, values) => {
    // All of them are sent, or compared with the object that is taken over.
    values.requireAll(args);
    return {
      applied: await digestsOf({ ...digesting(hosted), values }, args, {}),
      work: () => resource.create(call, args),
    };
  });
}

/** Changes nothing that another resource of the program has taken over. */
export async function update<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: UpdateRequest,
): Promise<Properties> {
  const { resource, session } = hosted;
  const { urn = "", id, outs } = request;
  const stored = storedFrom(resource, id, outs);
  const mark = continuesCreation(hosted, request, stored) ? "create" : "update";
  const updated = await new ChangeCall(hosted, request, { id, outs, mark }).run(async (call, args, values) => {
    refuseEdited(resource, outs);
    const objects = resource.objects(id, stored.outs);
    const beforeChange = (): void => session.memory.ownership.checkNotTakenOver(objects, urn);
    beforeChange();
    const sending: typeof call.sending = (names) => {
      beforeChange();
      call.sending(names);
    };
    const about = { urn, outs, news: args as Properties, values };
    const { changes, needed, compared, applied } = await compareWithValues(hosted, stored, about);
    values.requireAll(args, needed, compared.ignored);
    return {
      applied: await digestsOf({ ...digesting(hosted), values }, args, applied),
      work: async () => ({
        id,
        outputs:
          isOfProtectionAlone(resource.args, changes) && stored.unfinished === false
            ? // The result of a lifecycle, with the arguments.
              (withoutProtection(resource.args, stored.outs) as Outputs)
            : await resource.update({ ...call, sending }, stored, args, changes),
      }),
    };
  });
  return updated.outs;
}

/** The program has not been edited since a creation failed. The engine keeps the inputs of the creation. */
function continuesCreation<Args extends object, Outputs extends object>(
  { session }: Hosted<Args, Outputs>,
  { urn = "", news }: UpdateRequest,
  { unfinished }: Stored<Args, Outputs>,
): boolean {
  const oldInputs = session.memory.claims.checked.get(urn)?.oldInputs;
  return unfinished === "create" && oldInputs !== undefined && sameJson(visible(oldInputs), visible(news));
}

/** Undefined if the object is gone. */
export async function read<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: ReadRequest,
): Promise<ReadResult | undefined> {
  const { resource, session } = hosted;
  const { urn, id, outs, carried } = request;
  const deadline = Deadline.ofRead(timeoutMsOf(request, "read"));
  const marks = marksOf(outs);
  const { __args, __version, __unfinished, __sent, __applied: applied = {} } = marks;
  try {
    // A look-up, or an import: somebody wrote it.
    const problem = __version === undefined && resource.id !== undefined ? idProblem(resource.id, id) : undefined;
    if (problem !== undefined) throw new Error(problem);
    const stored = storedFrom(resource, id, outs);
    let { added } = stored;
    const noteAdded = (names: readonly string[]): void => void (added = names);
    const options = { verb: "read", urn, deadline, secrets: [stored.outs], added: noteAdded } as const;
    const { call, finish } = startCall(hosted, options);
    const observed = await finish(resource.read(call, stored));
    if (observed instanceof Gone) {
      // Without a stored version it is a lookup (`get`): an empty result would become a resource without outputs.
      if (__version === undefined) throw new Error("it does not exist");
      return undefined;
    }
    // A resource that is only looked up (`get`) has no managed arguments and declares nothing.
    if (urn !== undefined && __args !== undefined) {
      // What cannot be read back keeps its stored value; the types are those of the arguments.
      const shown = visible({ ...stored.outs, ...observed.args }) as Partial<Args>;
      const claims = resource.declares?.(shown, call.authProvider, new Set(Object.keys(shown)));
      session.memory.claims.setRefreshed(urn, claims ?? []);
    }
    const object = { kind: resource.kind, id };
    const hiding = { object, outs: stored.outs as Properties, applied, found: observed.args };
    const shownArgs = await withoutStoredValues(digesting(hosted), hiding);
    // Overrides an output of the same name, even with `undefined`: a refresh found it unset.
    const args = echoOf(resource.args, { managed: __args, stored: stored.outs, observed: shownArgs });
    const unfinished = observed.ready ? {} : { ...(__unfinished && { __unfinished }), ...(__sent && { __sent }) };
    const { outputs } = observed;
    const found = toOuts(resource, { outputs, args, carried, before: outs, applied, added, unfinished });
    // A resource that is only looked up has no managed arguments.
    const { __args: _all, ...lookedUp } = found;
    return { outs: __args === undefined ? lookedUp : { ...found, __args }, args };
  } catch (thrown) {
    const advice = readTimeoutAdvice(thrown, __version !== undefined) + keyAdvice(hosted, thrown, marks);
    throw failure(hosted, { verb: "read", urn, id, thrown, advice });
  }
}
