import { CheckRequest, DiffRequest, ReadRequest } from "@pulumi/pulumi/proto/provider_pb";
import { inClear, asSecret } from "../../support/engineMarks";
import { CANARY, MISBEHAVIOURS, UNKNOWN } from "../../support/harness";
import { COMPUTE, failed, NativeProtocol } from "../../support/nativeProtocol";

/* What the engine or a program may send, down to the malformed. */

const DYNAMIC = {
  __provider: "pointer",
  __urn: "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::thing",
  __timeouts: { create: 5 },
};

test("a check names each problem once, with its path, and keeps what is known", async () => {
  const protocol = await NativeProtocol.start();
  const odd = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`odd${index}`, index]));
  const own: Record<string, unknown> = JSON.parse(
    '{ "__proto__": { "a": 1 }, "__x": 1, "constructor": 1, "name": null }',
  );
  const { inputs, failures } = await protocol.check("ComputeEndpoint", {
    projectId: "prj-demo",
    size: "1",
    ...odd,
    ...own,
  });
  expect(inputs).toEqual({ projectId: "prj-demo", size: "1" });
  const paths = failures.map((reason) => reason.split(":")[0]);
  expect(paths.sort()).toEqual([...Object.keys(odd), "branchId", "constructor", "size"].sort());
  expect(failures.find((one) => one.startsWith("size"))).toMatch(/must be a number .*not the string "1"/);
});

