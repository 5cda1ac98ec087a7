import { shellQuote } from "../lib/shell.mts";

/** Taken away first: the sandbox runs without the caller's settings too. */
const UNSET_FOREIGN = `unset SVC_API_KEY $(env | sed -nE 's/^((PULUMI|SVC)_[A-Za-z0-9_]*)=.*/\\1/p')`;

/** What a shell has to source to go on with a stack by hand. */
export function environmentFile(settings: Record<string, string>): string {
  const exports = Object.entries(settings).map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  return `${[UNSET_FOREIGN, ...exports].join("\n")}\n`;
}

export interface Left {
  envFile: string;
  stateUrl: string;
  pid: number | undefined;
  folder: string;
}

/** The commands to go on with what `--keep` has left, and those that end it. */
export function commandsByHand({ envFile, stateUrl, pid, folder }: Left): { goOn: string[]; end: string[] } {
  return {
    goOn: [
      `source ${shellQuote(envFile)}     # Pulumi's home, state and passphrase of this stack, and PATH`,
      "pulumi stack output",
      "pulumi preview --refresh --diff",
      "pulumi up                                # after a change to examples/quickstart/index.ts",
      `curl ${shellQuote(stateUrl)}   # what the service holds`,
    ],
    end: ["pulumi destroy --yes && pulumi stack rm --yes", `kill ${pid} && rm -r ${shellQuote(folder)}`],
  };
}
