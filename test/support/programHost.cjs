/**
 * Runs the programs of one stack without a process for each, as the Automation API does for an inline program: the CLI gets its
 * address with `--client`. It loads the SDK once; the program and this package are loaded anew for each run. The parent sends the
 * environment of a command before it starts that.
 */
const { sep } = require("node:path");
const { createRequire } = require("node:module");

const load = createRequire(`${process.cwd()}${sep}`);
const sdk = createRequire(load.resolve("@pulumi/pulumi"));
load("@pulumi/pulumi");
const grpc = sdk("@grpc/grpc-js");
const { LanguageServer } = sdk("./automation/server.js");
const { LanguageRuntimeService } = sdk("./proto/language_grpc_pb.js");

const inSdk = (file) => file.includes(`${sep}node_modules${sep}`);

/** What the program exports are the outputs of the stack, or a function that makes them. */
async function program() {
  for (const file of Object.keys(require.cache)) if (!inSdk(file)) delete require.cache[file];
  const outputs = load("./");
  return typeof outputs === "function" ? outputs() : outputs;
}

const { env } = process;
process.on("message", (wanted) => {
  for (const name of Object.keys(env)) if (!(name in wanted)) delete env[name];
  Object.assign(env, wanted);
  process.send("ready");
});
process.on("disconnect", () => process.exit());

const server = new grpc.Server({ "grpc.max_receive_message_length": 400 * 1024 * 1024 });
const language = new LanguageServer(program);
server.addService(LanguageRuntimeService, {
  getRequiredPlugins: language.getRequiredPlugins.bind(language),
  getPluginInfo: language.getPluginInfo.bind(language),
  run: language.run.bind(language),
});
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.send(port);
});
