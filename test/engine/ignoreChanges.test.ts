import { hashed } from "../../src/emulator/model/records";
import { api } from "../support/emulator";
import { Gateway } from "../support/Gateway";
import { Stack } from "../support/Stack";

/* What `ignoreChanges` names is the service's, also where a change sends it along (docs/design/rules.md, 5). */

const SMTP = "canary-smtp-password-5";
const ROTATED = { username: "rotated", password: "canary-rotated-password-5" };

const PROTOCOLS = [
  ["dynamic", (args: string, options: string) => `new svc.EmailServer("mail", ${args}, ${options})`],
  ["native", (args: string, options: string) => `native("EmailServer", "mail", ${args}, [], ${options})`],
] as const;

const mail = (declare: (typeof PROTOCOLS)[number][1], senderName: string, options: string, more = ""): string =>
  declare(
    `{ projectId: "prj-demo", type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
       password: pulumi.secret("${SMTP}"), senderEmail: "auth@example.com", senderName: "${senderName}" ${more} }`,
    `{ dependsOn: auth, ${options} }`,
  );
const AUTH = `const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });`;
const NATIVE_AUTH = `const auth = native("AuthIntegration", "auth", { projectId: "prj-demo" });`;

const server = async (stack: Stack): Promise<unknown> => (await stack.service.state()).projects[0]?.["email_server"];

describe.each(PROTOCOLS)(
  "a mail server whose credentials are rotated by hand, at the %s protocol",
  (protocol, declare) => {
    const program = (senderName: string, ...paths: string[]): string =>
      `${protocol === "native" ? NATIVE_AUTH : AUTH}\n${mail(declare, senderName, `ignoreChanges: ${JSON.stringify(paths)}`)};`;

    test("keeps them when its sender name changes, before and after a refresh", async () => {
      const stack = await Stack.create({ program: program("One"), native: true });
      const before = await stack.service.state();
      expect(await stack.up()).toMatchObject({ code: 0 });
      await stack.service.edit({ kind: "email_server", set: ROTATED });
      const now = { ...ROTATED, password: hashed(ROTATED.password) };

      stack.program(program("Two", "username", "password"));
      const plan = await stack.preview("--diff");
      expect(plan).toMatchObject({ code: 0, text: expect.stringMatching(/senderName/) });
      expect(plan.text).not.toMatch(/pulumi up overwrites|pulumi up also sets/);
      expect(await stack.up()).toMatchObject({ code: 0 });
      expect(await server(stack)).toMatchObject({ ...now, sender_name: "Two" });
      expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });

      expect(await stack.run("refresh", "--yes")).toMatchObject({ code: 0 });
      expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
      stack.program(program("Three", "username", "password"));
      expect(await stack.up()).toMatchObject({ code: 0 });
      expect(await server(stack)).toMatchObject({ ...now, sender_name: "Three" });

      // Without the option the plan names what the program sets back.
      await stack.service.edit({ kind: "email_server", set: { port: 2525 } });
      stack.program(program("Four", "username", "password"));
      expect((await stack.preview()).text).toMatch(/pulumi up overwrites "port" of the e-mail server/);
      expect(await stack.up()).toMatchObject({ code: 0 });
      expect(await server(stack)).toMatchObject({ ...now, port: 587, sender_name: "Four" });
      // What is ignored stays different from the program, so the end compares with a program that says so.
      stack.program(program("Four", "*"));
      await stack.finish(before);
    });

    test("keeps them at a service that does not show the password: the plan says so, and the update is refused", async () => {
      const stack = await Stack.create({
        program: program("One"),
        native: true,
        emulator: { secretAnswers: "masked" },
      });
      const before = await stack.service.state();
      expect(await stack.up()).toMatchObject({ code: 0 });
      await stack.service.edit({ kind: "email_server", set: ROTATED });
      expect(await stack.run("refresh", "--yes")).toMatchObject({ code: 0 });
      const now = { ...ROTATED, password: hashed(ROTATED.password), sender_name: "One" };

      stack.program(program("Two", "username", "password"));
      const words = /it is not known whether this change would set "password" of the e-mail server/;
      expect(await stack.preview()).toMatchObject({ code: 0, text: expect.stringMatching(words) });
      stack.env["SVC_STRICT_PLAN"] = "1";
      expect(await stack.preview()).toMatchObject({ code: 1, text: expect.stringMatching(words) });
      delete stack.env["SVC_STRICT_PLAN"];
      await stack.service.clearRequests();
      const refused = await stack.up();
      expect(refused.code).not.toBe(0);
      expect(refused.text).toMatch(/remove "password" from ignoreChanges/);
      expect(await stack.service.mutations()).toEqual([]);
      expect(await server(stack)).toMatchObject(now);

      // The way out, which a person takes on purpose.
      stack.program(program("Two", "username"));
      expect(await stack.up()).toMatchObject({ code: 0 });
      expect(await server(stack)).toMatchObject({
        username: ROTATED.username,
        password: hashed(SMTP),
        sender_name: "Two",
      });
      stack.program(program("Two", "*"));
      await stack.finish(before);
    });
  },
);

