import { accessSync, constants, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

const DEBIANS = "/usr/lib/postgresql";

/**
 * The folder with `initdb` and `postgres`: the one that the set-up names (`npm test`, `npm run test:services`),
 * otherwise Debian's newest, otherwise one on PATH. Without one, the tests that need it are skipped
 * (test/support/services.ts).
 */
export function postgresBin(): string | undefined {
  const named = process.env["PULUMI_SVC_POSTGRES_BIN"];
  // Empty: the set-up found none.
  if (named !== undefined) return named || undefined;
  const debians = isFolder(DEBIANS) ? readdirSync(DEBIANS).sort((left, right) => Number(right) - Number(left)) : [];
  const folders = [
    ...debians.map((version) => join(DEBIANS, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return folders.find(
    (folder) => folder !== "" && isProgram(join(folder, "initdb")) && isProgram(join(folder, "postgres")),
  );
}

/**
 * The client `psql`. Without it a test is skipped: `(psqlProgram() ? test : test.skip)(…)`. Debian's packages contain
 * it, but the npm packages with the server do not.
 */
export function psqlProgram(): string | undefined {
  const folders = [postgresBin() ?? "", ...(process.env["PATH"] ?? "").split(delimiter)];
  return folders.map((folder) => join(folder, "psql")).find(isProgram);
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const isFolder = isProgram;
