import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { say, stopwatch } from "../lib/console.mjs";
import { run } from "../lib/processes.mts";

const PULUMI = "github.com/pulumi/pulumi";
const CLIPBOARD = "replace github.com/atotto/clipboard => github.com/tgummerer/clipboard";

/**
 * Each program is built from a wrapper module: it repeats Pulumi's own `replace`, which a plain `go install` would not see.
 * The language host of newer versions stands in a module that the Go module proxy does not have; sdk v3.68.0 is the
 * last that holds it, and it runs programs of today's SDK.
 */
const programs = (version: string) => [
  {
    name: "pulumi",
    package: `${PULUMI}/pkg/v3/cmd/pulumi`,
    module: [
      `require ${PULUMI}/pkg/v3 v${version}`,
      `require ${PULUMI}/sdk/v3 v${version}`,
      `${CLIPBOARD} v0.0.0-20241001131231-d02d263e614e`,
    ],
  },
  {
    name: "pulumi-language-nodejs",
    package: `${PULUMI}/sdk/v3/nodejs/cmd/pulumi-language-nodejs`,
    module: [`require ${PULUMI}/sdk/v3 v3.68.0`, `${CLIPBOARD} v0.0.0-20230522090839-d1bfe1d2b7a3`],
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
  for (const program of programs(version)) {
    const elapsed = stopwatch();
    const source = join(work, `src-${program.name}`);
    mkdirSync(source, { recursive: true });
    const module = [`module ${program.name}`, "go 1.25.0", ...program.module].join("\n");
    writeFileSync(join(source, "go.mod"), `${module}\n`);
    const stamp = `-s -w -X ${PULUMI}/sdk/v3/go/common/version.Version=v${version}`;
    const args = ["build", "-mod=mod", "-trimpath", "-tags", "osusergo,grpcnotrace", "-ldflags", stamp];
    const { code, output } = await run("go", [...args, "-o", join(work, "bin", program.name), program.package], {
      cwd: source,
      // Static, so that no C compiler is needed; and no go.work of a folder above.
      env: { CGO_ENABLED: "0", GOWORK: "off" },
      progress: `go build of ${program.name}`,
    });
    if (code !== 0) {
      return `go build of ${program.name} ended with ${code}:\n${output.trimEnd().split("\n").slice(-12).join("\n")}`;
    }
    say(`   ${program.name} is built (${elapsed()})`);
  }
  return undefined;
}
