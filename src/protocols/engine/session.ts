import { requestTrace } from "../../contract/settings";
import { OtherProcesses } from "../../runtime/run/otherProcesses";
import { Titles } from "../../runtime/run/processList";
import { Session } from "../../runtime/session";
import { engineLog, isEngineAddress } from "./log";

/** The session of a provider process, which the engine gives its address as the last argument. */
export function engineSession(): Session {
  const log = engineLog();
  const trace = requestTrace((message) => log({ severity: "info", message, urn: undefined, ephemeral: false }));
  const [engine] = process.argv.slice(-1).filter(isEngineAddress);
  if (engine === undefined) return new Session(log, { client: { trace } });
  const list = new Titles(engine);
  return new Session(log, {
    client: { trace },
    others: (address) => new OtherProcesses({ run: engine, address, list }),
  });
}
