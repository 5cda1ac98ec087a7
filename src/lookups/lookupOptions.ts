// Not in lookup.ts, so that the published types need no zod.
import type { Provider } from "../program/Provider";

/** Options that every function has in addition to its arguments. */
export interface LookupOptions {
  /**
   * The account to ask.
   * @default the stack's configuration `svc:…`, else the environment
   */
  provider?: Provider;
}
