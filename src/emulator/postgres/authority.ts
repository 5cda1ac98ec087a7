/** TLS of the gate: an authority of the emulator's own, and certificates for the names under which clients come. */
import { createPrivateKey, generateKeyPairSync, X509Certificate, type KeyObject } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createSecureContext, TLSSocket, type SecureContext } from "node:tls";
import { authorityCertificate, serverCertificate } from "./certificates";

const NAME = "pulumi-svc emulator authority";
const DAY_MS = 24 * 60 * 60_000;
const LIFETIME_MS = 365 * DAY_MS;
/** An older one is replaced at the start. */
const SHORTEST_REST_MS = 30 * DAY_MS;
/** A client names any host. */
const MOST_CONTEXTS = 100;

/** In the folder of the clusters. */
const FILES = { certificate: "ca.pem", key: "ca.key" } as const;

/** The name of the protocol in the TLS handshake, which Postgres 17 introduced. */
export const ALPN = "postgresql";

interface Pair {
  readonly key: KeyObject;
  readonly certificate: X509Certificate;
}

const newKey = (): KeyObject => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const pemOf = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

export class Authority {
  /** The file with its certificate, for clients that verify the server. */
  readonly file: string;
  readonly #pair: Pair;
  readonly #serverKey = newKey();
  readonly #contexts = new Map<string, SecureContext>();

  /**
   * @param folder where an earlier start may have left one
   * @param host what the gate listens on
   */
  constructor(
    folder: string,
    private readonly host: string,
  ) {
    this.file = join(folder, FILES.certificate);
    this.#pair = earlier(folder) ?? make(folder);
  }

  /** Its certificate, as PEM. */
  get certificate(): string {
    return this.#pair.certificate.toString();
  }

  /**
   * Speaks TLS on a client's connection.
   * @param isOurs whether there is a certificate for a host name. The one for other names is for this machine.
   */
  encrypt(socket: Socket, isOurs: (name: string) => boolean): TLSSocket {
    return new TLSSocket(socket, {
      isServer: true,
      secureContext: this.#context(),
      SNICallback: (name, answer) => answer(null, this.#context(isOurs(name) ? name : undefined)),
      ALPNProtocols: [ALPN],
    });
  }

  #context(name = ""): SecureContext {
    const known = this.#contexts.get(name);
    if (known !== undefined) return known;
    if (this.#contexts.size >= MOST_CONTEXTS) this.#contexts.clear();
    const isEverywhere = this.host === "0.0.0.0" || this.host === "::";
    const standard = new Set(["localhost", "127.0.0.1", "::1", ...(isEverywhere ? [] : [this.host])]);
    const { key, certificate } = this.#pair;
    const server = serverCertificate(
      { name: "pulumi-svc emulator", key: this.#serverKey },
      name === "" ? [...standard] : [name],
      { name: NAME, key },
      new Date(certificate.validTo),
    );
    const context = createSecureContext({ key: pemOf(this.#serverKey), cert: server.toString() });
    this.#contexts.set(name, context);
    return context;
  }
}

function make(folder: string): Pair {
  const key = newKey();
  const certificate = authorityCertificate({ name: NAME, key }, new Date(Date.now() + LIFETIME_MS));
  writeFileSync(join(folder, FILES.key), pemOf(key), { mode: 0o600 });
  writeFileSync(join(folder, FILES.certificate), certificate.toString());
  return { key, certificate };
}

/** Undefined if there is none, or none that will do. */
function earlier(folder: string): Pair | undefined {
  const [certificateFile, keyFile] = [join(folder, FILES.certificate), join(folder, FILES.key)];
  if (!existsSync(certificateFile) || !existsSync(keyFile)) return undefined;
  try {
    const key = createPrivateKey(readFileSync(keyFile));
    const certificate = new X509Certificate(readFileSync(certificateFile));
    const rest = new Date(certificate.validTo).getTime() - Date.now();
    const isGood = certificate.checkPrivateKey(key) && certificate.subject === `CN=${NAME}` && rest > SHORTEST_REST_MS;
    return isGood ? { key, certificate } : undefined;
  } catch {
    return undefined; // Not PEM.
  }
}
