import { connect } from "node:http2";
import { isEngineAddress } from "./log";

/** The pause before a reconnection, after the engine closed the connection or the first attempt failed. */
const PAUSE_MS = 1_000;
/** The attempts for the first connection: there may be no engine at the address at all. */
const FIRST_TRIES = 5;

/**
 * Ends this process when the engine's process has ended, even by SIGKILL: the SDK's server would wait for calls for
 * ever. A closed connection to the engine's gRPC server shows this at once; a CLI that is stopped or busy keeps it
 * open. The process ends only if a connection existed and the address now refuses one. A call in progress ends with it,
 * so that no request is sent whose effect nobody would record. `wasThere`: the parent process knows that the engine
 * existed, so no earlier connection is needed.
 */
export function endWithEngine(address: string | undefined = process.argv.at(-1), wasThere = false): void {
  if (!isEngineAddress(address)) return;
  let met = wasThere;
  let tries = 0;
  const watch = (): void => {
    tries += 1;
    const session = connect(`http://${address}`);
    session.unref();
    session.once("connect", () => (met = true));
    session.on("error", (error: NodeJS.ErrnoException) => {
      if (met && error.code === "ECONNREFUSED") process.exit();
    });
    session.once("close", () => {
      if (met || tries < FIRST_TRIES) setTimeout(watch, PAUSE_MS).unref();
    });
  };
  watch();
}
