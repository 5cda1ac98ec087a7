/**
 * The digest of a secret, for a state that does not hold the secret: it tells whether a value is the one that was applied, and
 * costs whoever guesses about a second a try. Its text is stored: `scrypt$<N>$<r>$<p>$<salt>$<hash>`, both in base64.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

export interface DigestCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MB, and about a second of a processor. */
const COST: DigestCost = { N: 2 ** 15, r: 8, p: 14 };
/** Of a text that somebody may have edited: more would use up the process. */
const HIGHEST: DigestCost = { N: 2 ** 16, r: 8, p: 16 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const TEXT = /^scrypt\$(\d{1,5})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9+/]{22}==)\$([A-Za-z0-9+/]{43}=)$/;

interface Parts extends DigestCost {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Undefined for what this provider has not written. */
function partsOf(digest: string): Parts | undefined {
  const [, N = "", r = "", p = "", salt = "", hash = ""] = TEXT.exec(digest) ?? [];
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  // RFC 7914, 6: of others, scrypt throws.
  const isTaken = cost.N > 1 && Number.isInteger(Math.log2(cost.N)) && cost.N < 2 ** (16 * cost.r);
  const isBounded = cost.N <= HIGHEST.N && cost.r <= HIGHEST.r && cost.p <= HIGHEST.p && cost.r * cost.p > 0;
  if (!isTaken || !isBounded) return undefined;
  return { ...cost, salt: Buffer.from(salt, "base64"), hash: Buffer.from(hash, "base64") };
}

export const isDigest = (text: unknown): text is string => typeof text === "string" && partsOf(text) !== undefined;

export class Digests {
  /** One at a time: each takes its memory, and a plan may have many. */
  #last: Promise<unknown> = Promise.resolve();
  /** What was compared once in this process. */
  readonly #compared = new Map<string, boolean>();

  constructor(private readonly cost = COST) {}

  async of(value: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const { N, r, p } = this.cost;
    const hash = await this.#hash(value, { ...this.cost, salt });
    const digest = `scrypt$${N}$${r}$${p}$${salt.toString("base64")}$${hash.toString("base64")}`;
    this.#compared.set(JSON.stringify([digest, value]), true);
    return digest;
  }

  async matches(digest: string, value: string): Promise<boolean> {
    const key = JSON.stringify([digest, value]);
    const known = this.#compared.get(key);
    if (known !== undefined) return known;
    const parts = partsOf(digest);
    const isSame = parts !== undefined && timingSafeEqual(await this.#hash(value, parts), parts.hash);
    this.#compared.set(key, isSame);
    return isSame;
  }

  #hash(value: string, { N, r, p, salt }: Omit<Parts, "hash">): Promise<Buffer> {
    // What scrypt takes, and a little more.
    const options = { N, r, p, maxmem: 128 * N * r + 1024 * r * p };
    const hashed = this.#last.then(
      () =>
        new Promise<Buffer>((resolve, reject) =>
          scrypt(value, salt, HASH_BYTES, options, (error, key) => (error === null ? resolve(key) : reject(error))),
        ),
    );
    this.#last = hashed.catch(() => undefined);
    return hashed;
  }
}
