import { pointer } from "../../../src/contract/pointer";
import { startEmulator, type Emulator, type EmulatorOptions } from "../../../src/emulator";
import { fakeEngine } from "../../support/fakeEngine";
import { CallError, ProviderProcess, type Props } from "../../support/providerProcess";
import { Service } from "../../support/service";

jest.setTimeout(60_000);

interface Line {
  severity: number;
  message: string;
  urn: string;
  ephemeral: boolean;
}

const WARNING = 2;
const URN = "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::api";
const INPUTS: Props = {
  projectId: "prj-demo",
  branchId: "br-dev",
  size: 1,
  __provider: pointer("ComputeEndpoint"),
  __urn: URN,
};

interface Stage {
  provider: ProviderProcess;
  emulator: Emulator;
  lines: Line[];
}

const open: (() => unknown)[] = [];
let shared: Stage;
beforeAll(async () => {
  shared = await stage();
});
afterAll(async () => {
  for (const close of open.splice(0)) await close();
});

/** The shared stage, as if nothing had happened on it: a process costs a second or two. */
function cleared(): Stage {
  shared.emulator.reset();
  shared.lines.splice(0);
  return shared;
}

/** A provider process that is configured for an emulator, and an engine that records what it receives. */
async function stage({ settings = {}, ...options }: EmulatorOptions & { settings?: Props } = {}): Promise<Stage> {
  const emulator = await startEmulator({ activationMs: 40, apiKey: "canary-process-key", ...options });
  const lines: Line[] = [];
  const engine = await fakeEngine((request, reply) => {
    lines.push(request.toObject());
    reply(null);
  });
  open.push(() => emulator.close(), engine.close);
  const provider = await ProviderProcess.start(engine.address);
  await provider.configure({ "svc:apiKey": emulator.apiKey, "svc:baseUrl": emulator.baseUrl, ...settings });
  return { provider, emulator, lines };
}

const requestsAt = (emulator: Emulator): Promise<unknown[]> => new Service(emulator).requests();

const failing = async (work: Promise<unknown>): Promise<CallError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof CallError) return error;
  throw new Error("the call did not fail");
};

