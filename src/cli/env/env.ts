import { randomUUID } from "node:crypto";
import { lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { unacceptedChanges } from "../doctor/audit";
import { readIgnoreFile } from "../drift/ignoreFile";
import { terminalText } from "../output";
import { type Login, PLACEHOLDERS } from "../../resources/tools";
import { pulumiIn } from "../stack/pulumi";
import { exportedState } from "../stack/state";
import { type Format, render, type Written } from "./formats";
import { labelOf, type Mapping, named, type NamedVariable, variablesOf } from "./variables";

export interface EnvFlags {
  readonly stack?: string;
  readonly format: Format;
  readonly map?: readonly Mapping[];
  readonly role?: string;
  readonly database?: string;
  readonly passwordEnv?: string;
  readonly showSecrets?: true;
  readonly out?: string;
  readonly force?: true;
}

/**
 * Writes the variables that an application needs from the stack to standard output, and a note on omitted ones to
 * standard error.
 * @throws a message for the user if nothing was written.
 */
export async function env(flags: EnvFlags): Promise<void> {
  const { stack, format, map = [], role, database, out } = flags;
  // First: an invalid file stops the command.
  const accepted = readIgnoreFile();
  const showSecrets = flags.showSecrets === true;
  const login: Login = { role, database, password: passwordIn(flags.passwordEnv) };
  const state = await exportedState(pulumiIn(process.cwd(), stack), showSecrets);
  refuseUnexplained(unacceptedChanges(state, accepted, new Date()));
  const variables = variablesOf(state, login);
  if (variables.length === 0) {
    throw new Error(
      `${stack === undefined ? "the stack" : `the stack ${stack}`} holds no compute, auth integration or key set of pulumi-svc. Run pulumi up first, or name another stack with --stack`,
    );
  }
  const all = named(variables, map);
  const written = all.filter((one): one is Written => one.value !== undefined && (showSecrets || !one.isSecret));
  const notes = [...leftOut(all, showSecrets), ...placeholders(written, login)];
  if (written.length === 0) throw new Error(["there is nothing to write", ...notes].join("\n"));
  const text = render(written, format);
  if (out === undefined) {
    process.stdout.write(text);
  } else {
    await writePrivately(out, text, flags.force === true);
    notes.unshift(`wrote ${written.length} variable${written.length === 1 ? "" : "s"} to ${out}`);
  }
  process.stderr.write(notes.map((note) => `pulumi-svc: ${terminalText(note)}\n`).join(""));
}

/** An application trusts every token that is signed with the keys that it gets here. */
function refuseUnexplained(changes: ReturnType<typeof unacceptedChanges>): void {
  if (changes.length === 0) return;
  throw new Error(
    [
      "nothing was written, because somebody has changed what the application would trust",
      ...changes.map(({ kind, name, message }) => `${kind} ${name}: ${message}`),
      "Find out who it was and why. If it is right, run `pulumi-svc drift --ignore <resource> --reason <reason>`, which accepts it in svc-drift.json, or add the entry of `pulumi-svc doctor --audit` for it",
    ].join("\n"),
  );
}

function passwordIn(variable: string | undefined): string | undefined {
  if (variable === undefined) return undefined;
  const password = process.env[variable] ?? "";
  if (password === "") throw new Error(`the environment variable ${variable} of --password-env is not set`);
  return password;
}

function leftOut(all: readonly NamedVariable[], showSecrets: boolean): string[] {
  const secrets = showSecrets ? [] : all.filter(({ isSecret }) => isSecret);
  const empty = all.filter(
    (one) => one.value === undefined && !secrets.includes(one) && (one.isMapped || !one.isOptional),
  );
  const list = (variables: readonly NamedVariable[]): string => variables.map(labelOf).join(", ");
  return [
    ...(secrets.length === 0 ? [] : [`left out, because --show-secrets is not given: ${list(secrets)}`]),
    ...(empty.length === 0 ? [] : [`left out, because the state has no value: ${list(empty)}`]),
  ];
}

const OPTIONS: Record<keyof Login, string> = {
  role: "--role",
  database: "--database",
  password: "--password-env",
};

function placeholders(written: readonly Written[], login: Login): string[] {
  if (!written.some(({ isUri }) => isUri)) return [];
  // The keys of a table in this package.
  const missing = (Object.keys(OPTIONS) as (keyof Login)[]).filter((name) => login[name] === undefined);
  if (missing.length === 0) return [];
  const words = missing.map((name) => `${PLACEHOLDERS[name]} (${OPTIONS[name]})`).join(", ");
  return [`the connection strings have placeholders, because no state holds the values: ${words}`];
}

/** Writes the file atomically, and readable for the owner only from the start. */
async function writePrivately(file: string, text: string, force: boolean): Promise<void> {
  const beside = join(dirname(file), `.${basename(file)}.${randomUUID()}`);
  try {
    const existing = await lstat(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    // The target of a link, or the reader of a device, would not be as private.
    if (existing?.isFile() === false) throw new Error("it is a folder, a link or a device");
    if (existing !== undefined && !force) throw new Error("it exists. --force overwrites it");
    const handle = await open(beside, "wx", 0o600);
    await handle.writeFile(text).finally(() => handle.close());
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${file} cannot be written: ${code ?? message}`);
  }
}
