import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, environment, fakeExecutable, temporaryFolder, type Called } from "../support/scripts";

const VERSION = "3.259.0";
const HOST = "pulumi-language-nodejs";
const PLUGIN = "pulumi-resource-pulumi-nodejs";
const NO_SITE = 'throw new Error("Failed to download: no site");';

interface Machine {
  root: string;
  home: string;
  bin: string;
  /** `installer` is what the SDK's installer does, which is told the folder as `root`. */
  ensure: (installer?: string, more?: Record<string, string>) => Promise<Called>;
}

/** A machine with an empty home and an empty folder on PATH; in the clone there is what is used of the SDK. */
function machine(): Machine {
  const root = temporaryFolder();
  const home = temporaryFolder();
  const bin = temporaryFolder();
  const sdk = join(root, "node_modules", "@pulumi", "pulumi");
  fakeExecutable(sdk, PLUGIN, "true");
  writeFileSync(join(sdk, "package.json"), JSON.stringify({ version: VERSION }));
  mkdirSync(join(root, "node_modules", ".bin"));
  symlinkSync(process.execPath, join(root, "node_modules", ".bin", "node"));
  const ensure = (installer = NO_SITE, more = {}): Promise<Called> => {
    const install = `exports.PulumiCommand = { install: async ({ root }) => { ${installer} } };`;
    writeFileSync(join(sdk, "automation.js"), install);
    const env = environment([bin], { PULUMI_SVC_ROOT: root, PULUMI_HOME: home, ...more });
    return call("setup/pulumiCli.mts", "ensurePulumiCli", [], env);
  };
  return { root, home, bin, ensure };
}

const versionsBin = (home: string): string => join(home, "versions", VERSION, "bin");

function fakeCli(folder: string, version: string, companions = [HOST, PLUGIN]): void {
  fakeExecutable(folder, "pulumi", `echo v${version}`);
  for (const name of companions) fakeExecutable(folder, name, "true");
}

/** A `go` that leaves a program which answers as the CLI would. */
function fakeGo(bin: string): void {
  mkdirSync(join(bin, "module"));
  for (const file of ["main.go", "proxy.go", "proxy_unix.go", "proxy_windows.go"]) {
    writeFileSync(join(bin, "module", file), "func (host *nodeLanguageHost) RunPlugin(");
  }
  fakeExecutable(
    bin,
    "go",
    `[ "$1" = version ] && { echo "go version go1.26.1 linux/amd64"; exit; }
     echo "$PWD $* CGO_ENABLED=$CGO_ENABLED" >> ${bin}/go-calls; cat go.mod >> ${bin}/go-calls
     [ "$1" = list ] && { echo ${join(bin, "module")}; exit; }
     while [ "$1" != -o ]; do shift; done
     printf '#!/bin/sh\\necho v${VERSION}\\n' > "$2"; chmod +x "$2"`,
  );
}

describe("a CLI that is there", () => {
  test("is taken from PATH when it is suitable, without a word", async () => {
    const { bin, ensure } = machine();
    fakeCli(bin, "3.216.0");
    expect(await ensure()).toEqual({ value: { dir: bin, version: "v3.216.0" }, output: "" });
  });

  test.each([
    ["too old", "3.215.9", [HOST, PLUGIN], "is v3.215.9; 3.216 or newer, below 4, is needed"],
    ["of the next major version", "4.0.0", [HOST, PLUGIN], "is v4.0.0; 3.216 or newer, below 4, is needed"],
    ["without the language host", "3.300.1", [PLUGIN], `has no ${HOST} beside it or on PATH`],
    ["without the plugin of dynamic resources", "3.300.1", [HOST], `has no ${PLUGIN} beside it or on PATH`],
  ])("is not taken from PATH when it is %s, and the end says so", async (_, version, companions, reason) => {
    const { bin, ensure } = machine();
    fakeCli(bin, version, companions);
    const { error } = await ensure();
    expect(error?.message).toContain(`${join(bin, "pulumi")} ${reason}`);
  });

  test("is not taken from PATH when it does not start", async () => {
    const { bin, ensure } = machine();
    fakeExecutable(bin, "pulumi", "exit 1");
    expect((await ensure()).error?.message).toContain(`${join(bin, "pulumi")} does not start`);
  });

  test.each([
    ["the whole path of pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs", "cannot start policy packs"],
    [
      "not supported: this language host starts programs and policy packs only",
      "ignores the options of the runtime in Pulumi.yaml",
    ],
  ])("is built again where an earlier set-up has built a language host with %j", async (text, flaw) => {
    const { home, bin, ensure } = machine();
    fakeCli(versionsBin(home), VERSION);
    writeFileSync(join(versionsBin(home), HOST), text);
    fakeGo(bin);
    const { value, output } = await ensure();
    expect(output).toContain(`not used: ${join(versionsBin(home), HOST)} ${flaw}`);
    expect(value).toEqual({ dir: versionsBin(home), version: `v${VERSION}` });
    expect(readFileSync(join(versionsBin(home), HOST), "utf8")).not.toContain(text);
    expect((await ensure()).output).toBe("");
  });

  test("is taken from the versions folder", async () => {
    const { home, ensure } = machine();
    fakeCli(versionsBin(home), VERSION);
    expect(await ensure()).toEqual({ value: { dir: versionsBin(home), version: `v${VERSION}` }, output: "" });
  });
});

