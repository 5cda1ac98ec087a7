import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/cli";
import { call, environment } from "../support/scripts";

async function drawn(name: "linesOf" | "svgOf", ...args: unknown[]): Promise<unknown> {
  const { value } = await call(
    "tasks/picture.mts",
    name,
    args.map((arg) => JSON.stringify(arg)),
    environment([]),
  );
  return value;
}

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

test("a picture keeps each created resource once, in the colours of the terminal, whatever its name holds", async () => {
  const add = "\u001b[38;5;2m";
  const output = [
    ` ${add}+ \u001b[0m svc:X a<b>&c ${add}creating (0s)\u001b[0m`,
    ` ${add}+ \u001b[0m svc:X a<b>&c ${add}created (1s)\u001b[0m \u001b[0mstarting\u001b[0m`,
    ` ${add}+ \u001b[0m svc:X a<b>&c ${add}created (1s)\u001b[0m`,
    "Outputs:",
    '  host: "ep-one-two.example"',
    "",
    "Duration: 1s",
  ].join("\n");
  const lines = (await drawn("linesOf", output)) as string[];
  expect(lines.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, "").trim())).toEqual([
    "+  svc:X a<b>&c created",
    "",
    "Outputs:",
    'host: "ep-….example"',
  ]);
  const svg = await drawn("svgOf", "pulumi up", lines);
  expect(svg).toContain('<tspan class="add">created</tspan>');
  expect(svg).toContain("a&lt;b>&amp;c");
});
