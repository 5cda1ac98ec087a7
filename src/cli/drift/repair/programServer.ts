import type * as Grpc from "@grpc/grpc-js";
import type * as LanguageService from "@pulumi/pulumi/proto/language_grpc_pb";
import type * as LanguageMessages from "@pulumi/pulumi/proto/language_pb";
import type * as PluginMessages from "@pulumi/pulumi/proto/plugin_pb";
import type * as ResourceService from "@pulumi/pulumi/proto/resource_grpc_pb";
import type * as ResourceMessages from "@pulumi/pulumi/proto/resource_pb";
import { serveOtherPackages } from "./otherPackages";
import {
  dependenciesOf,
  lookUpOf,
  neededBy,
  type PartialProgram,
  type Registrable,
  registrationOf,
} from "./registration";
import { fromSdk } from "./sdk";

/** A run of the program on the engine's request; in an update, while the stack is locked. */
export interface ProgramRun {
  readonly isPreview: boolean;
  /** Registers the declared resources as in the state, each after its dependencies. */
  register(): Promise<void>;
}

export interface ProgramServer {
  /** For the CLI's option `--client`: the CLI then runs no program itself. */
  readonly address: string;
  /** On this machine; also for the providers of other packages. */
  readonly port: number;
  /** Our own error in the last run, since the engine does not repeat its message in full. */
  failure(): Error | undefined;
  close(): void;
}

/** The engine refused a resource and reports the reason itself. */
class Unregistered extends Error {}

/** The SDK's limit: a state may be large. */
const LARGEST_MESSAGE = 400 * 1024 * 1024;

/**
 * Serves a program to the CLI in place of a language host, as the Automation API does for an inline program. All data
 * stays in memory and on the loopback interface.
 */
export async function serveProgram(
  declared: PartialProgram,
  program: (run: ProgramRun) => Promise<void>,
): Promise<ProgramServer> {
  const {
    grpc,
    LanguageRuntimeService,
    RunResponse,
    GetRequiredPluginsResponse,
    LanguageHandshakeResponse,
    PluginInfo,
  } = sdk();
  const server = new grpc.Server({ "grpc.max_receive_message_length": LARGEST_MESSAGE });
  let failure: Error | undefined;
  const run: Grpc.handleUnaryCall<LanguageMessages.RunRequest, LanguageMessages.RunResponse> = (call, callback) => {
    const response = new RunResponse();
    failure = undefined;
    program(programRun(declared, call.request)).then(
      () => callback(null, response),
      (error: unknown) => {
        if (error instanceof Error && !(error instanceof Unregistered)) failure = error;
        // After this error the engine neither registers nor deletes anything more.
        response.setError(error instanceof Error ? error.message : String(error));
        callback(null, response);
      },
    );
  };
  // The engine treats the missing methods as those of an older language host.
  server.addService(LanguageRuntimeService, {
    handshake: (_call: unknown, callback: Grpc.sendUnaryData<object>) =>
      callback(null, new LanguageHandshakeResponse()),
    getRequiredPlugins: (_call: unknown, callback: Grpc.sendUnaryData<object>) =>
      callback(null, new GetRequiredPluginsResponse()),
    getPluginInfo: (_call: unknown, callback: Grpc.sendUnaryData<object>) => {
      const info = new PluginInfo();
      info.setVersion("1.0.0");
      callback(null, info);
    },
    run,
  } as unknown as Grpc.UntypedServiceImplementation);
  serveOtherPackages(server, declared.all);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { address: `127.0.0.1:${port}`, port, failure: () => failure, close: () => server.forceShutdown() };
}

function programRun({ all, declared, targets }: PartialProgram, request: LanguageMessages.RunRequest): ProgramRun {
  const { grpc, ResourceMonitorClient, Result } = sdk();
  const root = request.getInfo()?.getRootDirectory() ?? request.getPwd();
  const isPreview = request.getDryrun();
  return {
    isPreview,
    async register() {
      const monitor = new ResourceMonitorClient(request.getMonitorAddress(), grpc.credentials.createInsecure(), {
        "grpc.max_receive_message_length": LARGEST_MESSAGE,
        // The engine runs on this machine.
        "grpc.enable_http_proxy": 0,
      });
      const send = (resource: Registrable): Promise<void> =>
        new Promise((resolve, reject) => {
          const ended = (isDone: boolean): void =>
            isDone ? resolve() : reject(new Unregistered(`${resource.urn} was not registered`));
          if (resource.external) {
            monitor.readResource(lookUpOf(resource, { isPreview, root }), (error) => ended(error === null));
            return;
          }
          const manner = { isTarget: targets.has(resource.urn), isPreview, root };
          const message = registrationOf(resource, manner);
          message.setSupportsresultreporting(true);
          monitor.registerResource(message, (error, response) =>
            ended(error === null && response.getResult() === Result.SUCCESS),
          );
        });
      // With each registration the engine copies the dependencies that are not sent, and then refuses to register a copy. If
      // another resource that needs the same copy is registered meanwhile, the engine may write it before the copy. So each
      // registration waits for all its dependencies, including indirect ones through copies, and for the first one that
      // brings a copy.
      const ended = new Map<string, Promise<void>>();
      const behindCopy = new Map<string, ReadonlySet<string>>();
      for (const resource of all.values()) {
        const direct = [...neededBy(resource), ...dependenciesOf(resource)];
        const needed = new Set(direct.flatMap((urn) => [urn, ...(behindCopy.get(urn) ?? [])]));
        if (!declared.has(resource.urn)) {
          behindCopy.set(resource.urn, needed);
          continue;
        }
        const before = [...needed].map((urn) =>
          declared.has(urn) ? ended.get(urn) : ended.get(urn)?.catch(() => undefined),
        );
        const sent = Promise.all(before).then(() => send(resource));
        ended.set(resource.urn, sent);
        for (const urn of needed) if (!ended.has(urn)) ended.set(urn, sent);
      }
      const results = await Promise.allSettled(ended.values());
      monitor.close();
      const failed = results.find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
  };
}

function sdk() {
  const load = fromSdk();
  // Typed by the modules' declarations.
  return {
    grpc: load("@grpc/grpc-js") as typeof Grpc,
    ...(load("./proto/language_grpc_pb") as typeof LanguageService),
    ...(load("./proto/language_pb") as typeof LanguageMessages),
    ...(load("./proto/plugin_pb") as typeof PluginMessages),
    ...(load("./proto/resource_grpc_pb") as typeof ResourceService),
    ...(load("./proto/resource_pb") as typeof ResourceMessages),
  };
}
