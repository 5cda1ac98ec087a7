import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { WHOLE } from "../support/cli";
import { OLDEST } from "../support/consumers";
import { packInto } from "../support/reader";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

/** Rule 7 of docs/design/rules.md with the real engine. Every cell of it in process: test/rules/marked.test.ts */

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const SECRETS = {
  SETTING: "canary-setting-Mk3",
  PASSWORD: "canary-password-Mk3",
  CLIENT: "canary-client-Mk3",
  NAME: "canary-name-Mk3",
};
const CIPHERTEXT = { "4dabf18193072939515e22adb298388d": expect.any(String), ciphertext: expect.any(String) };
const canaries = Object.values(SECRETS);

const program = ({ password, client, compute, before = "", options = "{}" }: Record<string, string>) => `
  ${before}
  const { projectId, secretServerKey } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
  new svc.OAuthProvider("google", { projectId, providerId: "google", adopt: true, clientId: "own", clientSecret: ${client} }, ${options});
  new svc.EmailServer("mail", {
    projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer", password: ${password},
    senderEmail: "a@example.com", senderName: "A",
  });
  new svc.ComputeEndpoint("api", { projectId, branchId: "br-dev", size: 1, ${compute} });`;

const LITERAL = {
  password: "process.env.PASSWORD",
  client: "process.env.CLIENT",
  compute: `name: pulumi.secret(process.env.NAME), settings: { pgSettings: { "app.mode": pulumi.secret(process.env.SETTING) } }`,
};
const BY_REFERENCE = {
  password: 'svc.fromEnv("PASSWORD")',
  client: 'svc.fromEnv("CLIENT")',
  compute: `settings: { pgSettings: { work_mem: "8MB" } }`,
};

async function stackOf(text: string): Promise<Stack> {
  const stack = await Stack.create({ program: text, cheapDigests: true });
  Object.assign(stack.env, SECRETS);
  return stack;
}

/** All outputs that show a state and the service's objects. */
async function lookedAt(stack: Stack): Promise<string[]> {
  await stack.run("preview", "--refresh", "--diff");
  await stack.run("preview", "--refresh", "--json");
  await svc(stack, ["drift"]);
  await stack.refresh("--diff");
  await stack.run("up", "--yes", "--diff");
  await stack.refresh();
  await stack.run("stack", "history", "--json");
  return stack.leaks([...canaries, String((await stack.outputs())["key"] ?? "no key")]);
}

/**
 * A service that repeats a resource's secret to commands that send none, and whose provider processes have not seen the
 * program.
 */
async function repeated(stack: Stack, secrets: { password: string; client: string }): Promise<void> {
  const auth = "/projects/{project_id}/auth";
  for (const [path, secret] of [
    [`${auth}/email_server`, secrets.password],
    [`${auth}/oauth_providers`, secrets.client],
    [`${auth}/oauth_providers/{oauth_provider_id}`, secrets.client],
  ] as const) {
    const message = `cannot use ${JSON.stringify({ secret })} or ${btoa(secret)}`;
    await stack.service.fault({ path, status: 422, times: 0, body: { code: "bad", message } });
  }
  for (const run of [await stack.refresh(), await stack.destroy("--continue-on-error")]) {
    expect(run.code).not.toBe(0);
    expect(run.text).toContain("[the service's message repeats a secret] (");
  }
  const said = Object.values(secrets).flatMap((secret) => [secret, btoa(secret)]);
  expect(await stack.leaks(said)).toEqual([]);
}

