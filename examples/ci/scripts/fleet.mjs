#!/usr/bin/env node
// The stacks of fleet/report.json: writes the report of each to a file, as `pulumi-svc drift --from` reads it, and prints a line
// for each: the file, whether it has drift, and its project and name. A stack without resources has no drift and no file.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder = "fleet"] = process.argv.slice(2);
const { stacks, withoutResources } = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
const told = new Set();
for (const [index, report] of stacks.entries()) {
  writeFileSync(join(folder, `${index}.json`), JSON.stringify(report));
  const state = report.drift.length > 0 ? "drift" : "none";
  const name = `${report.project}/${report.stack}`;
  told.add(name);
  console.log(`${index} ${state} ${name}`);
}
// Without the organization. A name without a project is not that of an issue.
const names = withoutResources.map((name) => name.split("/").slice(-2).join("/"));
for (const name of names) if (name.includes("/") && !told.has(name)) console.log(`- none ${name}`);
