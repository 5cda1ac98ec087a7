import { resolve } from "node:path";
import { z } from "zod";
import { programFolder } from "../../contract/projectFile";
import { referenceProblem } from "../../contract/references";
import { type ReadSetting, SETTING_NAMES } from "../../contract/settings";
import { startOfPaths } from "./projectFile";
import { type Pulumi, pulumiIn } from "./pulumi";
import { parsed } from "./state";

/**
 * The output of `pulumi config --json` for each key: with the defaults of Pulumi.yaml, without the values of secrets.
 */
const configuration = z.record(
  z.string(),
  z.object({ value: z.string().optional(), objectValue: z.unknown().optional(), secret: z.boolean().optional() }),
);
type Configuration = z.infer<typeof configuration>;

/** The namespace `svc` by name: the settings and any other keys. */
export type StackSettings = ReadonlyMap<string, { readonly value: string | undefined; readonly secret: boolean }>;

/** Resolves the path of a key as the provider process does: the command may run in another folder. */
export function fromProgram(folder: string, read: ReadSetting): ReadSetting {
  const start = startOfPaths(folder);
  return (name) => {
    const value = read(name);
    const path = name === "apiKeyFile" ? (value ?? "").trim() : "";
    // An invalid path is rejected unchanged, and not shown.
    return path !== "" && referenceProblem({ fromFile: path }, start) === undefined ? resolve(start, path) : value;
  };
}

/** @throws the CLI's message. */
async function configurationOf(pulumi: Pulumi): Promise<Configuration> {
  const { ok, stdout, reason } = await pulumi(["config", "--json"]);
  if (!ok) throw new Error(reason);
  const { success, data } = configuration.safeParse(parsed(stdout));
  if (!success) throw new Error("pulumi config --json did not print the configuration");
  return data;
}

/** Includes the values of secret settings. @throws the CLI's message. */
export async function settingsOf(pulumi: Pulumi): Promise<StackSettings> {
  const found = new Map<string, { value: string | undefined; secret: boolean }>();
  for (const [key, { value, secret = false }] of Object.entries(await configurationOf(pulumi))) {
    const [, name] = /^svc:(.+)$/s.exec(key) ?? [];
    if (name === undefined) continue;
    // Secrets that are not settings are not read.
    const isRead = secret && SETTING_NAMES.some((known) => known === name);
    found.set(name, { value: isRead ? await secretOf(pulumi, key) : value, secret });
  }
  return found;
}

async function secretOf(pulumi: Pulumi, key: string): Promise<string> {
  const { ok, stdout, reason } = await pulumi(["config", "get", key]);
  if (!ok) throw new Error(reason);
  return stdout;
}

/**
 * Reads a setting of the stack around `folder`. Without a program, the CLI or a selected stack, only the environment
 * counts.
 * @throws if the stack exists and cannot be read, or was named and does not exist.
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
  const settings = await settingsOf(pulumi).catch((error: Error) => {
    throw new Error(
      `the configuration of the stack ${name.stdout} cannot be read: ${error.message}. It needs the login and the passphrase of the stack`,
    );
  });
  return fromProgram(folder, (setting) => settings.get(setting)?.value);
}
