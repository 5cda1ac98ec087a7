import { begunIn, repairMark } from "../../../../src/cli/drift/repair/mark";
import { resume } from "../../../../src/cli/drift/repair/resume";
import type { Pulumi } from "../../../../src/cli/stack/pulumi";
import { StackState } from "../../../../src/cli/stack/state";
import { BusyError, REPAIR_TYPE, UnfinishedError } from "../../../../src/cli/stack/unfinished";

/** What a repair that was cut off left. What the engine does with it: test/engine/cutOff.test.ts. */

const URN = "urn:pulumi:dev::proj::t::a";
const deployed = (urn: string, more: object = {}) => ({ urn, type: "t", id: "1", inputs: { size: 1 }, ...more });
const found = (urn: string) => deployed(urn, { inputs: { size: 2 } });
const textOf = (resources: object[], operations: object[] = []): string =>
  JSON.stringify({ version: 3, deployment: { resources, pending_operations: operations } });

const BEFORE = [deployed(URN), deployed("other")];
const begun = { targets: [URN], before: new StackState(textOf(BEFORE)) };
const { urn, type, inputs } = repairMark(begun);
const MARK = { urn, type, inputs };
const OURS = { kind: "update", message: "pulumi-svc drift --repair" };

interface Scene {
  readonly now?: object[];
  readonly operations?: object[];
  readonly history?: object[] | string;
  readonly refused?: string;
}

/** What is imported, if anything is, and what is said of it. */
async function resumed({ now = [found(URN), deployed("other"), MARK], operations, history = [OURS], refused }: Scene) {
  const text = textOf(now, operations);
  let imported: unknown;
  const pulumi: Pulumi = async ([, command], { input = "" } = {}) => {
    if (command === "history")
      return typeof history === "string"
        ? { ok: false, stdout: "", errors: [], reason: history }
        : { ok: true, stdout: JSON.stringify(history), errors: [], reason: "" };
    if (command === "import" && refused !== undefined) return { ok: false, stdout: "", errors: [], reason: refused };
    if (command === "import") imported = (JSON.parse(input) as { deployment: { resources: object[] } }).deployment;
    return { ok: true, stdout: text, errors: [], reason: "" };
  };
  let said = "";
  const spy = jest.spyOn(process.stderr, "write").mockImplementation((line) => (said += String(line)) !== "");
  try {
    await resume(pulumi, new StackState(text));
  } finally {
    spy.mockRestore();
  }
  return { imported, said };
}

test("the mark holds what was deployed and which resources it was about, as one secret", () => {
  expect(Object.keys(inputs ?? {})).toEqual(["before"]);
  expect(JSON.stringify({ ...MARK, inputs: undefined })).not.toContain("size");
  expect(begunIn(new StackState(textOf([MARK])))).toEqual(begun);
  expect(begunIn(new StackState(textOf(BEFORE)))).toBeUndefined();
  expect(begunIn(new StackState(textOf([{ urn, type: REPAIR_TYPE }])))).toBeUndefined();
});

test("what was deployed is back, and the mark is gone, with a line", async () => {
  const { imported, said } = await resumed({});
  expect(imported).toMatchObject({ resources: BEFORE });
  expect(said).toBe(
    "pulumi-svc: a repair of this stack was cut off: the state holds again what was deployed before it, and what it has repaired\n",
  );
  // A change that did not end is of an object that the state has.
  const operations = [{ type: "updating", resource: { urn: URN } }];
  expect((await resumed({ operations })).imported).toMatchObject({ resources: BEFORE });
});

test("a refresh in between deploys nothing", async () => {
  const history = [{ kind: "refresh", message: "" }, OURS, { kind: "update", message: "theirs" }];
  expect((await resumed({ history })).imported).toMatchObject({ resources: BEFORE });
});

test("nothing is brought back if somebody may have deployed something since", async () => {
  const words = (why: string): RegExp =>
    new RegExp(`it is not known whether somebody has deployed something since: ${why}\\. Run pulumi up --refresh, `);
  for (const theirs of [
    { kind: "update", message: "theirs" },
    { kind: "import", message: OURS.message },
  ])
    await expect(resumed({ history: [theirs, OURS] })).rejects.toThrow(words("the last update .* is another one"));
  await expect(resumed({ history: [] })).rejects.toThrow(words("the history of the stack does not show it"));
  await expect(resumed({ history: "no access" })).rejects.toThrow(words("pulumi stack history failed: no access"));
  // Before its refresh has stored anything, there is nothing to bring back.
  const { imported } = await resumed({ now: [...BEFORE, MARK], history: [] });
  expect(imported).toMatchObject({ resources: BEFORE });
});

test("a creation that was cut off, a lock, and another change of the state are in the way, each with the way out", async () => {
  const operations = [{ type: "creating", resource: { urn: URN } }];
  const creating = resumed({ operations });
  await expect(creating).rejects.toBeInstanceOf(UnfinishedError);
  await expect(creating).rejects.toThrow(
    /its creation of "a" has not ended\. .*run pulumi refresh --clear-pending-creates --preview-only, and then the same pulumi-svc drift --repair$/,
  );
  const locked = resumed({ refused: "could not import deployment: the stack is currently locked by 1 lock(s)" });
  await expect(locked).rejects.toBeInstanceOf(UnfinishedError);
  await expect(locked).rejects.toThrow(/it has locked the stack\. .*pulumi cancel, and then the same/);
  const changed = resumed({ now: [found(URN), found("other"), MARK] });
  await expect(changed).rejects.toBeInstanceOf(BusyError);
  await expect(changed).rejects.toThrow(/cannot be restored: it has changed meanwhile\. Run pulumi up --refresh, /);
  const others = [{ type: "updating", resource: { urn: "urn:pulumi:dev::proj::t::other" } }];
  await expect(resumed({ operations: others })).rejects.toThrow(/operations that did not end: "other"/);
});

test("the mark of an older version is left to the message", async () => {
  expect(await resumed({ now: [...BEFORE, { urn, type: REPAIR_TYPE }] })).toEqual({ imported: undefined, said: "" });
});
