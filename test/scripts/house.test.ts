import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { SCRIPTS } from "../support/scripts";

const ROOT = join(SCRIPTS, "..");

/** A file of src, what it imports, and whether the house allows it. */
const CASES: readonly (readonly [file: string, imported: string, allowed: boolean])[] = [
  ["src/index.ts", "./resources/authUser/AuthUser", true],
  ["src/index.ts", "./resources/authUser/authUserLifecycle", false],
  ["src/index.ts", "./client", false],
  ["src/provider.ts", "./resources/lifecycles", true],
  ["src/provider.ts", "./resources/authUser/authUserLifecycle", false],
  ["src/provider.ts", "./resources/authUser/AuthUser", false],
  ["src/contract/pointer.ts", "../host/plan", false],
  ["src/contract/pointer.ts", "@pulumi/pulumi", false],
  ["src/program/SvcResource.ts", "../contract/pointer", true],
  ["src/program/SvcResource.ts", "../host/calls", false],
  ["src/program/SvcResource.ts", "zod", false],
  ["src/resources/authUser/AuthUser.ts", "./authUserDeclaration", true],
  ["src/resources/authUser/AuthUser.ts", "./authUserLifecycle", false],
  ["src/resources/authUser/AuthUser.ts", "../shared/identifiers", false],
  ["src/resources/authUser/AuthUser.ts", "../../client", false],
  ["src/resources/authUser/AuthUser.ts", "../authKeys/AuthKeys", true],
  ["src/resources/authUser/authUserDeclaration.ts", "../../contract/declaration", true],
  ["src/resources/authUser/authUserDeclaration.ts", "../../helpers/given", true],
  ["src/resources/authUser/authUserDeclaration.ts", "../../host/arguments", false],
  ["src/resources/authUser/authUserDeclaration.ts", "../shared/argumentSchemas", false],
  ["src/resources/authUser/authUserDeclaration.ts", "./authUserLifecycle", false],
  ["src/resources/authUser/authUserDeclaration.ts", "zod", false],
  ["src/resources/computeEndpoint/computeEndpointLifecycle.ts", "./computeEndpointSchemas", true],
  ["src/resources/authUser/authUserLifecycle.ts", "../../client", true],
  ["src/resources/authUser/authUserLifecycle.ts", "../shared/identifiers", true],
  ["src/resources/authUser/authUserLifecycle.ts", "./AuthUser", false],
  ["src/resources/authUser/authUserLifecycle.ts", "../authKeys/authKeysLifecycle", false],
  ["src/resources/authUser/authUserLifecycle.ts", "@pulumi/pulumi", false],
  ["src/resources/lifecycles.ts", "./authUser/authUserLifecycle", true],
  ["src/resources/lifecycles.ts", "./authUser/AuthUser", false],
  ["src/resources/lifecycles.ts", "../doors/dynamic/provider", false],
  ["src/host/plan/check.ts", "../../resources/lifecycles", false],
  ["src/cli/declarations.ts", "../resources/lifecycles", true],
  ["src/cli/declarations.ts", "../resources/tools", true],
  ["src/cli/env/variables.ts", "../../resources/authUser/authUserTools", false],
  ["src/resources/tools.ts", "./authUser/authUserTools", true],
  ["src/resources/tools.ts", "./authUser/AuthUser", false],
  ["src/provider.ts", "./resources/tools", false],
  ["src/components/ProjectAuth.ts", "../resources/authUser/AuthUser", true],
  ["src/components/ProjectAuth.ts", "../resources/authUser/authUserLifecycle", false],
  ["src/functions/lookup.ts", "../contract/untrusted", true],
  ["src/functions/lookup.ts", "../host/calls", false],
  ["src/functions/lookup.ts", "../host/session", false],
  ["src/functions/lookup.ts", "../client", false],
  ["src/functions/branches.ts", "../queries/branches", true],
  ["src/queries/branches.ts", "../client", false],
  ["src/queries/branches.ts", "@pulumi/pulumi", false],
  ["src/queries/branches.ts", "../functions/lookup", false],
  ["src/helpers/masked.ts", "../contract/pointer", false],
  ["src/client/client.ts", "../contract/hostAndPort", true],
  ["src/client/client.ts", "../contract/settings", false],
  ["src/client/client.ts", "axios", false],
  ["src/client/http/transport.ts", "axios", true],
  ["src/client/http/transport.ts", "@pulumi/pulumi", false],
  ["src/emulator/app.ts", "../contract/installation", true],
  ["src/emulator/app.ts", "../client", false],
  ["src/emulator/app.ts", "hono", true],
  ["src/emulator/app.ts", "./control/routes", true],
  ["src/emulator/control/controlRoutes.ts", "../model/records", true],
  ["src/emulator/control/controlRoutes.ts", "../../client", false],
  ["src/emulator/routes/domainRoutes.ts", "../http/route", true],
  ["src/emulator/routes/domainRoutes.ts", "../control/faults", false],
  ["src/emulator/model/store.ts", "../http/route", false],
  ["src/emulator/model/store.ts", "hono", false],
  ["src/cli/main.ts", "commander", true],
  ["src/cli/import/importProject.ts", "../../client", true],
  ["src/cli/import/importedResource.ts", "../../provider", true],
  ["src/host/plan/check.ts", "../../provider", false],
  ["src/host/plan/check.ts", "../../doors/dynamic/callErrors", false],
  ["src/host/plan/check.ts", "@pulumi/pulumi", false],
  ["src/doors/dynamic/provider.ts", "../../host/plan", true],
  ["src/doors/dynamic/provider.ts", "@pulumi/pulumi", true],
  ["src/doors/dynamic/provider.ts", "../../client", false],
  ["src/doors/dynamic/provider.ts", "../../resources/authUser/authUserLifecycle", false],
  ["src/provider.ts", "./doors/dynamic/provider", true],
  ["src/cli/doctor/service.ts", "../../client", true],
  ["src/cli/drift/unmanaged.ts", "../../host/session", true],
  ["src/cli/main.ts", "../program/SvcResource", false],
];

