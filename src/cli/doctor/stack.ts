import { isOurEntry, kindOfEntry, PACKAGES, PROVIDER_TYPE } from "../../contract/pointer";
import { isSecret } from "../../contract/engineSecrets";
import { isAtLeast } from "../../contract/installation";
import { nameInUrn } from "../../contract/identifiers";
import type { ReadSetting } from "../../contract/settings";
import { fromProgram, settingsOf, type StackSettings } from "../stack/configuration";
import { missingPackage } from "../stack/nativePackage";
import { pulumiIn, type Run } from "../stack/pulumi";
import { objectsText, removalOf, sharedObjectsIn } from "../stack/sharedObjects";
import { exportedState, providerName, type StackState } from "../stack/state";
import { printable } from "../report/terminal";
import { compareText } from "../output";
import { failure, ok, skipped, warning, type Check } from "./check";
import { isSupported, RANGE } from "./installedPackages";

/** Since this CLI version, `--expect-no-changes` exits with 7 for drift and with another code for a failure. */
const EXIT_CODES_SINCE = "3.226.1";

const INSTALL = "Install the Pulumi CLI: https://www.pulumi.com/docs/install/";
const NAMED_STACK = "Run this in the folder of the program, with the name that `pulumi stack ls` shows.";

/** What the Pulumi CLI reports about the stack. */
export interface Stack {
  readonly checks: readonly Check[];
  /** Undefined if it could not be read. */
  readonly configuration: StackSettings | undefined;
  /** The providers of our resources in the state. Undefined if the state was not read. */
  readonly providers: readonly StoredProvider[] | undefined;
}

/** A provider as the last `pulumi up` stored it. A refresh, a destroy and drift detection use these settings. */
export interface StoredProvider {
  readonly name: string;
  /**
   * The engine's default provider, which uses the stack's configuration; otherwise an `svc.Provider` of the program.
   */
  readonly isDefault: boolean;
  readonly read: ReadSetting;
  /** The projects of its resources. */
  readonly projects: readonly string[];
}

/** Checks the CLI and reads the stack. `folder`: the working directory of the command. */
export async function readStack(folder: string, hasProgram: boolean, stack: string | undefined): Promise<Stack> {
  const pulumi = pulumiIn(folder, stack);
  const version = await pulumi(["version"]);
  const checks = [cliCheck(version)];
  const without = (why: string, remedy = NAMED_STACK): Stack => ({
    // A stack given by name must exist.
    checks: [...checks, stack === undefined ? skipped("stack", why) : failure("stack", why, remedy)],
    // For a stack given by name, the environment is not enough.
    configuration: stack === undefined ? new Map() : undefined,
    providers: undefined,
  });
  if (!version.ok) return without("without the Pulumi CLI there is no stack configuration to read", INSTALL);
  if (!hasProgram) return without("no Pulumi.yaml in this folder or above: only the environment counts");
  const name = await pulumi(["stack", "--show-name"]);
  if (!name.ok) return without(`the configuration of the stack was not read: ${name.reason}`);

  const configuration = await orReason(settingsOf(pulumi));
  if (configuration instanceof Error) {
    const remedy = "Make `pulumi config` work in this folder: it needs the login and the passphrase of the stack.";
    const message = `the configuration of ${name.stdout} cannot be read: ${configuration.message}`;
    return { checks: [...checks, failure("stack", message, remedy)], configuration: undefined, providers: undefined };
  }
  checks.push(ok("stack", name.stdout));
  const state = await orReason(exportedState(pulumi, true));
  if (!(state instanceof Error)) {
    checks.push(...storedSecretsCheck(state), ...ownResourcesChecks(state), ...sharedObjectsCheck(state));
    const missing = missingPackage(folder, state);
    if (missing !== undefined) {
      const what = `${missing.what}: pulumi refresh, up --refresh and destroy find the plugin only on PATH`;
      checks.push(warning("native plugin", what, missing.remedy));
    }
    return { checks, configuration, providers: storedProviders(folder, state) };
  }
  checks.push(skipped("stored key", `the state of ${name.stdout} cannot be read: ${state.message}`));
  return { checks, configuration, providers: undefined };
}

