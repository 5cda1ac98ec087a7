/**
 * What programHost.cjs and providerHost.cjs are: a process of a stack that serves the CLI for more than one command. It loads the
 * SDK once; our package and the program are loaded anew (`forget`) each time that the CLI would start a process. The parent sends
 * the environment of a command before it starts that, and gets the port where the process listens.
 */
const { sep } = require("node:path");
const { createRequire } = require("node:module");
const { forget } = require("./forget.cjs");

/** From the folder of the program. */
const load = createRequire(`${process.cwd()}${sep}`);
const sdk = createRequire(load.resolve("@pulumi/pulumi"));
const grpc = sdk("@grpc/grpc-js");
/** A host may put another one in its place. */
const exit = process.exit.bind(process);

function serve(definition, implementation) {
  const { env } = process;
  process.on("message", (wanted) => {
    for (const name of Object.keys(env)) if (!(name in wanted)) delete env[name];
    Object.assign(env, wanted);
    process.send("ready");
  });
  process.on("disconnect", () => exit());
  const server = new grpc.Server({ "grpc.max_receive_message_length": 400 * 1024 * 1024 });
  server.addService(definition, implementation);
  server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error !== null) throw error;
    process.send(port);
  });
}

module.exports = { load, sdk, grpc, forget, serve };
