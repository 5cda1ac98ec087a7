import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { say, stopwatch } from "../lib/console.mjs";
import { run } from "../lib/processes.mts";

const PULUMI = "github.com/pulumi/pulumi";

/**
 * Each program is built from a wrapper module: it repeats Pulumi's own `replace`, which a plain `go install` would not see.
 * The language host of newer versions stands in a module that the Go module proxy does not have; sdk v3.68.0 is the
 * last that holds it, and it runs programs of today's SDK.
 */
const programs = (version: string) => [
  {
    name: "pulumi",
    path: "pkg/v3/cmd/pulumi",
    requires: [`pkg/v3 v${version}`, `sdk/v3 v${version}`],
    clipboard: "v0.0.0-20241001131231-d02d263e614e",
  },
  {
    name: "pulumi-language-nodejs",
    path: "sdk/v3/nodejs/cmd/pulumi-language-nodejs",
    requires: ["sdk/v3 v3.68.0"],
    clipboard: "v0.0.0-20230522090839-d1bfe1d2b7a3",
  },
];

/**
 * Builds the CLI and its language host from Go modules, for machines that do not reach Pulumi's download site. The
 * programs end up in `bin` of the folder; answers with the reason when it could not be done. Go gets the toolchain that
 * a module asks for from the module proxy, too.
 */
export async function goBuild(version: string, work: string): Promise<string | undefined> {
  const { code } = await run("go", ["version"], { timeout: 30_000 });
  if (code !== 0) return "there is no working Go on PATH to build it with";
  say("   building it from Go modules: 4 to 8 minutes on 2 cores and about 4 GB of disk, once for all clones");
  for (const { name, path, requires, clipboard } of programs(version)) {
    const elapsed = stopwatch();
    const source = mkdtempSync(join(work, "source-"));
    const module = [
      `module ${name}`,
      "go 1.25.0",
      ...requires.map((required) => `require ${PULUMI}/${required}`),
      `replace github.com/atotto/clipboard => github.com/tgummerer/clipboard ${clipboard}`,
    ];
    writeFileSync(join(source, "go.mod"), module.join("\n"));
    const stamp = `-s -w -X ${PULUMI}/sdk/v3/go/common/version.Version=v${version}`;
    const args = ["build", "-mod=mod", "-trimpath", "-tags", "osusergo,grpcnotrace", "-ldflags", stamp];
    const { code, output } = await run("go", [...args, "-o", join(work, "bin", name), `${PULUMI}/${path}`], {
      cwd: source,
      // Static, so that no C compiler is needed; and no go.work of a folder above.
      env: { CGO_ENABLED: "0", GOWORK: "off" },
      progress: `go build of ${name}`,
    });
    rmSync(source, { recursive: true });
    if (code !== 0) return `go build of ${name} ended with ${code}:\n${output.split("\n").slice(-12).join("\n")}`;
    say(`   ${name} is built (${elapsed()})`);
  }
  return undefined;
}
