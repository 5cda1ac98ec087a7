/**
 * `pulumi-svc` as it is built, without a process for each command: the parent sends arguments, folder and environment, and gets the
 * exit code and what was written. Everything of ours is loaded anew each time. A command ends as its process would: when nothing keeps
 * the event loop alive, or with process.exit.
 */
const Module = require("node:module");
const { join } = require("node:path");
const { forget } = require("./forget.cjs");

const MAIN = join(__dirname, "..", "..", "dist", "cli", "main.js");
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
const { channel, env, stdout, stderr } = process;

// What is imported would be kept, and could not be loaded anew.
const { _compile } = Module.prototype;
Module.prototype._compile = function compile(text, file, ...rest) {
  const isOurs = file.startsWith(join(MAIN, ".."));
  return Reflect.apply(_compile, this, [isOurs ? text.replace(/\bimport\((?="\.)/g, "require(") : text, file, ...rest]);
};

class Exit extends Error {}
let running;

for (const [name, stream] of Object.entries({ stdout, stderr })) {
  stream.write = (chunk, encoding, done = encoding) => {
    if (running !== undefined) running[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    if (typeof done === "function") process.nextTick(done);
    return true;
  };
}

function end(code) {
  if (running === undefined) return;
  const { stdout: out, stderr: err } = running;
  running = undefined;
  for (const stream of [stdout, stderr]) stream.removeAllListeners("error");
  for (const signal of SIGNALS) process.removeAllListeners(signal);
  process.emit("exit", code);
  process.removeAllListeners("exit");
  channel.ref();
  process.send({ code: Number(process.exitCode ?? code), stdout: out, stderr: err });
}

process.exit = (code = process.exitCode ?? 0) => {
  process.exitCode = code;
  end(code);
  // Nothing after it is executed.
  throw new Exit();
};
process.on("beforeExit", () => end(process.exitCode ?? 0));
const failed = (error) => {
  if (error instanceof Exit) return;
  stderr.write(`${error?.stack ?? error}\n`);
  process.exitCode = 1;
  end(1);
};
process.on("uncaughtException", failed);
process.on("unhandledRejection", failed);

process.on("message", ({ args, cwd, env: wanted }) => {
  forget();
  for (const name of Object.keys(env)) if (!(name in wanted)) delete env[name];
  Object.assign(env, wanted);
  process.chdir(cwd);
  process.argv = [process.argv0, MAIN, ...args];
  process.exitCode = undefined;
  running = { stdout: "", stderr: "" };
  channel.unref();
  require(MAIN);
});
