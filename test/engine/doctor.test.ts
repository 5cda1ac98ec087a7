import { execFile } from "node:child_process";
import { join } from "node:path";
import { Stack } from "../support/Stack";
import { ROOT } from "../support/cli";

interface Report {
  ok: boolean;
  checks: { name: string; status: string; says: string }[];
}

/** `pulumi-svc doctor --json` in the folder of the stack's program. */
function doctor(stack: Stack, ...args: string[]): Promise<Report> {
  const command = [join(ROOT, "dist", "cli", "main.js"), "doctor", "--json", ...args];
  return new Promise((resolve) => {
    const options = { cwd: join(stack.folder, "program"), env: stack.env };
    execFile(process.execPath, command, options, (_error, stdout, stderr) => {
      stack.said += stdout + stderr;
      resolve(JSON.parse(stdout) as Report);
    });
  });
}

const statuses = ({ checks }: Report) => Object.fromEntries(checks.map(({ name, status }) => [name, status]));

test("the doctor reads the stack through the real CLI: secrets, the projects of the state, a key in clear, a passphrase", async () => {
  const stack = await Stack.create({
    program: `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });`,
  });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });

  const well = await doctor(stack);
  expect(well).toMatchObject({ ok: true });
  expect(statuses(well)).toMatchObject({ stack: "ok", "API key": "ok", credentials: "ok", "project prj-demo": "ok" });

  await stack.config("svc:apiKey", stack.service.emulator.apiKey);
  const clear = await doctor(stack);
  expect(clear).toMatchObject({ ok: true });
  expect(statuses(clear)).toMatchObject({ "API key": "warning", credentials: "ok" });
  await stack.config("svc:apiKey", stack.service.emulator.apiKey, true);

  expect(statuses(await doctor(stack, "--stack", "prod"))).toMatchObject({ stack: "failure", service: "skipped" });

  const passphrase = stack.env["PULUMI_CONFIG_PASSPHRASE"] ?? "";
  stack.env["PULUMI_CONFIG_PASSPHRASE"] = "another one";
  const locked = await doctor(stack);
  expect(locked.ok).toBe(false);
  expect(statuses(locked)).toMatchObject({ stack: "failure", settings: "skipped" });
  stack.env["PULUMI_CONFIG_PASSPHRASE"] = passphrase;

  expect(await stack.run("stack", "unselect")).toMatchObject({ code: 0 });
  expect(statuses(await doctor(stack))).toMatchObject({ stack: "skipped", settings: "failure" });
  expect(await stack.run("stack", "select", "dev")).toMatchObject({ code: 0 });
  await stack.finish(before);
});
