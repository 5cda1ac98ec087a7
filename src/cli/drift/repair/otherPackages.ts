import type * as Grpc from "@grpc/grpc-js";
import type * as StructMessages from "google-protobuf/google/protobuf/struct_pb";
import type * as EmptyMessages from "google-protobuf/google/protobuf/empty_pb";
import type * as PluginMessages from "@pulumi/pulumi/proto/plugin_pb";
import type * as ProviderService from "@pulumi/pulumi/proto/provider_grpc_pb";
import type * as ProviderMessages from "@pulumi/pulumi/proto/provider_pb";
import { asRequested } from "../../stack/state";
import { type PartialProgram, PROVIDER, type Registrable } from "./registration";
import { fromSdk } from "./sdk";

/**
 * Our provider and those of the program are dynamic providers of Node, or ours is a native plugin. `pulumi` is part of
 * the engine.
 */
const LEFT_TO_THE_ENGINE: ReadonlySet<string> = new Set(["pulumi-nodejs", "svc", "pulumi"]);

/** The plugins that the engine would start for the declared resources of other packages. */
export function otherPackages({ all, declared }: Pick<PartialProgram, "all" | "declared">): string[] {
  const providers = [...declared].flatMap((urn) => all.get(urn) ?? []).filter(({ type }) => type.startsWith(PROVIDER));
  return [...new Set(providers.map(pluginOf))].filter((name) => !LEFT_TO_THE_ENGINE.has(name));
}

/** A package that is generated for one program (`pulumi package add`) uses the plugin of another package. */
function pluginOf({ type, inputs }: Registrable): string {
  const internal: unknown = inputs?.["__internal"];
  const name: unknown = typeof internal === "object" && internal !== null ? Reflect.get(internal, "name") : undefined;
  return typeof name === "string" ? name : type.slice(PROVIDER.length);
}

/**
 * Serves one provider in place of all other packages. The engine requests the provider of every registered resource,
 * even an unchanged one. So their plugins need not be installed and no credentials are needed. The provider changes
 * nothing: calls that would change something are not implemented.
 */
export function serveOtherPackages(server: Grpc.Server, all: ReadonlyMap<string, Registrable>): void {
  const {
    ResourceProviderService,
    ConfigureResponse,
    DiffResponse,
    ParameterizeResponse,
    PluginInfo,
    ReadResponse,
    Empty,
    Struct,
  } = sdk();
  const noDifference = (_call: unknown, answer: Grpc.sendUnaryData<ProviderMessages.DiffResponse>): void => {
    const response = new DiffResponse();
    response.setChanges(DiffResponse.DiffChanges.DIFF_NONE);
    answer(null, response);
  };
  const read: Grpc.handleUnaryCall<ProviderMessages.ReadRequest, ProviderMessages.ReadResponse> = (call, answer) => {
    const { outputs } = all.get(call.request.getUrn()) ?? {};
    const response = new ReadResponse();
    response.setId(call.request.getId());
    response.setProperties(
      Struct.fromJavaScript(
        Object.fromEntries(Object.entries(outputs ?? {}).map(([name, value]) => [name, asRequested(value)])),
      ),
    );
    answer(null, response);
  };
  const parameterize: Grpc.handleUnaryCall<
    ProviderMessages.ParameterizeRequest,
    ProviderMessages.ParameterizeResponse
  > = (call, answer) => {
    const response = new ParameterizeResponse();
    response.setName(call.request.getValue()?.getName() ?? "");
    response.setVersion(call.request.getValue()?.getVersion() ?? "");
    answer(null, response);
  };
  // Calls without a handler are answered with "unimplemented".
  server.addService(ResourceProviderService, {
    attach: (_call: unknown, answer: Grpc.sendUnaryData<EmptyMessages.Empty>) => answer(null, new Empty()),
    getPluginInfo: (_call: unknown, answer: Grpc.sendUnaryData<PluginMessages.PluginInfo>) =>
      answer(null, new PluginInfo()),
    configure: (_call: unknown, answer: Grpc.sendUnaryData<ProviderMessages.ConfigureResponse>) => {
      const response = new ConfigureResponse();
      response.setAcceptsecrets(true);
      response.setAcceptresources(true);
      answer(null, response);
    },
    parameterize,
    diffConfig: noDifference,
    diff: noDifference,
    read,
  } as unknown as Grpc.UntypedServiceImplementation);
}

function sdk() {
  const load = fromSdk();
  // Typed by the modules' declarations.
  return {
    ...(load("./proto/provider_grpc_pb") as typeof ProviderService),
    ...(load("./proto/provider_pb") as typeof ProviderMessages),
    ...(load("./proto/plugin_pb") as typeof PluginMessages),
    ...(load("google-protobuf/google/protobuf/empty_pb.js") as typeof EmptyMessages),
    ...(load("google-protobuf/google/protobuf/struct_pb.js") as typeof StructMessages),
  };
}
