/**
 * Loaded by every Node process of a stack (NODE_OPTIONS), for two faults that no service can be told to show, and to save time:
 * half of the time in which the SDK loads goes to libraries that serialise functions, compile TypeScript or start the CLI. Such a
 * library is loaded when something of it is used.
 *
 * REFUSE_FOLDER: each file in it names a request (`METHOD`, a space, a regular expression for its path). The next such
 * request goes to a port where nobody listens, and the file goes.
 * SHORTER_ATTEMPTS_MS: takes the place of the 60 s that an attempt of a change has.
 * CHEAP_DIGESTS: a digest of a secret by reference takes next to no time. Its text says the real cost, so only
 * processes that all have this can compare it.
 */
const crypto = require("node:crypto");
const { readdirSync, readFileSync, unlinkSync } = require("node:fs");
const http = require("node:http");
const Module = require("node:module");
const { join } = require("node:path");
const { record } = require("./calls.cjs");

const folder = process.env.REFUSE_FOLDER;
const shorterMs = Number(process.env.SHORTER_ATTEMPTS_MS ?? 0);

function isRefused(method, path) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    try {
      const [wanted, pattern] = readFileSync(file, "utf8").split(" ");
      if (wanted !== method || !new RegExp(pattern).test(path)) continue;
      unlinkSync(file);
      return true;
    } catch {
      // Another process has taken it.
    }
  }
  return false;
}

if (folder !== undefined) {
  const { request } = http;
  http.request = (options, ...rest) => {
    const { method, path } = options ?? {};
    // Port 1 is never in use by accident.
    return request(isRefused(method, path) ? { ...options, port: 1 } : options, ...rest);
  };
}

if (shorterMs > 0) {
  const { setTimeout } = globalThis;
  globalThis.setTimeout = Object.assign(
    (fn, ms, ...args) => setTimeout(fn, ms === 60_000 ? shorterMs : ms, ...args),
    setTimeout,
  );
}

if (process.env.CHEAP_DIGESTS !== undefined) {
  const { scrypt } = crypto;
  crypto.scrypt = (value, salt, length, options, done) => scrypt(value, salt, length, { ...options, N: 2 }, done);
}

const LOADED_WHEN_USED = new Set([
  "@logdna/tail-file",
  "@npmcli/arborist",
  "execa",
  "js-yaml",
  "normalize-package-data",
  "typescript",
]);

/** The server of the native plugin, with a record of its calls (calls.cjs). */
function recording(grpc) {
  const { addService } = grpc.Server.prototype;
  grpc.Server.prototype.addService = function (service, handlers) {
    const recorded = Object.entries(handlers).map(([method, handler]) => [
      method,
      (call, answer) => {
        record(method, call.request);
        handler(call, answer);
      },
    ]);
    return Reflect.apply(addService, this, [service, Object.fromEntries(recorded)]);
  };
  return grpc;
}

let isRecorded = false;
const isPlugin = process.argv[1]?.endsWith("pulumi-resource-svc") ?? false;

const { _load } = Module;
Module._load = (name, ...rest) => {
  const load = () => Reflect.apply(_load, Module, [name, ...rest]);
  if (isPlugin && name === "@grpc/grpc-js" && !isRecorded) {
    isRecorded = true;
    return recording(load());
  }
  if (!LOADED_WHEN_USED.has(name)) return load();
  // The SDK has a TypeScript of its own, where the project has none.
  Module._resolveFilename(name, ...rest);
  return new Proxy(function whenUsed() {}, {
    get(_target, key) {
      // What the SDK's compiled imports ask for first.
      if (key === "__esModule") return true;
      const library = load();
      return key === "default" && library.__esModule !== true ? library : library[key];
    },
    apply: (_target, self, args) => Reflect.apply(load(), self, args),
    construct: (_target, args) => Reflect.construct(load(), args),
  });
};
