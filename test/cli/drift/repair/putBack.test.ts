import { putBack } from "../../../../src/cli/drift/repair/putBack";
import type { Pulumi } from "../../../../src/cli/stack/pulumi";
import { StackState } from "../../../../src/cli/stack/state";
import { REPAIR_TYPE } from "../../../../src/cli/stack/unfinished";

const deployed = (urn: string, more: object = {}) => ({ urn, type: "t", id: "1", inputs: { size: 1 }, ...more });
const found = (urn: string, more: object = {}) => deployed(urn, { inputs: { size: 2 }, ...more });

const textOf = (resources: object[], more: object = {}): string =>
  JSON.stringify({ version: 3, deployment: { manifest: { time: "then" }, resources, ...more } });

/** What is imported, if anything is. */
async function restored(before: object[], after: object[], more: object = {}, isDone = false): Promise<unknown> {
  let imported: unknown;
  const pulumi: Pulumi = (args, { input } = {}) => {
    if (args[1] === "import") imported = JSON.parse(input ?? "");
    return Promise.resolve({
      ok: true,
      stdout: args[1] === "export" ? textOf(after, more) : "",
      errors: [],
      reason: "",
    });
  };
  await putBack(pulumi, { before: new StackState(textOf(before)), targets: ["a", "b"], isDone });
  return imported;
}

const importOf = (...resources: object[]) => JSON.parse(textOf(resources)) as unknown;

test("a state that holds what was deployed is left alone", async () => {
  expect(await restored([deployed("a"), deployed("other")], [deployed("a"), deployed("other")])).toBeUndefined();
});

test("found inputs, a missing entry and what others lost by it are as before; what was repaired stays", async () => {
  const other = deployed("other", { dependencies: ["a"], propertyDependencies: { host: ["a"] } });
  const repaired = deployed("b", { outputs: { new: true } });
  const after = [repaired, deployed("other", { dependencies: [], propertyDependencies: {} })];
  expect(await restored([deployed("a"), deployed("b"), other], after)).toEqual(
    importOf(deployed("a"), repaired, other),
  );
  expect(await restored([deployed("a"), deployed("b")], [found("a"), found("b")])).toEqual(
    importOf(deployed("a"), deployed("b")),
  );
});

test("an object that was created, and what a replacement has left, are kept", async () => {
  const created = found("a", { id: "2" });
  const old = found("a", { delete: true });
  expect(await restored([deployed("a"), deployed("b")], [created, found("b"), old])).toEqual(
    importOf(created, deployed("b"), old),
  );
  const half = found("a", { pendingReplacement: true });
  expect(await restored([deployed("a")], [half])).toEqual(importOf(deployed("a", { pendingReplacement: true })));
});

test("the mark of a repair goes, also where nothing else has changed", async () => {
  const mark = { urn: "m", type: REPAIR_TYPE };
  expect(await restored([deployed("a")], [deployed("a"), mark])).toEqual(importOf(deployed("a")));
  expect(await restored([deployed("a"), deployed("b")], [found("a"), mark], {})).toEqual(
    importOf(deployed("a"), deployed("b")),
  );
});

test("a leftover that is deleted by now does not come back", async () => {
  const leftover = deployed("a", { delete: true, id: "0" });
  expect(await restored([deployed("a"), deployed("b"), leftover], [deployed("a"), found("b")])).toEqual(
    importOf(deployed("a"), deployed("b")),
  );
});

test("nothing is imported beside operations that did not end, and a refused import says why", async () => {
  const pending = { pending_operations: [{ type: "creating", resource: { urn: "c" } }] };
  await expect(restored([deployed("a")], [found("a")], pending)).rejects.toThrow(/operations that did not end/);
  const pulumi: Pulumi = (args) =>
    Promise.resolve({ ok: args[1] === "export", stdout: textOf([found("a")]), errors: [], reason: "it is locked" });
  await expect(
    putBack(pulumi, { before: new StackState(textOf([deployed("a")])), targets: ["a"], isDone: false }),
  ).rejects.toThrow("it is locked");
});

test("nothing is imported over what somebody else has deployed or deleted since", async () => {
  const before = [deployed("a"), deployed("other")];
  const theirs = /changed meanwhile/;
  await expect(restored(before, [found("a"), deployed("other"), deployed("new")])).rejects.toThrow(theirs);
  await expect(restored(before, [found("a"), found("other")])).rejects.toThrow(theirs);
  await expect(restored(before, [found("a")])).rejects.toThrow(theirs);
  await expect(restored(before, [found("a"), deployed("other", { outputs: { its: 2 } })])).rejects.toThrow(theirs);
});

test("after a repair that is done only what others lost is as before", async () => {
  const other = deployed("other", { parent: "a", dependencies: ["a"], deletedWith: "a" });
  const ignoring = found("b");
  const created = deployed("a", { id: "2" });
  const after = [ignoring, created, deployed("other", { dependencies: [] })];
  expect(await restored([deployed("a"), deployed("b"), other], after, {}, true)).toEqual(
    importOf(created, ignoring, other),
  );
});
