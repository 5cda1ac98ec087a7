#!/usr/bin/env node
// The stacks of fleet/report.json: writes the report of each to a file, as `pulumi-svc drift --from` reads it, and prints a line
// for each: the file, whether it has drift, and its name in the backend. A stack without resources has no drift and no file.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder = "fleet"] = process.argv.slice(2);
const { stacks, withoutResources } = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
for (const [index, report] of stacks.entries()) {
  writeFileSync(join(folder, `${index}.json`), JSON.stringify(report));
  console.log(`${index} ${report.drift.length > 0 ? "drift" : "none"} ${report.name}`);
}
for (const name of withoutResources) console.log(`- none ${name}`);
