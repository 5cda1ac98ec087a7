import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../lib/exec.mjs";
import { progress, say, stopwatch } from "../../lib/log.mjs";
import { isAtLeast, parseVersion } from "../version.mjs";
import { CLI_VERSION, LANGUAGE_HOST } from "./place.mjs";

const STAMP = `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${CLI_VERSION}`;

/**
 * Each program is built from a wrapper module: it repeats Pulumi's own `replace`, which a plain `go install` would not see.
 * The language host of newer versions stands in a module that the Go module proxy does not have; sdk v3.68.0 is the
 * last that holds it, and it runs programs of today's SDK.
 */
const PROGRAMS = [
  {
    name: "pulumi",
    module: [
      "module pulumi-cli",
      "go 1.25.0",
      `require github.com/pulumi/pulumi/pkg/v3 v${CLI_VERSION}`,
      `require github.com/pulumi/pulumi/sdk/v3 v${CLI_VERSION}`,
      "replace github.com/atotto/clipboard => github.com/tgummerer/clipboard v0.0.0-20241001131231-d02d263e614e",
    ],
    tags: "osusergo,grpcnotrace",
    package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
  },
  {
    name: LANGUAGE_HOST,
    module: [
      "module pulumi-lang",
      "go 1.25.0",
      "require github.com/pulumi/pulumi/sdk/v3 v3.68.0",
      "replace github.com/atotto/clipboard => github.com/tgummerer/clipboard v0.0.0-20230522090839-d1bfe1d2b7a3",
    ],
    tags: "osusergo,grpcnotrace",
    package: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
  },
];

/**
 * Builds the CLI and its language host from Go modules.
 * @param {string} work a folder to build in; the programs end up in its `bin`
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>} why it could not be done
 */
export async function goBuild(work, env) {
  const refusal = await checkGo(env);
  if (refusal) return refusal;
  say(
    "   building it from Go modules: 4 to 8 minutes on 2 cores, about 4 GB of disk (Go keeps most of it in its caches), once for all clones",
  );
  mkdirSync(join(work, "bin"), { recursive: true });
  const elapsed = stopwatch();
  for (const program of PROGRAMS) {
    const failure = await buildOne(program, work, env);
    if (failure) return failure;
    say(`   ${program.name} is built (${elapsed()})`);
  }
  return undefined;
}

/** @param {NodeJS.ProcessEnv} env */
async function checkGo(env) {
  const { code, stdout } = await run("go", ["version"], { env, timeoutMs: 30_000 });
  if (code !== 0) return "there is no working Go on PATH to build it with";
  const version = parseVersion(stdout);
  if (version && isAtLeast(version, [1, 25, 0])) return undefined;
  return `a build from Go modules needs Go 1.25 or newer, and this is ${stdout.trim()}`;
}

/**
 * @param {typeof PROGRAMS[number]} program
 * @param {string} work
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>}
 */
async function buildOne(program, work, env) {
  const source = join(work, `src-${program.name}`);
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, "go.mod"), `${program.module.join("\n\n")}\n`);
  const args = ["build", "-v", "-mod=mod", "-trimpath", "-tags", program.tags, "-ldflags", `-s -w ${STAMP}`];
  args.push("-o", join(work, "bin", program.name), program.package);
  const seen = { modules: 0, packages: 0 };
  const stop = progress(
    (elapsed) =>
      `still at ${program.name}: ${seen.modules} modules downloaded, ${seen.packages} packages built, ${elapsed}`,
  );
  try {
    const { code, output } = await run("go", args, {
      cwd: source,
      // Static, so that no C compiler is needed; and no go.work of a folder above.
      env: { ...env, CGO_ENABLED: "0", GOWORK: "off" },
      onLine: (line) => {
        if (line.startsWith("go: downloading")) seen.modules += 1;
        else if (!line.startsWith("go: ")) seen.packages += 1;
      },
    });
    if (code === 0) return undefined;
    return `go build of ${program.name} ended with ${code}:\n${tail(output, 12)}`;
  } finally {
    stop();
  }
}

/**
 * @param {string} text
 * @param {number} lines
 */
function tail(text, lines) {
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}
