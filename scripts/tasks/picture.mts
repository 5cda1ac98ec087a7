import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, say, UsageError } from "../lib/console.mjs";
import { NODE_MODULES, ROOT } from "../lib/paths.mjs";
import { Emulator, Sandbox } from "./quickstart.mts";

const PICTURE = join(ROOT, "docs", "first-up.svg");

/** Draws docs/first-up.svg from a real `pulumi up` of README's first program on the emulator, or compares it with one. */
export async function picture(args: string[]): Promise<number> {
  const [check, ...more] = args;
  const unknown = check === "--check" ? more[0] : check;
  if (unknown !== undefined) throw new UsageError(`picture does not know "${unknown}".`);
  const sandbox = new Sandbox();
  const emulator = new Emulator(sandbox.apiKey, join(sandbox.folder, "emulator.log"), false);
  try {
    await emulator.listens();
    const cwd = join(sandbox.folder, "svc-start");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "index.ts"), programOf(readFileSync(join(ROOT, "README.md"), "utf8")));
    writeFileSync(join(cwd, "Pulumi.yaml"), "name: svc-start\nruntime: nodejs\n");
    writeFileSync(join(cwd, "package.json"), '{ "private": true }\n');
    symlinkSync(NODE_MODULES, join(cwd, "node_modules"));
    const service = { SVC_BASE_URL: emulator.baseUrl, SVC_API_KEY: sandbox.apiKey };
    await sandbox.pulumi(["stack", "init", "dev"], { cwd, more: service, quiet: true });
    const up = ["up", "--yes", "--skip-preview", "--color", "always"];
    const drawn = svgOf("pulumi up --yes", linesOf(await sandbox.pulumi(up, { cwd, more: service })));
    if (check === undefined) {
      writeFileSync(PICTURE, drawn);
      say("docs/first-up.svg was updated.");
    } else if (drawn !== readFileSync(PICTURE, "utf8")) {
      say("docs/first-up.svg is out of date: run `npm run picture`.");
      return EXIT.failed;
    } else say("docs/first-up.svg is up to date.");
    return EXIT.good;
  } finally {
    await emulator.stop();
    sandbox.remove();
  }
}

function programOf(readme: string): string {
  const [, program] = /`index\.ts`:\n\n```ts\n([^]*?)```/.exec(readme) ?? [];
  if (program === undefined) throw new Error("README.md has no index.ts");
  return program;
}

/**
 * The lines to keep from the output of a run: each resource as created, the outputs and the summary. Removes what
 * differs between runs: seconds, the order of creation, and the emulator's ids and port.
 */
function linesOf(output: string): string[] {
  const lines = output.split("\n").map((line) => line.trimEnd());
  const plain = (line: string): string => line.replace(ANSI, "");
  const start = lines.findIndex((line) => plain(line).startsWith("Outputs:"));
  const end = lines.findIndex((line) => plain(line).startsWith("Duration:"));
  const created = lines.filter((line) => / created \([\d.]+s\)/.test(plain(line)));
  const asDrawn = (line: string): string =>
    line
      // With what the provider said last of the resource.
      .replace(/ \([\d.]+s\).*$/, "")
      .replace(/ep-[a-z0-9-]+(?=\.)/, "ep-…")
      .replace(/[\da-f]{8}-[\da-f-]{27}/, "…")
      .replace(/127\.0\.0\.1:\d+/, "127.0.0.1:8787")
      .trimEnd();
  // The engine prints a line again if the provider has said something meanwhile.
  return [...new Set(created.map(asDrawn).sort()), "", ...lines.slice(start, end - 1).map(asDrawn)].filter(
    (line, at, all) => plain(line) !== "" || plain(all[at - 1] ?? "") !== "",
  );
}

const ANSI = /\u001b\[([\d;]*)m/g;

/** Terminal colours by class. */
const CLASSES: Record<string, string> = { "1": "bold", "38;5;2": "add", "38;5;13": "head", "38;5;3": "warn" };
const LINE = 20;
const CHARACTER = 8.2;

function svgOf(command: string, lines: readonly string[]): string {
  const rows = ["$ " + command, "", ...lines];
  const width = Math.ceil(Math.max(...rows.map((row) => row.replace(ANSI, "").length)) * CHARACTER) + 40;
  const height = rows.length * LINE + 40;
  const texts = rows.map(
    (row, at) => `  <text x="20" y="${(at + 1) * LINE + 16}" xml:space="preserve">${spansOf(row)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
  <title>A first pulumi up: each resource is created, then the outputs</title>
  <style>
    rect { fill: #f6f8fa; stroke: #d0d7de }
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328 }
    .bold { font-weight: 600 } .add { fill: #116329 } .head { fill: #8250df } .warn { fill: #7d4e00 }
    @media (prefers-color-scheme: dark) {
      rect { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 }
      .add { fill: #3fb950 } .head { fill: #d2a8ff } .warn { fill: #d29922 }
    }
  </style>
  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" />
${texts.join("\n")}
</svg>
`;
}

function spansOf(row: string): string {
  const parts = row.split(ANSI);
  let classes = new Set<string>();
  // Text and colour codes alternate.
  return parts
    .map((part, at) => {
      if (at % 2 === 0) {
        const text = part.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
        return text === "" || classes.size === 0 ? text : `<tspan class="${[...classes].join(" ")}">${text}</tspan>`;
      }
      if (part === "" || part === "0") classes = new Set();
      else if (CLASSES[part] !== undefined) classes.add(CLASSES[part]);
      return "";
    })
    .join("");
}
