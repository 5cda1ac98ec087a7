import crypto from "node:crypto";

/**
 * Has the tests of a file, or of a block, make and compare digests of secrets by reference at next to no cost: a real one takes
 * a quarter of a second of a processor, and test/host/digests.test.ts has it. The text of a digest says the real cost all the
 * same.
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
