/**
 * The provider of resources without a process for each command: the CLI gets its address with PULUMI_DEBUG_PROVIDERS.
 * What serves a command is the SDK's own script. Each time that the CLI would start that, it is loaded anew, and so is
 * our package, so that nothing that one of them remembers gets into the next.
 */
const { existsSync, readdirSync, rmSync } = require("node:fs");
const Module = require("node:module");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { record } = require("./calls.cjs");
const { forget, grpc, sdk, serve } = require("./served.cjs");

const SCRIPT = sdk.resolve("./cmd/dynamic-provider");
const { ResourceProviderService } = sdk("./proto/provider_grpc_pb.js");
const { Empty } = sdk("google-protobuf/google/protobuf/empty_pb");

/** The server that the script would start on a port of its own. */
let served;
class Server {
  addService(_definition, implementation) {
    served = implementation;
  }
  bindAsync() {}
}
const grpcOfScript = Object.create(grpc, { Server: { value: Server } });
const { _load } = Module;
Module._load = (name, parent, ...rest) =>
  name === "@grpc/grpc-js" && parent?.filename === SCRIPT
    ? grpcOfScript
    : Reflect.apply(_load, Module, [name, parent, ...rest]);

// Each script adds its handlers for uncaught errors.
process.setMaxListeners(0);
// Our package ends its process with the engine's.
process.exit = () => {};

/** By the address of the engine's connection: each explicit provider of a program has one, and so has each phase of a command. */
const providers = new Map();
let current = {};

/** What is loaded now is loaded for this one. Both the script and our package take the engine's address from the arguments. */
function switchTo(provider) {
  if (provider === current) return;
  current.modules = forget();
  Object.assign(require.cache, provider.modules);
  process.argv = [process.argv0, SCRIPT, provider.engine];
  current = provider;
}

function attach(call, callback) {
  const provider = { engine: call.request.getAddress(), modules: {} };
  switchTo(provider);
  delete require.cache[SCRIPT];
  sdk(SCRIPT);
  provider.methods = served;
  providers.set(call.getPeer(), provider);
  callback(null, new Empty());
}

const methods = Object.keys(ResourceProviderService).map((method) => [
  method,
  (call, callback) => {
    const provider = providers.get(call.getPeer());
    if (provider === undefined) return callback({ code: grpc.status.UNIMPLEMENTED, details: "not attached" });
    switchTo(provider);
    record(method, call.request);
    return provider.methods[method](call, callback);
  },
]);
/**
 * What the providers of earlier commands have told the others of their run (src/runtime/run/otherProcesses.ts): this process
 * lives on, and another engine may get the same port.
 */
function forgetTold() {
  const folder = join(tmpdir(), `pulumi-svc-${process.getuid()}`);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  for (const name of names) if (name.split("-")[2] === String(process.pid)) rmSync(join(folder, name));
}

// A provider serves one command.
serve(ResourceProviderService, { ...Object.fromEntries(methods), attach }, () => {
  providers.clear();
  forgetTold();
});
