import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/cli";
import { check, doctor } from "../support/doctor";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

/** A key by its name (docs/secrets.md): the stack stores the name, and each command reads the key. */

const newKey = (): string => `canary-rotated-${randomBytes(9).toString("hex")}`;
const compute = (options = ""): string =>
  `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 }${options});`;
const OF_PROVIDER = ", { provider }";
const FILE = "keys/prod";

/** A stack whose configuration has no key. */
async function withoutKey(program: string): Promise<Stack> {
  const stack = await Stack.create({ program, configured: false });
  delete stack.env["SVC_API_KEY"];
  stack.env["SVC_BASE_URL"] = stack.service.emulator.baseUrl;
  return stack;
}

const inEnvironment = (stack: Stack, key: string): void => void (stack.env["PROD_KEY"] = key);
const inFile = (stack: Stack, key: string): void => stack.write(FILE, `${key}\n`);

/** All previous keys of a stack, and the next one. */
function keysOf(stack: Stack): { keys: string[]; rotate: (give: (key: string) => unknown) => Promise<void> } {
  const keys = [stack.service.emulator.apiKey];
  return {
    keys,
    rotate: async (give) => {
      const key = newKey();
      keys.push(key);
      await stack.service.rotateKey(key);
      give(key);
    },
  };
}

/** Writes a command's events to a file that is searched. */
const eventLog = (stack: Stack, name: string): string[] => ["--event-log", join(stack.folder, `${name}.json`)];

/** Sorted, because two resources of a program are created in any order. */
const branches = async ({ service }: Stack): Promise<unknown[]> =>
  (await service.endpoints()).map(({ branch_id }) => branch_id).sort();

/** Expects that `doctor` finds no problem. */
async function expectWell(stack: Stack): Promise<void> {
  const told = await doctor(stack);
  expect(told.checks.filter(({ status }) => status === "failure")).toEqual([]);
  stack.said += JSON.stringify(told);
}

test("a variable that the configuration names, and a variable and a file that Providers of two accounts name: after a rotation every command continues at once, without an up, and no key is stored", async () => {
  const stack = await withoutKey(`
    const one = new svc.Provider("one", { apiKeyEnv: "KEY_ONE", baseUrl: process.env.URL_ONE });
    const two = new svc.Provider("two", { apiKeyFile: "${FILE}" });
    new svc.ComputeEndpoint("a", { projectId: "prj-demo", branchId: "br-dev", size: 1 }, { provider: one });
    new svc.ComputeEndpoint("b", { projectId: "prj-demo", branchId: "br-test", size: 1 }, { provider: two });
    ${compute()}`);
  await stack.config("svc:apiKeyEnv", "PROD_KEY");
  const other = await Stack.create({ program: "" });
  stack.env["URL_ONE"] = other.service.emulator.baseUrl;
  stack.env["PULUMI_DEBUG_COMMANDS"] = "true";
  const [own, others] = [keysOf(stack), keysOf(other)];
  const give = (key: string): void => {
    inEnvironment(stack, key);
    inFile(stack, key);
  };
  const giveOther = (key: string): void => void (stack.env["KEY_ONE"] = key);
  const rotate = async (): Promise<void> => {
    await own.rotate(give);
    await others.rotate(giveOther);
  };

  give(stack.service.emulator.apiKey);
  giveOther(other.service.emulator.apiKey);
  expect(await stack.up(...eventLog(stack, "up"))).toMatchObject({ code: 0 });
  expect([await branches(other), await branches(stack)]).toEqual([
    ["br-dev", "br-main"],
    ["br-dev", "br-main", "br-test"],
  ]);
  await rotate();
  expect(await stack.refresh(...eventLog(stack, "refresh"))).toMatchObject({ code: 0 });
  await rotate();
  expect(await stack.drift(...eventLog(stack, "drift"))).toMatchObject({ code: 0 });
  await rotate();
  expect(await svc(stack, ["drift", "--json", "--unmanaged"])).toMatchObject({ code: 0 });
  await rotate();
  await expectWell(stack);
  expect(await stack.preview("--expect-no-changes", "--json")).toMatchObject({ code: 0 });

  // No Provider with a key of its own takes the one of the configuration, which has no value either now.
  await own.rotate(() => delete stack.env["PROD_KEY"]);
  const ofProviders = await Promise.all(["a", "b"].map(async (name) => (await stack.resource(name)).urn));
  const targets = ofProviders.flatMap((urn) => ["--target", urn]);
  const refused = await stack.refresh(...targets);
  expect(refused.code).not.toBe(0);
  expect(refused.text).toMatch(/the file keys\/prod, which svc:apiKeyFile .*The file was read again/s);
  inFile(stack, String(own.keys.at(-1)));
  expect(await stack.refresh(...targets)).toMatchObject({ code: 0 });

  await rotate();
  expect(await stack.destroy(...eventLog(stack, "destroy"))).toMatchObject({ code: 0 });
  expect([await branches(other), await branches(stack)]).toEqual([["br-main"], ["br-main"]]);
  expect(await stack.leaks([...own.keys, ...others.keys])).toEqual([]);
  // The checkpoints and their backups hold it in no form: this stack has no secret.
  expect(await stack.exported()).not.toContain("ciphertext");
});

