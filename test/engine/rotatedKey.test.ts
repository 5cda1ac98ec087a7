import { join } from "node:path";
import { startEmulator } from "../../src/emulator";
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

    expect(await stack.refresh("--run-program")).toMatchObject({ code: 0 });
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.refresh()).toMatchObject({ code: 0 });
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    expect(await stack.leaks(keys)).toEqual([]);
  } finally {
    await second.close();
  }
});
