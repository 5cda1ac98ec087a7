/**
 * The digest of a secret, for a state that does not hold the secret: it tells whether a value is the one that was
 * applied to this argument of this object, and makes guessing as expensive as OWASP recommends. Its text is stored:
 * `scrypt-bound$<N>$<r>$<p>$<salt>$<hash>`, both in base64. The hash is an HMAC of the place; its key is the value's
 * scrypt hash. Earlier versions stored `scrypt$…`, without a place.
 */
import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { availableParallelism } from "node:os";

export interface DigestCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** Where a value is applied. A digest for one place does not match at another. */
export interface DigestPlace {
  readonly kind: string;
  readonly id: string;
  readonly path: string;
}

/** 32 MB, and about a quarter of a second of processor time. */
const COST: DigestCost = { N: 2 ** 15, r: 8, p: 3 };
/** The limit for a text that may have been edited: more would exhaust the process. */
const HIGHEST: DigestCost = { N: 2 ** 16, r: 8, p: 16 };
/** Node runs scrypt on four threads. One stays free for the lookup of host names. */
const SIDE_BY_SIDE = Math.min(availableParallelism(), 3);
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const TEXT = /^scrypt(-bound)?\$(\d{1,5})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9+/]{22}==)\$([A-Za-z0-9+/]{43}=)$/;

interface Salted extends DigestCost {
  /** In base64. */
  readonly salt: string;
}

interface Parts extends Salted {
  readonly isBound: boolean;
  readonly hash: Buffer;
}

/** Undefined if this provider did not write it. */
function partsOf(digest: string): Parts | undefined {
  const [, bound, N = "", r = "", p = "", salt = "", hash = ""] = TEXT.exec(digest) ?? [];
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  // RFC 7914, 6: scrypt throws on other values.
  const isTaken = cost.N > 1 && Number.isInteger(Math.log2(cost.N)) && cost.N < 2 ** (16 * cost.r);
  const isBounded = cost.N <= HIGHEST.N && cost.r <= HIGHEST.r && cost.p <= HIGHEST.p && cost.r * cost.p > 0;
  if (!isTaken || !isBounded) return undefined;
  return { ...cost, salt, isBound: bound !== undefined, hash: Buffer.from(hash, "base64") };
}

export const isDigest = (text: unknown): text is string => typeof text === "string" && partsOf(text) !== undefined;

/** Makes digests from the scrypt hash of a value. A digest for another place costs nothing more. */
export type DigestOf = (place: DigestPlace) => string;

/** The digests of one process: each value is hashed once per salt, as many in parallel as there are processors. */
export class Digests {
  /** Each lane holds the promise of its latest hash. */
  readonly #lanes: Promise<unknown>[] = Array.from({ length: SIDE_BY_SIDE }, () => Promise.resolve());
  readonly #hashes = new Map<string, Promise<Buffer>>();
  /** By value: the same value at several places gets one salt and is hashed once. */
  readonly #salts = new Map<string, string>();

  constructor(private readonly cost = COST) {}

  async of(value: string): Promise<DigestOf> {
    const salt = this.#salts.get(value) ?? randomBytes(SALT_BYTES).toString("base64");
    this.#salts.set(value, salt);
    const { N, r, p } = this.cost;
    const key = await this.#hash(value, { ...this.cost, salt });
    return (place) => `scrypt-bound$${N}$${r}$${p}$${salt}$${boundTo(place, key).toString("base64")}`;
  }

  /**
   * Whether a guess costs as much as with today's parameters. A digest that somebody made cheap, to guess the value, is
   * ignored.
   */
  isBelieved(digest: string): boolean {
    const parts = partsOf(digest);
    if (parts === undefined) return false;
    return parts.N >= this.cost.N && parts.r >= this.cost.r && parts.p >= this.cost.p;
  }

  /** Whether it has today's form. */
  isBound(digest: string): boolean {
    return partsOf(digest)?.isBound === true;
  }

  async matches(digest: string, value: string, place: DigestPlace): Promise<boolean> {
    const parts = partsOf(digest);
    if (parts === undefined || !this.isBelieved(digest)) return false;
    const key = await this.#hash(value, parts);
    return timingSafeEqual(parts.isBound ? boundTo(place, key) : key, parts.hash);
  }

  #hash(value: string, { N, r, p, salt }: Salted): Promise<Buffer> {
    const key = JSON.stringify([N, r, p, salt, value]);
    const known = this.#hashes.get(key);
    if (known !== undefined) return known;
    // What scrypt needs, and a little more.
    const options = { N, r, p, maxmem: 128 * N * r + 1024 * r * p };
    // All cost the same, so they are distributed in turn.
    const lane = this.#hashes.size % SIDE_BY_SIDE;
    const hashed = (this.#lanes[lane] ?? Promise.resolve()).then(
      () =>
        new Promise<Buffer>((resolve, reject) =>
          scrypt(value, Buffer.from(salt, "base64"), HASH_BYTES, options, (error, hash) =>
            error === null ? resolve(hash) : reject(error),
          ),
        ),
    );
    this.#lanes[lane] = hashed.catch(() => undefined);
    this.#hashes.set(key, hashed);
    return hashed;
  }
}

const boundTo = ({ kind, id, path }: DigestPlace, key: Buffer): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify([kind, id, path]))
    .digest();
