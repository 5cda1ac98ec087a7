import type { Context } from "hono";
import type { HttpBindings } from "@hono/node-server";
import type { Faults } from "../control/faults";
import type { Lifecycle } from "./operations";
import type { ResolvedOptions } from "../options";
import type { LoggedRequest, RequestLog } from "../http/requestLog";
import type { Store } from "./store";

/** What every route works with. */
export interface Service {
  options: ResolvedOptions;
  store: Store;
  lifecycle: Lifecycle;
  faults: Faults;
  log: RequestLog;
  /** Where the emulator is reached; known once it listens. */
  origin: () => string;
  /** Whether it listens on a loopback address, where nobody but this machine reaches it. False until it listens. */
  isLocal: () => boolean;
  /** Back to the state of the first start. */
  reset: () => void;
}

export interface Env {
  Bindings: HttpBindings;
  Variables: { logged: LoggedRequest };
}

export interface Route {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Relative to the API root, in the notation of the API document. */
  template: string;
  handler: (context: Context<Env>) => Response | Promise<Response>;
  /** Observed instead of described (docs/design/api.md): missing with `seedOnly`. */
  completes?: true;
}
