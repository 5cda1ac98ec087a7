import { createInterface } from "node:readline/promises";

/** Asks on the terminal through standard error, so standard output holds only the result. Only "y" or "yes" agrees. */
export async function isAgreed(
  question: string,
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<boolean> {
  const terminal = createInterface({ input, output });
  // Ctrl-C and the end of the input give no answer, so without this the wait would never end.
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  terminal.once("SIGINT", () => terminal.close());
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), closed]);
  terminal.close();
  return /^\s*y(es)?\s*$/i.test(answer);
}
