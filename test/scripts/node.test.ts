import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { call, environment, fakeExecutable, runProcess, temporaryFolder } from "./support";

test("beside the Node that stands in for the packaged one nothing else is found first: the CLI that was chosen runs", async () => {
  const root = temporaryFolder();
  const beside = temporaryFolder();
  const cliDir = temporaryFolder();
  const own = join(beside, "node");
  copyFileSync(process.execPath, own);
  fakeExecutable(beside, "pulumi", "echo too old");
  fakeExecutable(cliDir, "pulumi", "echo chosen");
  fakeExecutable(cliDir, "node", "echo another Node");
  const caller = environment([beside], { PULUMI_SVC_ROOT: root });

  // The packaged Node is not there and cannot be completed, as after an install without scripts and without a registry.
  mkdirSync(join(root, "node_modules", ".bin"), { recursive: true });
  const { value: node, output } = await call("setup/node.mjs", "ensureNode", ["env"], caller, own);
  expect(output).toContain(`going on with Node ${process.version}, which runs this`);
  const args = ["env", JSON.stringify(node), JSON.stringify(cliDir)];
  const { value: env } = await call("setup/node.mjs", "childEnv", args, caller);
  const said = await runProcess("/bin/sh", ["-c", "pulumi; node --version"], { env: env as NodeJS.ProcessEnv });
  expect(said.output).toBe(`chosen\n${process.version}\n`);

  // A second run finds it as it is; another Node takes its place.
  expect((await call("setup/node.mjs", "ensureNode", ["env"], caller, own)).value).toBe(node);
  expect((await call("setup/node.mjs", "ensureNode", ["env"], caller)).value).toBe(node);
  const show = ["-p", "process.execPath"];
  expect((await runProcess(String(node), show, { env: caller })).output).toBe(`${process.execPath}\n`);
});
