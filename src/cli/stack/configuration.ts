import { resolve } from "node:path";
import { referenceProblem } from "../../contract/references";
import { type ReadSetting, SETTING_NAMES } from "../../contract/settings";
import { programFolder, startOfPaths } from "./projectFile";
import { type Pulumi, pulumiIn } from "./pulumi";

/** A setting as the stack's configuration has it. */
export interface Configured {
  readonly value: string | undefined;
  readonly secret: boolean;
}

/** By the name in the namespace `svc`: the settings, and what else is there. */
export type Configuration = ReadonlyMap<string, Configured>;

/** With the path of a key as the provider's process reads it: a command may run elsewhere. */
export function fromProgram(folder: string, read: ReadSetting): ReadSetting {
  const start = startOfPaths(folder);
  return (name) => {
    const value = read(name);
    const path = name === "apiKeyFile" ? (value ?? "").trim() : "";
    // What is none is refused as it is, and not shown.
    return path !== "" && referenceProblem({ fromFile: path }, start) === undefined ? resolve(start, path) : value;
  };
}

/** @throws in the words of the CLI.
 */
export async function configurationOf(pulumi: Pulumi): Promise<Configuration> {
  const asked = async (...args: string[]): Promise<string> => {
    const { ok, stdout, reason } = await pulumi(["config", ...args]);
    if (!ok) throw new Error(reason);
    return stdout;
  };
  // The CLI's own JSON. It leaves out the values of secrets.
  const all = JSON.parse(await asked("--json")) as Record<string, { value?: string; secret?: boolean }>;
  const found = new Map<string, Configured>();
  for (const [key, { value, secret = false }] of Object.entries(all)) {
    const [, name] = /^svc:(.+)$/s.exec(key) ?? [];
    if (name === undefined) continue;
    // What is no setting is nobody's business.
    const isRead = secret && SETTING_NAMES.some((known) => known === name);
    found.set(name, { value: isRead ? await asked("get", key) : value, secret });
  }
  return found;
}

/**
 * Reads a setting of the stack around `folder`. Without a program, without the CLI and without a selected stack there is
 * none, and the environment alone counts.
 * @throws where the stack exists and cannot be read, or was named and does not exist.
 */
export async function readSettings(folder: string, stack: string | undefined): Promise<ReadSetting> {
  if (programFolder(folder) === undefined) {
    if (stack !== undefined) throw new Error(`no Pulumi.yaml in this folder or above, so there is no stack "${stack}"`);
    return () => undefined;
  }
  const pulumi = pulumiIn(folder, stack);
  const name = await pulumi(["stack", "--show-name"]);
  if (!name.ok) {
    if (stack !== undefined) throw new Error(`the stack "${stack}" cannot be read: ${name.reason}`);
    return () => undefined;
  }
  const configuration = await configurationOf(pulumi).catch((error: Error) => {
    throw new Error(
      `the configuration of the stack ${name.stdout} cannot be read: ${error.message}. It needs the login and the passphrase of the stack`,
    );
  });
  return fromProgram(folder, (setting) => configuration.get(setting)?.value);
}
