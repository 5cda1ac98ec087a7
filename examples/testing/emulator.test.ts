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

test("the program is deployed, a change by hand is found, and destroying it leaves what was there", async () => {
  const first = await computes();
  const { outputs } = await stack.up();
  // This has checked the types of the program. Each command would take two seconds to check them again.
  stack.workspace.envVars["PULUMI_NODEJS_TRANSPILE_ONLY"] = "true";
  const reports = (await computes()).find(({ host }) => host === outputs["host"]?.value);
  expect(reports).toMatchObject({
    branch_id: "br-main",
    type: "read_only",
    autoscaling_limit_min_cu: 0.5,
    autoscaling_limit_max_cu: 2,
  });
  expect((await stack.preview()).changeSummary).toEqual({ same: 2 });

  // Somebody changes the size by hand. A plan that refreshes finds it, and sends nothing that changes something.
  const id = String(reports?.["id"]);
  emulator.edit({ kind: "endpoint", project_id: "prj-demo", id, set: { autoscaling_limit_max_cu: 8 } });
  const sent = (): unknown[] => emulator.requests().filter(({ method }) => method !== "GET");
  const before = sent();
  expect((await stack.preview({ refresh: true })).changeSummary).toEqual({ same: 1, update: 1 });
  expect(sent()).toEqual(before);
  await stack.destroy();
  expect((await computes()).map(({ id }) => id)).toEqual(first.map(({ id }) => id));
});
