import { inspect } from "node:util";
import { Digests } from "../../../src/runtime/digests";
import { KIND_CASES } from "../../kinds";
import { DEMO, wholeIn } from "../../kinds/KindCase";
import { until } from "../../support/emulator";
import { inClear } from "../../support/engineMarks";
import { CANARY, QUICK, type State } from "../../support/harness";
import { COMPUTE, failed, NativeProtocol } from "../../support/nativeProtocol";

/* What a failed or an interrupted call leaves, and that the next one goes on with it. */

const POST = { method: "POST", path: "/projects/{project_id}/endpoints" };
const INTERRUPTED = /the wait for it was interrupted/;
const UNCHANGED = /^Could not update .*: interrupted, and nothing was changed$/;
const UNSENT = /^Could not create ComputeEndpoint \("thing"\): interrupted, and nothing was created$/;
const LARGER = { ...COMPUTE, size: 2 };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const methods = async (protocol: NativeProtocol) =>
  (await protocol.service.mutations()).map((line) => line.split(" ")[0]);

async function keptOf(work: Promise<unknown>): Promise<State> {
  const { text, kept } = await failed(work);
  if (kept === undefined) throw new Error(`nothing is kept: ${text}`);
  return kept;
}

test("no secret leaves in clear: not in a result, an error, its details or its properties, or a line of the log", async () => {
  const protocol = await NativeProtocol.start();
  const errors: unknown[] = [];
  const serverKeys: unknown[] = [];
  for (const kind of [
    "AuthIntegration",
    "EmailServer",
    "OAuthProvider",
    "AuthKeys",
    "AuthOwnershipTransfer",
  ] as const) {
    const { secretArguments, secretOutputs } = KIND_CASES[kind];
    const secrets = Object.entries(secretArguments).map(([name, holding]) => [name, holding?.(`${CANARY}-${name}`)]);
    const program = { ...wholeIn(KIND_CASES[kind], DEMO), ...Object.fromEntries(secrets) };
    const { inputs, failures } = await protocol.check(kind, program);
    expect(failures).toEqual([]);
    await protocol.create(kind, inputs, true);
    for (const method of ["POST", "PATCH"])
      await protocol.service.fault({ method, status: 400, times: 0, body: { message: JSON.stringify(inputs) } });
    await protocol.create(kind, inputs).catch((error: unknown) => errors.push(error));
    await protocol.service.clearFaults();
    const made = await protocol.create(kind, inputs);
    serverKeys.push(...secretOutputs.map((name) => made.outs[name]));
    const found = await protocol.read(kind, made);
    expect(await protocol.diff(kind, found, [inputs, found.inputs])).toBe("none");
    await protocol.read(kind, { id: made.id, outs: {} });
  }
  expect(errors.length).toBeGreaterThan(2);
  const server = await protocol.invoke("svc:index:getEmailServer", { projectId: "prj-demo" });
  expect(server).toMatchObject({ type: "standard" });
  const shown =
    inClear(protocol.left) + JSON.stringify(protocol.log) + inspect(errors, { depth: 20, showHidden: true });
  for (const secret of [CANARY, ...serverKeys]) expect(shown).not.toContain(secret);
});

