import { join } from "node:path";
import { startEmulator } from "../../src/emulator";
import { check, doctor } from "../support/doctor";
import { ownPort } from "../support/service";
import { Stack } from "../support/Stack";

/** A refresh uses the settings that the last up stored (docs/design/engine.md, Secrets and settings). */
test("after a rotation of the key a refresh says what to do, which works, and no key is ever shown", async () => {
  const program = `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });`;
  const stack = await Stack.create({ program });
  const data = join(stack.folder, "service.json");
  const keys = ["canary-first-key", "canary-second-key"];
  const first = await startEmulator({ activationMs: 50, data, port: ownPort(), apiKey: String(keys[0]) });
  await stack.config("svc:baseUrl", first.baseUrl);
  await stack.config("svc:apiKey", first.apiKey, true);
  expect(await stack.up()).toMatchObject({ code: 0 });
  await first.close();

  const second = await startEmulator({ activationMs: 50, data, port: first.port, apiKey: String(keys[1]) });
  try {
    await stack.config("svc:apiKey", second.apiKey, true);
    const refused = await stack.refresh();
    expect(refused.code).not.toBe(0);
    expect(refused.text).toMatch(/401/);
    expect(refused.text).toMatch(/--run-program/);
    expect(await stack.resources()).toHaveLength(1);
    // The configured key works, the stored one does not: the doctor tries both.
    const told = await doctor(stack);
    expect(told).toMatchObject({ ok: false });
    expect(check(told, "credentials")).toMatchObject({ status: "ok" });
    expect(check(told, "stored key")).toMatchObject({
      status: "failure",
      message: expect.stringMatching(/refuses the key that the last pulumi up stored \(401\), and pulumi refresh/),
      remedy: expect.stringContaining("pulumi up"),
    });

    expect(await stack.refresh("--run-program")).toMatchObject({ code: 0 });
    expect(await stack.up()).toMatchObject({ code: 0 });
    const well = await doctor(stack);
    expect(well).toMatchObject({ ok: true });
    expect(check(well, "stored key")).toMatchObject({ status: "ok", message: expect.stringContaining("the same key") });
    expect(await stack.refresh()).toMatchObject({ code: 0 });
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    expect(await stack.leaks(keys)).toEqual([]);
  } finally {
    await second.close();
  }
});
