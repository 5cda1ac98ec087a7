import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { MockMonitor } from "@pulumi/pulumi/runtime/mocks";
import { resolveProvider, isAtLeast, OLDEST_SDK, packageVersion } from "../contract/installation";
import { isStartedByCli, SETTING_NAMES, unknownSettings } from "../contract/settings";
import { oneLine } from "../contract/untrusted";
import { keysWithNearest } from "../helpers/given";
import { engineFolders } from "./engineFolders";

const KEY = "svc:apiKey";
const OWN_COMPILER = join("@pulumi", "pulumi", "vendor", "typescript@");

/** The monitors of the runs that have passed: a process may run many inline programs, each with an engine of its own. */
const checked = new WeakSet<object>();
const WITHOUT_ENGINE = {};

/**
 * Checks what every resource needs around the program, until the check first succeeds, once per run of a program.
 * @throws when the Pulumi engine could not load this package.
 */
export function checkInstallation(): void {
  const run = pulumi.runtime.getMonitor() ?? WITHOUT_ENGINE;
  if (checked.has(run)) return;
  checkSdk();
  checkPointerResolves();
  warnOfOldCompiler();
  warnOfPlainKey();
  warnOfUnknownSettings();
  checked.add(run);
}

/** With an older one, refreshes show false drift: it does not pass on the inputs that a read found. */
function checkSdk(): void {
  const found = sdkVersion();
  if (found === undefined || isAtLeast(found, OLDEST_SDK)) return;
  throw new pulumi.RunError(
    `pulumi-svc: @pulumi/pulumi ${found} is too old: it needs ${OLDEST_SDK} or later. Run \`npm install @pulumi/pulumi@3\`, or the equivalent of your package manager.`,
  );
}

/** Undefined if the SDK is part of a bundle. */
function sdkVersion(): string | undefined {
  try {
    // The SDK's own package.json; npm checks its version.
    return (createRequire(__filename)("@pulumi/pulumi/package.json") as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** Without this the first sign would be "Cannot find module" from another process, for every resource. */
function checkPointerResolves(): void {
  const own = packageVersion();
  const folders = engineFolders(!isStartedByCli());
  const found = (folders ?? [process.cwd()]).flatMap((folder) => resolveProvider(folder, besideSdk()) ?? [])[0];
  if (found === undefined) {
    throw new pulumi.RunError(
      own === undefined
        ? "pulumi-svc: this program is a bundle that contains pulumi-svc, and the Pulumi engine loads pulumi-svc from node_modules. Keep pulumi-svc and @pulumi/pulumi out of the bundle (with esbuild: --external:pulumi-svc --external:@pulumi/pulumi), and install both beside Pulumi.yaml."
        : "pulumi-svc: this program's own package does not depend on pulumi-svc, so the Pulumi engine cannot load it. Add pulumi-svc to the dependencies of the package.json beside Pulumi.yaml (or of the folder that `main` names).",
    );
  }
  if (folders?.some(startsProvider) === false) {
    throw new pulumi.RunError(
      `pulumi-svc: the Pulumi engine starts the provider in ${oneLine(folders.join(", "))}, and finds no @pulumi/pulumi there. For an inline program of the Automation API, set \`main: __dirname\` in its projectSettings. Without \`main\` that folder is \`workDir\`; without projectSettings it is the directory of the process when the stack was created.`,
    );
  }
  const other = packageVersion(dirname(found));
  if (own !== undefined && own !== other) {
    void pulumi.log.warn(
      `pulumi-svc ${own} is imported, but ${other ?? "an unknown version"} will run: two versions are installed. Make the program and its packages depend on the same one.`,
    );
  }
}

/** Looks where the SDK's plugin looks for its script. A unit test with mocks starts no provider. */
function startsProvider(folder: string): boolean {
  if (pulumi.runtime.getMonitor() instanceof MockMonitor) return true;
  try {
    createRequire(join(folder, "_")).resolve("@pulumi/pulumi/cmd/dynamic-provider");
    return true;
  } catch {
    return false;
  }
}

/** Undefined if the SDK is not installed, as beside a bundle. */
function besideSdk(): string | undefined {
  try {
    return require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
  } catch {
    return undefined;
  }
}

/**
 * Without TypeScript beside the program, the SDK compiles it with its own version from 2020. Said here if that
 * succeeded; a program that it cannot compile never gets this far (`pulumi-svc doctor` reports that).
 */
function warnOfOldCompiler(): void {
  const loaded = Object.keys(require.cache);
  const [, version] = /typescript@([\d.]+)/.exec(loaded.find((file) => file.includes(OWN_COMPILER)) ?? "") ?? [];
  // The SDK also loads it for programs in JavaScript, unless Pulumi.yaml says `typescript: false`.
  const isUsed = loaded.some((file) => file.endsWith(".ts") && !file.includes("node_modules"));
  if (version === undefined || !isUsed) return;
  void pulumi.log.warn(
    `no TypeScript is installed beside this program, so the Pulumi SDK compiles it with its own, ${version}, which supports neither current syntax nor current tsconfig.json options. Run \`npm install --save-dev typescript@5\`, or the equivalent of your package manager.`,
  );
}

/** The engine copies the configuration into the state, in clear unless it is marked (docs/design/engine.md, Secrets and settings). */
function warnOfPlainKey(): void {
  if (pulumi.runtime.allConfig()[KEY] === undefined || isSecret(KEY)) return;
  void pulumi.log.warn(
    `${KEY} is stored in plain text in the stack's configuration, and therefore in its state. Set it again with \`pulumi config set --secret ${KEY}\` and run pulumi up, or remove it and name the variable that holds it with \`pulumi config set svc:apiKeyEnv\`; then rotate the key.`,
  );
}

/** A misspelt setting has no effect, and nothing else reports it. */
function warnOfUnknownSettings(): void {
  const unknown = unknownSettings(Object.keys(pulumi.runtime.allConfig()), pulumi.getProject());
  if (unknown.length === 0) return;
  void pulumi.log.warn(
    `the stack's configuration has keys that are not pulumi-svc settings and have no effect: ${keysWithNearest("svc", unknown.map(oneLine), SETTING_NAMES)}. Rename them, or remove them with \`pulumi config rm\``,
  );
}

/** Not in the SDK's types, but exported since 2.10. If it is missing, no warning is given. */
function isSecret(key: string): boolean {
  const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (key: string) => boolean };
  return isConfigSecret?.(key) ?? true;
}
