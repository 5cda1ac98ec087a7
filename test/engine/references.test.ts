import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { acceptSchema } from "../../src/cli/drift/accept/result";
import { handMadeAuth } from "../support/handMade";
import type { Service } from "../support/service";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

/* Secrets by reference with the real engine. The emulator stores a hash of each sent value, which the tests compare. */

/** Part of each secret value of a test: it may appear only at the service. */
const canary = (name: string): string => `canary-reference-${name}`;
const hashed = (value: string): string => `sha256:${createHash("sha256").update(value).digest("hex")}`;

/** The service's objects, with hashed secrets. */
async function held(service: Service): Promise<Record<string, unknown>> {
  const [project] = (await service.state()).projects;
  // The emulator's own records.
  const { oauth_providers, email_server, endpoints } = project as {
    oauth_providers: { id: string; client_secret?: string }[];
    email_server: { password?: string };
    endpoints: { branch_id: string; settings: { pg_settings?: Record<string, string> } }[];
  };
  const settings = endpoints.find(({ branch_id }) => branch_id === "br-dev")?.settings.pg_settings;
  return {
    ...Object.fromEntries(oauth_providers.map(({ id, client_secret }) => [id, client_secret])),
    mail: email_server.password,
    token: settings?.["app.token"],
    salt: settings?.["app.salt"],
  };
}

/** The changes since the log was last cleared; clears it. */
async function sent(service: Service): Promise<string[]> {
  const requests = await service.requests();
  await service.clearRequests();
  return requests
    .filter(({ method }) => method !== "GET")
    .map(({ method, path }) => `${method} ${path.replace(/^.*\/(auth|endpoints)/, "$1").replace(/ep-.*$/, "…")}`)
    .sort();
}

const GOOGLE = "PATCH auth/oauth_providers/google";
const MICROSOFT = "PATCH auth/oauth_providers/microsoft";
const MAIL = "PATCH auth/email_server";
const COMPUTE = "PATCH endpoints/…";

const TOKEN = 'settings.pgSettings["app.token"]';
const SALT = 'settings.pgSettings["app.salt"]';

