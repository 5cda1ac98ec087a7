/**
 * The table of docs/drift.md: every argument that can drift, and what `--accept` and `--repair` do about it. This test
 * writes it if WRITE_TABLE is set, otherwise it compares.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { acceptSchema } from "../../src/cli/drift/accept/result";
import type { Drifted } from "../../src/cli/drift/report";
import { ROOT } from "../support/cli";
import { ARGUMENTS_WITHOUT_ROW, DRIFTED_ARGUMENTS, type DriftedArgument } from "../support/driftedArguments";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

const PROGRAM = DRIFTED_ARGUMENTS.map(({ declaration }) => declaration).join("\n");
const NEW = `new svc.ComputeEndpoint("new", { projectId: "prj-computeendpoint-size-update", branchId: "br-other" });`;

/** All of them are deployed in this stack. */
let stack: Stack;
beforeAll(async () => {
  stack = await Stack.create({ program: PROGRAM });
  for (const { projectId } of DRIFTED_ARGUMENTS) {
    const branches = ["br-main", "br-dev", "br-other"].map((id, index) => ({ id, default: index === 0 }));
    await stack.service.addProject({ id: projectId, branches });
  }
  expect(await stack.up()).toMatchObject({ code: 0 });
}, 600_000);

/** Somebody changes each of them. */
async function changed(): Promise<void> {
  const resources = await stack.resources();
  for (const { name, projectId, edit } of DRIFTED_ARGUMENTS) {
    const { id } = resources.find(({ urn }) => urn.endsWith(`::${name}`)) ?? { id: "" };
    await stack.service.edit({ project_id: projectId, ...edit(id.split("/")[1] ?? "") });
  }
}

const byName = (left: { readonly name: string }, right: { readonly name: string }): number =>
  left.name < right.name ? -1 : 1;

const cells = { accept: new Map<DriftedArgument, string>(), repair: new Map<DriftedArgument, string>() };
let shown: readonly Drifted[] = [];

test("the table has every argument that can drift", () => {
  expect(ARGUMENTS_WITHOUT_ROW).toEqual([]);
});

test("each argument that drifted is reported and brought back by one repair, and the pending edits of the program stay pending", async () => {
  stack.program(`${PROGRAM.replace('name: "reports"', 'name: "pending"')}\n${NEW}`);
  await changed();
  const { report } = await drift(stack);
  shown = report.drift;
  expect(shown.map(({ name, repair }) => ({ name, action: repair.action })).toSorted(byName)).toEqual(
    DRIFTED_ARGUMENTS.map(({ name, repair }) => ({ name, action: repair })).toSorted(byName),
  );
  for (const { name, path } of DRIFTED_ARGUMENTS) {
    const found = shown.find((one) => one.name === name);
    const paths = found?.change === "deleted" ? [undefined] : found?.properties.map((property) => property.path);
    expect(paths).toContain(path);
  }
  expect(
    await svc(stack, ["drift", "--repair", "--yes", "--allow-replace", "--expect", report.fingerprint]),
  ).toMatchObject({ code: 0 });
  // With a refresh: what is left to do is what is pending, and nothing else.
  const plan = await stack.preview("--refresh", "--diff");
  expect(plan.text).toMatch(/name: "reports" => "pending"/);
  expect(plan.text).toMatch(/\+ 1 to create\n +~ 1 to update\n +2 changes\b/);
  for (const row of DRIFTED_ARGUMENTS) cells.repair.set(row, REPAIRED[row.repair]);
});

test("each argument that drifted is accepted, after which a plan does not change it, or reported", async () => {
  stack.program(PROGRAM);
  await changed();
  const { code, stdout } = await svc(stack, ["drift", "--accept", "--force", "--json"]);
  const result = acceptSchema.parse(JSON.parse(stdout));
  expect(code).toBe(7);
  for (const row of DRIFTED_ARGUMENTS) {
    const isOfRow = (one: { name: string; path: string | null }) =>
      one.name === row.name && one.path === (row.path ?? null);
    const accepted = result.accepted.filter(isOfRow);
    const left = result.left.filter(isOfRow);
    expect([row.name, accepted.length + left.length]).toEqual([row.name, 1]);
    cells.accept.set(row, left[0] === undefined ? "edited" : `reported: ${left[0].reason}`);
  }
  // With a refresh: what an update would change is what was left to a person, and nothing of the rest.
  const plan = await stack.preview("--refresh", "--json");
  const { steps } = JSON.parse(plan.stdout) as { steps: { urn: string; op: string }[] };
  const changing = steps.filter(({ op }) => op !== "same" && op !== "refresh").map(({ urn }) => urn);
  expect([...new Set(changing)].toSorted()).toEqual([...new Set(result.left.map(({ urn }) => urn))].toSorted());
  expect(await stack.leaks(["canary-table"])).toEqual([]);
});

const REPAIRED: Readonly<Record<DriftedArgument["repair"], string>> = {
  update: "updated",
  replace: "replaced, with `--allow-replace`",
  create: "created again",
};

const PAGE = join(ROOT, "docs", "drift.md");
const TABLE = /(?<=<!-- Written by test\/engine\/driftTable\.test\.ts.*-->\n)[^]*?(?=<!-- end of the table -->)/;

const cellsOf = (table: string): string[][] =>
  table
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\| *-/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

test("docs/drift.md has the table", () => {
  const head = ["Resource", "Argument", "Declared", "Found", "`drift --accept`", "`drift --repair`"];
  const rows = DRIFTED_ARGUMENTS.map((row) => {
    const property = shown.find(({ name }) => name === row.name)?.properties.find(({ path }) => path === row.path);
    const values = property === undefined ? ["", "deleted"] : [property.declared, property.found].map(valueCell);
    const ended = [cells.accept, cells.repair].map((column) => column.get(row) ?? "not tried");
    return [`\`${row.kind}\``, `\`${row.path ?? row.argument}\``, ...values, ...ended];
  });
  const text = [head, head.map(() => "---"), ...rows].map((one) => `| ${one.join(" | ")} |`).join("\n");
  const page = readFileSync(PAGE, "utf8");
  if (process.env["WRITE_TABLE"] !== undefined)
    writeFileSync(
      PAGE,
      page.replace(TABLE, () => `\n${text}\n\n`),
    );
  else expect(cellsOf(TABLE.exec(page)?.[0] ?? "")).toEqual([head, ...rows]);
});

const valueCell = (value: unknown): string => (value === null ? "not set" : `\`${JSON.stringify(value)}\``);