test("a lost answer and failed operations: one POST, and the next call goes on with exactly what is kept", async () => {
  const protocol = await NativeProtocol.start();
  await protocol.service.fault({ ...POST, drop: "reset", effect: "done" });
  await protocol.service.fault({ operation: { action: "start_compute", status: "failed" } });
  const settings = { pgSettings: { "app.token": CANARY } };
  const created = await keptOf(protocol.create("ComputeEndpoint", { ...COMPUTE, settings }));
  expect(await methods(protocol)).toEqual(["POST"]);
  await protocol.restart();
  const found = await protocol.read("ComputeEndpoint", created);
  expect(await protocol.diff("ComputeEndpoint", found, [COMPUTE, COMPUTE])).not.toBe("none");
  const made = await protocol.update("ComputeEndpoint", created, COMPUTE);
  await protocol.service.fault({ operation: { action: "apply_config", status: "failed" } });
  const changing = await keptOf(protocol.update("ComputeEndpoint", made, LARGER));
  expect(changing.outs).toMatchObject({ __unfinished: "update", __sent: ["size"] });
  const changed = await protocol.update("ComputeEndpoint", changing, LARGER);
  expect(changed).toMatchObject({ id: created.id, outs: { size: 2 } });
  expect(changed.outs).not.toHaveProperty("__unfinished");
  await protocol.restart();
  await protocol.delete("ComputeEndpoint", changing);
  expect(await protocol.computes()).toEqual([]);
  expect(inClear(protocol.left)).not.toContain(CANARY);
});