/** A file of src, what it makes, and whether the house allows it. */
const MADE: readonly (readonly [file: string, code: string, allowed: boolean])[] = [
  ["src/client/collection.ts", 'Gone.proven("a list lacks it")', true],
  ["src/client/proof.ts", "Unknown.because(notSeen)", true],
  ["src/host/run/ownership.ts", "Refused.proven(error)", true],
  ["src/client/reads/pages.ts", 'Gone.proven("nobody saw it")', false],
  ["src/client/createRecovery.ts", "Granted.proven()", false],
  ["src/host/calls/verbs.ts", "Granted.proven()", false],
  ["src/resources/authUser/authUserLifecycle.ts", 'Gone.proven("nobody saw it")', false],
  ["src/cli/import/importProject.ts", "Unknown.because(notSeen)", false],
  ["src/cli/drift/unmanaged.ts", "Refused.proven(error)", false],
  ["src/client/gate.ts", "request as unknown as GatedRequest", true],
  ["src/client/collection.ts", "request as unknown as GatedRequest", false],
  ["src/cli/sweep/sweep.ts", "request as unknown as GatedRequest", false],
  ["src/host/secrets.ts", "props as Marked", true],
  ["src/client/collection.ts", "props as Marked", false],
  ["src/host/secrets.ts", "Granted.proven()", false],
];

/** A command, and whether it may contain this code. */
const NAMED: readonly (readonly [file: string, code: string, allowed: boolean])[] = [
  ["src/cli/drift/unmanaged.ts", 'kind === "Whitelist"', false],
  ["src/cli/drift/unmanaged.ts", "{ EmailServer: 1 }", false],
  ["src/cli/drift/unmanaged.ts", "`a Whitelist of ${kind}`", true],
  ["src/cli/drift/unmanaged.ts", '"declare an AuthIntegration first"', true],
  ["src/cli/sweep/sweep.ts", 'kind === "ComputeEndpoint"', false],
  ["src/resources/whitelist/whitelistDomainTools.ts", 'kind === "Whitelist"', true],
];

/** For each file with its text, the rules that refuse it. */
function refusals(files: readonly (readonly [file: string, text: string])[]): string[][] {
  const program = `
    const { ESLint } = require("eslint");
    const eslint = new ESLint({ cwd: process.cwd() });
    const rulesOf = async ([filePath, text]) => {
      const [{ messages }] = await eslint.lintText(text, { filePath });
      return messages.map(({ ruleId }) => ruleId);
    };
    Promise.all(${JSON.stringify(files)}.map(rulesOf)).then((found) => console.log(JSON.stringify(found)));`;
  // The program above has written it.
  return JSON.parse(execFileSync(process.execPath, ["-e", program], { cwd: ROOT, encoding: "utf8" })) as string[][];
}

test("the linter refuses what CONTRIBUTING.md does not allow, and only that", () => {
  const found = refusals(
    CASES.map(([file, imported]) => [file, `import { x } from "${imported}";\nexport const y = x;\n`]),
  );
  const seen = CASES.map(([file, imported], index) => [file, imported, found[index]?.length === 0]);
  expect(seen).toEqual(CASES);
  expect(new Set(found.flat())).toEqual(new Set(["@typescript-eslint/no-restricted-imports"]));
});

test("the linter refuses a proof that no look-up makes, and a way past the gate", () => {
  const found = refusals(MADE.map(([file, code]) => [file, `export const made = ${code};\n`]));
  const seen = MADE.map(([file, code], index) => [file, code, found[index]?.length === 0]);
  expect(seen).toEqual(MADE);
  expect(new Set(found.flat())).toEqual(new Set(["no-restricted-syntax"]));
});

test("the linter refuses a command that names a kind, but not a text for people", () => {
  const found = refusals(NAMED.map(([file, code]) => [file, `export const named = ${code};\n`]));
  const seen = NAMED.map(([file, code], index) => [file, code, found[index]?.length === 0]);
  expect(seen).toEqual(NAMED);
  expect(new Set(found.flat())).toEqual(new Set(["no-restricted-syntax"]));
});
