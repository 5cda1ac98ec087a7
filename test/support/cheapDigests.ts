import crypto from "node:crypto";

/**
 * Makes digests of secrets by reference almost free in the tests of a file or block: a real digest takes a quarter of a
 * second of processor time, and test/runtime/digests.test.ts tests it. The text of a digest still states the real cost.
 */
export function cheapDigests(): void {
  const { scrypt } = crypto;
  type Arguments = [value: string, salt: Buffer, length: number, options: crypto.ScryptOptions, done: Done];
  type Done = (error: Error | null, hash: Buffer) => void;
  const cheap = (...[value, salt, length, options, done]: Arguments): void =>
    scrypt(value, salt, length, { ...options, N: 2 }, done);
  beforeAll(() => void Object.assign(crypto, { scrypt: cheap }));
  // Node's modules are shared by all files of a worker.
  afterAll(() => void Object.assign(crypto, { scrypt }));
}