test("a file that the configuration names, which gets another key during an up: the up continues with it, and every command after it", async () => {
  const stack = await withoutKey(`
    const first = ${compute()}
    new svc.ComputeEndpoint("second", { projectId: "prj-demo", branchId: "br-test", size: 1 }, { dependsOn: first });`);
  await stack.config("svc:apiKeyFile", FILE);
  stack.env["PULUMI_DEBUG_COMMANDS"] = "true";
  const { keys, rotate } = keysOf(stack);
  const give = (key: string): void => inFile(stack, key);
  give(String(keys[0]));
  const running = stack.up(...eventLog(stack, "up"));
  let isRotated = false;
  const end = running.finally(() => (isRotated = true));
  while (!isRotated) {
    // Once the first creation was accepted: its wait, and the second creation, are refused.
    if ((await stack.service.mutations()).length > 0) {
      await rotate(give);
      isRotated = true;
    } else await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await end).toMatchObject({ code: 0 });
  expect(await branches(stack)).toEqual(["br-dev", "br-main", "br-test"]);
  expect((await stack.service.requests()).some(({ status }) => status === 401)).toBe(true);

  await rotate(give);
  expect(await stack.refresh(...eventLog(stack, "refresh"))).toMatchObject({ code: 0 });
  await rotate(give);
  expect(await stack.drift(...eventLog(stack, "drift"))).toMatchObject({ code: 0 });
  await rotate(give);
  expect(await svc(stack, ["drift", "--json", "--unmanaged"])).toMatchObject({ code: 0 });
  await expectWell(stack);
  await rotate(give);
  expect(await stack.destroy(...eventLog(stack, "destroy"))).toMatchObject({ code: 0 });
  expect(await branches(stack)).toEqual(["br-main"]);
  expect(await stack.leaks(keys)).toEqual([]);
  expect(await stack.exported()).not.toContain("ciphertext");
});

test("import, drift --repair and drift --accept read a key by its name, each with one that no up has seen", async () => {
  const stack = await withoutKey("");
  const { service } = stack;
  const own = keysOf(stack);
  const rotate = (): Promise<void> =>
    own.rotate((key) => {
      inEnvironment(stack, key);
      inFile(stack, key);
    });
  const sizes = async () =>
    (await service.endpoints()).map(({ branch_id, autoscaling_limit_max_cu: max }) => [branch_id, max]);
  const resize = async (size: number): Promise<void> => {
    const set = { autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size };
    for (const { id } of await service.endpoints()) await service.edit({ kind: "endpoint", id, set });
  };
  await stack.config("svc:apiKeyEnv", "PROD_KEY");
  stack.write("Pulumi.yaml", "name: proj\nruntime: nodejs\nmain: index.ts\n");
  stack.write("tsconfig.json", readFileSync(join(ROOT, "examples", "quickstart", "tsconfig.json"), "utf8"));

  await rotate();
  expect(await svc(stack, ["import", "--project", "prj-demo"])).toMatchObject({ code: 0, stderr: "" });
  expect(await stack.run("import", "--file", "import.json", "--generate-code=false", "--yes")).toMatchObject({
    code: 0,
  });
  const program = (): string => readFileSync(join(stack.folder, "program", "index.ts"), "utf8");
  stack.write(
    "index.ts",
    `${program()}\nconst provider = new svc.Provider("file", { apiKeyFile: "${FILE}" });\n${compute(OF_PROVIDER)}\n`,
  );
  await rotate();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const declared = await sizes();
  expect(declared.map(([branch]) => branch)).toEqual(["br-main", "br-dev"]);

  await resize(5);
  await rotate();
  expect(await svc(stack, ["drift", "--repair", "--yes"])).toMatchObject({ code: 0 });
  expect(await sizes()).toEqual(declared);
  await resize(3);
  await rotate();
  // The program is not in a git repository.
  expect(await svc(stack, ["drift", "--accept", "--force"])).toMatchObject({ code: 0 });
  expect(program().match(/size: 3\b/g)).toHaveLength(2);
  await rotate();
  expect(await stack.destroy()).toMatchObject({ code: 0 });
  expect(await sizes()).toEqual([]);
  expect(await stack.leaks(own.keys)).toEqual([]);
});

