import { Stack } from "../support/Stack";

const VALUE = "canary-setting-Xw7";
const LABEL = "canary-name-Xw7";
const NAME = "canary-user-Xw7";

const program = (size: string) => `
  const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
  const settings = { pgSettings: { "app.token": pulumi.secret(process.env.VALUE), "app.server_key": auth.secretServerKey } };
  const api = new svc.ComputeEndpoint("api", {
    projectId: auth.projectId, branchId: "br-dev", size: ${size}, name: pulumi.secret(process.env.LABEL), settings,
  });
  const named = process.env.NAME === undefined ? {} : { name: pulumi.secret(process.env.NAME) };
  new svc.AuthUser("user", { projectId: auth.projectId, email: "someone@example.com", ...named });
  exports.serverKey = auth.secretServerKey;
  exports.settings = api.settings;
  exports.name = api.name;`;

const CIPHERTEXT = { "4dabf18193072939515e22adb298388d": expect.any(String), ciphertext: expect.any(String) };

describe("what a program makes secret", () => {
  let stack: Stack;
  let before: Awaited<ReturnType<Stack["service"]["state"]>>;
  let secrets: string[];
  let userId: string;

  test("is encrypted in inputs and outputs at its own place, also a secret that comes from another resource", async () => {
    stack = await Stack.create({ program: program("1") });
    stack.env["VALUE"] = VALUE;
    stack.env["LABEL"] = LABEL;
    stack.env["NAME"] = NAME;
    before = await stack.service.state();
    const { code, processes } = await stack.listed("up", "--yes", "--diff");
    expect(code).toBe(0);
    const { inputs, outputs } = await stack.resource("api");
    for (const kept of [inputs, outputs]) {
      expect(kept).toMatchObject({
        size: 1,
        name: CIPHERTEXT,
        settings: { pgSettings: { "app.token": CIPHERTEXT, "app.server_key": CIPHERTEXT } },
      });
    }
    userId = (await stack.resource("user")).id;
    secrets = [VALUE, LABEL, NAME, String((await stack.outputs())["serverKey"]), stack.service.emulator.apiKey];
    expect(await stack.leaks(secrets)).toEqual([]);
    const commands = [...processes].join("\n");
    expect(commands).toMatch(/cmd\/dynamic-provider/);
    for (const secret of secrets) expect(commands).not.toContain(secret);
    const shown = await stack.service.shown();
    expect(shown).toContain("app.token");
    // To the service, a name is not a secret.
    for (const secret of secrets.filter((one) => one !== LABEL && one !== NAME)) expect(shown).not.toContain(secret);
  });

  test("stays encrypted when a refresh finds it changed, and neither the drift nor its repair shows it", async () => {
    const { endpointId } = (await stack.resource("api")).outputs;
    const drifted = "canary-drifted-Xw7";
    await stack.service.edit({
      kind: "endpoint",
      id: endpointId,
      set: { name: drifted, settings: { pg_settings: { "app.token": drifted } } },
    });
    expect(await stack.drift("--diff")).toMatchObject({ code: 7 });
    await stack.run("preview", "--refresh", "--json");
    expect(await stack.refresh("--diff")).toMatchObject({ code: 0 });
    expect((await stack.resource("api")).inputs["name"]).toMatchObject(CIPHERTEXT);
    // The name of the user leaves the program in between.
    delete stack.env["NAME"];
    expect(await stack.run("up", "--yes", "--diff")).toMatchObject({ code: 0 });
    expect(await stack.leaks([...secrets, drifted])).toEqual([]);
  });

  test("is kept without being shown when it has left the program", async () => {
    expect((await stack.resource("user")).id).toBe(userId);
    expect(await stack.refresh()).toMatchObject({ code: 0 });
    expect((await stack.resource("user")).id).toBe(userId);
    expect((await stack.service.state()).projects[0]).toMatchObject({
      users: [{ id: expect.any(String), name: NAME }],
    });
    expect(await stack.leaks(secrets)).toEqual([]);
  });

  test("is not printed when its resource is refused", async () => {
    stack.program(program("17.5"));
    stack.env["LABEL"] = LABEL.repeat(9);
    const refused = await stack.run("preview", "--diff");
    expect(refused.code).not.toBe(0);
    expect(refused.text).toMatch(/name: must have 1 to 64 characters/);
    expect(await stack.leaks(secrets)).toEqual([]);
  });

  test("appears nowhere when the service repeats it in its refusal or in the error of an operation", async () => {
    const second = "canary-second-Xw7";
    stack.program(program("2"));
    stack.env["LABEL"] = LABEL;
    stack.env["VALUE"] = second;
    await stack.service.fault({
      method: "PATCH",
      status: 422,
      body: { code: "", message: `app.token "${second}" is no good` },
    });
    const refused = await stack.up();
    expect(refused.code).not.toBe(0);
    expect(refused.text).toMatch(/\[the service's message repeats a secret\] \(PATCH \S+ -> 422/);
    expect(await stack.leaks([...secrets, second])).toEqual([]);

    const third = "canary-third-Xw7";
    stack.env["VALUE"] = third;
    await stack.service.fault({
      operation: { action: "apply_config", status: "failed", error: `app.token "${third}" is no good either` },
    });
    const failed = await stack.up();
    expect(failed.code).not.toBe(0);
    expect(failed.text).toMatch(/apply_config failed: \[the service's message repeats a secret\]/);
    expect((await stack.resource("api")).outputs).toHaveProperty("__unfinished");
    expect(await stack.leaks([...secrets, second, third])).toEqual([]);

    stack.program(program("1"));
    stack.env["VALUE"] = VALUE;
    // The name of the user comes back, which is not a change.
    stack.env["NAME"] = NAME;
    await stack.service.clearRequests();
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect((await stack.resource("user")).id).toBe(userId);
    expect((await stack.service.mutations()).filter((mutation) => mutation.includes("/users"))).toEqual([]);
    expect(await stack.leaks([...secrets, second, third])).toEqual([]);
    await stack.finish(before);
  });
});

test("what is only looked up can be read, is never changed, and gives no secret away", async () => {
  const stack = await Stack.create({
    program: `exports.auth = svc.AuthIntegration.get("seen", "prj-demo/supported_provider").secretServerKey;
      const api = svc.ComputeEndpoint.get("main", "prj-demo/ep-demo-main-10000001");
      exports.host = api.host; exports.size = api.size; exports.type = api.type;`,
  });
  const { service } = stack;
  const created = await fetch(`${service.emulator.baseUrl}/projects/auth/create`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.emulator.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ project_id: "prj-demo", branch_id: "br-main", auth_provider: "supported_provider" }),
  });
  const { secret_server_key: key } = (await created.json()) as { secret_server_key: string };
  await service.clearRequests();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.outputs()).toMatchObject({
    host: expect.stringMatching(/^ep-demo-main-10000001\./),
    type: "read_write",
  });
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.destroy()).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([]);
  expect(await stack.leaks([key, service.emulator.apiKey])).toEqual([]);
});
