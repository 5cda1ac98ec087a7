import { connect } from "node:net";
import type * as Grpc from "@grpc/grpc-js";
import type * as LanguageService from "@pulumi/pulumi/proto/language_grpc_pb";
import type * as LanguageMessages from "@pulumi/pulumi/proto/language_pb";
import type * as ResourceService from "@pulumi/pulumi/proto/resource_grpc_pb";
import type * as ResourceMessages from "@pulumi/pulumi/proto/resource_pb";
import { serveProgram } from "../../../../src/cli/drift/repair/programServer";
import { partialProgram, registrablesOf } from "../../../../src/cli/drift/repair/registration";
import { fromSdk } from "../../../../src/cli/drift/repair/sdk";
import { StackState } from "../../../../src/cli/stack/state";

const tried = (host: string, port: number): Promise<"connected" | "refused"> =>
  new Promise((resolve) => {
    const socket = connect({ host, port }, () => {
      socket.destroy();
      resolve("connected");
    });
    socket.on("error", () => resolve("refused"));
  });

test("the program of a repair is served on the loopback interface alone, and no longer than the repair lasts", async () => {
  const none = new Set<string>();
  const server = await serveProgram({ all: new Map(), declared: none, targets: none }, () => Promise.resolve());
  try {
    expect(server.address).toBe(`127.0.0.1:${server.port}`);
    // Another address of this machine, which everything that listens on all of them has.
    const reached = await Promise.all(["127.0.0.1", "127.0.0.2"].map((host) => tried(host, server.port)));
    expect(reached).toEqual(["connected", "refused"]);
  } finally {
    server.close();
  }
  expect(await tried("127.0.0.1", server.port)).toBe("refused");
});

const load = fromSdk();
// Modules by their declared types.
const grpc = load("@grpc/grpc-js") as typeof Grpc;
const { LanguageRuntimeClient } = load("./proto/language_grpc_pb") as typeof LanguageService;
const { RunRequest } = load("./proto/language_pb") as typeof LanguageMessages;
const { ResourceMonitorService } = load("./proto/resource_grpc_pb") as typeof ResourceService;
const messages = load("./proto/resource_pb") as typeof ResourceMessages;

test("what a program only looks up is read, also where it is a parent, and all else is registered, each after what it needs", async () => {
  const stack = "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev";
  const [type, urnOf] = ["t:m:T", (name: string) => `urn:pulumi:dev::proj::t:m:T::${name}`];
  const state = [
    { urn: stack, type: "pulumi:pulumi:Stack" },
    { urn: urnOf("seen"), type, custom: true, external: true, id: "id-of-seen", parent: stack },
    { urn: urnOf("api"), type, custom: true, id: "id-of-api", parent: urnOf("seen") },
    { urn: urnOf("after"), type, custom: true, id: "id-of-after", parent: stack, dependencies: [urnOf("api")] },
    { urn: urnOf("stranger"), type, custom: true, id: "id-of-stranger", parent: stack },
  ];
  const all = registrablesOf(new StackState(JSON.stringify({ deployment: { resources: state } })));
  const asked: string[] = [];
  const monitor = new grpc.Server();
  const registerResource: Grpc.handleUnaryCall<
    ResourceMessages.RegisterResourceRequest,
    ResourceMessages.RegisterResourceResponse
  > = ({ request }, callback) => {
    asked.push(`register ${request.getName()}`);
    callback(null, new messages.RegisterResourceResponse());
  };
  const readResource: Grpc.handleUnaryCall<
    ResourceMessages.ReadResourceRequest,
    ResourceMessages.ReadResourceResponse
  > = ({ request }, callback) => {
    asked.push(`read ${request.getName()} ${request.getId()}`);
    callback(null, new messages.ReadResourceResponse());
  };
  // The engine has more methods; a program of this kind needs these.
  monitor.addService(ResourceMonitorService, {
    registerResource,
    readResource,
  } as unknown as Grpc.UntypedServiceImplementation);
  const address = await new Promise<string>((resolve, reject) =>
    monitor.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(`127.0.0.1:${port}`) : reject(error),
    ),
  );
  const server = await serveProgram(partialProgram(all, [{ urn: urnOf("api"), change: "changed" }]), (run) =>
    run.register(),
  );
  const client = new LanguageRuntimeClient(server.address, grpc.credentials.createInsecure());
  const request = new RunRequest();
  request.setMonitorAddress(address);
  request.setDryrun(true);
  try {
    const response = await new Promise<LanguageMessages.RunResponse>((resolve, reject) =>
      client.run(request, (error, answer) => (error === null ? resolve(answer) : reject(error))),
    );
    expect(response.getError()).toBe("");
  } finally {
    client.close();
    server.close();
    monitor.forceShutdown();
  }
  expect(asked).toEqual(["register proj-dev", "read seen id-of-seen", "register api", "register after"]);
});
