import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { auditRules, stateRules } from "../../src/audit/rules";
import { ROOT } from "../support/cli";

const PAGE = join(ROOT, "docs", "doctor.md");
const TABLE = /(<!-- Written by test\/docs\/auditRules\.test\.ts [^\n]* -->\n\n)([^]*?)(<!-- end of the table -->)/;

/** Without the blanks that prettier puts into a table. */
const compact = (table: string): string => table.replace(/ +/g, " ").replace(/-+/g, "-").trim();

test("docs/doctor.md has a table of all rules of the audit", () => {
  const rows = [...auditRules, ...stateRules].map(
    ({ name, description, remedy }) => `| \`${name}\` | ${description} | ${remedy} |`,
  );
  const table = ["| Rule | What it finds | What to do |", "| - | - | - |", ...rows].join("\n");
  const page = readFileSync(PAGE, "utf8");
  // `WRITE_TABLE=1 npm run test:unit -- test/docs/auditRules.test.ts`, then `npm run format`.
  if (process.env["WRITE_TABLE"] === "1") {
    writeFileSync(
      PAGE,
      page.replace(TABLE, (_all, head: string, _old, end: string) => `${head}${table}\n\n${end}`),
    );
  }
  const [, , written = ""] = TABLE.exec(readFileSync(PAGE, "utf8")) ?? [];
  expect(compact(written)).toBe(compact(table));
});