describe("a compute", () => {
  const program = (pgSettings: object, ...paths: string[]): string =>
    `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", settings: { pgSettings: ${JSON.stringify(pgSettings)} } },
      { ignoreChanges: ${JSON.stringify(paths)} });`;

  test("keeps a setting that is ignored when another one changes, and no plan shows it", async () => {
    const stack = await Stack.create({ program: program({ work_mem: "4MB", jit: "off" }) });
    const before = await stack.service.state();
    expect(await stack.up()).toMatchObject({ code: 0 });
    const { endpointId: id } = (await stack.resource("api")).outputs;
    const settings = async (): Promise<unknown> =>
      (await stack.service.endpoints()).find((one) => one["id"] === id)?.["settings"];
    await stack.service.edit({
      kind: "endpoint",
      id,
      set: { settings: { pg_settings: { work_mem: "128MB", jit: "off" } } },
    });

    const path = "settings.pgSettings.work_mem";
    stack.program(program({ work_mem: "4MB", jit: "on" }, path));
    expect((await stack.preview()).text).not.toMatch(/pulumi up overwrites/);
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await settings()).toEqual({ pg_settings: { work_mem: "128MB", jit: "on" } });
    expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });

    // One that nobody has: the engine accepts the path, and it changes nothing.
    stack.program(program({ work_mem: "128MB", jit: "off" }, "settings.pgSettings.max_worker_processes"));
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await settings()).toEqual({ pg_settings: { work_mem: "128MB", jit: "off" } });
    await stack.finish(before);
  });

  test("that was imported: the first settings name those that go, and a second up changes nothing", async () => {
    const bare = `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev" });`;
    const stack = await Stack.create({ program: bare });
    const before = await stack.service.state();
    expect(await stack.up()).toMatchObject({ code: 0 });
    const { endpointId: id } = (await stack.resource("api")).outputs;
    const theirs = { work_mem: "4MB", "app.tenant_key": "canary-tenant-5", max_connections: "200" };
    await stack.service.edit({ kind: "endpoint", id, set: { settings: { pg_settings: theirs } } });
    stack.program(program({ statement_timeout: "60s" }));
    const { text } = await stack.preview("--diff");
    expect(text).toMatch(
      /pulumi up clears "settings\.pgSettings\.max_connections", "settings\.pgSettings\.work_mem", "settings\.pgSettings\["app\.tenant_key"\]" of compute ep-\S+ \("api"\)/,
    );
    expect(text).not.toContain("canary-tenant-5");
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
    await stack.finish(before);
  });
});

test("a service that keeps its own value: each message says what is shown, and each way out ends it", async () => {
  const program = (scaleToZero: string, ...paths: string[]): string =>
    `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev" ${scaleToZero} }, { ignoreChanges: ${JSON.stringify(paths)} });`;
  const stack = await Stack.create({ program: program("") });
  const before = await stack.service.state();
  const gateway = await Gateway.start(stack.service.emulator.baseUrl);
  // The plan of the account allows no other suspend timeout than the default one.
  gateway.instead = async ({ method, path, sent }) => {
    if (method !== "PATCH") return undefined;
    const { endpoint } = JSON.parse(sent) as { endpoint: object };
    return {
      ...(await api(stack.service.emulator, method, path, { endpoint: { ...endpoint, suspend_timeout_seconds: 0 } })),
    };
  };
  await stack.config("svc:baseUrl", gateway.baseUrl);
  try {
    expect(await stack.up()).toMatchObject({ code: 0 });
    stack.program(program(", scaleToZero: { afterSeconds: 120 }"));
    const first = await stack.up();
    expect(first.code).not.toBe(0);
    expect(first.text).toMatch(
      /"scaleToZero" is true, and \{"afterSeconds":120\} was sent\. The change is kept.*run pulumi up again/,
    );
    const second = await stack.up();
    expect(second.code).not.toBe(0);
    expect(second.text).toMatch(/It was so after the change before, too: the service keeps its own value/);
    stack.program(program(", scaleToZero: { afterSeconds: 120 }", "scaleToZero"));
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
    stack.program(program(", scaleToZero: true"));
    expect(await stack.up()).toMatchObject({ code: 0 });
    await stack.finish(before);
  } finally {
    gateway.close();
  }
});
