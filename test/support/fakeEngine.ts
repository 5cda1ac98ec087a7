import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";

export type Answer = (request: LogRequest, reply: (error: Error | null) => void) => void;

/**
 * The engine as the provider's process sees it: passes each log request to `answer`, through a gRPC server like the
 * CLI's.
 */
export async function fakeEngine(answer: Answer): Promise<{ address: string; close: () => void }> {
  const server = new grpc.Server();
  // Only the method under test; other methods of the service answer UNIMPLEMENTED.
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
