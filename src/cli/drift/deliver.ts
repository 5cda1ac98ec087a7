import { open, writeFile } from "node:fs/promises";
import { EXIT } from "../exitCodes";
import { lineOf, say } from "../report/terminal";
import { message, text } from "../report/text";

export const EXIT_FAILURE = EXIT.failure;

/**
 * Writes a report to the requested place. The reported work is done, so if the file cannot be written, the report goes
 * to standard output.
 * @param summary the report in one line, for standard output beside a file
 * @returns false if the report is not in its file.
 */
export async function deliver(report: string, { out, summary }: { out: string | undefined; summary: string }) {
  if (out === undefined) {
    process.stdout.write(report);
    return true;
  }
  try {
    await writeFile(out, report);
  } catch (error) {
    const { code, message: reason } = error as NodeJS.ErrnoException; // of the file system
    process.stdout.write(report);
    say(text`${message(out)} could not be written: ${code ?? reason}. The report is on standard output`);
    return false;
  }
  process.stdout.write(`${lineOf(text`${message(summary)}. The report is in ${message(out)}`)}\n`);
  return true;
}

/** @throws if a report could not be written to the file. */
export async function mustBeWritable(file: string): Promise<void> {
  const handle = await open(file, "a").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be written: ${error.code ?? error.message}`);
  });
  await handle.close();
}
