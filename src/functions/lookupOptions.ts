import type { Provider } from "../resources/Provider";

/** What every function takes besides its arguments. */
export interface LookupOptions {
  /**
   * The account to ask.
   * @default the stack's configuration `svc:…`, else the environment
   */
  provider?: Provider;
}

/** What every function is told. */
export interface ProjectLookupArgs {
  /** The project. */
  projectId: string;
}
