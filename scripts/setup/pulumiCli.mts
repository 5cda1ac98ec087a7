import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import lockfile from "proper-lockfile";
import { say, SetupError, stopwatch } from "../lib/console.mjs";
import { NODE, NODE_MODULES, PULUMI_HOME } from "../lib/paths.mjs";
import { interrupted, run } from "../lib/processes.mts";

interface Cli {
  /** The folder to put first on PATH. */
  dir: string;
  version: string;
}

const LANGUAGE_HOST = "pulumi-language-nodejs";
/** Texts of hosts that earlier set-ups built, and what fails with them. */
const EARLIER_BUILDS = {
  "pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs": "cannot start policy packs",
  "this language host starts programs and policy packs only": "ignores the options of the runtime in Pulumi.yaml",
};
/** Runs dynamic resources: a script that is part of the SDK. */
const DYNAMIC_PLUGIN = "pulumi-resource-pulumi-nodejs";
const SDK = join(NODE_MODULES, "@pulumi", "pulumi");
const VERSIONS = join(PULUMI_HOME, "versions");

/**
 * Finds or installs the Pulumi CLI: on PATH, in Pulumi's versions folder, by the SDK's installer, by a build from Go
 * modules.
 */
export async function ensurePulumiCli(): Promise<Cli> {
  // The SDK's installer installs the SDK's version, and so does the build.
  const { version } = JSON.parse(readFileSync(join(SDK, "package.json"), "utf8"));
  const path = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const { cli, refused } = await find([...new Set(path), join(VERSIONS, version, "bin")]);
  if (cli) return cli;
  try {
    return await getIntoVersions(version, refused);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // Errors of the file system have a code.
    if (code === undefined) throw error;
    throw new SetupError(
      `the Pulumi CLI cannot be put into ${PULUMI_HOME} (${code})`,
      "Set PULUMI_HOME to a folder that can be written and has 4 GB free, or install the Pulumi CLI yourself.",
    );
  }
}

/** The first suitable `pulumi` in them: 3.216 or newer (older ones lack what `read` needs), below 4, with its companions. */
async function find(folders: string[]): Promise<{ cli?: Cli; refused: string[] }> {
  const refused = [];
  for (const folder of folders) {
    const pulumi = join(folder, "pulumi");
    if (!existsSync(pulumi)) continue;
    const env = { PULUMI_SKIP_UPDATE_CHECK: "true" };
    const { code, stdout } = await run(pulumi, ["version"], { env, timeout: 30_000 });
    const version = stdout.trim().split("\n").at(-1) ?? "";
    // A package manager may link only `pulumi` into PATH: its companions are then beside the target of the link.
    const dir = existsSync(join(folder, LANGUAGE_HOST)) ? folder : dirname(realpathSync(pulumi));
    const host = join(dir, LANGUAGE_HOST);
    const isThere = (name: string): boolean => [dir, ...folders].some((each) => existsSync(join(each, name)));
    const built = existsSync(host) ? readFileSync(host) : "";
    const flaw = Object.entries(EARLIER_BUILDS).find(([text]) => built.includes(text))?.[1];
    const missing = [LANGUAGE_HOST, DYNAMIC_PLUGIN].filter((name) => !isThere(name));
    if (code !== 0) refused.push(`${pulumi} does not start`);
    else if (!(Number(/^v3\.(\d+)/.exec(version)?.[1]) >= 216)) {
      refused.push(`${pulumi} is ${version}; 3.216 or newer, below 4, is needed`);
    } else if (missing.length > 0) refused.push(`${pulumi} has no ${missing.join(" and no ")} beside it or on PATH`);
    else if (flaw !== undefined) refused.push(`${host} ${flaw}`);
    else return { cli: { dir, version }, refused };
  }
  return { refused };
}

