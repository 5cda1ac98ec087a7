import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { call, environment, fakeExecutable, NODE, runProcess, SCRIPTS, temporaryFolder } from "../support/scripts";

test("beside the Node that stands in for the packaged one nothing else is found first: the CLI that was chosen runs", async () => {
  const root = temporaryFolder();
  const beside = temporaryFolder();
  const cliDir = temporaryFolder();
  const bin = join(root, "node_modules", ".bin");
  const own = join(beside, "node");
  copyFileSync(NODE, own);
  fakeExecutable(beside, "pulumi", "echo too old");
  fakeExecutable(cliDir, "pulumi", "echo chosen");
  fakeExecutable(cliDir, "node", "echo another Node");
  const caller = environment([beside], { PULUMI_SVC_ROOT: root });

  const version = (await runProcess(own, ["--version"], { env: caller })).output.trim();

  // The packaged Node is not there and cannot be completed, as after an install without scripts and without a registry.
  mkdirSync(bin, { recursive: true });
  const { output } = await call("setup/packages.mjs", "ensureNode", [], caller, own);
  expect(output).toContain(`continuing with Node ${version}`);
  const program = `
    import { execFileSync } from "node:child_process";
    import { putFirstOnPath } from ${JSON.stringify(pathToFileURL(join(SCRIPTS, "lib", "processes.mts")).href)};
    putFirstOnPath(${JSON.stringify(bin)}, ${JSON.stringify(cliDir)});
    execFileSync("/bin/sh", ["-c", "pulumi; node --version"], { stdio: "inherit" });`;
  const said = await runProcess(own, ["--input-type=module", "-e", program], { env: caller });
  expect(said.output).toBe(`chosen\n${version}\n`);

  // A second run finds it as it is.
  expect(await call("setup/packages.mjs", "ensureNode", [], caller, own)).toMatchObject({ output: "" });
  const show = ["-p", "process.execPath"];
  expect((await runProcess(join(bin, "node"), show, { env: caller })).output).toBe(`${own}\n`);
});
