import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { resolveProvider, isAtLeast, OLDEST_SDK, versionNumbers, packageVersion } from "../../contract/installation";
import { failure, ok, skipped, warning, type Check } from "./check";
import { typeScriptCheck } from "./typeScript";

interface Manifest {
  version?: string;
  engines?: { node?: string };
}

/** The package.json of a folder. npm has validated it. */
function manifest(folder: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  } catch {
    return undefined;
  }
}

/** The package.json of this package, with its requirements. */
const OWN = manifest(join(__dirname, "..", "..", "..")) ?? {};

/** The lower bound of a range such as `>=20`. */
function leastOf(range: string | undefined): string {
  return /\d+(\.\d+)*/.exec(range ?? "")?.[0] ?? "0";
}

/**
 * Whether this version of the SDK or CLI is supported: the oldest supported version or later, of the same major
 * version.
 */
export function isSupported(version: string): boolean {
  return isAtLeast(version, OLDEST_SDK) && versionNumbers(version)[0] === versionNumbers(OLDEST_SDK)[0];
}

export const RANGE = `${OLDEST_SDK} or later, below ${(versionNumbers(OLDEST_SDK)[0] ?? 0) + 1}`;

/** Checks Node and the packages installed beside the program. */
export function installationChecks(folder: string | undefined): Check[] {
  if (folder === undefined) {
    const nothing = "no Pulumi.yaml in this folder or above: there is no program to check";
    const names = ["Pulumi SDK", "TypeScript", "package"];
    return [nodeCheck(undefined), ...names.map((name) => skipped(name, nothing))];
  }
  const sdk = sdkOf(folder);
  const found = resolveProvider(folder, sdk && join(sdk, "cmd", "dynamic-provider", "index.js"));
  return [nodeCheck(sdk), sdkCheck(sdk), typeScriptCheck(folder, sdk), packageCheck(found)];
}

/** The folder of the `@pulumi/pulumi` that the program in this folder loads. */
function sdkOf(folder: string): string | undefined {
  try {
    return dirname(createRequire(join(folder, "_")).resolve("@pulumi/pulumi/package.json"));
  } catch {
    return undefined;
  }
}

function nodeCheck(sdk: string | undefined): Check {
  const version = process.versions.node;
  const own = leastOf(OWN.engines?.node);
  const wanted = sdk === undefined ? own : leastOf(manifest(sdk)?.engines?.node);
  const remedy = `Install Node ${isAtLeast(own, wanted) ? own : wanted} or later.`;
  if (!isAtLeast(version, own)) return failure("Node", `${version}; pulumi-svc needs ${own} or later`, remedy);
  if (isAtLeast(version, wanted)) return ok("Node", version);
  return warning("Node", `${version}; the installed Pulumi SDK requires ${wanted} or later`, remedy);
}

function sdkCheck(sdk: string | undefined): Check {
  const install = "Run `npm install @pulumi/pulumi` in the folder of the program.";
  if (sdk === undefined) return failure("Pulumi SDK", "@pulumi/pulumi is not installed for the program", install);
  const version = manifest(sdk)?.version ?? "of an unknown version";
  if (isSupported(version)) return ok("Pulumi SDK", version);
  return failure("Pulumi SDK", `@pulumi/pulumi is ${version}; pulumi-svc needs ${RANGE}`, install);
}

function packageCheck(found: string | undefined): Check {
  if (found === undefined) {
    return failure(
      "package",
      "the Pulumi engine cannot load pulumi-svc from the folder of the program",
      "Run `npm install pulumi-svc` there: it must be a dependency of the package.json beside Pulumi.yaml (or of the folder that `main` names).",
    );
  }
  const version = packageVersion(dirname(found)) ?? "of an unknown version";
  if (version === OWN.version) return ok("package", `pulumi-svc ${version} is found from the folder of the program`);
  return warning(
    "package",
    `the program runs pulumi-svc ${version}; this command is version ${OWN.version ?? "unknown"}`,
    "Run `npx pulumi-svc doctor` in the folder of the program, so that both are the same.",
  );
}
