import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import * as provider from "@pulumi/pulumi/proto/provider_pb";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import type { Any } from "google-protobuf/google/protobuf/any_pb";
import { Struct, type JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { startEmulator, type Emulator } from "../../../src/emulator";
import { pointer } from "../../../src/contract/pointer";
import { control } from "../../support/emulator";

/** The SDK's own dynamic-provider process, run through the pointer over gRPC: what the engine does, without the engine. */

const ROOT = join(__dirname, "..", "..", "..");
let emulator: Emulator;
let process_: ChildProcess;
let client: ResourceProviderClient;

type Properties = Record<string, unknown>;
// Properties are plain JSON, which is what a Struct takes.
const struct = (properties: Properties) => Struct.fromJavaScript(properties as Record<string, JavaScriptValue>);

interface Method<Request, Response> {
  (request: Request, callback: (error: grpc.ServiceError | null, response: Response) => void): unknown;
}
const call = <Request, Response>(method: Method<Request, Response>, request: Request): Promise<Response> =>
  new Promise((resolve, reject) =>
    method.call(client, request, (error, response) => (error === null ? resolve(response) : reject(error))),
  );

const INPUTS = { projectId: "prj-demo", branchId: "br-dev", size: 1, __provider: pointer("ComputeEndpoint") };

beforeAll(async () => {
  emulator = await startEmulator({ activationMs: 40, apiKey: "canary-grpc-key" });
  await startProcess();
}, 60_000);

/** Each has an engine of its own, at an address where nothing listens. */
let commands = 0;

async function startProcess(): Promise<void> {
  const script = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
  commands += 1;
  process_ = spawn(process.execPath, [script, `127.0.0.1:${commands}`], { cwd: ROOT });
  const port = await new Promise<string>((resolve, reject) => {
    process_.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    process_.once("exit", (code) => reject(new Error(`the provider process ended with ${String(code)}`)));
  });
  client = new ResourceProviderClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const request = new provider.ConfigureRequest();
  request.setArgs(struct({ "svc:apiKey": emulator.apiKey, "svc:baseUrl": emulator.baseUrl }));
  await call<provider.ConfigureRequest, provider.ConfigureResponse>(client.configure, request);
}

function endProcess(): void {
  client.close();
  process_.removeAllListeners("exit");
  process_.kill();
}

afterAll(async () => {
  endProcess();
  await emulator.close();
});

async function create(inputs: Properties): Promise<{ id: string; outs: Properties }> {
  const request = new provider.CreateRequest();
  request.setProperties(struct(inputs));
  const response = await call<provider.CreateRequest, provider.CreateResponse>(client.create, request);
  return { id: response.getId(), outs: response.getProperties()?.toJavaScript() ?? {} };
}

async function read(id: string, outs: Properties): Promise<provider.ReadResponse> {
  const request = new provider.ReadRequest();
  request.setId(id);
  request.setProperties(struct(outs));
  return call<provider.ReadRequest, provider.ReadResponse>(client.read, request);
}

test("the pointer carries a compute through check, create, diff, read, update and delete", async () => {
  const check = new provider.CheckRequest();
  check.setOlds(struct({}));
  check.setNews(struct(INPUTS));
  const checked = await call<provider.CheckRequest, provider.CheckResponse>(client.check, check);
  expect(checked.getFailuresList()).toEqual([]);
  expect(checked.getInputs()?.toJavaScript()).toEqual(INPUTS);

  const { id, outs } = await create(INPUTS);
  expect(id).toMatch(/^prj-demo\/ep-/);
  expect(outs).toMatchObject({
    ...INPUTS,
    __args: ["branchId", "projectId", "size"],
    __version: 1,
    maxConnections: 450,
  });

  const diff = new provider.DiffRequest();
  diff.setId(id);
  diff.setOlds(struct(outs));
  diff.setNews(struct({ ...INPUTS, size: 2 }));
  const difference = await call<provider.DiffRequest, provider.DiffResponse>(client.diff, diff);
  expect(difference.getChanges()).toBe(provider.DiffResponse.DiffChanges.DIFF_UNKNOWN);
  expect(difference.getDeletebeforereplace()).toBe(true);

  const update = new provider.UpdateRequest();
  update.setId(id);
  update.setOlds(struct(outs));
  update.setNews(struct({ ...INPUTS, size: 2 }));
  const updated = await call<provider.UpdateRequest, provider.UpdateResponse>(client.update, update);
  expect(updated.getProperties()?.toJavaScript()).toMatchObject({ size: 2, maxConnections: 901 });

  const seen = await read(id, updated.getProperties()?.toJavaScript() ?? {});
  expect(seen.getId()).toBe(id);
  expect(seen.getInputs()?.toJavaScript()).toEqual({ ...INPUTS, size: 2 });

  // A destroy is a command of its own, with a process of its own.
  endProcess();
  await startProcess();
  const remove = new provider.DeleteRequest();
  remove.setId(id);
  remove.setProperties(struct(outs));
  await call(client.delete as Method<provider.DeleteRequest, unknown>, remove);
  expect((await read(id, outs)).getId()).toBe("");
}, 30_000);

test("a creation that is not ready in time arrives as an initialisation failure with id, outs and pointer", async () => {
  await control(emulator.url, "POST", "/faults", { stuck: true });
  const error = await create({ ...INPUTS, branchId: "br-test", __timeouts: { create: 3 } }).then(
    () => undefined,
    (thrown: unknown) => thrown as grpc.ServiceError,
  );
  const packed = error?.metadata.get("grpc-status-details-bin")[0];
  if (!Buffer.isBuffer(packed)) throw new Error("the error carries no details");
  const [detail] = Status.deserializeBinary(packed).getDetailsList() as Any[];
  const failed = provider.ErrorResourceInitFailed.deserializeBinary(detail?.getValue_asU8() ?? new Uint8Array());
  expect(failed.getId()).toMatch(/^prj-demo\/ep-/);
  expect(failed.getReasonsList()).toEqual([expect.stringMatching(/exists, but still "init" after 3 s/)]);
  expect(failed.getProperties()?.toJavaScript()).toMatchObject({
    __provider: pointer("ComputeEndpoint"),
    __unfinished: expect.any(String),
    endpointId: expect.stringMatching(/^ep-/),
  });
  expect(JSON.stringify(error)).not.toContain(emulator.apiKey);
}, 30_000);