const orReason = <T>(work: Promise<T>): Promise<T | Error> =>
  work.catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));

function cliCheck({ ok: works, stdout, reason }: Run): Check {
  if (!works) return failure("Pulumi CLI", reason, INSTALL);
  const version = stdout.split("\n").at(-1)?.replace(/^v/, "") ?? "";
  if (!isSupported(version)) return failure("Pulumi CLI", `${version}; pulumi-svc needs ${RANGE}`, INSTALL);
  if (isAtLeast(version, EXIT_CODES_SINCE)) return ok("Pulumi CLI", version);
  return warning(
    "Pulumi CLI",
    `${version}; before ${EXIT_CODES_SINCE} the exit codes of the CLI do not distinguish drift from a failure`,
    INSTALL,
  );
}

/**
 * The engine stores the stack's whole configuration with its provider, even secrets of other namespaces. Reports only
 * their names.
 */
function storedSecretsCheck({ resources }: StackState): Check[] {
  const stored = resources.filter(({ type, urn }) => type === PROVIDER_TYPE && isDefault(nameInUrn(urn)));
  const inputs = stored.flatMap(({ inputs }) => Object.entries(inputs ?? {}));
  const secrets = inputs.flatMap(([name, value]) => (isSecret(value) && !name.startsWith("svc:") ? name : []));
  if (secrets.length === 0) return [];
  const names = [...new Set(secrets)]
    .sort(compareText)
    .map((name) => printable(name))
    .join(", ");
  return [
    ok(
      "secrets",
      `the state holds these secrets of the stack's configuration, encrypted: ${names}`,
      "An argument that takes svc.fromEnv or svc.fromFile does not need them. After `pulumi config rm NAME`, the next `pulumi up` removes it from the state.",
    ),
  ];
}

/**
 * All dynamic resources share one package, so a component hands an `svc.Provider` to those of the program too. Their
 * `configure` then sees its settings in place of the stack's configuration.
 */
function ownResourcesChecks({ resources }: StackState): Check[] {
  const ours = new Set(resources.filter(isOurEntry).map(({ provider = "" }) => provider));
  const own = resources.filter(
    (one) =>
      one.type.startsWith(`${PACKAGES.dynamic}:dynamic`) &&
      !isOurEntry(one) &&
      ours.has(one.provider ?? "") &&
      !isDefault(providerName(one.provider ?? "")),
  );
  return [...new Set(own.map(({ provider = "" }) => provider))].map((reference) => {
    const names = own.filter(({ provider }) => provider === reference).map(({ urn }) => printable(nameInUrn(urn)));
    return warning(
      "own resources",
      `svc.Provider ${printable(providerName(reference))} also serves dynamic resources of the program: ${names.sort(compareText).join(", ")}. If they have a "configure", it sees the settings of that Provider and no configuration of the stack`,
      "Pass them what they need as inputs, or keep that Provider from them (docs/settings.md, Several accounts).",
    );
  });
}

/** No command deletes for the user: only the program says which of them is right. */
const sharedObjectsCheck = (state: StackState): Check[] =>
  sharedObjectsIn(state).map(({ resources, ...shared }) =>
    warning(
      "shared object",
      `${resources.map(({ kind, name }) => `${kind} "${printable(name)}"`).join(" and ")} of the state hold ${printable(objectsText(shared))}: each can change and delete it for the others`,
      `Remove from the state what the program does not declare, which deletes nothing at the service: ${resources.map(removalOf).join(", or ")}`,
    ),
  );

const isDefault = (name: string): boolean => /^default(_|$)/.test(name);

export function storedProviders(folder: string, state: StackState): StoredProvider[] {
  const ours = state.resources.filter((one) => kindOfEntry(one) !== undefined);
  const references = [...new Set(ours.map(({ provider = "" }) => provider))];
  return references.map((reference) => {
    const name = providerName(reference);
    const ids = ours.filter(({ provider = "" }) => provider === reference).map(({ outputs }) => outputs?.["projectId"]);
    return {
      name,
      isDefault: isDefault(name),
      read: fromProgram(folder, state.settingsOf(reference)),
      projects: [...new Set(ids.filter((id) => typeof id === "string"))],
    };
  });
}
