import { connect } from "node:http2";
import { isEngineAddress } from "./engineLog";

/** Before a connection that the engine closed, or that failed to begin with, is made anew. */
const PAUSE_MS = 1_000;
/** How often a first connection is tried: there may be no engine at the address at all. */
const FIRST_TRIES = 5;

/**
 * Ends this process when the engine's has ended, also by SIGKILL: the SDK's server would wait for its calls for ever. An open
 * connection to the engine's gRPC server tells at once; a CLI that is stopped or busy keeps it. What ends this process
 * is both: the connection was there, and now the address refuses one. A call under way ends with it, so that no request is sent
 * of which nobody would record the effect. `wasThere`: who started this process knows that the engine was there, so that one
 * that ends before the first connection is no other case.
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
