import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { previewRefresh } from "../../../src/cli/drift/previewRefresh";
import { REPAIR_TYPE } from "../../../src/cli/stack/unfinished";
import { typeToken } from "../../../src/contract/pointer";
import { events, log } from "../../support/refreshes";

/** Rule 8 of docs/design/rules.md, with a CLI that answers from files: what a look at a stack refuses to conclude from. */

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

const CLI = `#!/bin/sh
cd "$FOLDER"
case "$1" in
  refresh) file=$(echo " $*" | sed 's/.*--event-log //; s/ .*//') && cat refresh.json > "$file"; cat refused >&2 2>/dev/null && exit 1; exit 0 ;;
  stack) cat state.json ;;
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

interface Scene {
  readonly resources?: readonly object[];
  readonly pending?: readonly object[];
  readonly text?: string;
  readonly refused?: string;
}

function look({
  resources = [entry(api)],
  pending = [],
  text,
  refused,
}: Scene): Promise<{ resources: readonly { urn: string }[] }> {
  const deployment = { resources, pending_operations: pending };
  writeFileSync(join(folder, "state.json"), JSON.stringify({ deployment }));
  writeFileSync(join(folder, "refresh.json"), text ?? `${log(...events(api))}\n`);
  if (refused !== undefined) writeFileSync(join(folder, "refused"), refused);
  writeFileSync(join(folder, "pulumi"), CLI, { mode: 0o755 });
  const PATH = `${folder}${delimiter}${process.env["PATH"]}`;
  Object.assign(process.env, { FOLDER: folder, TMPDIR: temporary, PATH });
  return previewRefresh(undefined, false);
}

test("a refresh that tells of each resource counts, and leaves no file", async () => {
  expect((await look({})).resources.map(({ urn }) => urn)).toEqual([urnOf(api)]);
  // What is only looked up, and what a replacement has deleted, need no result.
  const looked = entry(other, { inputs: {} });
  expect((await look({ resources: [entry(api), looked] })).resources).toHaveLength(1);
  const unreplaced = entry(other, { pendingReplacement: true });
  expect((await look({ resources: [entry(api), unreplaced] })).resources).toHaveLength(1);
  expect(readdirSync(temporary)).toEqual([]);
});

test("a resource of the state that the refresh does not tell of is no peace", async () => {
  await expect(look({ resources: [entry(api), entry(other)] })).rejects.toThrow(
    /did not tell what it found of "other"/,
  );
  await expect(look({ resources: [entry(api), entry(api, { delete: true })] })).rejects.toThrow(/found of "api"/);
});

test("events that end too early end it in words, also in the middle of a line", async () => {
  const whole = log(...events(api));
  const early = /the events of pulumi refresh end too early: is the disk of the temporary files full/;
  for (const length of [0, 40, whole.indexOf("\n") + 1, whole.indexOf("summaryEvent")])
    await expect(look({ text: whole.slice(0, length) })).rejects.toThrow(early);
  expect(readdirSync(temporary)).toEqual([]);
});

test("an update that runs or was cut off is told in one text, whatever tells of it", async () => {
  const text = (what: string): RegExp =>
    new RegExp(
      `^an update of the stack is running, or was interrupted: ${what}\\. Wait for its end\\. If its process was killed, run pulumi cancel, then pulumi up --refresh, and `,
    );
  const pending = [{ type: "updating", resource: { urn: urnOf(api) } }];
  await expect(look({ pending })).rejects.toThrow(text('its change of "api" has not ended'));
  const mark = { urn: `urn:pulumi:dev::proj::${REPAIR_TYPE}::interrupted-repair`, type: REPAIR_TYPE };
  await expect(look({ resources: [entry(api), mark] })).rejects.toThrow(text("a repair has not ended"));
  for (const refused of [
    "error: the stack is currently locked by 1 lock(s)",
    "error: [409] Conflict: Another update is currently in progress.",
  ])
    await expect(look({ refused })).rejects.toThrow(text("it has locked the stack"));
});