test("the migration to references, all of whose requests fail, leaves no old value in plain text", async () => {
  const stack = await stackOf(program(LITERAL));
  expect(await stack.run("up", "--yes", "--diff")).toMatchObject({ code: 0 });
  expect(await stack.leaks(canaries)).toEqual([]);
  stack.program(program(BY_REFERENCE));
  const [password, client] = ["canary-rotated-password-Mk3", "canary-rotated-client-Mk3"];
  Object.assign(stack.env, { PASSWORD: password, CLIENT: client });
  await stack.service.fault({ method: "PATCH", status: 500, times: 100 });
  expect((await stack.run("up", "--yes", "--diff", "--continue-on-error")).code).not.toBe(0);
  expect((await stack.resource("mail")).outputs).toHaveProperty("__unfinished");
  expect(await stack.leaks(canaries)).toEqual([]);
  await stack.service.clearFaults();
  expect(await lookedAt(stack)).toEqual([]);
  expect(await stack.leaks([password, client])).toEqual([]);
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  await repeated(stack, { password, client });
});

test("the value of a reference whose change was killed is in plain text in no report and no state", async () => {
  const before = `settings: { pgSettings: { "app.mode": pulumi.secret(process.env.SETTING) } }`;
  const after = `settings: { pgSettings: { "app.mode": pulumi.secret(process.env.SETTING), "app.salt": svc.fromEnv("SALT") } }`;
  const stack = await stackOf(program({ ...LITERAL, compute: before }));
  stack.env["SALT"] = "canary-salt-Mk3";
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program({ ...LITERAL, compute: after }));
  await stack.service.clearRequests();
  await stack.service.fault({ method: "PATCH", effect: "done", delayMs: 60_000 });
  const isUnderWay = async (): Promise<boolean> =>
    JSON.stringify((await stack.service.state()).projects).includes("app.salt");
  const killed = await stack.started(
    (cli) => {
      void (async () => {
        while (!(await isUnderWay())) await sleep(100);
        cli.kill("SIGKILL");
      })();
    },
    ...["up", "--yes", "--skip-preview"],
  );
  expect(killed.code).not.toBe(0);
  await stack.service.clearFaults();
  expect(await lookedAt(stack)).toEqual([]);
  expect(await stack.leaks(["canary-salt-Mk3"])).toEqual([]);
  expect(JSON.stringify(await stack.entries())).not.toContain("canary-salt-Mk3");
});

test("transformations that take the marks of the program away take nothing of the provider's", async () => {
  const before = `
    pulumi.runtime.registerStackTransformation(({ props, opts }) => ({
      props: "password" in props ? { ...props, password: process.env.PASSWORD } : props,
      opts: { ...opts, additionalSecretOutputs: ["host"] },
    }));`;
  const transforms = `{ transforms: [async ({ props, opts }) => ({
    props: { ...props, clientSecret: process.env.CLIENT },
    opts: { protect: opts.protect },
  })] }`;
  const stack = await stackOf(
    `${program({ ...BY_REFERENCE, before, options: transforms })}\n exports.key = secretServerKey;`,
  );
  expect(await stack.run("up", "--yes", "--diff")).toMatchObject({ code: 0 });
  // Both took place.
  const [google, mail] = [await stack.resource("google"), await stack.resource("mail")];
  expect([google.inputs["clientSecret"], mail.inputs["password"]]).toEqual([CIPHERTEXT, CIPHERTEXT]);
  expect(await lookedAt(stack)).toEqual([]);
  await repeated(stack, { password: SECRETS.PASSWORD, client: SECRETS.CLIENT });
});

