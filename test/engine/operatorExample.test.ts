import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pulumi } from "../support/cli";
import { exampleStack } from "../support/example";
import { holdings } from "../support/Stack";

/** As kubelet mounts a Secret: a rotation replaces the link `..data` in one step. */
function mount(folder: string, version: string, key: string): void {
  mkdirSync(join(folder, `..${version}`), { recursive: true });
  writeFileSync(join(folder, `..${version}`, "api-key"), key);
  symlinkSync(`..${version}`, join(folder, "..data_tmp"));
  renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
  if (version === "1") symlinkSync(join("..data", "api-key"), join(folder, "api-key"));
}

test("examples/operator: a pod begins without the settings of the stack, a rotated key arrives without an up, and nothing is destroyed that is protected, nor without the program", async () => {
  const stack = await exampleStack("operator", {}, { configured: false, ownProcess: true });
  const { service } = stack;
  const secret = join(stack.folder, "secret");
  const program = join(stack.folder, "program");
  const held = async (): Promise<unknown> => holdings(await service.state());
  const before = await held();
  /** What the operator does before each update in a new pod. */
  const pod = async (deletionProtection: boolean): Promise<void> => {
    rmSync(join(program, "Pulumi.dev.yaml"), { force: true });
    const config = {
      "svc:baseUrl": service.emulator.baseUrl,
      "svc:apiKeyFile": join(secret, "api-key"),
      "proj:deletionProtection": String(deletionProtection),
    };
    const pairs = Object.entries(config).flatMap(([key, value]) => ["--plaintext", `${key}=${value}`]);
    expect(await stack.run("config", "set-all", ...pairs, "--stack", "dev")).toMatchObject({ code: 0 });
  };

  mount(secret, "1", service.emulator.apiKey);
  await pod(true);
  expect(await stack.up("--refresh")).toMatchObject({ code: 0, text: expect.stringMatching(/\+ 4 created/) });
  const deployed = await held();

  await service.rotateKey("canary-rotated");
  mount(secret, "2", "canary-rotated\n");
  expect(await stack.drift()).toMatchObject({ code: 0 });
  await pod(true);
  expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });

  // With destroyOnFinalize: what is protected stays, what is not does not.
  const refused = await stack.destroy("--run-program");
  expect(refused).toMatchObject({ code: 1, text: expect.stringContaining("because it is protected") });
  const { projects } = await service.state();
  expect(projects[0]?.["domains"]).toEqual([]);

  // Without protection: v2.8.0 and later have only the state, unless there is `runProgram: true`.
  await pod(false);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await held()).toEqual(deployed);
  const bare = join(stack.folder, "bare");
  mkdirSync(bare);
  writeFileSync(join(bare, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  const withoutProgram = await pulumi(["destroy", "--yes", "--skip-preview", "--stack", "dev", "--non-interactive"], {
    cwd: bare,
    env: stack.env,
  });
  expect(withoutProgram).toMatchObject({ code: 1, text: expect.stringContaining("MODULE_NOT_FOUND") });
  expect(await held()).toEqual(deployed);
  expect(await stack.destroy("--run-program")).toMatchObject({ code: 0 });
  expect(await held()).toEqual(before);

  rmSync(secret, { recursive: true });
  expect(await stack.leaks(["canary-rotated"])).toEqual([]);
});
