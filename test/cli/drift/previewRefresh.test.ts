import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { lookedAt, type RefreshedStack } from "../../../src/cli/drift/previewRefresh";
import { BusyError, REPAIR_TYPE } from "../../../src/cli/stack/unfinished";
import { typeToken } from "../../../src/contract/pointer";
import { events, log } from "../../support/refreshes";

/**
 * Rule 8 of docs/design/rules.md, with a CLI that answers from files: from which results a check of a stack draws no
 * conclusion.
 */

const before = { ...process.env };
let folder: string;
let temporary: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-look-"));
  temporary = mkdtempSync(join(tmpdir(), "pulumi-temporary-"));
});
afterEach(() => {
  process.env = { ...before };
  rmSync(folder, { recursive: true });
  rmSync(temporary, { recursive: true });
});

/** Each export returns the next state; the last one repeats. */
const CLI = `#!/bin/sh
cd "$FOLDER"
echo "$1" >> calls
case "$1" in
  refresh) file=$(echo " $*" | sed 's/.*--event-log //; s/ .*//') && cat refresh.json > "$file"; cat refused >&2 2>/dev/null && exit 1; exit 0 ;;
  stack) cat state.json; if [ -e next/1 ]; then mv next/1 state.json; for file in next/*; do [ ! -e "$file" ] || mv "$file" "next/$(( \${file#next/} - 1 ))"; done; fi ;;
esac
`;

const api = { name: "api", declared: { projectId: "prj-demo", size: 1 } };
const other = { name: "other", declared: { projectId: "prj-demo", size: 1 } };
const urnOf = ({ name }: { name: string }): string => `urn:pulumi:dev::proj::${typeToken("ComputeEndpoint")}::${name}`;
const entry = (one: typeof api, more: object = {}) => ({
  urn: urnOf(one),
  type: typeToken("ComputeEndpoint"),
  id: "prj-demo/ep-1",
  inputs: one.declared,
  ...more,
});

interface State {
  readonly resources?: readonly object[];
  readonly pending?: readonly object[];
}

interface Scene extends State {
  /** What the state becomes, with each export. */
  readonly then?: readonly State[];
  readonly text?: string;
  readonly refused?: string;
  readonly waitSeconds?: number;
  /** What else is looked at. */
  readonly more?: () => Promise<unknown>;
}

const stateOf = ({ resources = [entry(api)], pending = [] }: State): string =>
  JSON.stringify({ deployment: { resources, pending_operations: pending } });

function look({ then = [], text, refused, waitSeconds, more, ...state }: Scene): Promise<readonly RefreshedStack[]> {
  writeFileSync(join(folder, "state.json"), stateOf(state));
  rmSync(join(folder, "next"), { recursive: true, force: true });
  mkdirSync(join(folder, "next"));
  for (const [index, one] of then.entries()) writeFileSync(join(folder, "next", String(index + 1)), stateOf(one));
  rmSync(join(folder, "calls"), { force: true });
  writeFileSync(join(folder, "refresh.json"), text ?? `${log(...events(api))}\n`);
  rmSync(join(folder, "refused"), { force: true });
  if (refused !== undefined) writeFileSync(join(folder, "refused"), refused);
  writeFileSync(join(folder, "pulumi"), CLI, { mode: 0o755 });
  Object.assign(process.env, { FOLDER: folder, TMPDIR: temporary, PATH: `${folder}${delimiter}${before["PATH"]}` });
  return lookedAt([], { withSecrets: false, waitSeconds }, async (stacks) => {
    await more?.();
    return stacks;
  });
}

const calls = (): string[] => readFileSync(join(folder, "calls"), "utf8").trim().split("\n");

test("a refresh that reports each resource is accepted, and leaves no file", async () => {
  expect((await look({})).flatMap(({ resources }) => resources).map(({ urn }) => urn)).toEqual([urnOf(api)]);
  // A resource that is only looked up, and one that a replacement has deleted, need no result.
  const looked = entry(other, { inputs: {} });
  expect((await look({ resources: [entry(api), looked] }))[0]?.resources).toHaveLength(1);
  const unreplaced = entry(other, { pendingReplacement: true });
  expect((await look({ resources: [entry(api), unreplaced] }))[0]?.resources).toHaveLength(1);
  expect(readdirSync(temporary)).toEqual([]);
});

test("a resource of the state that the refresh does not report is an error", async () => {
  await expect(look({ resources: [entry(api), entry(other)] })).rejects.toThrow(
    /did not report what it found for "other"/,
  );
  await expect(look({ resources: [entry(api), entry(api, { delete: true })] })).rejects.toThrow(/found for "api"/);
  const native = { ...entry(other), type: "svc:index:ComputeEndpoint" };
  await expect(look({ resources: [entry(api), native] })).rejects.toThrow(/found for "other"/);
});

test("events that end too early fail it with a message, also in the middle of a line", async () => {
  const whole = log(...events(api));
  const early = /the event log of pulumi refresh is incomplete: check whether the disk for temporary files is full/;
  for (const length of [0, 40, whole.indexOf("\n") + 1, whole.indexOf("summaryEvent")])
    await expect(look({ text: whole.slice(0, length) })).rejects.toThrow(early);
  expect(readdirSync(temporary)).toEqual([]);
});

