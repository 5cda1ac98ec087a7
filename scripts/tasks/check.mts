import { globSync } from "node:fs";
import { packageHygiene } from "../check/packageHygiene.mts";
import { trackedFiles } from "../check/trackedFiles.mts";
import { EXIT, indented, leaveResults, messageOf, say, stopwatch, UsageError } from "../lib/console.mjs";
import { ROOT } from "../lib/paths.mjs";
import { interrupted, runTool } from "../lib/processes.mts";
import { ensureBuild } from "../setup/build.mts";
import { checkDocs } from "./docs.mts";

/** In the order in which they run; each answers with what is wrong. */
const CHECKS: Record<string, () => Promise<string>> = {
  // First: the examples and the package need it.
  build: () => ensureBuild().then(() => ""),
  types,
  lint: () => runTool("eslint", "bin/eslint.js", "."),
  format: () => runTool("prettier", "bin/prettier.cjs", "--check", "--log-level", "warn", "."),
  "dead-code": () => runTool("knip", "bin/knip.js"),
  duplicates: () => runTool("jscpd", "run-jscpd.js", "src"),
  package: packageHygiene,
  docs: checkDocs,
  "tracked-files": trackedFiles,
};

/** Runs the checks of these names, or all, also after one has failed: one run tells everything. */
export async function check(names: string[]): Promise<number> {
  const unknown = names.find((name) => !Object.hasOwn(CHECKS, name));
  if (unknown) throw new UsageError(`There is no check "${unknown}"; there are: ${Object.keys(CHECKS).join(", ")}.`);
  const chosen = Object.entries(CHECKS).filter(([name]) => names.length === 0 || names.includes(name));
  const failed = [];
  for (const [name, run] of chosen) {
    const elapsed = stopwatch();
    const findings = await run().catch(messageOf);
    interrupted.throwIfAborted();
    if (findings !== "") failed.push(name);
    say(`${findings === "" ? "ok    " : "FAILED"} ${name.padEnd(14)} ${elapsed()}`);
    if (findings !== "") say(indented(findings.trimEnd()));
  }
  leaveResults({ passed: chosen.length - failed.length, failed: failed.length });
  say(failed.length === 0 ? `\nAll ${chosen.length} checks are good.` : `\nFailed checks: ${failed.join(", ")}.`);
  return failed.length === 0 ? EXIT.good : EXIT.failed;
}

/** The package and its tests, these scripts, and each example against the built package. */
async function types(): Promise<string> {
  const findings = [];
  for (const project of globSync("{,scripts/,examples/*/}tsconfig.json", { cwd: ROOT })) {
    findings.push(await runTool("typescript", "bin/tsc", "--noEmit", "-p", project));
  }
  return findings.join("");
}