test("a state in plain text is encrypted by one refresh, and no plan says anything of it", async () => {
  // A value under a name that does not indicate a secret is a secret to its inputs only: an up of the program marks
  // those.
  const text = program({ ...LITERAL, compute: LITERAL.compute.replace("app.mode", "app.token") });
  const resized = text
    .replace("size: 1", "size: 2")
    .replace(/ \}\);$/, ' }, { replaceOnChanges: ["settings"], ignoreChanges: ["name"] });');
  const stack = await stackOf(text);
  expect(await stack.up()).toMatchObject({ code: 0 });
  const marked = /\{"4dabf18193072939515e22adb298388d":"[0-9a-f]+","ciphertext":"[^"]+"\}/g;
  const before = JSON.stringify(JSON.parse(await stack.exported()));
  const held = before.match(marked)?.length;
  const entries = JSON.parse(
    (await stack.run("stack", "export", "--show-secrets")).text,
    (_key, value: { plaintext?: string } | null) =>
      value?.plaintext === undefined ? value : (JSON.parse(value.plaintext) as unknown),
  ) as object;
  stack.write("clear.json", JSON.stringify(entries));
  expect(await stack.run("stack", "import", "--file", "clear.json")).toMatchObject({ code: 0 });
  expect(canaries.filter((secret) => !JSON.stringify(entries).includes(secret))).toEqual([]);
  expect(await stack.drift()).toMatchObject({ code: 0 });
  // To an older engine, a plain value and the same one as a secret are two: with 3.259 this was a replacement
  // (docs/design/engine.md, Secrets and settings).
  stack.program(resized);
  const early = await stack.preview("--diff");
  expect(early).toMatchObject({ code: 0, text: expect.stringMatching(/1 to update/) });
  expect(early.text).not.toMatch(/canary|to replace/);
  stack.program(text);
  const refreshed = await stack.refresh("--diff");
  expect(refreshed).toMatchObject({ code: 0, text: expect.stringMatching(/\d+ unchanged/) });
  expect(refreshed.text).not.toMatch(/canary|\[secret\]|~/);
  const after = await stack.exported();
  // The name is what the program says that it is, which a refresh cannot know; an `up` of the program does.
  expect(canaries.filter((secret) => secret !== SECRETS.NAME && after.includes(secret))).toEqual([]);
  stack.program(resized);
  const late = await stack.preview("--diff");
  expect(late).toMatchObject({ code: 0, text: expect.stringMatching(/1 to update/) });
  expect(late.text).not.toMatch(/canary|to replace/);
  stack.program(text);
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(JSON.stringify(JSON.parse(await stack.exported())).match(marked)?.length).toBeGreaterThanOrEqual(
    (held ?? 0) - 2,
  );
});

/** As `npm install` leaves them with the oldest SDK. */
function oldestModules(): string {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-marked-"));
  folders.push(folder);
  const dependencies = { "@pulumi/pulumi": OLDEST, "pulumi-svc": `file:${packInto(folder)}`, typescript: "5" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { cwd: folder, stdio: "ignore" });
  return join(folder, "node_modules");
}

const SDKS = [["the newest SDK", undefined] as const, ["the oldest SDK", oldestModules] as const];

