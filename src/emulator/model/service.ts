import type { ResolvedOptions } from "../emulatorOptions";
import { Auth } from "./auth";
import { Computes } from "./computes";
import { Operations, type InjectedOutcome } from "./operations";
import { SigningKeys } from "./signingKeys";
import { Pages } from "./pages";
import { Store } from "./store";

/** The service without HTTP: its data, the operations on it, and its changes over time. */
export class Service {
  readonly store = new Store();
  readonly signingKeys = new SigningKeys(this.store);
  readonly operations: Operations;
  readonly computes: Computes;
  readonly auth: Auth;
  readonly pages = new Pages();

  constructor(
    readonly options: ResolvedOptions,
    injectedOutcome: InjectedOutcome,
  ) {
    this.operations = new Operations(options, this.store, injectedOutcome);
    this.computes = new Computes(options, this.operations);
    this.auth = new Auth(options, this.store);
  }

  /** The records in a list: it can lag behind a creation (docs/design/api.md, Delays). */
  listed<T extends { created_at: string }>(records: readonly T[]): T[] {
    return records.filter(({ created_at }) => Date.now() - Date.parse(created_at) >= this.options.listLagMs);
  }
}
