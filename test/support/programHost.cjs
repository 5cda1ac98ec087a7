/**
 * Runs the programs of one stack without a process for each command, as the Automation API does for an inline program: the CLI gets its
 * address with `--client`.
 */
const { forget, load, sdk, serve } = require("./served.cjs");

load("@pulumi/pulumi");
const { LanguageServer } = sdk("./automation/server.js");
const { LanguageRuntimeService } = sdk("./proto/language_grpc_pb.js");

/** What the program exports are the outputs of the stack, or a function that makes them. */
async function program() {
  forget();
  const outputs = load("./");
  return typeof outputs === "function" ? outputs() : outputs;
}

const language = new LanguageServer(program);
serve(LanguageRuntimeService, {
  getRequiredPlugins: language.getRequiredPlugins.bind(language),
  getPluginInfo: language.getPluginInfo.bind(language),
  run: language.run.bind(language),
});
