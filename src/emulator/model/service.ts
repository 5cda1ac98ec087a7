import type { ResolvedOptions } from "../emulatorOptions";
import { Auth } from "./auth";
import { Computes } from "./computes";
import { Operations, type InjectedOutcome } from "./operations";
import { SigningKeys } from "./signingKeys";
import { Store } from "./store";

/** The service apart from HTTP: what it holds, what requests do to it, and what happens in it over time. */
export class Service {
  readonly store = new Store();
  readonly signingKeys = new SigningKeys(this.store);
  readonly operations: Operations;
  readonly computes: Computes;
  readonly auth: Auth;

  constructor(
    readonly options: ResolvedOptions,
    injectedOutcome: InjectedOutcome,
  ) {
    this.operations = new Operations(options, this.store, injectedOutcome);
    this.computes = new Computes(options, this.operations);
    this.auth = new Auth(options, this.store);
  }

  /** The records that a list shows: it can lag behind a creation (docs/design/api.md, Delays). */
  listed<T extends { created_at: string }>(records: readonly T[]): T[] {
    return records.filter(({ created_at }) => Date.now() - Date.parse(created_at) >= this.options.listLagMs);
  }
}
