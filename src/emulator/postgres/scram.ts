/**
 * The server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677): a client proves that it knows the key without sending it.
 */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import type { AcceptedKey } from "../http/access";
import { authenticationOk, saslContinue, saslFinal, saslMechanisms, SessionError } from "./protocol";
import { readPassword, type Input } from "./startup";

const PLAIN = "SCRAM-SHA-256";
/** Bound to the TLS connection: nobody between client and gate can relay it. */
const BOUND = "SCRAM-SHA-256-PLUS";
/** As in Postgres. */
const ITERATIONS = 4096;

const hmac = (key: Buffer, data: string): Buffer => createHmac("sha256", key).update(data).digest();
const hash = (data: Buffer): Buffer => createHash("sha256").update(data).digest();
const xor = (left: Buffer, right: Buffer): Buffer => Buffer.from(left.map((byte, index) => byte ^ (right[index] ?? 0)));

/** Derived once from a password. */
interface Verifier {
  readonly password: string;
  readonly salt: Buffer;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

async function verifierOf(password: string): Promise<Verifier> {
  const salt = randomBytes(16);
  const salted = await promisify(pbkdf2)(password.normalize("NFKC"), salt, ITERATIONS, 32, "sha256");
  return { password, salt, storedKey: hash(hmac(salted, "Client Key")), serverKey: hmac(salted, "Server Key") };
}

const malformed = (): SessionError => new SessionError("08P01", "malformed message of the SASL authentication");

export const wrongPassword = (user: string): SessionError =>
  new SessionError(
    "28P01",
    `password authentication failed for user "${user}"`,
    "The password is the API key that the emulator accepts.",
  );

/** The hash of the server's certificate (RFC 5929, tls-server-end-point). Undefined without TLS. */
function endPointOf(socket: Input["socket"]): Buffer | undefined {
  const certificate = socket instanceof TLSSocket ? socket.getX509Certificate() : undefined;
  return certificate && hash(certificate.raw);
}

/** The first message: the name of the mechanism, a length, and the client's first SCRAM message. */
function parseFirst(body: Buffer, offered: readonly string[]): { header: string; bare: string; nonce: string } {
  const end = body.indexOf(0);
  const mechanism = body.toString("utf8", 0, Math.max(0, end));
  if (!offered.includes(mechanism)) {
    throw new SessionError("08P01", `only these SASL mechanisms are supported: ${offered.join(", ")}`);
  }
  const [, header, bare, nonce] =
    /^((?:[ny]|p=tls-server-end-point),(?:a=[^,]*)?,)(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]+))$/.exec(
      body.toString("utf8", end + 5),
    ) ?? [];
  if (header === undefined || bare === undefined || nonce === undefined) throw malformed();
  // "y": the client could bind, and was told that the server cannot.
  if (header.startsWith("p") !== (mechanism === BOUND) || (header.startsWith("y") && offered.includes(BOUND))) {
    throw new SessionError("28000", "the client and the emulator do not agree on the channel binding");
  }
  return { header, bare, nonce };
}

export class Scram {
  #verifier: Promise<Verifier> | undefined;
  #password: string | undefined;

  constructor(private readonly key: AcceptedKey) {}

  /**
   * Authenticates the client. Every user proves the same key.
   * @throws SessionError, Gone
   */
  async authenticate(input: Input, user: string): Promise<void> {
    const { socket } = input;
    const { salt, storedKey, serverKey } = await this.#current();
    const endPoint = endPointOf(socket);
    const offered = endPoint === undefined ? [PLAIN] : [BOUND, PLAIN];
    socket.write(saslMechanisms(...offered));
    const { header, bare, nonce } = parseFirst(await readPassword(input), offered);
    const serverNonce = nonce + randomBytes(18).toString("base64");
    const challenge = `r=${serverNonce},s=${salt.toString("base64")},i=${ITERATIONS}`;
    socket.write(saslContinue(challenge));

    const final = (await readPassword(input)).toString("utf8");
    const [, withoutProof, binding, finalNonce, proof] = /^(c=([^,]*),r=([^,]*)),p=([^,]*)$/.exec(final) ?? [];
    if (withoutProof === undefined || proof === undefined) throw malformed();
    const bound = Buffer.concat([Buffer.from(header), ...(header.startsWith("p") && endPoint ? [endPoint] : [])]);
    if (finalNonce !== serverNonce || binding !== bound.toString("base64")) throw malformed();
    const authMessage = `${bare},${challenge},${withoutProof}`;
    const clientKey = xor(hmac(storedKey, authMessage), Buffer.from(proof, "base64"));
    if (!timingSafeEqual(hash(clientKey), storedKey)) throw wrongPassword(user);
    socket.write(
      Buffer.concat([saslFinal(`v=${hmac(serverKey, authMessage).toString("base64")}`), authenticationOk()]),
    );
  }

  /** For the current key, which can be rotated. */
  #current(): Promise<Verifier> {
    if (this.#verifier === undefined || this.#password !== this.key.current) {
      this.#password = this.key.current;
      this.#verifier = verifierOf(this.key.current);
    }
    return this.#verifier;
  }
}