test.each(WHOLE ? SDKS : SDKS.slice(0, 1))(
  "plans, drift, its acceptance and repair, an outage, look-ups, outputs and an import hold no secret in plain text: %s",
  async (_title, modulesOf) => {
    const given = {
      TOKEN: "canary-token-Mk7",
      MODE: "canary-mode-Mk7",
      SALT: "canary-salt-Mk7",
      MAIL: "canary-mail-Mk7",
    };
    const theirs = [
      "canary-their-token-Mk7",
      "canary-their-mode-Mk7",
      "canary-their-salt-Mk7",
      "canary-their-mail-Mk7",
    ];
    const text = (more = ""): string => `
      const { projectId, secretServerKey } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
      const mail = new svc.EmailServer("mail", {
        projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer", password: svc.fromEnv("MAIL"),
        senderEmail: "a@example.com", senderName: "A",
      });
      const group = new pulumi.ComponentResource("test:index:Group", "group");
      const compute = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1, settings: { pgSettings: {
        "app.token": process.env.TOKEN, "app.mode": pulumi.secret(process.env.MODE), "app.salt": svc.fromEnv("SALT"),
        "app.shown": "in-clear", work_mem: "8MB",
      } } }, { parent: group });
      group.registerOutputs({ compute });
      const transfer = new svc.AuthOwnershipTransfer("transfer", { projectId });
      Object.assign(exports, { compute, mail, settings: compute.settings, secretServerKey, transfer });
      ${more}`;
    const modules = modulesOf?.();
    const emulator = { secretAnswers: "echo" } as const;
    const stack = await Stack.create({ program: text(), emulator, cheapDigests: true, ...(modules && { modules }) });
    Object.assign(stack.env, given);
    const file = (name: string): string => join(stack.folder, name);
    Object.assign(stack.env, { PULUMI_DEBUG_COMMANDS: "true", PULUMI_EXPERIMENTAL: "true" });
    expect(await stack.run("preview", "--save-plan", file("plan.json"))).toMatchObject({ code: 0 });
    expect(await stack.up()).toMatchObject({ code: 0 });
    const { secretServerKey, transfer } = await stack.outputs();
    const made = [String(secretServerKey), (transfer as { url: string }).url];
    const secrets = [...Object.values(given), ...theirs, ...made];
    expect(secrets.filter((secret) => secret.length < 12)).toEqual([]);
    const compute = await stack.resource("api");
    stack.program(
      text(`
        const found = svc.ComputeEndpoint.get("found", ${JSON.stringify(compute.id)});
        const server = svc.EmailServer.get("server", "prj-demo");
        const asked = svc.getEmailServerOutput({ projectId: "prj-demo" });
        Object.assign(exports, { found, server, foundSettings: found.settings, asked });`),
    );
    expect(await stack.run("up", "--yes", "--diff")).toMatchObject({ code: 0 });
    expect(JSON.stringify(compute.outputs)).toContain("in-clear");
    expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await stack.drift()).toMatchObject({ code: 0 });
    expect(await stack.leaks(secrets)).toEqual([]);

    const id = compute.id.split("/")[1];
    const [token, mode, salt, password] = theirs;
    const pg_settings = { "app.token": token, "app.mode": mode, "app.salt": salt, "app.new": mode, work_mem: "9MB" };
    const edit = async (): Promise<void> => {
      await stack.service.edit({ kind: "endpoint", id, set: { settings: { pg_settings } } });
      await stack.service.edit({ kind: "email_server", set: { password } });
    };
    await edit();
    await stack.service.fault({ method: "GET", status: 503, times: 0 });
    expect((await stack.refresh()).code).not.toBe(0);
    await stack.service.clearFaults();
    // If a program runs, the SDK writes its inputs to the event log.
    expect(await stack.run("refresh", "--preview-only", "--event-log", file("events.json"))).toMatchObject({ code: 0 });
    expect(await stack.preview("--refresh", "--save-plan", file("drifted.json"))).toMatchObject({ code: 0 });
    expect((await svc(stack, ["drift"])).code).toBe(7);
    await svc(stack, ["drift", "--format", "json"]);
    expect((await svc(stack, ["drift", "--accept", "--force", "--json"])).stdout).toMatch(/"accepted": \[\s*\{/);
    // An accepted edit is part of the program.
    const program = readFileSync(file("program/index.js"), "utf8");
    expect(program).toContain('work_mem: "9MB"');
    expect(secrets.filter((secret) => program.includes(secret))).toEqual([]);
    stack.program(text());
    expect(await lookedAt(stack)).toEqual([]);
    await edit();
    const repaired = await svc(stack, ["drift", "--repair", "--yes"]);
    expect(repaired).toMatchObject({ code: 0, stdout: expect.not.stringContaining("nothing to repair") });
    expect(await stack.drift()).toMatchObject({ code: 0 });
    expect(await svc(stack, ["import", "--project", "prj-demo"])).toMatchObject({ code: 0 });
    // An import file has the settings, which the engine encrypts.
    const imported = readFileSync(file("program/imported.js"), "utf8");
    expect(secrets.filter((secret) => secret !== given.MODE && imported.includes(secret))).toEqual([]);
    expect(await stack.leaks(secrets)).toEqual([]);
  },
);