async function getIntoVersions(version: string, refused: string[]): Promise<Cli> {
  const target = join(VERSIONS, version);
  // Beside the final folder, because a rename works only within one file system.
  const work = join(VERSIONS, `.${version}-work`);
  const [bin, plugin] = [join(work, "bin"), join(work, "bin", DYNAMIC_PLUGIN)];
  say(`-- Pulumi CLI ${version}: not installed yet; installing it in ${target}`);
  for (const reason of refused) say(`   not used: ${reason}`);
  const failures = [...refused];
  mkdirSync(VERSIONS, { recursive: true });
  const unlock = await lock(join(VERSIONS, `${version}.lock`));
  try {
    const { cli: meanwhile } = await find([join(target, "bin")]);
    if (meanwhile) return meanwhile;
    for (const get of [download, goBuild]) {
      rmSync(work, { recursive: true, force: true });
      mkdirSync(bin, { recursive: true });
      const failure = await get(version, work);
      // The official archive contains the plugin; a build from Go modules does not.
      if (!existsSync(plugin)) copyFileSync(join(SDK, DYNAMIC_PLUGIN), plugin);
      const { cli, refused } = failure === undefined ? await find([bin]) : { refused: [failure] };
      if (cli) {
        rmSync(target, { recursive: true, force: true });
        renameSync(work, target);
        return { ...cli, dir: join(target, "bin") };
      }
      failures.push(...refused);
      say(`   that failed: ${refused.join("; ")}`);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
    await unlock();
  }
  throw new SetupError(
    `there is no Pulumi CLI, and it could not be installed:\n${failures.map((failure) => `  - ${failure}`).join("\n")}`,
    "Install the Pulumi CLI 3.216 or newer (https://www.pulumi.com/docs/install/), or Go 1.25 or newer, and run this again.",
  );
}

/** Waits until no other process holds the lock. A lock that was not refreshed for a minute is considered abandoned. */
async function lock(path: string): Promise<() => Promise<void>> {
  for (let waitedSeconds = 0; ; waitedSeconds++) {
    try {
      return await lockfile.lock(path, { lockfilePath: path, realpath: false, stale: 60_000 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ELOCKED") throw error; // proper-lockfile's errors are Node's
    }
    if (waitedSeconds % 20 === 0) {
      say(
        `   another clone holds the lock ${path}; waiting, ${waitedSeconds} s so far (if nothing is running, delete it)`,
      );
    }
    await sleep(1_000, undefined, { signal: interrupted });
  }
}

/**
 * Runs the SDK's installer in its own process, because Node reads NODE_USE_ENV_PROXY when it starts. Returns the reason
 * if it failed.
 */
async function download(version: string, work: string): Promise<string | undefined> {
  say("   downloading it from Pulumi's site: about 150 MB");
  const program = `require(${JSON.stringify(join(SDK, "automation"))}).PulumiCommand.install({ root: ${JSON.stringify(work)} })
    .catch((error) => { console.error(error.message); process.exitCode = 1; });`;
  const { code, output } = await run(NODE, ["-e", program], {
    env: { NODE_USE_ENV_PROXY: "1" },
    timeout: 15 * 60_000,
    progress: "the download",
  });
  return code === 0 ? undefined : `the download of ${version} failed: ${output.trim()}`;
}

const PULUMI = "github.com/pulumi/pulumi";

/**
 * Each program is built from a wrapper module that repeats Pulumi's own `replace`, which a plain `go install` would
 * ignore. The Go module proxy does not have the module with the language host of newer versions; sdk v3.68.0 is the
 * last version that contains the host, which runs programs of today's SDK. policyPacks.go and programs.go add what
 * engines of today ask of it, so its package is built from a copy in which their functions take the place of its own.
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
    patch: {
      files: ["main.go", "proxy.go", "proxy_unix.go", "proxy_windows.go"],
      edits: [
        ["func (host *nodeLanguageHost) RunPlugin(", "func (host *nodeLanguageHost) refusePlugin("],
        ["func (host *nodeLanguageHost) Run(", "func (host *nodeLanguageHost) runByFlags("],
        ["func (host *nodeLanguageHost) constructArguments(", "func (host *nodeLanguageHost) argumentsWithMonitor("],
        ["exec.Command(nodeBin, nodeargs...)", "programCommand(nodeBin, nodeargs...)"],
        ["pulumirpc.RegisterLanguageRuntimeServer(", "register("],
      ] as const,
      with: ["policyPacks.go", "programs.go"],
    },
  },
];

/**
 * Builds the CLI and its language host from Go modules, for machines that cannot reach Pulumi's download site. The
 * programs are placed in `bin` of the folder. Returns the reason if it failed. Go also downloads the required toolchain
 * from the module proxy.
 */
async function goBuild(version: string, work: string): Promise<string | undefined> {
  const { code } = await run("go", ["version"], { timeout: 30_000 });
  if (code !== 0) return "there is no working Go on PATH to build it with";
  say("   building it from Go modules: 5 to 10 minutes on 2 cores and about 4 GB of disk, once for all clones");
  for (const { name, path, requires, clipboard, patch } of programs(version)) {
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
    // Static, so that no C compiler is needed, and without a go.work of a parent folder.
    const env = { CGO_ENABLED: "0", GOWORK: "off" };
    if (patch) {
      const listed = await run("go", ["list", "-mod=mod", "-f", "{{.Dir}}", `${PULUMI}/${path}`], { cwd: source, env });
      if (listed.code !== 0) return `go list of ${name} ended with ${listed.code}:\n${listed.output}`;
      for (const file of patch.files) {
        const text = readFileSync(join(listed.stdout.trim(), file), "utf8");
        const edited = patch.edits.reduce((before, [from, to]) => before.replace(from, to), text);
        writeFileSync(join(source, file), edited);
      }
      for (const file of patch.with) copyFileSync(join(import.meta.dirname, file), join(source, file));
    }
    const { code, output } = await run(
      "go",
      [...args, "-o", join(work, "bin", name), patch ? "." : `${PULUMI}/${path}`],
      {
        cwd: source,
        env,
        progress: `go build of ${name}`,
      },
    );
    rmSync(source, { recursive: true });
    if (code !== 0) return `go build of ${name} ended with ${code}:\n${output.split("\n").slice(-12).join("\n")}`;
    say(`   ${name} is built (${elapsed()})`);
  }
  return undefined;
}
