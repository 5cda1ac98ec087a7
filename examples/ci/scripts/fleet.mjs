#!/usr/bin/env node
// The stacks of fleet/report.json: writes the report of each to a file, as `pulumi-svc drift --from` reads it, and prints a line
// for each: the file, whether it has drift, and its project and name.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder = "fleet"] = process.argv.slice(2);
const { stacks } = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
for (const [index, report] of stacks.entries()) {
  writeFileSync(join(folder, `${index}.json`), JSON.stringify(report));
  const state = report.drift.length > 0 ? "drift" : "none";
  console.log(`${index} ${state} ${report.project}/${report.stack}`);
}
