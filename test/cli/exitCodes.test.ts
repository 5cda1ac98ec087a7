import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../support/cli";
import { textOf } from "../support/codeBlocks";

const MAIN = join(ROOT, "dist", "cli", "main.js");

test.each(["drift", "import", "doctor", "init", "emulator"])(
  "AGENTS.md has the exit codes that the help of pulumi-svc %s has",
  (command) => {
    const help = spawnSync(process.execPath, [MAIN, command, "--help"], { encoding: "utf8" }).stdout;
    const [, list = ""] = /Exit codes: ([^]*)/.exec(help) ?? [];
    const codes = [...list.matchAll(/(?:^|; ?)\s*(\d+) /g)].map(([, code]) => code);
    expect(codes).toEqual(expect.arrayContaining(["0", "1", "2"]));
    const [, row = ""] = new RegExp(`^\\| \`pulumi-svc ${command}\` +\\|(.*)\\|$`, "m").exec(textOf("AGENTS.md")) ?? [];
    const cells = row.split("|").map((cell) => cell.trim());
    expect(cells.slice(0, 2)).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
    // The columns are 0, 1 and the others; the line below the table says what 2 is.
    const others = [...(cells[2] ?? "").matchAll(/(?:^|; )(\d+) /g)].map(([, code]) => code);
    expect(new Set(["0", "1", "2", ...others])).toEqual(new Set(codes));
  },
);
