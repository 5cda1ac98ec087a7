import { host } from "../../src/dynamic/host";
import type { HostedProvider } from "../../src/dynamic/hostedProvider";
import type { LogLine } from "../../src/dynamic/engineLog";
import type { Lifecycle } from "../../src/dynamic/lifecycle";
import type { Properties } from "../../src/dynamic/properties";
import { Session } from "../../src/dynamic/session";
import { toyLifecycle, type ToyArgs, type ToyOutputs, URN } from "./toy";

const ID = "toy-1";
const urn = (name: string): string => URN.replace(/toy$/, name);

/** One process, in which every toy is the same object at the service. */
function oneProcess(changes: Partial<Lifecycle<ToyArgs, ToyOutputs>> = {}) {
  const log: LogLine[] = [];
  const deleted: string[] = [];
  const session = new Session((line) => log.push(line));
  const toy = host(
    toyLifecycle({ delete: async (_call, { outs }) => void deleted.push(outs.label ?? ""), ...changes }),
    session,
  );
  const settings: Record<string, string> = { "svc:apiKey": "key", "svc:baseUrl": "http://127.0.0.1:9/api/v2" };
  void toy.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
  return { toy, deleted, said: () => log.map(({ message }) => message) };
}

const inputs = (name: string): Properties => ({ home: "a", label: name, __urn: urn(name) });
const outs = (name: string): Properties => ({ ...inputs(name), host: "h", __args: ["home", "label"], __version: 2 });

/** What the engine calls for a resource that stands in the program and in the state. */
async function declared(toy: HostedProvider, name: string, stored = outs(name)): Promise<void> {
  await toy.check(inputs(name), inputs(name));
  await toy.diff(ID, stored, inputs(name));
}

test("what another resource has created or taken over in this process is not deleted", async () => {
  const { toy, deleted, said } = oneProcess();
  await toy.create(inputs("new"));
  await toy.delete(ID, outs("old"));
  expect(deleted).toEqual([]);
  expect(said()).toEqual([`ComputeEndpoint ${ID} stays at the service: "new" holds it now`]);
});

test("nor under its own URN, which an alias may have left in the state of the old name", async () => {
  const { toy, deleted } = oneProcess();
  await toy.create(inputs("same"));
  await toy.delete(ID, outs("same"));
  expect(deleted).toEqual([]);
});

test("what was deleted before it was made anew is deleted", async () => {
  const { toy, deleted } = oneProcess();
  await toy.delete(ID, outs("same"));
  await toy.create(inputs("same"));
  expect(deleted).toEqual(["same"]);
});

test("an object that one resource gives up for another id is no second declaration of it", async () => {
  const { toy, said } = oneProcess();
  await toy.check(inputs("old"), { ...inputs("old"), region: "there" });
  await toy.diff(ID, outs("old"), { ...inputs("old"), region: "there" });
  await toy.create(inputs("new"));
  expect(said()).toEqual([]);
});

test("nor is what another resource of the program held before this process began", async () => {
  const { toy, deleted } = oneProcess();
  await declared(toy, "new");
  await toy.delete(ID, outs("old"));
  expect(deleted).toEqual([]);
});

test("nor what another resource holds although its creation did not finish", async () => {
  const { toy, deleted } = oneProcess({
    create: async (call) => {
      call.keep(ID, { host: "h" });
      throw new Error("not ready");
    },
  });
  await expect(toy.create(inputs("new"))).rejects.toThrow("not ready");
  await toy.delete(ID, outs("old"));
  expect(deleted).toEqual([]);
});

test("a resource's own object is deleted: replaced, renamed by an alias and replaced, or alone", async () => {
  const { toy, deleted } = oneProcess();
  await toy.delete(ID, outs("alone"));
  await declared(toy, "same");
  await toy.delete(ID, outs("same"));
  // By an alias the state keeps the old URN until something changes.
  await declared(toy, "later", outs("earlier"));
  await toy.delete(ID, outs("earlier"));
  expect(deleted).toEqual(["alone", "same", "earlier"]);
});

test("an update carries the object over to the URN of now", async () => {
  const { toy, deleted } = oneProcess();
  await declared(toy, "later", outs("earlier"));
  await toy.update(ID, outs("earlier"), inputs("later"));
  await toy.delete(ID, outs("later"));
  expect(deleted).toEqual(["later"]);
});

test("two resources of a program with one object: the plan says so, and neither takes it from the other", async () => {
  const { toy, deleted, said } = oneProcess();
  await declared(toy, "one");
  await declared(toy, "two");
  expect(said()).toEqual([
    `ComputeEndpoint ${ID} is held by "one" as well: they undo each other's changes. Declare it once`,
  ]);
  await toy.delete(ID, outs("two"));
  expect(deleted).toEqual([]);
});

test("a refresh and a destroy, which run no program, hold nothing", async () => {
  const { toy, deleted } = oneProcess();
  await toy.diff(ID, outs("one"), inputs("one"));
  await toy.delete(ID, outs("two"));
  expect(deleted).toEqual(["two"]);
});

test("objects inside a resource are told apart by the names that its lifecycle gives them", async () => {
  const kept: string[][] = [];
  const { toy } = oneProcess({
    holds: (_id, { label }) => (label === undefined ? [] : [...label].map((letter) => `letter ${letter}`)),
    delete: async ({ heldElsewhere }, { outs: { label } }) =>
      void kept.push([...(label ?? "")].filter((letter) => heldElsewhere(`letter ${letter}`))),
  });
  await declared(toy, "abc");
  await toy.delete("toy-2", outs("bcd"));
  expect(kept).toEqual([["b", "c"]]);
});
