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

const STACK = "urn:pulumi:dev::proj::pulumi:pulumi:Stack::proj-dev";
const TYPE = "t:m:T";
const urnOf = (name: string): string => `urn:pulumi:dev::proj::${TYPE}::${name}`;

/** What the engine is asked, and when it has answered, while the repair of one resource runs. */
async function asksFor(changed: string, resources: readonly object[], answer: () => Promise<void>): Promise<string[]> {
  const state = [{ urn: STACK, type: "pulumi:pulumi:Stack" }, ...resources];
  const all = registrablesOf(new StackState(JSON.stringify({ deployment: { resources: state } })));
  const asked: string[] = [];
  const monitor = new grpc.Server();
  const registerResource: Grpc.handleUnaryCall<
    ResourceMessages.RegisterResourceRequest,
    ResourceMessages.RegisterResourceResponse
  > = ({ request }, callback) => {
    asked.push(`register ${request.getName()}`);
    void answer().then(() => {
      asked.push(`registered ${request.getName()}`);
      callback(null, new messages.RegisterResourceResponse());
    });
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
  const program = partialProgram(all, [{ urn: urnOf(changed), change: "changed" }]);
  const server = await serveProgram(program, (run) => run.register());
  const client = new LanguageRuntimeClient(server.address, grpc.credentials.createInsecure());
  const request = new RunRequest();
  request.setMonitorAddress(address);
  request.setDryrun(true);
  try {
    const response = await new Promise<LanguageMessages.RunResponse>((resolve, reject) =>
      client.run(request, (error, given) => (error === null ? resolve(given) : reject(error))),
    );
    expect(response.getError()).toBe("");
  } finally {
    client.close();
    server.close();
    monitor.forceShutdown();
  }
  return asked;
}

test("what a program only looks up is read, also where it is a parent, and all else is registered, each after what it needs", async () => {
  const asked = await asksFor(
    "api",
    [
      { urn: urnOf("seen"), type: TYPE, custom: true, external: true, id: "id-of-seen", parent: STACK },
      { urn: urnOf("api"), type: TYPE, custom: true, id: "id-of-api", parent: urnOf("seen") },
      { urn: urnOf("after"), type: TYPE, custom: true, id: "id-of-after", parent: STACK, dependencies: [urnOf("api")] },
      { urn: urnOf("stranger"), type: TYPE, custom: true, id: "id-of-stranger", parent: STACK },
    ],
    () => Promise.resolve(),
  );
  const registrations = asked.filter((one) => !one.startsWith("registered"));
  expect(registrations).toEqual(["register proj-dev", "read seen id-of-seen", "register api", "register after"]);
});

test("what the engine copies along with one resource is in the state before another one that depends on it is registered", async () => {
  const custom = { type: TYPE, custom: true, parent: STACK };
  const asked = await asksFor(
    "api",
    [
      { ...custom, urn: urnOf("first"), id: "1" },
      { ...custom, urn: urnOf("kept"), id: "2", dependencies: [urnOf("first")] },
      { ...custom, urn: urnOf("api"), id: "3" },
      { ...custom, urn: urnOf("one"), id: "4", dependencies: [urnOf("api"), urnOf("kept")] },
      { ...custom, urn: urnOf("two"), id: "5", dependencies: [urnOf("api"), urnOf("kept")] },
      { ...custom, urn: urnOf("three"), id: "6", dependencies: [urnOf("api"), urnOf("first")] },
    ],
    () => new Promise((resolve) => setTimeout(resolve, 20)),
  );
  const at = (what: string): number => asked.indexOf(what);
  for (const other of ["two", "three"]) expect(at(`register ${other}`)).toBeGreaterThan(at("registered one"));
  expect(asked).toHaveLength(10);
});
