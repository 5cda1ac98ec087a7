import type { Stack } from "./Stack";
import { svc } from "./svc";

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
export async function doctor(stack: Stack, ...args: string[]): Promise<Diagnosis> {
  const { stdout } = await svc(stack, ["doctor", "--json", ...args]);
  // The command's JSON output.
  return JSON.parse(stdout) as Diagnosis;
}

export const check = ({ checks }: Diagnosis, name: string): Check | undefined =>
  checks.find((one) => one.name === name);