/** The log calls are not awaited by the provider. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 300));

test("a warning of a plan reaches the engine once on the resource's line, however often diff is asked", async () => {
  const { provider, lines } = cleared();
  const { id, outs } = await provider.create(INPUTS);
  const news = { ...INPUTS, size: 2 };
  await provider.check(INPUTS, news);
  await provider.diff(id, outs, news);
  await provider.diff(id, outs, news);
  await settled();
  const warnings = lines.filter(({ severity }) => severity === WARNING);
  expect(warnings).toEqual([
    expect.objectContaining({ urn: URN, ephemeral: false, message: expect.stringMatching(/restarts compute ep-/) }),
  ]);
});

test("a diff that no check came before, as in a refresh, warns of nothing", async () => {
  const { provider, lines } = cleared();
  const unchecked = { ...INPUTS, __urn: `${URN}-that-was-never-checked` };
  const { id, outs } = await provider.create(unchecked);
  await provider.diff(id, outs, { ...unchecked, size: 2 });
  await settled();
  expect(lines.filter(({ severity }) => severity === WARNING)).toEqual([]);
});

test("a resource whose URN is unknown or malformed never sends it to the engine", async () => {
  const { provider, lines } = cleared();
  const { id, outs } = await provider.create(INPUTS);
  for (const urn of ["04da6b54-80e4-46f7-96ec-b56ff0331ba9", "urn:pulumi:x", "api"]) {
    const news = { ...INPUTS, size: 2, __urn: urn };
    await provider.check(INPUTS, news);
    await provider.diff(id, outs, news);
  }
  await settled();
  const warnings = lines.filter(({ severity }) => severity === WARNING);
  expect(warnings.length).toBeGreaterThan(0);
  expect(new Set(warnings.map(({ urn }) => urn))).toEqual(new Set([""]));
});

test("a wait shows progress on the resource's line, and clears it at the end", async () => {
  const { provider, lines } = await stage({ activationMs: 1_500 });
  await provider.create(INPUTS);
  await settled();
  expect(lines.every(({ urn, ephemeral }) => urn === URN && ephemeral)).toBe(true);
  expect(lines[0]?.message).toMatch(/^starting, start_compute running, \d+ s$/);
  expect(lines.at(-1)?.message).toBe("");
});

test("svc:quiet silences progress and notes", async () => {
  const { provider, lines } = await stage({ activationMs: 1_500, settings: { "svc:quiet": "true" } });
  await provider.create(INPUTS);
  await settled();
  expect(lines).toEqual([]);
});

test("a plan with unknown values is checked and compared without a request", async () => {
  const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  const { provider, emulator } = cleared();
  for (const unknown of [
    { projectId: UNKNOWN },
    { size: UNKNOWN },
    { size: { min: 1, max: UNKNOWN } },
    { settings: { pgSettings: { work_mem: UNKNOWN } } },
    { restartTriggers: [UNKNOWN] },
  ]) {
    const { failures, inputs } = await provider.check({}, { ...INPUTS, ...unknown });
    expect(failures).toEqual([]);
    expect(inputs).toMatchObject(unknown);
  }
  expect(await requestsAt(emulator)).toEqual([]);
});

test("what check refuses names no property, so that the engine prints no value", async () => {
  const { provider } = cleared();
  const { failures } = await provider.check({}, { ...INPUTS, branchId: "canary-branch", size: 17.5 });
  expect(failures.map(({ property }) => property)).toEqual(["", ""]);
  expect(failures.map(({ reason }) => reason).join()).not.toContain("canary");
});

test("a refused creation is a plain error: one line, without details, stack or secret", async () => {
  const { provider } = cleared();
  const error = await failing(provider.create({ ...INPUTS, branchId: "br-main" }));
  expect(error.failure).toBeUndefined();
  expect(error.message).toMatch(
    /^Could not create ComputeEndpoint \("api"\): the branch already has a primary compute/,
  );
  expect(error.message).not.toMatch(/\n|canary|node_modules/);
});

test("a failed update after the change was accepted carries id, complete outs with the pointer, and its reason", async () => {
  const { provider, emulator } = cleared();
  const { id, outs } = await provider.create(INPUTS);
  await new Service(emulator).fault({ operation: { status: "failed", error: "no capacity" } });
  const error = await failing(provider.update(id, outs, { ...INPUTS, size: 4 }));
  expect(error.failure).toMatchObject({
    id,
    properties: { ...INPUTS, size: 4, __unfinished: "update" },
    reasons: [expect.stringMatching(/did not finish: operation \S+ \S+ failed: no capacity/)],
  });
  expect(error.failure?.properties).toHaveProperty("host");
});

test("a kind that this version does not know fails the call instead of hanging it", async () => {
  const { provider } = cleared();
  const error = await failing(provider.create({ __provider: pointer("ComputeEndpoint").replace("ComputeE", "E") }));
  expect(error.message).toMatch(/has no resource "Endpoint"/);
});

test("an engine that never answers costs no call more than a moment", async () => {
  const engine = await fakeEngine(() => undefined);
  const emulator = await startEmulator({ activationMs: 40 });
  open.push(() => emulator.close(), engine.close);
  const provider = await ProviderProcess.start(engine.address);
  await provider.configure({ "svc:apiKey": emulator.apiKey, "svc:baseUrl": emulator.baseUrl });
  const { id, outs } = await provider.create(INPUTS);
  await provider.update(id, outs, { ...INPUTS, size: 2 });
  expect(await provider.read(id, outs)).toMatchObject({ id });
});

test("calls that come at once, before anything is loaded, all find the settings", async () => {
  const { provider } = cleared();
  const made = await Promise.all(
    ["br-dev", "br-test"].map((branchId) => provider.create({ ...INPUTS, branchId, __urn: `${URN}-${branchId}` })),
  );
  expect(new Set(made.map(({ id }) => id)).size).toBe(2);
});

test("the environment fills what the engine's configuration lacks", async () => {
  const emulator = await startEmulator({ activationMs: 40 });
  open.push(() => emulator.close());
  const engine = await fakeEngine((_request, reply) => reply(null));
  open.push(engine.close);
  const provider = await ProviderProcess.start(engine.address, { SVC_API_KEY: emulator.apiKey });
  await provider.configure({ "svc:baseUrl": emulator.baseUrl });
  expect((await provider.create(INPUTS)).id).toMatch(/^prj-demo\/ep-/);
});