/** A file of the project mounted like a Kubernetes secret: through a link to a folder that is replaced. */
function mount(stack: Stack, text: string): void {
  const secrets = join(stack.folder, "program", "secrets");
  const version = `..${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
  mkdirSync(join(secrets, version), { recursive: true });
  writeFileSync(join(secrets, version, "smtp"), text);
  symlinkSync(version, join(secrets, "..new"));
  renameSync(join(secrets, "..new"), join(secrets, "..data"));
  try {
    symlinkSync("..data/smtp", join(secrets, "smtp"));
  } catch {
    // It stands since the first time.
  }
}

/** Where the backend's files (the checkpoints and their backups) contain encrypted values. */
function encryptedIn(stack: Stack): string[] {
  const places = (value: unknown, path: readonly string[]): string[] => {
    if (typeof value !== "object" || value === null) return [];
    if (Object.hasOwn(value, "ciphertext")) return [path.join(".")];
    return Object.entries(value).flatMap(([name, inner]) => places(inner, /^\d+$/.test(name) ? path : [...path, name]));
  };
  const files = stack.stateFiles().filter((file) => /\.json(\.bak)?$/.test(file));
  expect(files.length).toBeGreaterThan(2);
  const found = files.flatMap((file) => places(JSON.parse(readFileSync(file, "utf8")), []));
  return [...new Set(found.map((place) => place.replace(/^.*resources\./, "")))].sort();
}

/** The state with decrypted secrets, written where `leaks` searches. */
async function shownState(stack: Stack): Promise<string> {
  const { code, stdout } = await stack.run("stack", "export", "--show-secrets");
  expect(code).toBe(0);
  return stdout;
}

/** The digests in a text, for each resource and argument. */
const digestsIn = (text: string): string[] => [...new Set(text.match(/scrypt(-bound)?\$[^"\\]+/g))];

/** What the engine stores for a secret property. */
const CIPHERTEXT = { "4dabf18193072939515e22adb298388d": expect.any(String), ciphertext: expect.any(String) };

const SMTP = `projectId, type: "standard", host: "smtp.example.com", port: 587, username: "mailer",
  senderEmail: "auth@example.com", senderName: "Demo"`;

describe("a program with every secret by reference, in a folder that main names", () => {
  const PROGRAM = `
    const svc = require("pulumi-svc");
    const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
    const clientSecret = svc.fromEnv("GOOGLE_SECRET");
    const ignoreChanges = JSON.parse(process.env.IGNORED);
    new svc.OAuthProvider("google", { projectId, providerId: "google", clientId: "id", clientSecret, adopt: true }, { ignoreChanges });
    new svc.OAuthProvider("microsoft", { projectId, providerId: "microsoft", clientId: "id", clientSecret }, { ignoreChanges });
    new svc.EmailServer("mail", { ${SMTP}, password: svc.fromFile("secrets/smtp") });
    new svc.ComputeEndpoint("api", {
      projectId: "prj-demo", branchId: "br-dev", size: 1,
      settings: { pgSettings: { "app.token": svc.fromEnv("APP_TOKEN"), "app.salt": { fromFile: "run/salt" }, work_mem: "64MB" } },
    });`;
  const VARIABLES = ["GOOGLE_SECRET", "APP_TOKEN"];

  let stack: Stack;
  let before: Awaited<ReturnType<Service["state"]>>;
  /** Every value so far: the last ones are in use. */
  const values = { google: [""], token: [""], mail: [""], salt: [""] };
  const all = (): string[] =>
    Object.values(values).flatMap((each) => each.slice(1).map((one) => one.split("\n")[0] ?? ""));
  const give = (name: keyof typeof values, value: string): void => {
    values[name].push(value);
    if (name === "google") stack.env["GOOGLE_SECRET"] = value;
    else if (name === "token") stack.env["APP_TOKEN"] = value;
    else if (name === "salt") stack.write("run/salt", `${value}\n`);
    else mount(stack, `${value}\r\n`);
  };
  const take = (): void => VARIABLES.forEach((name) => Reflect.deleteProperty(stack.env, name));
  const asGiven = (): object => ({
    google: hashed(values.google.at(-1) ?? ""),
    microsoft: hashed(values.google.at(-1) ?? ""),
    mail: hashed(values.mail.at(-1) ?? ""),
    token: hashed(values.token.at(-1) ?? ""),
    salt: hashed(values.salt.at(-1) ?? ""),
  });

  test("without the values a plan says which are missing, and an up fails before any of them is sent", async () => {
    stack = await Stack.create({ program: "", configured: false, cheapDigests: true });
    const { service } = stack;
    stack.env["SVC_API_KEY"] = service.emulator.apiKey;
    stack.env["SVC_BASE_URL"] = service.emulator.baseUrl;
    stack.env["IGNORED"] = "[]";
    stack.write(
      "Pulumi.yaml",
      "name: proj\nmain: infra/\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n",
    );
    stack.write("infra/index.js", PROGRAM);
    stack.write("infra/package.json", '{ "name": "infra", "private": true }\n');
    // A path begins in the folder of Pulumi.yaml, not in that of the program.
    for (const file of ["secrets/smtp", "run/salt"]) stack.write(`infra/${file}`, "of-the-program\n");
    before = await service.state();
    stack.env["APP_TOKEN"] = "";
    const plan = await stack.preview();
    expect(plan.code).toBe(0);
    const failed = await stack.up("--continue-on-error");
    expect(failed.code).not.toBe(0);
    for (const { text } of [plan, failed])
      for (const words of [
        "GOOGLE_SECRET is not set",
        "APP_TOKEN is empty",
        "the file secrets/smtp does not exist",
        "the file run/salt does not exist",
      ])
        expect(text).toContain(words);
    expect(plan.text).toMatch(/warning: .*pulumi up/);
    expect(await sent(service)).toEqual(["POST auth/create"]);
  });

  test("each value is sent as it is, and neither state, plan, events nor any log holds one", async () => {
    const { service } = stack;
    // Each with a line break of its own: one at the end of a file is cut.
    give("google", `${canary("google-1")}\nin lines\n`);
    give("token", `${canary("token-1")}\nin lines`);
    give("mail", `${canary("mail-1")}\n`);
    give("salt", canary("salt-1"));
    Object.assign(stack.env, { SVC_DEBUG: "1", PULUMI_EXPERIMENTAL: "true", PULUMI_DEBUG_COMMANDS: "true" });
    const log = (name: string): string => join(stack.folder, "home", name);
    const planned = await stack.preview("--json", "--save-plan", log("plan"), "--event-log", log("preview-events"));
    expect(planned.code).toBe(0);
    stack.env["PULUMI_DEBUG_GRPC"] = log("grpc");
    const up = await stack.up("--json", "--logflow", "-v=9", "--logtostderr", "--event-log", log("events"));
    expect(up.code).toBe(0);
    for (const name of ["SVC_DEBUG", "PULUMI_EXPERIMENTAL", "PULUMI_DEBUG_COMMANDS", "PULUMI_DEBUG_GRPC"])
      Reflect.deleteProperty(stack.env, name);
    expect(await held(service)).toMatchObject(asGiven());

    // Each of the places has looked at the references, so it could have had the values.
    const texts = [
      ...["plan", "preview-events", "grpc", "events"].map((name) => readFileSync(log(name), "utf8")),
      up.text,
    ];
    for (const text of texts) expect(text).toContain("GOOGLE_SECRET");

    const state = await shownState(stack);
    expect(await stack.leaks([...all(), service.emulator.apiKey])).toEqual([]);
    for (const [name, kept] of [
      ["google", { clientSecret: { fromEnv: "GOOGLE_SECRET" } }],
      ["mail", { password: { fromFile: "secrets/smtp" } }],
      [
        "api",
        {
          settings: {
            pgSettings: {
              "app.token": { fromEnv: "APP_TOKEN" },
              "app.salt": { fromFile: "run/salt" },
              work_mem: "64MB",
            },
          },
        },
      ],
    ] as const) {
      const { inputs, outputs } = await stack.resource(name);
      expect([inputs, outputs]).toEqual([expect.objectContaining(kept), expect.objectContaining(kept)]);
      expect(inputs).not.toHaveProperty("__applied");
      expect(outputs["__applied"]).toMatchObject(CIPHERTEXT);
    }
    // One for each use of a value, though two of the values are one.
    expect(digestsIn(state)).toHaveLength(5);
    // If the engine prints what it stores, it prints it encrypted.
    for (const text of texts.slice(0, 2)) expect(digestsIn(text)).toEqual([]);
    for (const place of encryptedIn(stack)) expect(place).toMatch(/^outputs\.(__applied|secretServerKey)/);
  });

  test("nothing that sends no value asks for one: a plan, a refresh, a look for drift", async () => {
    take();
    await stack.service.clearRequests();
    const plan = await stack.preview("--expect-no-changes");
    expect(plan.code).toBe(0);
    for (const name of VARIABLES) expect(plan.text).toMatch(new RegExp(`could not be compared.*${name} is not set`));
    expect(plan.text).not.toContain("secrets/smtp");
    const refresh = await stack.refresh("--expect-no-changes");
    expect(refresh.code).toBe(0);
    expect(refresh.text).not.toMatch(/not set|could not be compared/);
    expect(await stack.drift()).toMatchObject({ code: 0 });
    expect(await sent(stack.service)).toEqual([]);
  });

  test("another value is told with a message and sent once; one whose change failed is sent again, and a target is the only one", async () => {
    const { service } = stack;
    give("google", canary("google-2"));
    give("token", canary("token-2"));
    give("mail", canary("mail-2"));
    const plan = await stack.preview("--diff");
    expect(plan.code).toBe(0);
    for (const name of ["GOOGLE_SECRET", "APP_TOKEN", "the file secrets/smtp"])
      expect(plan.text).toContain(`the value of ${name} differs from the last applied one`);
    expect(plan.text).toMatch(/4 to update/);

    Object.assign(stack.env, { SVC_DEBUG: "1", SVC_LOG: "debug" });
    const path = "/projects/prj-demo/auth/oauth_providers/microsoft";
    const refusal = { code: "", message: `"${canary("google-2")}" is no good` };
    await service.fault({ method: "PATCH", path, status: 422, body: refusal });
    const shared = { id: "google", type: "shared" };
    await service.fault({
      method: "PATCH",
      path: path.replace("microsoft", "google"),
      status: 200,
      body: shared,
      times: 1,
    });
    const error = `app.token "${canary("token-2")}" is no good either`;
    await service.fault({ operation: { action: "apply_config", status: "failed", error } });
    const failed = await stack.up("--continue-on-error");
    expect(failed.code).not.toBe(0);
    expect(failed.text).toMatch(/\[the service's message repeats a secret\] \(PATCH \S+ -> 422/);
    expect(failed.text).toMatch(/apply_config failed: \[the service's message repeats a secret\]/);
    expect(failed.text).toMatch(/pulumi-svc: PATCH \/projects\/\{project_id\}\/auth\/oauth_providers\/\S+ -> 422,/);
    for (const name of ["SVC_DEBUG", "SVC_LOG"]) Reflect.deleteProperty(stack.env, name);
    expect(await sent(service)).toEqual([MAIL, GOOGLE, MICROSOFT, COMPUTE].sort());
    await service.clearFaults();

    expect(await stack.up("--diff")).toMatchObject({ code: 0, text: expect.not.stringMatching(/scrypt|__applied/) });
    // The service holds the settings whose operation failed, and starts none for them: a restart applies them.
    expect(await sent(service)).toEqual([GOOGLE, MICROSOFT, COMPUTE, "POST endpoints/…"].sort());
    expect(await held(service)).toMatchObject(asGiven());
    expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await sent(service)).toEqual([]);

    give("token", canary("token-3"));
    const applied = stack.env["GOOGLE_SECRET"] ?? "";
    stack.env["GOOGLE_SECRET"] = canary("google-never-sent");
    expect(await stack.up("--target", (await stack.resource("api")).urn)).toMatchObject({ code: 0 });
    expect(await sent(service)).toEqual([COMPUTE]);
    expect(await held(service)).toMatchObject(asGiven());
    stack.env["GOOGLE_SECRET"] = applied;
    await shownState(stack);
    expect(await stack.leaks([...all(), canary("google-never-sent")])).toEqual([]);
  });

  test("another value is not compared where ignoreChanges names its argument, or everything", async () => {
    const applied = stack.env["GOOGLE_SECRET"] ?? "";
    stack.env["GOOGLE_SECRET"] = canary("google-ignored");
    for (const ignored of ["clientSecret", "*"]) {
      stack.env["IGNORED"] = JSON.stringify([ignored]);
      expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
    }
    Object.assign(stack.env, { IGNORED: "[]", GOOGLE_SECRET: applied });
  });

  test("what somebody else sets in its place is drift that shows no value, is told by --accept, and is repaired", async () => {
    const { service } = stack;
    const theirs = canary("theirs");
    const { endpointId } = (await stack.resource("api")).outputs;
    const settings = { pg_settings: { "app.token": theirs, "app.salt": theirs, work_mem: "64MB" } };
    await service.edit({ kind: "endpoint", id: endpointId, set: { settings } });
    const accept = await svc(stack, ["drift", "--accept", "--force", "--json"]);
    expect(accept.code).toBe(7);
    const reason = (where: string) => expect.stringMatching(`^it is a secret by reference\\. Set the ${where} `);
    expect(acceptSchema.parse(JSON.parse(accept.stdout)).left).toMatchObject([
      { path: SALT, code: null, reason: reason("file run/salt") },
      { path: TOKEN, code: null, reason: reason("variable APP_TOKEN") },
    ]);
    expect(readFileSync(join(stack.folder, "program", "infra", "index.js"), "utf8")).toBe(PROGRAM);

    await service.edit({ kind: "email_server", set: { host: "smtp.foreign.example.com" } });
    expect(await stack.run("refresh", "--preview-only", "--diff", "--expect-no-changes")).toMatchObject({ code: 7 });
    const { code, report } = await drift(stack);
    expect(code).toBe(7);
    const found = "(another value: changed outside Pulumi)";
    expect(report.drift).toMatchObject([
      {
        name: "api",
        properties: [
          { path: SALT, declared: { fromFile: "run/salt" }, found },
          { path: TOKEN, declared: { fromEnv: "APP_TOKEN" }, found },
        ],
      },
      { name: "mail", properties: [{ path: "host" }] },
    ]);

    expect(await sent(service)).toEqual([]);

    // The value of now, as in `up`.
    give("salt", canary("salt-2"));
    expect(await svc(stack, ["drift", "--repair", "--yes"], { folder: "program/infra" })).toMatchObject({ code: 0 });
    expect(await held(service)).toMatchObject(asGiven());
    // It is also what a plan compares with.
    expect(await stack.drift()).toMatchObject({ code: 0 });
    await sent(service);

    // What is read into the state is not a value either, also after a second read.
    await service.edit({ kind: "endpoint", id: endpointId, set: { settings } });
    const target = ["--target", (await stack.resource("api")).urn];
    for (const _time of [1, 2]) expect(await stack.refresh(...target)).toMatchObject({ code: 0 });
    await shownState(stack);
    expect(await stack.leaks([...all(), theirs])).toEqual([]);
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await sent(service)).toEqual([COMPUTE]);
    expect(await held(service)).toMatchObject(asGiven());
    expect(await stack.leaks([...all(), theirs])).toEqual([]);
  });

  test("a refresh after a rotation finds nothing, and a destroy without any value deletes everything", async () => {
    const { service } = stack;
    give("google", canary("google-4"));
    expect(await stack.refresh("--expect-no-changes")).toMatchObject({ code: 0 });
    take();
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    const [left] = (await service.state()).projects;
    const [started] = before.projects;
    expect(left?.["endpoints"]).toEqual(started?.["endpoints"]);
    expect(left).toMatchObject({ integrations: [], oauth_providers: [], email_server: { type: "shared" } });
    expect(await stack.leaks([...all(), service.emulator.apiKey])).toEqual([]);
    // `inputs.before`: the state from before the repair, in the backend's history.
    for (const place of encryptedIn(stack))
      expect(place).toMatch(/^(outputs\.(__applied|secretServerKey)|inputs\.before$)/);
  });
});

describe("a program that goes from literal secrets to references and back", () => {
  // FORMS has the name of a variable for each, or "literal". All in one text: `fromEnv` refuses what some variable holds.
  const PROGRAM = `
    const form = (name) => JSON.parse(process.env.FORMS)[name];
    const literal = (name) => new pulumi.Config().getSecret(name) ?? pulumi.secret(process.env[name]);
    const secret = (name) => (form(name) === "literal" ? literal(name) : svc.fromEnv(form(name)));
    const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
    new svc.OAuthProvider("google", { projectId, providerId: process.env.PROVIDER, clientId: "id", clientSecret: secret("GOOGLE"), adopt: true });
    new svc.EmailServer("mail", { ${SMTP}, password: secret("SMTP") });
    new svc.ComputeEndpoint("api", {
      projectId: "prj-demo", branchId: "br-dev", size: 1, settings: { pgSettings: { "app.token": secret("TOKEN") } },
    });`;
  const NAMES = ["GOOGLE", "SMTP", "TOKEN"];
  const values = { GOOGLE: canary("literal-google"), SMTP: canary("literal-smtp"), TOKEN: canary("literal-token") };
  const used = Object.values<string>(values);

  let stack: Stack;
  const as = (form: (name: string) => string): void => {
    stack.env["FORMS"] = JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, form(name)])));
  };
  const clientSecret = async (): Promise<unknown> => (await stack.resource("google")).inputs["clientSecret"];

  /** The entries of the state that hold it, encrypted or not. */
  const holding = async (value: string): Promise<string[]> =>
    Object.entries(await stack.entries())
      .filter(([, entry]) => JSON.stringify(entry).includes(value))
      .map(([urn]) => urn.replace(/^.*::proj::/, ""));

  test("with the same value nothing is sent, and the resources in the state do not hold it any more", async () => {
    // The state is shown with its secrets, which would show a configured key.
    stack = await Stack.create({ program: PROGRAM, configured: false, cheapDigests: true });
    const { service } = stack;
    Object.assign(stack.env, values, {
      PROVIDER: "google",
      SVC_API_KEY: service.emulator.apiKey,
      SVC_BASE_URL: service.emulator.baseUrl,
    });
    await stack.config("GOOGLE", values.GOOGLE, true);
    as(() => "literal");
    expect(await stack.up()).toMatchObject({ code: 0 });
    const before = await held(service);
    await sent(service);

    as((name) => `NEW_${name}`);
    const missing = await stack.up("--continue-on-error");
    expect(missing.code).not.toBe(0);
    for (const name of NAMES) expect(missing.text).toContain(`NEW_${name} is not set`);

    for (const [name, value] of Object.entries(values)) stack.env[`NEW_${name}`] = value;
    const plan = await stack.preview("--diff");
    expect(plan.text).toMatch(/3 to update/);
    expect(plan.text).toMatch(/fromEnv: +"NEW_GOOGLE"/);
    expect(plan.text).not.toMatch(/restarts/);
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await sent(service)).toEqual([]);
    expect(await held(service)).toEqual(before);
    expect(await clientSecret()).toEqual({ fromEnv: "NEW_GOOGLE" });
    for (const value of [values.SMTP, values.TOKEN]) expect(await holding(value)).toEqual([]);
    // The engine stores the configuration with its default provider.
    expect(await holding(values.GOOGLE)).toEqual([expect.stringMatching(/^pulumi:providers:/)]);
    expect(await stack.leaks(used)).toEqual([]);
    expect(await stack.drift()).toMatchObject({ code: 0 });
  });

  test("a secret of the configuration leaves the state with the first up after it is removed there", async () => {
    await stack.removeConfig("GOOGLE");
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await holding(values.GOOGLE)).toEqual([]);
    as((name) => `RENAMED_${name}`);
    for (const [name, value] of Object.entries(values)) stack.env[`RENAMED_${name}`] = value;
    expect(await stack.up()).toMatchObject({ code: 0 });
    await shownState(stack);
    expect(await stack.leaks([...used, stack.service.emulator.apiKey])).toEqual([]);
    expect(await held(stack.service)).toMatchObject({ google: hashed(values.GOOGLE) });
  });

  test("a variable with another name sends nothing, and neither does the way back", async () => {
    const { service } = stack;
    expect(await sent(service)).toEqual([]);
    expect(await clientSecret()).toEqual({ fromEnv: "RENAMED_GOOGLE" });
    as(() => "literal");
    const back = await stack.run("up", "--yes", "--diff");
    expect(back).toMatchObject({ code: 0, text: expect.stringMatching(/3 to update/) });
    expect(back.text).not.toMatch(/restarts/);
    expect(await sent(service)).toEqual([]);
    expect(await clientSecret()).toHaveProperty("ciphertext");
    expect(await stack.leaks(used)).toEqual([]);
    expect(digestsIn(await shownState(stack))).toEqual([]);
  });

  test("with another value the change is sent, and a replacement without its value deletes nothing", async () => {
    const { service } = stack;
    const other = canary("other-google");
    as((name) => (name === "GOOGLE" ? "NEW_GOOGLE" : "literal"));
    stack.env["NEW_GOOGLE"] = other;
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await sent(service)).toEqual([GOOGLE]);
    expect(await held(service)).toMatchObject({ google: hashed(other) });

    stack.env["PROVIDER"] = "gitlab";
    Reflect.deleteProperty(stack.env, "NEW_GOOGLE");
    const refused = await stack.up();
    expect(refused.code).not.toBe(0);
    expect(refused.text).toContain("NEW_GOOGLE is not set");
    expect(await sent(service)).toEqual([]);
    stack.env["NEW_GOOGLE"] = other;
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await sent(service)).toEqual(["DELETE auth/oauth_providers/google", "POST auth/oauth_providers"]);
    expect(await held(service)).toMatchObject({ gitlab: hashed(other) });
    expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
    // The literals of the other resources are in the state, which only `stack export` decrypts.
    expect(await stack.leaks([other])).toEqual([]);
    expect(await stack.destroy()).toMatchObject({ code: 0 });
  });
});

test("in the components of two accounts, each value goes to its own account", async () => {
  const stack = await Stack.create({
    program: `
      for (const name of ["ONE", "TWO"]) {
        const provider = new svc.Provider(name, { apiKeyEnv: "KEY_" + name, baseUrl: process.env["URL_" + name] });
        const projectId = "prj-demo";
        const { oauthProviders } = new svc.ProjectAuth("auth" + name, {
          projectId,
          oauth: { google: { clientId: "id", clientSecret: svc.fromEnv("GOOGLE_" + name) } },
          ...(name === "ONE" && { email: { ${SMTP.replace("projectId, ", "")}, password: svc.fromFile("./smtp") } }),
        }, { provider });
        if (name === "TWO") {
          const pgSettings = { "app.token": svc.fromEnv("TOKEN_TWO") };
          new svc.ComputeGroup("group", { projectId, branchId: "br-dev", primary: { size: 1, settings: { pgSettings } }, replicas: 1 }, { provider });
        }
        exports["google" + name] = oauthProviders.google.clientSecret;
      }`,
    cheapDigests: true,
  });
  const other = await Stack.create({ program: "" });
  const [one, two] = [stack.service, other.service];
  const before = [await one.state(), await two.state()];
  stack.write("smtp", canary("smtp-one"));
  Object.assign(stack.env, {
    KEY_ONE: one.emulator.apiKey,
    KEY_TWO: two.emulator.apiKey,
    URL_ONE: one.emulator.baseUrl,
    URL_TWO: two.emulator.baseUrl,
    GOOGLE_ONE: canary("google-one"),
    GOOGLE_TWO: canary("google-two"),
    TOKEN_TWO: canary("token-two"),
  });
  // With its preview, and with all that both show.
  const created = await stack.run("up", "--yes", "--diff");
  expect(created.code).toBe(0);
  expect(created.text).toMatch(/fromEnv *: "GOOGLE_ONE"/);
  expect(created.text).not.toMatch(/scrypt|__applied/);
  expect(await held(one)).toMatchObject({ google: hashed(canary("google-one")), mail: hashed(canary("smtp-one")) });
  expect(await held(two)).toMatchObject({ google: hashed(canary("google-two")), token: hashed(canary("token-two")) });
  // A program that reads the argument back gets the reference, which is not a secret.
  expect((await stack.outputs())["googleONE"]).toEqual({ fromEnv: "GOOGLE_ONE" });
  // Three of single uses, and one each for the primary and its replica.
  expect(digestsIn(await shownState(stack))).toHaveLength(5);

  await Promise.all([one, two].map((service) => service.clearRequests()));
  stack.env["GOOGLE_TWO"] = canary("google-two-rotated");
  Reflect.deleteProperty(stack.env, "TOKEN_TWO");
  expect(await stack.up()).toMatchObject({ code: 0, text: expect.stringMatching(/TOKEN_TWO is not set/) });
  expect([await sent(one), await sent(two)]).toEqual([[], [GOOGLE]]);
  expect(await held(two)).toMatchObject({ google: hashed(canary("google-two-rotated")) });
  ["GOOGLE_ONE", "GOOGLE_TWO"].forEach((name) => Reflect.deleteProperty(stack.env, name));
  expect(await stack.destroy()).toMatchObject({ code: 0 });
  const lasting = ({ projects }: (typeof before)[number]): unknown =>
    projects.map(({ endpoints, integrations, email_server }) => [endpoints, integrations, email_server]);
  expect([await one.state(), await two.state()].map(lasting)).toEqual(before.map(lasting));
  const texts = ["google-one", "google-two", "google-two-rotated", "token-two", "smtp-one"].map(canary);
  expect(await stack.leaks([...texts, two.emulator.apiKey])).toEqual([]);
});

test("a reference takes the place of what an import could not read, and is sent once", async () => {
  // With the digests that users have, and what they cost.
  const stack = await Stack.create({ program: "", emulator: { secretAnswers: "masked" } });
  const { service } = stack;
  const secrets = { clientSecret: canary("imported-client"), password: canary("imported-smtp") };
  await handMadeAuth(service.emulator, secrets);
  expect(await svc(stack, ["import", "--project", "prj-demo", "--program", "imported.ts"])).toMatchObject({ code: 0 });
  const imported = ["--file", "import.json", "--generate-code=false", "--yes"];
  const written = readFileSync(join(stack.folder, "program", "imported.ts"), "utf8");
  const program = written
    .replace(/^import .*$/gm, "")
    .replace(/config\.requireSecret\("githubClientSecret"\)/, 'svc.fromEnv("GITHUB_SECRET")')
    .replace(/config\.requireSecret\("smtpPassword"\)/, 'svc.fromFile("smtp")')
    .replace(/config\.require\("githubClientId"\)/, '"own-id"');
  expect(program).toMatch(/fromEnv[^]*fromFile/);
  stack.program(program);
  expect(await stack.run("import", ...imported)).toMatchObject({ code: 0 });
  stack.env["GITHUB_SECRET"] = secrets.clientSecret;
  stack.write("smtp", secrets.password);
  await service.clearRequests();
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await sent(service)).toEqual([MAIL, "PATCH auth/oauth_providers/github"]);
  expect(await service.state()).toEqual(before);
  Reflect.deleteProperty(stack.env, "GITHUB_SECRET");
  expect(await stack.drift()).toMatchObject({ code: 0 });
  await shownState(stack);
  expect(await stack.leaks(Object.values(secrets))).toEqual([]);
});

test("an inline program of the Automation API has its values from the environment that it gives to the command", async () => {
  const stack = await Stack.create({ program: "", cheapDigests: true });
  const { service } = stack;
  const [first, second] = [canary("automation-1"), canary("automation-2")];
  // Its provider runs in the folder of this process, where the path begins.
  stack.write("smtp", canary("automation-smtp"));
  stack.write(
    "automation.js",
    `const { LocalWorkspace } = require("@pulumi/pulumi/automation");
     const svc = require("pulumi-svc");
     const program = async () => {
       const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
       new svc.OAuthProvider("google", { projectId, providerId: "google", clientId: "id", clientSecret: svc.fromEnv("GIVEN"), adopt: true });
       new svc.EmailServer("mail", { ${SMTP}, password: svc.fromFile("smtp") });
     };
     const { FIRST, SECOND, BASE_URL, API_KEY } = process.env;
     (async () => {
       const stack = await LocalWorkspace.createOrSelectStack({ stackName: "inline", projectName: "automated", program });
       await stack.setConfig("svc:baseUrl", { value: BASE_URL });
       await stack.setConfig("svc:apiKey", { value: API_KEY, secret: true });
       const { envVars } = stack.workspace;
       const results = [];
       for (const GIVEN of [FIRST, SECOND]) {
         stack.workspace.envVars = { ...envVars, GIVEN };
         const { summary } = await stack.up();
         results.push(summary.resourceChanges);
       }
       stack.workspace.envVars = envVars;
       const { changeSummary, stdout } = await stack.preview();
       const text = JSON.stringify(await stack.exportStack());
       await stack.destroy();
       console.log(JSON.stringify({ results, changeSummary, stdout, text }));
     })().catch((error) => { console.error(error); process.exit(1); });`,
  );
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["automation.js"], {
    cwd: join(stack.folder, "program"),
    env: {
      ...stack.env,
      FIRST: first,
      SECOND: second,
      BASE_URL: service.emulator.baseUrl,
      API_KEY: service.emulator.apiKey,
    },
  });
  stack.said += stdout + stderr;
  const ended = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
  expect(ended).toMatchObject({ results: [{ create: 4 }, { update: 1, same: 3 }], changeSummary: { same: 4 } });
  expect(ended["stdout"]).toMatch(/could not be compared.*GIVEN is not set/);
  expect(ended["text"]).toContain('{"fromEnv":"GIVEN"}');
  const bodies = (await service.requests()).map(({ body }) => JSON.stringify(body));
  for (const value of [first, second]) expect(bodies.filter((body) => body.includes(hashed(value)))).toHaveLength(1);
  expect(await stack.leaks([first, second, canary("automation-smtp")])).toEqual([]);
});
