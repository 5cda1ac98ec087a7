/**
 * Runs programs without a process for each command: the CLI gets its address with PULUMI_DEBUG_LANGUAGES. It runs them as the
 * Automation API runs an inline program.
 */
const { join, sep } = require("node:path");
const { forget, load, sdk, serve } = require("./served.cjs");

load("@pulumi/pulumi");
const { LanguageServer } = sdk("./automation/server.js");
const { LanguageRuntimeService } = sdk("./proto/language_grpc_pb.js");
const { LanguageHandshakeResponse } = sdk("./proto/language_pb.js");

// A function of the option `transforms` runs outside of the program's own store, and its secrets would lose their marks, which
// those of a program in a process of its own keep (docs/design/engine.md, Secrets and settings).
sdk("./runtime/state.js").getGlobalStore().supportsSecrets = true;

/** The exports of the program are the outputs of the stack, or a function that returns them. */
async function program(info) {
  forget();
  process.chdir(info.getProgramDirectory());
  const outputs = load(join(info.getProgramDirectory(), info.getEntryPoint(), info.getEntryPoint() === "." ? sep : ""));
  return typeof outputs === "function" ? outputs() : outputs;
}

/**
 * As the SDK compiles a program, without a check of its types. Registered once: a second compiler shifts the positions
 * that the state records.
 */
require.extensions[".ts"] = (module, file) => {
  delete require.extensions[".ts"];
  const { tsnodeRequire, typescriptRequire } = sdk("./tsutils").typeScriptRequireStrings();
  const compilerOptions = { target: "ES2020", module: "nodenext", moduleResolution: "nodenext", sourceMap: "true" };
  sdk(tsnodeRequire).register({ compiler: sdk.resolve(typescriptRequire), transpileOnly: true, compilerOptions });
  require.extensions[".ts"](module, file);
};

/** The addresses of the engines, by their connections. */
const engines = new Map();
const methods = new LanguageServer();
serve(LanguageRuntimeService, {
  handshake(call, callback) {
    engines.set(call.getPeer(), call.request.getEngineAddress());
    callback(null, new LanguageHandshakeResponse());
  },
  getRequiredPlugins: methods.getRequiredPlugins.bind(methods),
  getPluginInfo: methods.getPluginInfo.bind(methods),
  run(call, callback) {
    const { request } = call;
    // Where the engine has it for an inline program.
    request.setArgsList([engines.get(call.getPeer()) ?? request.getArgsList()[0]]);
    let isBegun = false;
    const begun = () => {
      isBegun = true;
      return program(request.getInfo());
    };
    // Where its connection to the engine fails first, the SDK takes the run for a good one: it would delete everything.
    const answered = (error, response) =>
      callback(error ?? (isBegun ? null : new Error("the program was not run")), response);
    new LanguageServer(begun).run(call, answered);
  },
});