describe("a stored key", () => {
  let stack: Stack;
  const keys: string[] = [];
  const rotate = async (): Promise<string> => {
    const key = newKey();
    keys.push(key);
    await stack.service.rotateKey(key);
    return key;
  };

  // A refresh uses the settings that the last up stored (docs/design/engine.md, Secrets and settings).
  test("that was rotated: a refresh says what to do, which works", async () => {
    stack = await Stack.create({ program: compute() });
    keys.push(stack.service.emulator.apiKey);
    expect(await stack.up()).toMatchObject({ code: 0 });
    await stack.config("svc:apiKey", await rotate(), true);
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
      message: expect.stringMatching(
        /^the last pulumi up stored a key that is not the configured one; \S+ refuses the key \(401\), and pulumi refresh/,
      ),
      remedy: expect.stringContaining("pulumi up"),
    });

    expect(await stack.refresh("--run-program")).toMatchObject({ code: 0 });
    expect(await stack.up()).toMatchObject({ code: 0 });
    const well = await doctor(stack);
    expect(well).toMatchObject({ ok: true });
    expect(check(well, "stored key")).toMatchObject({ status: "ok", message: expect.stringContaining("the same key") });
    expect(await stack.leaks(keys)).toEqual([]);
  });

  test("that a name takes the place of: a plan without changes of resources, and the state loses the key", async () => {
    expect(await stack.exported()).toContain("ciphertext");
    stack.env["PROD_KEY"] = String(keys.at(-1));
    await stack.config("svc:apiKeyEnv", "PROD_KEY");
    const both = await stack.preview();
    expect(both.code).not.toBe(0);
    expect(both.text).toMatch(/svc:apiKey and svc:apiKeyEnv are set in the same place/);
    // What the last up stored is used until the next one.
    expect(await stack.refresh()).toMatchObject({ code: 0 });

    await stack.removeConfig("svc:apiKey");
    await stack.service.clearRequests();
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([]);
    expect(await stack.exported()).not.toContain("ciphertext");
    expect(check(await doctor(stack), "stored key")).toMatchObject({
      status: "ok",
      message: expect.stringMatching(/^the last pulumi up stored no key, but the name of PROD_KEY;/),
    });
    stack.env["PROD_KEY"] = await rotate();
    expect(await stack.destroy()).toMatchObject({ code: 0 });
    expect(await stack.leaks(keys)).toEqual([]);
  });
});

test("a variable that is not set: each command that needs the key names it, and sends nothing", async () => {
  const stack = await withoutKey(compute());
  await stack.config("svc:apiKeyEnv", "PROD_KEY");
  const missing = /no API key: PROD_KEY is not set; svc:apiKeyEnv/;
  const preview = await stack.preview();
  expect([preview.code, preview.text]).toEqual([expect.any(Number), expect.stringMatching(missing)]);
  expect(preview.code).not.toBe(0);
  expect(await stack.service.requests()).toEqual([]);
  expect(check(await doctor(stack), "settings")).toMatchObject({
    status: "failure",
    message: expect.stringMatching(missing),
  });
});