test("a request without properties, or with an unknown type or function, fails in words", async () => {
  const protocol = await NativeProtocol.start();
  const read = new ReadRequest();
  expect((await failed(protocol.call("read", read))).text).toMatch(/has no resource type {2}\(\)/);
  read.setType("svc:index:ComputeEndpoint");
  expect((await failed(protocol.call("read", read))).text).toMatch(/the id must have the form/);
  const diff = new DiffRequest();
  diff.setType("svc:index:ComputeEndpoint");
  await protocol.call("diff", diff);
  await protocol.call("checkConfig", new CheckRequest());
  expect((await failed(protocol.create("ComputeEndpoint", {}))).text).toMatch(
    /projectId: is required; branchId: is required/,
  );
  expect((await failed(protocol.create("Later", {}))).text).toMatch(
    /^pulumi-svc \S+ has no resource type svc:index:Later/,
  );
  expect((await failed(protocol.invoke("svc:index:getLater", {}))).text).toMatch(
    /has no function "svc:index:getLater"/,
  );
  // Cut in the middle of a character, which gRPC refuses with an error of its own.
  const long = await failed(protocol.invoke(`${"x".repeat(997)}${"😀".repeat(1_000)}`, {}));
  expect(long.text).toMatch(/^pulumi-svc has no function "x+.*…$/u);
  await protocol.check("ComputeEndpoint", COMPUTE);
});

test("settings: as JSON or as its text, marked, odd, unknown and missing", async () => {
  const protocol = await NativeProtocol.start();
  const { apiKey } = protocol.service.emulator;
  const news = { apiKey, baseUrl: null, whatever: [1] };
  expect(await protocol.checkConfig(news)).toEqual(news);
  await protocol.checkConfig({ apiKey: UNKNOWN });
  expect(protocol.left.at(-1)).toEqual({ apiKey: UNKNOWN });
  const changed = new DiffRequest();
  await protocol.call("diffConfig", changed);
  for (const value of [true, "true", "1"]) {
    await protocol.restart({ apiKey: asSecret(apiKey), strictPlan: value, maxRequestsPerMinute: "700" });
    expect((await protocol.check("ComputeEndpoint", COMPUTE)).failures).toEqual([]);
    const plan = failed(protocol.create("ComputeEndpoint", { ...COMPUTE, projectId: "prj-none" }, true));
    expect((await plan).text).toMatch(/^project prj-none does not exist/);
  }
  await protocol.configure({ apiKey: {}, baseUrl: [], quiet: "yes", strictPlan: 7 });
  const { failures } = await protocol.check("ComputeEndpoint", COMPUTE);
  expect(failures.join("\n")).toMatch(/svc:apiKey .*\n.*base URL.*\nsvc:quiet .*\nsvc:strictPlan .*not "7"/);
  await protocol.configure({});
  expect((await failed(protocol.create("ComputeEndpoint", COMPUTE))).text).toMatch(/no API key: .*; no base URL: /);
  expect(inClear(protocol.left)).not.toContain(CANARY);
});

test("a preview with unknown values sends nothing that changes something, and offline nothing at all", async () => {
  const protocol = await NativeProtocol.start();
  const made = await protocol.create("ComputeEndpoint", COMPUTE);
  await protocol.service.clearRequests();
  const unknowns = [
    { projectId: UNKNOWN, branchId: UNKNOWN, size: UNKNOWN },
    { ...COMPUTE, branchId: UNKNOWN },
    { ...COMPUTE, size: { min: UNKNOWN, max: 2 } },
    { ...COMPUTE, settings: { pgSettings: { work_mem: UNKNOWN } } },
  ];
  for (const offlinePlan of ["false", "1"]) {
    await protocol.restart({ offlinePlan });
    for (const news of unknowns) {
      expect(await protocol.check("ComputeEndpoint", news)).toEqual({ inputs: news, failures: [] });
      expect((await protocol.create("ComputeEndpoint", news, true)).outs).toEqual(news);
      await protocol.diff("ComputeEndpoint", made, [COMPUTE, news]);
      const { outs } = await protocol.update("ComputeEndpoint", made, news, true);
      expect(outs).toMatchObject({ ...news, host: made.outs["host"] });
    }
    expect(await protocol.service.mutations()).toEqual([]);
    if (offlinePlan === "false") await protocol.service.clearRequests();
  }
  expect(await protocol.service.requests()).toEqual([]);
});

test("a diff names only what differs, and how", async () => {
  const protocol = await NativeProtocol.start();
  const made = await protocol.create("ComputeEndpoint", COMPUTE);
  const diff = (news: object, outs: object = {}, ignored?: string[]) =>
    protocol.diff(
      "ComputeEndpoint",
      { ...made, outs: { ...made.outs, ...outs } },
      [COMPUTE, { ...COMPUTE, ...news }],
      ignored,
    );
  expect(await diff({})).toBe("none");
  expect(await diff({}, DYNAMIC)).toBe("none");
  expect(await diff({ size: UNKNOWN, name: "n" })).toEqual({ size: "UPDATE", name: "ADD" });
  expect(await diff({ type: "read_only", size: null })).toEqual({ type: "ADD_REPLACE", size: "DELETE" });
  expect(await diff({}, { size: 2 })).toEqual({});
  expect(await diff({}, { __unfinished: "update" })).toEqual({});
  const named = { ...COMPUTE, name: "n" };
  const unnamed = { ...made, outs: { ...made.outs, __args: Object.keys(named) } };
  expect(await protocol.diff("ComputeEndpoint", unnamed, [named, named])).toEqual({});
  // The engine puts the old value in the place of an ignored one.
  expect(await diff({}, {}, ["size"])).toBe("none");
});

test("what an integration takes along is replaced with it, also where its argument is ignored", async () => {
  const protocol = await NativeProtocol.start();
  const inputs = { projectId: "prj-demo", domain: "https://a.example.com" };
  const { outs } = await protocol.create("AuthIntegration", { projectId: "prj-demo" });
  expect(outs).toMatchObject({ projectId: "prj-demo" });
  const made = await protocol.create("WhitelistDomain", inputs);
  // As the engine asks before it deletes the integration.
  const news = { ...inputs, projectId: UNKNOWN };
  expect(await protocol.diff("WhitelistDomain", made, [inputs, news], ["projectId"])).toEqual({
    projectId: "UPDATE_REPLACE",
  });
});

test("an import, a lookup and a refresh: only a list that lacks it proves that it is gone", async () => {
  const protocol = await NativeProtocol.start();
  const made = await protocol.create("ComputeEndpoint", COMPUTE);
  const { id } = made;
  const found = await protocol.read("ComputeEndpoint", { id, outs: {} });
  expect(found).toMatchObject({ id, inputs: COMPUTE, outs: { __args: expect.arrayContaining(["size"]) } });
  expect(await protocol.check("ComputeEndpoint", found.inputs, found.inputs)).toEqual({
    inputs: found.inputs,
    failures: [],
  });
  expect(await protocol.diff("ComputeEndpoint", found, [found.inputs, found.inputs])).toBe("none");
  expect(await protocol.read("ComputeEndpoint", made)).toEqual({ ...made, inputs: COMPUTE });
  for (const [, fault, words] of MISBEHAVIOURS.filter(([name]) => !["500", "503", "no answer"].includes(name))) {
    await protocol.restart();
    await protocol.service.fault(fault);
    expect((await failed(protocol.read("ComputeEndpoint", made))).text).toMatch(words);
    await protocol.service.clearFaults();
  }
  for (const wrong of ["", "/", "prj-demo", "prj-demo/", UNKNOWN, "prj-other/ep-1"]) {
    const refused = /the id must have the form|not found \(project prj-other\)/;
    for (const outs of [{}, made.outs])
      expect((await failed(protocol.read("ComputeEndpoint", { id: wrong, outs }))).text).toMatch(refused);
  }
  const other = "prj-demo/ep-none";
  expect((await failed(protocol.read("ComputeEndpoint", { id: other, outs: {} }))).text).toMatch(/it does not exist/);
  expect(await protocol.read("ComputeEndpoint", { id: other, outs: made.outs })).toMatchObject({ id: "" });
  expect(await protocol.computes()).toEqual([id]);
});

test("a path of ignoreChanges that leads to no argument is warned of by the first comparison, with the nearest one", async () => {
  const protocol = await NativeProtocol.start();
  const state = await protocol.create("ComputeEndpoint", COMPUTE);
  await protocol.restart();
  await protocol.check("ComputeEndpoint", COMPUTE, COMPUTE);
  await protocol.diff("ComputeEndpoint", state, [COMPUTE, COMPUTE], ["siz", "size.maximum", "size", "size.min"]);
  const said = (path: string, nearest: string): string =>
    `"ignoreChanges" of ComputeEndpoint ("thing") names "${path}", which is no argument and no part of one, so it has no effect. Did you mean "${nearest}"?`;
  expect(protocol.log.flatMap(({ severity, message }) => (severity === "warning" ? message : []))).toEqual([
    said("siz", "size"),
    said("size.maximum", "size.max"),
  ]);
  // A refresh runs no program.
  await protocol.restart();
  protocol.log.splice(0);
  await protocol.diff("ComputeEndpoint", state, [COMPUTE, COMPUTE], ["siz"]);
  expect(protocol.log).toEqual([]);
});

test("what the service has added to the settings stays its own, and a path of ignoreChanges is left as it has it", async () => {
  const protocol = await NativeProtocol.start();
  const inputs = { ...COMPUTE, settings: { pgSettings: { work_mem: "4MB", jit: "off" } } };
  const { id, outs } = await protocol.create("ComputeEndpoint", inputs);
  const state = { id, outs: { ...outs, __added: ["settings.pgSettings.max_worker_processes"] } };
  const shown = { work_mem: "4096kB", jit: "on", max_worker_processes: "8" };
  const endpoint = id.slice(id.indexOf("/") + 1);
  await protocol.service.edit({ kind: "endpoint", id: endpoint, set: { settings: { pg_settings: shown } } });
  const found = await protocol.read("ComputeEndpoint", state);
  expect(found.inputs["settings"]).toEqual({ pgSettings: { work_mem: "4MB", jit: "on" } });
  expect(found.outs["__added"]).toEqual(state.outs.__added);
  const news = { ...inputs, settings: { pgSettings: { work_mem: "8MB", jit: "off" } } };
  await protocol.restart();
  await protocol.check("ComputeEndpoint", news, inputs);
  await protocol.diff("ComputeEndpoint", state, [inputs, news], ["settings.pgSettings.jit"]);
  const changed = await protocol.update("ComputeEndpoint", state, news);
  expect(changed.outs).not.toHaveProperty("__unfinished");
  const compute = (await protocol.service.endpoints()).find((one) => one.id === endpoint);
  expect(compute).toMatchObject({ settings: { pg_settings: { work_mem: "8MB", jit: "on" } } });
  // Older states have no mark, and an edited one may have anything there.
  for (const mark of [{}, { __added: "odd" }, { __added: [1] }]) {
    const read = await protocol.read("ComputeEndpoint", { id, outs: { ...outs, ...mark } });
    expect(read.outs).not.toHaveProperty("__added");
  }
});
