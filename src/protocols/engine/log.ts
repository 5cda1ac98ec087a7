import type * as Grpc from "@grpc/grpc-js";
import type * as EngineService from "@pulumi/pulumi/proto/engine_grpc_pb";
import type * as EngineMessages from "@pulumi/pulumi/proto/engine_pb";
import { isUrn } from "../../contract/identifiers";
import { oneLine } from "../../contract/untrusted";
import type { Log, LogLine } from "../../runtime/progress";
import { ofSdk } from "./sdk";

/** Nothing waits for it. It is long, because one slow call must not silence the process. */
const CALL_DEADLINE_MS = 10_000;
const ADDRESS = /^(127\.0\.0\.1|localhost|\[::1\]):\d+$/;

/** Whether it is an address, as the last argument of the dynamic-provider process is. */
export function isEngineAddress(text: string | undefined): text is string {
  return text !== undefined && ADDRESS.test(text);
}

/**
 * The engine's own log, at the address that the dynamic-provider process receives as its last argument. After a failure
 * the process logs nothing more: a line that cannot be shown must not fail an `up`.
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

/**
 * A malformed URN crashes the CLI (docs/design/engine.md, Lines to the user); without a URN the line belongs to the
 * stack.
 */
export function loggableUrn(urn: string | undefined): string {
  return isUrn(urn) ? urn : "";
}

type Send = (line: LogLine, done: (failed: boolean) => void) => void;

function connect(address: string): Send {
  // Loaded with the first logged line: in the dynamic-provider process the SDK has these modules in memory already.
  const load = ofSdk();
  // The modules have these declared types.
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
