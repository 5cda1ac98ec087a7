/** The gRPC server of the native plugin. It loads the provider with the first call that needs it. */
import type * as Grpc from "@grpc/grpc-js";
import type * as ProviderService from "@pulumi/pulumi/proto/provider_grpc_pb";
import type * as ProviderMessages from "@pulumi/pulumi/proto/provider_pb";
import type * as EmptyMessages from "google-protobuf/google/protobuf/empty_pb";
import { plainError } from "../engine/errors";
import { ofSdk } from "../engine/sdk";
import type { NativeProvider } from "./nativeProvider";

const load = ofSdk();
// The modules have these declared types.
const grpc = load("@grpc/grpc-js") as typeof Grpc;
const { ProviderHandshakeResponse } = load("./proto/provider_pb") as typeof ProviderMessages;
const { ResourceProviderService } = load("./proto/provider_grpc_pb") as typeof ProviderService;
const { Empty } = load("google-protobuf/google/protobuf/empty_pb.js") as typeof EmptyMessages;

const LONGEST_MESSAGE = 400 * 1024 * 1024;
const OPTIONS = {
  "grpc.max_receive_message_length": LONGEST_MESSAGE,
  "grpc.max_send_message_length": LONGEST_MESSAGE,
  // Nobody asks for its statistics of calls.
  "grpc.enable_channelz": 0,
};

/** The methods that the engine calls. Any other is answered with "unimplemented". */
const METHODS = [
  "getPluginInfo",
  "getSchema",
  "checkConfig",
  "diffConfig",
  "configure",
  "check",
  "diff",
  "create",
  "read",
  "update",
  "delete",
  "invoke",
] as const;

type Handler = Grpc.handleUnaryCall<never, unknown>;

/**
 * Starts the server on a free port of this machine, and returns the port.
 * @param start of the provider, once: a refresh has a second process that the engine only greets
 */
export async function serve(start: () => Promise<NativeProvider>): Promise<number> {
  let started: Promise<NativeProvider> | undefined;
  const answering =
    (method: (typeof METHODS)[number]): Handler =>
    async (call, answer) => {
      const provider = await (started ??= start());
      try {
        answer(null, await provider[method](call.request));
      } catch (thrown) {
        answer(provider.failedCall(thrown));
      }
    };
  const handlers: Record<string, Handler> = {
    handshake: (_call, answer) => answer(null, new ProviderHandshakeResponse()),
    // The engine calls it after Ctrl-C, and at the end of each run, when nothing is under way.
    cancel: async (_call, answer) => {
      (await started)?.interrupt();
      answer(null, new Empty());
    },
    ...Object.fromEntries(METHODS.map((method) => [method, answering(method)])),
  };
  const server = new grpc.Server(OPTIONS);
  server.addService(ResourceProviderService, handlers as Grpc.UntypedServiceImplementation);
  return new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(plainError(error)),
    ),
  );
}
