import { createRequire } from "node:module";
import type * as Grpc from "@grpc/grpc-js";
import type * as EngineService from "@pulumi/pulumi/proto/engine_grpc_pb";
import type * as EngineMessages from "@pulumi/pulumi/proto/engine_pb";
import { isUrn } from "../../contract/identifiers";
import { oneLine } from "../../contract/untrusted";
import type { Log, LogLine } from "../../host/progress";

/** Nothing waits for it. It is long, because a call that is only slow must not silence the process. */
const CALL_DEADLINE_MS = 10_000;
const ADDRESS = /^(127\.0\.0\.1|localhost|\[::1\]):\d+$/;

/** Of the dynamic-provider process, the last argument is one. */
export function isEngineAddress(text: string | undefined): text is string {
  return text !== undefined && ADDRESS.test(text);
}

/**
 * The engine's own log, at the address that it gives the dynamic-provider process as its last argument. After a first
 * failure the process logs nothing more: a line that cannot be shown must not fail an `up`.
 */
export function engineLog(address: string | undefined = process.argv.at(-1)): Log {
  if (!isEngineAddress(address)) return () => undefined;
  let send: Send | undefined;
  let silent = false;
  return (line) => {
    if (silent) return;
    try {
      send ??= connect(address);
      send(line, (failed) => (silent ||= failed));
    } catch {
      silent = true;
    }
  };
}

/** A malformed URN crashes the CLI (docs/design/engine.md, Lines to the user); without one the line goes to the stack's. */
export function loggableUrn(urn: string | undefined): string {
  return isUrn(urn) ? urn : "";
}

type Send = (line: LogLine, done: (failed: boolean) => void) => void;

function connect(address: string): Send {
  // Required at the first line that is logged: in the dynamic-provider process the SDK has these modules in memory
  // already. grpc-js is the SDK's dependency, not ours, so it is found from there.
  const load = createRequire(require.resolve("@pulumi/pulumi"));
  // Modules by their declared types.
  const grpc = load("@grpc/grpc-js") as typeof Grpc;
  const { EngineClient } = load("./proto/engine_grpc_pb") as typeof EngineService;
  const { LogRequest, LogSeverity } = load("./proto/engine_pb") as typeof EngineMessages;
  const client = new EngineClient(address, grpc.credentials.createInsecure());
  return ({ severity, message, urn, ephemeral }, done) => {
    const request = new LogRequest();
    request.setSeverity(severity === "info" ? LogSeverity.INFO : LogSeverity.WARNING);
    request.setMessage(oneLine(message));
    request.setUrn(loggableUrn(urn));
    request.setEphemeral(ephemeral);
    const options = { deadline: Date.now() + CALL_DEADLINE_MS };
    client.log(request, new grpc.Metadata(), options, (error: unknown) => done(error !== null && error !== undefined));
  };
}
