import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { engineLog, loggableUrn, type LogLine } from "../../src/dynamic/engineLog";
import { URN } from "./toy";

const line = (changes: Partial<LogLine> = {}): LogLine => ({
  severity: "info",
  message: "waiting",
  urn: URN,
  ephemeral: true,
  ...changes,
});

/** An engine that hands each request to `answer`; gRPC's own server, as the CLI has one. */
async function engine(answer: (request: LogRequest, reply: (error: Error | null) => void) => void) {
  const server = new grpc.Server();
  // Only the method under test; the service's other methods answer UNIMPLEMENTED.
  server.addService(
    { log: (EngineService as unknown as grpc.ServiceDefinition)["log"] as never } as grpc.ServiceDefinition,
    {
      log: (call: { request: LogRequest }, callback: (error: Error | null, value: Empty) => void) =>
        answer(call.request, (error) => callback(error, new Empty())),
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { address: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}

const until = async (condition: () => boolean) => {
  const end = Date.now() + 10_000;
  while (!condition() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
};

test("a line reaches the engine with its severity, URN and whether it is progress", async () => {
  const seen: object[] = [];
  const { address, close } = await engine((request, reply) => {
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
  const { address, close } = await engine((_request, reply) => {
    calls += 1;
    reply(new Error("no"));
  });
  const log = engineLog(address);
  log(line());
  await until(() => calls === 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
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
