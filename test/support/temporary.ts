import { readdirSync } from "node:fs";

/**
 * What our commands have left in a folder for temporary files. The folder of the provider processes stays: what is in it
 * goes with the next run (src/runtime/run/otherProcesses.ts).
 */
export const leftIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith("pulumi") && !/^pulumi-svc-\d+$/.test(name));
