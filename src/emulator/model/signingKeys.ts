import { createPrivateKey, createPublicKey, generateKeyPair, type JsonWebKey, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { SIGNING_ALGORITHMS } from "./records";
import { newId, now, type StoredIntegration, type StoredSigningKey } from "./records";
import { notFound } from "./refusal";
import type { Store } from "./store";

export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** What verifiers accept by default: OpenID Connect requires its support, and many accept nothing else. */
export const STANDARD_ALGORITHM: SigningAlgorithm = "RS256";

const generate = promisify(generateKeyPair);

/** A private key for an algorithm, generated outside of the event loop. */
export async function newPrivateKey(algorithm: SigningAlgorithm): Promise<KeyObject> {
  const pair =
    algorithm === "RS256" ? generate("rsa", { modulusLength: 2048 }) : generate("ec", { namedCurve: "P-256" });
  return (await pair).privateKey;
}

export const privateKeyOf = ({ private_jwk }: StoredSigningKey): KeyObject =>
  createPrivateKey({ key: private_jwk, format: "jwk" });

/**
 * The keys that sign an integration's tokens, oldest first: the last one signs, all of them verify. They are created on
 * first use, because generating an RSA key takes longer than starting an emulator.
 */
export class SigningKeys {
  /** Running creations of first keys: concurrent requests share one. */
  private readonly first = new WeakMap<StoredIntegration, Promise<StoredSigningKey>>();

  constructor(private readonly store: Store) {}

  /** The key that signs. */
  async current(integration: StoredIntegration): Promise<StoredSigningKey> {
    const last = integration.signing_keys?.at(-1);
    if (last !== undefined) return last;
    const pending = this.first.get(integration) ?? this.add(integration, STANDARD_ALGORITHM);
    this.first.set(integration, pending);
    try {
      return await pending;
    } finally {
      this.first.delete(integration);
    }
  }

  /** Adds a key, which signs from now on. */
  async add(integration: StoredIntegration, alg: SigningAlgorithm): Promise<StoredSigningKey> {
    const private_jwk = (await newPrivateKey(alg)).export({ format: "jwk" });
    const key: StoredSigningKey = { kid: newId(), alg, private_jwk, created_at: now() };
    integration.signing_keys = [...(integration.signing_keys ?? []), key];
    this.store.changed();
    return key;
  }

  /** Tokens of this key no longer verify. If it was the last key, a new one is created on demand. */
  drop(kid: string): void {
    const all = this.store.projects.flatMap(({ integrations }) => integrations);
    const owner = all.find(({ signing_keys }) => signing_keys?.some((key) => key.kid === kid));
    if (owner === undefined) throw notFound("there is no signing key with this kid");
    owner.signing_keys = owner.signing_keys?.filter((key) => key.kid !== kid) ?? [];
    this.store.changed();
  }

  /** The public keys, as a JSON Web Key Set. */
  async publicSet(integration: StoredIntegration): Promise<{ keys: JsonWebKey[] }> {
    await this.current(integration);
    const keys = integration.signing_keys ?? [];
    return {
      keys: keys.map((key) => ({
        ...createPublicKey(privateKeyOf(key)).export({ format: "jwk" }),
        kid: key.kid,
        alg: key.alg,
        use: "sig",
      })),
    };
  }
}
