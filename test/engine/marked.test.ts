import { setTimeout as sleep } from "node:timers/promises";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

/** Rule 7 of docs/design/rules.md with the real engine. Every cell of it in process: test/rules/marked.test.ts */

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

/** Every look at what a state and the service hold. */
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

test("the migration to references, all of whose requests fail, leaves no old value in clear", async () => {
  const stack = await stackOf(program(LITERAL));
  expect(await stack.run("up", "--yes", "--diff")).toMatchObject({ code: 0 });
  expect(await stack.leaks(canaries)).toEqual([]);
  stack.program(program(BY_REFERENCE));
  const rotated = ["canary-rotated-password-Mk3", "canary-rotated-client-Mk3"];
  Object.assign(stack.env, { PASSWORD: rotated[0], CLIENT: rotated[1] });
  await stack.service.fault({ method: "PATCH", status: 500, times: 100 });
  expect((await stack.run("up", "--yes", "--diff", "--continue-on-error")).code).not.toBe(0);
  expect((await stack.resource("mail")).outputs).toHaveProperty("__unfinished");
  expect(await stack.leaks(canaries)).toEqual([]);
  await stack.service.clearFaults();
  expect(await lookedAt(stack)).toEqual([]);
  expect(await stack.leaks(rotated)).toEqual([]);
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
});

test("the value of a reference whose change was killed is in clear in no report and no state", async () => {
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
});

test("a state in clear is encrypted by one refresh, and no plan says anything of it", async () => {
  // What a program gives under a name that tells nothing is a secret to its inputs alone: an up of the program marks those.
  const stack = await stackOf(program({ ...LITERAL, compute: LITERAL.compute.replace("app.mode", "app.token") }));
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
  const refreshed = await stack.refresh("--diff");
  expect(refreshed).toMatchObject({ code: 0, text: expect.stringMatching(/\d+ unchanged/) });
  expect(refreshed.text).not.toMatch(/canary|\[secret\]|~/);
  const after = await stack.exported();
  // The name is what the program says that it is, which a refresh cannot know; an `up` of the program does.
  expect(canaries.filter((secret) => secret !== SECRETS.NAME && after.includes(secret))).toEqual([]);
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(JSON.stringify(JSON.parse(await stack.exported())).match(marked)?.length).toBeGreaterThanOrEqual(
    (held ?? 0) - 2,
  );
});
