import { execFile } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./cli";
import { takeHost } from "./hosts";

/** The command `pulumi-svc` as it is built. */
export const MAIN = join(ROOT, "dist", "cli", "main.js");

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Command {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs `pulumi-svc` in the process of commandHost.cjs. */
export async function runCommand({ args, cwd, env }: Command): Promise<Ended> {
  const host = takeHost("commandHost", ROOT, env);
  try {
    // As commandHost.cjs sends it.
    return (await host.ask({ args, cwd, env })) as Ended;
  } finally {
    host.release();
  }
}

/** Runs `pulumi-svc` as a user's shell does. */
export function runProcess({ args, cwd, env }: Command): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...args], { cwd, env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