test("a home that refuses a file ends the set-up with a message", async () => {
  const code = "EROFS";
  const { home, ensure } = machine();
  // Root may write everywhere, so the file system's refusal is planted.
  const refusing = join(temporaryFolder(), "refusing.mjs");
  writeFileSync(
    refusing,
    `import fs from "node:fs";
       import { syncBuiltinESMExports } from "node:module";
       fs.copyFileSync = () => { throw Object.assign(new Error("${code}: planted"), { code: "${code}" }); };
       syncBuiltinESMExports();`,
  );
  const { error } = await ensure(NO_SITE, { NODE_OPTIONS: `--import=${refusing}` });
  expect(error).toEqual({
    name: "SetupError",
    message: `the Pulumi CLI cannot be put into ${home} (${code})`,
    advice: expect.stringContaining("Set PULUMI_HOME to a folder that can be written"),
  });
});

describe("the SDK's installer", () => {
  /** Leaves a CLI that answers with a version, as the installer does: in a folder `bin` of the one that it is told. */
  const installs = (version: string): string =>
    `const { mkdirSync, writeFileSync } = require("node:fs");
     mkdirSync(root + "/bin", { recursive: true });
     for (const [name, says] of Object.entries({ pulumi: "v${version}", "${HOST}": "", "${PLUGIN}": "" })) {
       writeFileSync(root + "/bin/" + name, "#!/bin/sh\\necho " + says + "\\n", { mode: 0o755 });
     }`;

  test("puts the CLI into the versions folder, where the next run finds it", async () => {
    const { home, ensure } = machine();
    const { value, output } = await ensure(installs(VERSION));
    expect(value).toEqual({ dir: versionsBin(home), version: `v${VERSION}` });
    expect(output).toMatch(/-- Pulumi CLI 3\.259\.0: not installed yet; .*\n {3}downloading it/);
    expect(readdirSync(join(home, "versions"))).toEqual([VERSION]);
    expect((await ensure()).output).toBe("");
  });

  test.each([
    ["fails", NO_SITE, `the download of ${VERSION} failed: Failed to download: no site`],
    ["brings what is not suitable", installs("0.0.0"), "is v0.0.0; 3.216 or newer, below 4, is needed"],
  ])("is followed by the build from Go modules when it %s", async (_, installer, reason) => {
    const { home, bin, ensure } = machine();
    fakeGo(bin);
    const { value, output } = await ensure(installer);
    expect(output).toMatch(/that failed: .*/);
    expect(output).toContain(reason);
    expect(value).toEqual({ dir: versionsBin(home), version: `v${VERSION}` });
  });
});

describe("the build from Go modules", () => {
  test("happens in a folder of its own and leaves nothing but the finished programs", async () => {
    const { home, bin, ensure } = machine();
    fakeGo(bin);
    const { value, output } = await ensure();
    expect(value).toEqual({ dir: versionsBin(home), version: `v${VERSION}` });
    expect(output).toContain("5 to 10 minutes");
    expect(readdirSync(versionsBin(home)).sort()).toEqual(["pulumi", HOST, PLUGIN]);
    expect(readdirSync(join(home, "versions"))).toEqual([VERSION]);
    const calls = readFileSync(join(bin, "go-calls"), "utf8");
    expect(calls).toContain("CGO_ENABLED=0");
    expect(calls).toContain(`require github.com/pulumi/pulumi/pkg/v3 v${VERSION}`);
    expect(calls).toContain("github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs");
  });

  test("is not tried without a Go, and the end says what was tried and what to do", async () => {
    const { home, ensure } = machine();
    const { error } = await ensure();
    expect(error?.name).toBe("SetupError");
    expect(error?.message).toContain("Failed to download: no site");
    expect(error?.message).toContain("there is no working Go on PATH");
    expect(error?.advice).toContain("Install the Pulumi CLI 3.216 or newer");
    expect(readdirSync(join(home, "versions"))).toEqual([]);
  });
});