test("an update that runs or was interrupted is reported with one message, whatever shows it", async () => {
  const text = (what: string): RegExp =>
    new RegExp(
      `^an update of the stack is running, or was interrupted: ${what}\\. Wait for its end, for example with --wait 600\\. If its process was killed, run pulumi cancel, then pulumi up --refresh, and `,
    );
  const pending = [{ type: "updating", resource: { urn: urnOf(api) } }];
  await expect(look({ pending })).rejects.toThrow(text('its change of "api" has not ended'));
  const mark = { urn: `urn:pulumi:dev::proj::${REPAIR_TYPE}::interrupted-repair`, type: REPAIR_TYPE };
  await expect(look({ resources: [entry(api), mark] })).rejects.toThrow(text("a repair has not ended"));
  // One that holds what the same repair needs.
  const whole = { ...mark, inputs: { before: "[secret]" } };
  await expect(look({ resources: [entry(api), whole] })).rejects.toThrow(
    /a repair has not ended\. Wait .* run pulumi cancel if the stack is locked, and then the same pulumi-svc drift --repair, which finishes it and deploys nothing else$/,
  );
  for (const refused of [
    "error: the stack is currently locked by 1 lock(s)",
    "error: [409] Conflict: Another update is currently in progress.",
  ])
    await expect(look({ refused })).rejects.toThrow(text("it has locked the stack"));
});

const PENDING = { pending: [{ type: "updating", resource: { urn: urnOf(api) } }] };
const CHANGED = { resources: [entry(api, { modified: "later" })] };
const ofUpdate = /^an update of the stack is running, or was interrupted: /;

test.each([
  ["had begun before it, and has ended meanwhile", { ...PENDING, then: [{}] }, ["stack"]],
  ["began meanwhile", { then: [PENDING] }, ["stack", "refresh", "stack"]],
  ["began and ended meanwhile", { then: [CHANGED] }, ["stack", "refresh", "stack"]],
] as const)("a check during an update that %s has no result", async (_when, scene, expected) => {
  await expect(look(scene)).rejects.toThrow(ofUpdate);
  await expect(look(scene)).rejects.toBeInstanceOf(BusyError);
  expect(calls()).toEqual(expected);
});

test("what else is looked at is looked at before the state is compared", async () => {
  let isLookedAt = false;
  const more = async (): Promise<void> => {
    expect(calls()).toEqual(["stack", "refresh"]);
    writeFileSync(join(folder, "state.json"), stateOf(CHANGED));
    isLookedAt = await Promise.resolve(true);
  };
  await expect(look({ more })).rejects.toThrow(/it changed the state while this command read it/);
  expect(isLookedAt).toBe(true);
});

test("a resource of ours whose kind this version lacks was not looked at", async () => {
  const type = typeToken("ComputeEndpoint").replace("ComputeEndpoint", "Future");
  const future = entry(api, { urn: `urn:pulumi:dev::proj::${type}::later`, type });
  await expect(look({ resources: [entry(api), future] })).rejects.toThrow(/did not report what it found for "later"/);
  const component = { ...future, type: "svc:index:Future", custom: false };
  await expect(look({ resources: [entry(api), component] })).resolves.toHaveLength(1);
});

test("a look that fails beside an update fails because of it, and any other one in its own words", async () => {
  const refused = "error: ComputeEndpoint is locked";
  await expect(look({ refused, then: [CHANGED] })).rejects.toThrow(ofUpdate);
  await expect(look({ refused })).rejects.toThrow(/^pulumi refresh failed: ComputeEndpoint is locked/);
  const keys = "error: the key is wrong\nerror: the key is wrong. It comes from SVC_API_KEY";
  await expect(look({ refused: keys })).rejects.toThrow(/the key is wrong\. It comes from SVC_API_KEY \(and 1 more\)$/);
  const gone = () => Promise.reject(new Error("the list cannot be read"));
  await expect(look({ more: gone, then: [PENDING] })).rejects.toThrow(ofUpdate);
  await expect(look({ more: gone })).rejects.toThrow(/^the list cannot be read$/);
});

test("--wait looks again until nobody changes the stack, says so once, and refreshes nothing until then", async () => {
  let said = "";
  jest.spyOn(process.stderr, "write").mockImplementation((text) => (said += String(text)) !== "");
  try {
    const stacks = await look({ ...PENDING, then: [PENDING, CHANGED], waitSeconds: 600 });
    expect(stacks.map(({ state }) => state.text)).toEqual([stateOf(CHANGED)]);
    expect(calls()).toEqual(["stack", "stack", "stack", "refresh", "stack"]);
    expect(said).toBe(
      'pulumi-svc: an update of the stack is running, or was interrupted: its change of "api" has not ended. Waiting for its end, 600 s at most\n',
    );
    await expect(look({ ...PENDING, waitSeconds: 1 })).rejects.toThrow(ofUpdate);
    // Waiting is for an update: any other failure ends it at once.
    await expect(look({ refused: "error: no way", waitSeconds: 600 })).rejects.toThrow(/no way/);
  } finally {
    jest.restoreAllMocks();
  }
});
