import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { startEmulator, type Emulator } from "pulumi-svc/emulator";

// The real Pulumi CLI, the real program of this folder, and an emulator in place of the service. It takes some seconds.
jest.setTimeout(300_000);

const STACK = "test";
const backend = mkdtempSync(join(tmpdir(), "pulumi-svc-testing-"));
let emulator: Emulator;
let stack: Stack;

beforeAll(async () => {
  emulator = await startEmulator({ activationMs: 50 });
  const envVars = {
    SVC_BASE_URL: emulator.baseUrl,
    SVC_API_KEY: emulator.apiKey,
    // Neither your login nor your stacks are touched.
    PULUMI_BACKEND_URL: `file://${backend}`,
    PULUMI_CONFIG_PASSPHRASE: "of the tests",
  };
  stack = await LocalWorkspace.createOrSelectStack({ stackName: STACK, workDir: __dirname }, { envVars });
});

afterAll(async () => {
  // Takes away Pulumi.test.yaml as well.
  await stack?.workspace.removeStack(STACK, { force: true });
  await emulator?.close();
  rmSync(backend, { recursive: true, force: true });
});

/** The computes of the demo project, as the service shows them. */
async function computes(): Promise<Record<string, unknown>[]> {
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  const response = await fetch(`${emulator.baseUrl}/projects/prj-demo/endpoints`, { headers });
  return ((await response.json()) as { endpoints: Record<string, unknown>[] }).endpoints;
}

test("the program is deployed, a second preview is empty, and destroying it leaves what was there", async () => {
  const before = await computes();
  const { outputs } = await stack.up();
  expect(await computes()).toContainEqual(
    expect.objectContaining({
      branch_id: "br-main",
      type: "read_only",
      host: outputs["host"]?.value,
      autoscaling_limit_min_cu: 0.5,
      autoscaling_limit_max_cu: 2,
    }),
  );
  expect((await stack.preview()).changeSummary).toEqual({ same: 2 });
  await stack.destroy();
  expect((await computes()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
});
