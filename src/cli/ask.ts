import { createInterface } from "node:readline/promises";

/** Asks on the terminal, on standard error: what a command prints stays what it is. Anything but "y" is a no. */
export async function isAgreed(
  question: string,
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<boolean> {
  const terminal = createInterface({ input, output });
  // Ctrl-C and the end of the input answer nothing, and nothing would end the wait.
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  terminal.once("SIGINT", () => terminal.close());
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), closed]);
  terminal.close();
  return /^\s*y(es)?\s*$/i.test(answer);
}
