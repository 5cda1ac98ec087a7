import { isThisMachine, type AcceptedKey } from "../http/access";
import { authenticationOk, cleartextPassword } from "./protocol";
import { wrongPassword } from "./scram";
import { readPassword, type Input } from "./startup";
import { noCompute } from "./target";

/**
 * Authenticates a client that can name its compute only in the password: `endpoint=<id>;<key>`.
 * @returns the compute
 * @throws SessionError, Gone
 */
export async function authenticatePlainly(input: Input, user: string, key: AcceptedKey): Promise<string> {
  // Elsewhere others could read the key.
  if (!input.isEncrypted && !isThisMachine(input.socket.remoteAddress ?? "")) throw noCompute();
  input.socket.write(cleartextPassword());
  const password = (await readPassword(input)).toString("utf8");
  const [, endpointId, given] = /^endpoint=([^;]+);(.*)\0$/s.exec(password) ?? [];
  if (endpointId === undefined) throw noCompute();
  if (!key.is(given)) throw wrongPassword(user);
  input.socket.write(authenticationOk());
  return endpointId;
}
