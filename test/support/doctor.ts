import { execFile } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./cli";
import type { Stack } from "./Stack";

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly remedy?: string;
}

export interface Diagnosis {
  readonly ok: boolean;
  readonly checks: readonly Check[];
}

/** `pulumi-svc doctor --json` in the folder of the stack's program. */
export function doctor(stack: Stack, ...args: string[]): Promise<Diagnosis> {
  const command = [join(ROOT, "dist", "cli", "main.js"), "doctor", "--json", ...args];
  return new Promise((resolve) => {
    const options = { cwd: join(stack.folder, "program"), env: stack.env };
    execFile(process.execPath, command, options, (_error, stdout, stderr) => {
      stack.said += stdout + stderr;
      // The command's own JSON.
      resolve(JSON.parse(stdout) as Diagnosis);
    });
  });
}

export const check = ({ checks }: Diagnosis, name: string): Check | undefined =>
  checks.find((one) => one.name === name);
