/**
 * What programHost.cjs and providerHost.cjs are: a process of a test file that serves the CLI for more than one command, of one stack
 * after the other. It loads the SDK once; our package and the program are loaded anew (`forget`) each time that the CLI would start a
 * process. Before a command the parent sends its folder and its environment, and gets the port where the process listens.
 */
const { sep } = require("node:path");
const { createRequire } = require("node:module");
const { forget } = require("./forget.cjs");

/** As from the folder of a program. */
const load = createRequire(`${process.cwd()}${sep}`);
const sdk = createRequire(load.resolve("@pulumi/pulumi"));
const grpc = sdk("@grpc/grpc-js");
/** A host may put another one in its place. */
const exit = process.exit.bind(process);

function serve(definition, implementation, onCommand = () => {}) {
  const { env } = process;
  // A client of an engine that has ended would refuse calls to another engine that has its port by now. An older SDK has
  // only the first of these.
  const { grpcChannelOptions, grpcClientOptions = {} } = sdk("./runtime/settings.js");
  for (const options of [grpcChannelOptions, grpcClientOptions]) options["grpc.use_local_subchannel_pool"] = 1;
  const server = new grpc.Server({ "grpc.max_receive_message_length": 400 * 1024 * 1024 });
  server.addService(definition, implementation);
  const listening = new Promise((resolve, reject) => {
    const done = (error, port) => (error === null ? resolve(port) : reject(error));
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), done);
  });
  process.on("message", async ({ cwd, env: wanted }) => {
    for (const name of Object.keys(env)) if (!(name in wanted)) delete env[name];
    Object.assign(env, wanted);
    process.chdir(cwd);
    onCommand();
    process.send(await listening);
  });
  process.on("disconnect", () => exit());
}

module.exports = { load, sdk, grpc, forget, serve };