describe("Cancel", () => {
  test.each([0, 5, 40])("%i ms after a creation has begun: it is kept, or nothing was created", async (afterMs) => {
    const protocol = await NativeProtocol.start({ activationMs: 800 });
    // The engine sends it at the end of a run, too.
    await protocol.cancel();
    const creating = failed(protocol.create("ComputeEndpoint", COMPUTE));
    await pause(afterMs);
    await Promise.all([protocol.cancel(), protocol.cancel()]);
    const { text, kept } = await creating;
    expect(text).toMatch(
      kept === undefined ? UNSENT : /^ComputeEndpoint \S+ exists, but the wait for it was int.*It is kept/,
    );
    expect(await protocol.computes()).toEqual(kept === undefined ? [] : [kept.id]);
    expect(await methods(protocol)).toEqual(kept === undefined ? [] : ["POST"]);
  });

  test("while a creation is under way: it is kept, and the next update waits on", async () => {
    const protocol = await NativeProtocol.start({ activationMs: 800 });
    await protocol.service.fault({ ...POST, delayMs: 300 });
    const creating = keptOf(protocol.create("ComputeEndpoint", COMPUTE));
    await until(
      () => methods(protocol),
      (all) => all.includes("POST"),
    );
    await protocol.cancel();
    const state = await creating;
    expect(await protocol.computes()).toEqual([state.id]);
    const again = failed(protocol.update("ComputeEndpoint", state, COMPUTE));
    await pause(30);
    await protocol.cancel();
    expect((await again).text).toMatch(INTERRUPTED);
    const { outs } = await protocol.update("ComputeEndpoint", state, COMPUTE);
    expect(outs).not.toHaveProperty("__unfinished");
    expect(await methods(protocol)).toEqual(["POST"]);
  });

  const replicas = [..."abcdefghij"].map((name) => ({ ...COMPUTE, type: "read_only", name }));

  test.each([
    ["a locked project", { status: 423 }],
    ["a locked project, refused after the interruption", { status: 423, delayMs: 300 }],
    ["the service's limit", { status: 429, headers: { "retry-after": "50" } }],
  ])("while creations wait for %s: they end soon, and nothing was created", async (_for, fault) => {
    const protocol = await NativeProtocol.start();
    await protocol.service.fault({ ...POST, ...fault, times: 1_000 });
    const creating = [COMPUTE, ...replicas].map((inputs) => failed(protocol.create("ComputeEndpoint", inputs)));
    await until(
      () => methods(protocol),
      (all) => all.length > 0,
    );
    const began = performance.now();
    await protocol.cancel();
    for (const one of await Promise.all(creating))
      expect(one).toEqual({ text: expect.stringMatching(UNSENT), kept: undefined });
    expect(performance.now() - began).toBeLessThan(5_000);
    const sent = (await methods(protocol)).length;
    await protocol.service.clearFaults();
    await pause(500);
    expect([await protocol.computes(), (await methods(protocol)).length]).toEqual([[], sent]);
    // Later calls are not affected.
    await protocol.restart();
    await protocol.create("ComputeEndpoint", COMPUTE);
  });

  test("while creations wait for the configured share of requests: only those that were sent are there", async () => {
    const protocol = await NativeProtocol.start();
    await protocol.restart({ maxRequestsPerMinute: "10" }, { client: { ...QUICK, minuteMs: 60_000 } });
    const creating = Promise.allSettled(replicas.map((inputs) => protocol.create("ComputeEndpoint", inputs)));
    await until(async () => protocol.log.some(({ message }) => message.includes("svc:maxRequestsPerMinute")), Boolean);
    await protocol.cancel();
    const ended = await creating;
    const unsent = ended.filter((one) => one.status === "rejected" && UNSENT.test(Reflect.get(one.reason, "details")));
    expect(unsent.length).toBeGreaterThan(0);
    expect(await protocol.computes()).toHaveLength(replicas.length - unsent.length);
  });

  test("while a creation waits for its digests: it ends after them, and nothing was created", async () => {
    process.env["CANCELLED_TOKEN"] = `${CANARY}-token`;
    const digests = new Digests();
    let goOn = (): void => undefined;
    const paused = new Promise<void>((resolve) => (goOn = resolve));
    const began = jest.spyOn(digests, "of").mockImplementation(() => paused.then(() => () => "digest"));
    const protocol = await NativeProtocol.start({ activationMs: 20_000 });
    await protocol.restart({}, { digests });
    const settings = { pgSettings: { "app.token": { fromEnv: "CANCELLED_TOKEN" } } };
    const creating = failed(protocol.create("ComputeEndpoint", { ...COMPUTE, settings }));
    await until(async () => began.mock.calls.length, Boolean);
    await protocol.cancel();
    goOn();
    expect((await creating).text).toMatch(UNSENT);
    expect(await methods(protocol)).toEqual([]);
    expect(inClear(protocol.left)).not.toContain(CANARY);
    delete process.env["CANCELLED_TOKEN"];
  });

  test("while an update waits or its answer is lost: only what may have been sent is kept as unfinished", async () => {
    const protocol = await NativeProtocol.start();
    const made = await protocol.create("ComputeEndpoint", COMPUTE);
    await protocol.service.fault({ method: "PATCH", status: 429, headers: { "retry-after": "1" } });
    const refused = failed(protocol.update("ComputeEndpoint", made, LARGER));
    await until(
      () => methods(protocol),
      (all) => all.includes("PATCH"),
    );
    await protocol.cancel();
    expect(await refused).toMatchObject({ text: expect.stringMatching(UNCHANGED), kept: undefined });
    await protocol.service.fault({ method: "PATCH", drop: "reset", effect: "done", delayMs: 200 });
    const changing = keptOf(protocol.update("ComputeEndpoint", made, LARGER));
    await until(
      () => methods(protocol),
      (all) => all.filter((method) => method === "PATCH").length === 2,
    );
    await protocol.cancel();
    const { id, outs } = await changing;
    expect({ id, outs }).toMatchObject({ id: made.id, outs: { __unfinished: "update", __sent: ["size"] } });
    expect((await protocol.update("ComputeEndpoint", { id, outs }, LARGER)).outs).toMatchObject({ size: 2 });
  });

  test("while a deletion loses its answer: the next one finds it gone", async () => {
    const protocol = await NativeProtocol.start();
    const made = await protocol.create("ComputeEndpoint", COMPUTE);
    await protocol.restart();
    await protocol.service.fault({ method: "DELETE", drop: "reset", effect: "done", delayMs: 200 });
    const deleting = failed(protocol.delete("ComputeEndpoint", made));
    await until(
      () => methods(protocol),
      (all) => all.includes("DELETE"),
    );
    await protocol.cancel();
    expect((await deleting).text).toMatch(/^Could not delete ComputeEndpoint/);
    await protocol.delete("ComputeEndpoint", made);
    expect(await protocol.computes()).toEqual([]);
  });
});
