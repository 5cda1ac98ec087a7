import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/cli";

const picture = readFileSync(join(ROOT, "docs", "first-up.svg"), "utf8");

/** As a person reads it. */
const text = picture.replace(/<style>[^]*<\/style>/, "").replace(/<[^>]+>/g, "");

test("the picture of the first up shows what README.md says of it, and nothing of the machine or the run", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  expect(readme).toContain("docs/first-up.svg");
  const [, shown = ""] = /```text\n(Outputs:[^]*?)```/.exec(readme) ?? [];
  expect(shown).toContain("+ 6 created");
  for (const line of shown.trim().split("\n")) {
    const pattern = line
      .trim()
      .split("…")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\"]/g, "\\$&"));
    expect(text).toMatch(new RegExp(pattern.join(".*").replace('\\"', '"')));
  }
  expect(text).not.toMatch(/\/(tmp|home|root|work)\/|127\.0\.0\.1:(?!8787)|\(\d[\d.]*s\)|[\da-f]{8}-[\da-f]{4}-/);
});
