import { ComputeApi } from "./computes";
import type { ClientOptions } from "./options";

/**
 * The typed API of one account. Reads are shared and kept, changes of computes stand in one line for each project: both work
 * as long as an account has one client in a process.
 */
export class Client extends ComputeApi {}

export function createClient(options: ClientOptions): Client {
  return new Client(options);
}
