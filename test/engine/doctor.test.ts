import { check, type Diagnosis, doctor } from "../support/doctor";
import { Stack } from "../support/Stack";

const statuses = ({ checks }: Diagnosis) => Object.fromEntries(checks.map(({ name, status }) => [name, status]));

test("the doctor reads the stack through the real CLI: secrets, the projects of the state, a key in plain text, a passphrase", async () => {
  const stack = await Stack.create({
    program: `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });`,
    passphrase: true,
  });
  const before = await stack.service.state();
  await stack.config("smtpPassword", "canary-smtp-password", true);
  expect(await stack.up()).toMatchObject({ code: 0 });

  const well = await doctor(stack);
  expect(well).toMatchObject({ ok: true });
  // The engine stores it with its provider, though nothing reads it.
  expect(check(well, "secrets")?.message).toMatch(/: proj:smtpPassword$/);
  expect(await stack.leaks(["canary-smtp-password"])).toEqual([]);
  expect(statuses(well)).toMatchObject({ stack: "ok", "API key": "ok", credentials: "ok", "project prj-demo": "ok" });
  expect(check(well, "stored key")?.message).toMatch(/^the last pulumi up stored the same key;/);

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

test("a healthy stack with explicit providers alone is not red, though nothing is configured", async () => {
  const stack = await Stack.create({ program: "", configured: false });
  const before = await stack.service.state();
  const { baseUrl, apiKey } = stack.service.emulator;
  stack.write("account.json", JSON.stringify({ baseUrl, apiKey }));
  stack.program(`
const provider = new svc.Provider("account", require("./account.json"));
new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 }, { provider });`);
  expect(await stack.up()).toMatchObject({ code: 0 });

  const well = await doctor(stack);
  expect(well.checks.filter(({ status }) => status === "failure")).toEqual([]);
  expect(well).toMatchObject({ ok: true });
  expect(statuses(well)).toMatchObject({ "provider account": "ok", "project prj-demo": "ok", credentials: "skipped" });
  await stack.finish(before);
});
