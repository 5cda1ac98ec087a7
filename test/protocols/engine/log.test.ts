import { engineLog, loggableUrn } from "../../../src/protocols/engine/log";
import type { LogLine } from "../../../src/runtime/progress";
import { fakeEngine } from "../../support/fakeEngine";
import { URN } from "../../support/toy";

const line = (changes: Partial<LogLine> = {}): LogLine => ({
  severity: "info",
  message: "waiting",
  urn: URN,
  ephemeral: true,
  ...changes,
});

const until = async (condition: () => boolean) => {
  const end = Date.now() + 10_000;
  while (!condition() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
};

test("a line reaches the engine with its severity, URN and whether it is progress", async () => {
  const seen: object[] = [];
  const { address, close } = await fakeEngine((request, reply) => {
    seen.push(request.toObject());
    reply(null);
  });
  const log = engineLog(address);
  log(line());
  log(line({ severity: "warning", message: "mind", ephemeral: false }));
  await until(() => seen.length === 2);
  close();
  expect(seen).toEqual([
    { severity: 1, message: "waiting", urn: URN, ephemeral: true, streamid: 0 },
    { severity: 2, message: "mind", urn: URN, ephemeral: false, streamid: 0 },
  ]);
});

test("after a first failure the process stays silent", async () => {
  let calls = 0;
  const { address, close } = await fakeEngine((_request, reply) => {
    calls += 1;
    reply(new Error("no"));
  });
  const log = engineLog(address);
  log(line());
  await until(() => calls === 1);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  log(line());
  await new Promise((resolve) => setTimeout(resolve, 200));
  close();
  expect(calls).toBe(1);
});

test.each([
  ["no address", undefined],
  ["a word", "garbage"],
  ["an option", "--port=1"],
  ["another host", "evil.example:1"],
])("%s in place of the engine's address is silence, not an error", (_what, address) => {
  expect(() => engineLog(address)(line())).not.toThrow();
});

test.each([
  ["undefined", undefined, ""],
  ["the marker of an unknown value", "04da6b54-80e4-46f7-96ec-b56ff0331ba9", ""],
  ["a text that is no URN", "urn:pulumi:x", ""],
  ["one without a type", "urn:pulumi:dev::proj::::name", ""],
  ["a well-formed one", URN, URN],
])("a URN that would crash the CLI is left out: %s", (_what, urn, expected) => {
  expect(loggableUrn(urn)).toBe(expected);
});
