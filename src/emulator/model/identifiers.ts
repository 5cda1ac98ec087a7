import { createHash, randomBytes, randomInt, randomUUID } from "node:crypto";

const FIRST = ["autumn", "bold", "calm", "cool", "crimson", "dry", "fancy", "green", "late", "misty", "royal", "young"];
const SECOND = ["band", "brook", "cloud", "dew", "field", "forest", "lake", "meadow", "rain", "sound", "sun", "tree"];

const pick = (words: readonly string[]): string => words[randomInt(words.length)] ?? "plain";

/** `ep-<word>-<word>-<number>`, the shape of real compute ids. */
export const newEndpointId = (): string => `ep-${pick(FIRST)}-${pick(SECOND)}-${randomInt(10_000_000, 100_000_000)}`;

export const newId = (): string => randomUUID();

export const newSecret = (prefix: string): string => `${prefix}_${randomBytes(24).toString("base64url")}`;

export const now = (): string => new Date().toISOString();

/** How a secret is shown where people look: enough to see that the right one arrived, not enough to use it. */
export const hashed = (value: string): string => `sha256:${createHash("sha256").update(value).digest("hex")}`;
