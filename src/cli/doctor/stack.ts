import { isAtLeast } from "../../contract/sdkVersion";
import type { ReadSetting } from "../../contract/settings";
import { clearText } from "../stack/secretSignature";
import { type Configured, configurationOf, type Pulumi, pulumiIn, type Run } from "../stack/configuration";
import { failure, ok, skipped, warning, type Check } from "./check";
import { isSupported, RANGE } from "./installation";

/** From this CLI on, `--expect-no-changes` ends with 7 for drift and with another code for a failure. */
const EXIT_CODES_SINCE = "3.226.1";

/** What the Pulumi CLI says of the stack. */
export interface Stack {
  readonly checks: readonly Check[];
  /** By the name in the namespace `svc`. Undefined where it could not be read. */
  readonly configuration: ReadonlyMap<string, Configured> | undefined;
  /** Those of its state that resources of ours have. */
  readonly providers: readonly StoredProvider[];
}

/** A provider as the last `pulumi up` stored it: a refresh, a destroy and a look for drift use these settings. */
export interface StoredProvider {
  readonly name: string;
  /** The engine's own, which takes the stack's configuration; else an `svc.Provider` of the program. */
  readonly isDefault: boolean;
  readonly read: ReadSetting;
  /** The projects that its resources belong to. */
  readonly projects: readonly string[];
}

/** The CLI, and what it knows of the stack. `folder`: where the command was started. */
export async function readStack(folder: string, hasProgram: boolean, stack: string | undefined): Promise<Stack> {
  const pulumi = pulumiIn(folder, stack);
  const version = await pulumi("version");
  const cli = cliCheck(version);
  const without = (why: string): Stack => ({
    checks: [cli, skippedStack(why, stack)],
    // Of a stack that was asked for by name, the environment alone says nothing.
    configuration: stack === undefined ? new Map() : undefined,
    providers: [],
  });
  if (!version.ok) return without("without the Pulumi CLI there is no stack configuration to read");
  if (!hasProgram) return without("no Pulumi.yaml here or in a folder above: only the environment counts");
  const name = await pulumi("stack", "--show-name");
  if (!name.ok) return without(`no stack configuration was read: ${name.words}`);
  const config = await configurationOf(pulumi);
  if (typeof config === "string") {
    const remedy = "Make `pulumi config` work in this folder: it needs the login and the passphrase of the stack.";
    const check = failure("stack", `the configuration of ${name.stdout} cannot be read: ${config}`, remedy);
    return { checks: [cli, check], configuration: undefined, providers: [] };
  }
  const providers = await storedProviders(pulumi);
  const selected = ok("stack", name.stdout);
  if (typeof providers !== "string") return { checks: [cli, selected], configuration: config, providers };
  const unread = skipped("stored key", `the state of ${name.stdout} cannot be read: ${providers}`);
  return { checks: [cli, selected, unread], configuration: config, providers: [] };
}

function cliCheck({ ok: works, stdout, words }: Run): Check {
  const install = "Install the Pulumi CLI: https://www.pulumi.com/docs/install/";
  if (!works) return failure("Pulumi CLI", words, install);
  const version = stdout.split("\n").at(-1)?.replace(/^v/, "") ?? "";
  if (!isSupported(version)) return failure("Pulumi CLI", `${version}; pulumi-svc needs ${RANGE}`, install);
  if (isAtLeast(version, EXIT_CODES_SINCE)) return ok("Pulumi CLI", version);
  return warning(
    "Pulumi CLI",
    `${version}; the exit codes that tell drift from failures hold from ${EXIT_CODES_SINCE} on`,
    install,
  );
}

/** Asked for by name, a stack has to be there. */
function skippedStack(why: string, stack: string | undefined): Check {
  if (stack === undefined) return skipped("stack", why);
  return failure("stack", why, "Run this in the folder of the program, with the name that `pulumi stack ls` shows.");
}

/** Those of the state that resources of ours have, or why it cannot be read. Their secrets stay in memory. */
async function storedProviders(pulumi: Pulumi): Promise<StoredProvider[] | string> {
  const exported = await pulumi("stack", "export", "--show-secrets");
  if (!exported.ok) return exported.words;
  interface Resource {
    urn?: string;
    id?: string;
    type: string;
    provider?: string;
    inputs?: Record<string, unknown>;
    outputs?: { projectId?: unknown };
  }
  // The CLI's own JSON.
  const { deployment } = JSON.parse(exported.stdout) as { deployment?: { resources?: Resource[] } };
  const resources = deployment?.resources ?? [];
  const ours = resources.filter(({ type }) => type.startsWith("pulumi-nodejs:dynamic/svc:"));
  const references = [...new Set(ours.map(({ provider = "" }) => provider))];
  return references.map((reference) => {
    const inputs = resources.find(({ urn, id }) => `${urn}::${id}` === reference)?.inputs ?? {};
    // urn:pulumi:<stack>::<project>::<type>::<name>::<id>
    const name = reference.split("::").at(-2) ?? "default";
    const ids = ours.filter(({ provider = "" }) => provider === reference).map(({ outputs }) => outputs?.projectId);
    return {
      name,
      isDefault: /^default(_|$)/.test(name),
      read: (setting) => clearText(inputs[`svc:${setting}`]),
      projects: [...new Set(ids.filter((id) => typeof id === "string"))],
    };
  });
}
