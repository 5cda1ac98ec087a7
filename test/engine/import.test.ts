import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { api, createCompute, DEMO, integrate, STANDARD_EMAIL } from "../support/emulator";
import { ROOT } from "../support/cli";
import { handMadeProject } from "../support/handMade";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

const CLIENT_SECRET = "canary-client-secret-import";
const PASSWORD = "canary-smtp-password-import";
const SECRETS = [CLIENT_SECRET, PASSWORD];
const IMPORT = ["--generate-code=false", "--yes"];

/** The names of the resources that a plan changes; all others stay unchanged. */
async function changes(stack: Stack): Promise<string[]> {
  const { stdout } = await stack.preview("--json");
  const { changeSummary, steps } = JSON.parse(stdout) as {
    changeSummary: Record<string, number>;
    steps: { op: string; urn: string }[];
  };
  const updates = steps.filter(({ op }) => op === "update").map(({ urn }) => urn.slice(urn.lastIndexOf(":") + 1));
  expect(changeSummary).toEqual({ same: 11 - updates.length, update: updates.length });
  return updates.sort();
}

test("a project that was set up by hand is imported, and the program that is written changes nothing", async () => {
  const stack = await Stack.create({ program: "", emulator: { secretAnswers: "masked" } });
  await handMadeProject(stack.service.emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  const before = await stack.service.state();
  stack.write("Pulumi.yaml", "name: proj\nruntime: nodejs\nmain: index.ts\n");
  stack.write("tsconfig.json", readFileSync(join(ROOT, "examples", "quickstart", "tsconfig.json"), "utf8"));

  const made = await svc(stack, ["import", "--project", "prj-demo", "--json"]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const report = JSON.parse(made.stdout) as { imported: { kind: string }[]; configuration: object[]; next: string[] };
  expect(report.imported).toHaveLength(10);
  expect(await svc(stack, ["import", "--project", "prj-demo"])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^pulumi-svc: import\.json exists already, and nothing was written\./),
  });
  expect(await svc(stack, ["import"])).toMatchObject({ code: 2, stdout: "" });

  const program = join(stack.folder, "program");
  for (const file of ["import.json", "index.ts"])
    for (const secret of [...SECRETS, stack.service.emulator.apiKey])
      expect(readFileSync(join(program, file), "utf8")).not.toContain(secret);

  await stack.config("githubClientId", "own-id");
  await stack.config("githubClientSecret", CLIENT_SECRET, true);
  await stack.config("smtpPassword", PASSWORD, true);
  const command = `pulumi import --file import.json ${IMPORT.join(" ")}`;
  expect(report.next).toContain(command);
  await stack.service.clearRequests();
  const imported = await stack.run(...command.split(" ").slice(1));
  expect(imported).toMatchObject({ code: 0, text: expect.not.stringMatching(/warning|error/i) });
  expect(await stack.service.requests()).toEqual([]);

  expect(await changes(stack)).toEqual(["github", "mail"]);
  expect(await stack.refresh("--expect-no-changes")).toMatchObject({ code: 0 });

  // An up checks the types of the program, too.
  await stack.service.clearRequests();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.service.mutations()).sort()).toEqual([
    "PATCH /projects/{project_id}/auth/email_server",
    "PATCH /projects/{project_id}/auth/oauth_providers/{oauth_provider_id}",
  ]);
  expect(await stack.exported()).not.toContain('"protect":true');
  // Existing values are unchanged, secrets too, which the state shows as hashes.
  expect(await stack.service.state()).toEqual(before);
  expect(await stack.drift()).toMatchObject({ code: 0 });

  // The keys of the integration are not in the state, so the page shows how to have a set.
  const page = readFileSync(join(ROOT, "docs", "import.md"), "utf8");
  const keys = page.split("\n").filter((line) => /svc\.AuthKeys\(|^ *export const serverKey/.test(line));
  expect(keys).toHaveLength(2);
  stack.write("index.ts", `${readFileSync(join(program, "index.ts"), "utf8")}\n${keys.join("\n")}\n`);
  expect((await stack.resource("auth")).outputs).toMatchObject({ pubClientKey: "" });
  // Everything else is as the first up has left it.
  const keyed = await stack.up();
  expect(keyed).toMatchObject({ code: 0, text: expect.stringMatching(/\+ 1 created\s+11 unchanged/) });
  expect(keyed.text).not.toMatch(/updated|replaced|deleted/);
  expect((await stack.outputs())["serverKey"]).toMatch(/.+/);

  const known = await stack.exported();
  stack.write("state.json", known);
  const again = await svc(stack, ["import", "--project", "prj-demo", "--state", "state.json", "--force"]);
  expect(again).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/holds nothing that the stack does not hold/),
  });

  expect(await stack.destroy()).toMatchObject({ code: 0 });
  const [left] = (await stack.service.state()).projects;
  expect(left).toMatchObject({ endpoints: [], integrations: [], oauth_providers: [], domains: [] });
  expect(await stack.leaks([...SECRETS, stack.service.emulator.apiKey])).toEqual([]);
  await stack.close();
});

test("what no program can declare stays at the service alone, and the rest is imported without a change", async () => {
  const stack = await Stack.create({ program: "" });
  const { service } = stack;
  const { emulator } = service;
  await integrate(emulator);
  for (const branch_id of ["br-main", "br-dev"])
    for (const name of ["reports", "reports", "\u001b[31mred"])
      await createCompute(emulator, { branch_id, type: "read_only", name });
  for (const domain of ["https://app.example.com", "http://localhost:3000"])
    await api(emulator, "POST", `${DEMO}/auth/domains`, { domain, auth_provider: "supported_provider" });
  await service.edit({ kind: "branch", id: "br-dev", set: { name: "dev\u202e */ \n" } });
  stack.write("Pulumi.yaml", "name: proj\nruntime: nodejs\nmain: index.ts\n");
  stack.write("tsconfig.json", readFileSync(join(ROOT, "examples", "quickstart", "tsconfig.json"), "utf8"));
  const program = join(stack.folder, "program");
  const planned = async (): Promise<string[]> => {
    const { stdout } = await stack.preview("--json");
    const { steps } = JSON.parse(stdout) as { steps: { op: string; urn: string }[] };
    return steps.map(({ op, urn }) => `${op} ${urn.split("::").at(-1)}`).filter((step) => !step.startsWith("same "));
  };

  await service.edit({ kind: "domain", id: "http://localhost:3000", set: { domain: "javascript://callback" } });
  const made = await svc(stack, ["import", "--project", "prj-demo"]);
  expect(made.code).toBe(0);
  expect(made.stderr).toMatch(
    /^pulumi-svc: left out, because no program can declare it: redirect domain javascript:.*\n$/,
  );
  for (const file of ["import.json", "index.ts"])
    expect(readFileSync(join(program, file), "utf8")).not.toContain("javascript:");

  expect(await stack.run("import", "--file", "import.json", ...IMPORT)).toMatchObject({ code: 0 });
  expect((await stack.resources()).map(({ urn }) => urn.split("::").at(-1)).sort()).toEqual([
    "app-example-com",
    "auth",
    "dev-31mred",
    "dev-reports",
    "dev-reports-replica",
    "github",
    "google",
    "main",
    "main-31mred",
    "main-reports",
    "main-reports-replica",
  ]);
  expect(await planned()).toEqual([]);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.drift()).toMatchObject({ code: 0 });
  await stack.close();
});

test("a Whitelist that an import has written stands for all of the list, without a change", async () => {
  const stack = await Stack.create({ program: "" });
  const { emulator } = stack.service;
  await integrate(emulator);
  for (const domain of ["https://App.example.com:443", "http://localhost:3000"])
    await api(emulator, "POST", `${DEMO}/auth/domains`, { domain, auth_provider: "supported_provider" });
  stack.write("Pulumi.yaml", "name: proj\nruntime: nodejs\nmain: index.ts\n");
  stack.write("tsconfig.json", readFileSync(join(ROOT, "examples", "quickstart", "tsconfig.json"), "utf8"));
  expect(await svc(stack, ["import", "--project", "prj-demo", "--whitelist"])).toMatchObject({ code: 0, stderr: "" });
  expect(await stack.run("import", "--file", "import.json", ...IMPORT)).toMatchObject({ code: 0 });
  expect(readFileSync(join(stack.folder, "program", "index.ts"), "utf8")).toMatch(/new svc\.Whitelist\("domains"/);
  expect((await stack.resource("domains")).inputs).toMatchObject({
    domains: ["http://localhost:3000", "https://app.example.com"],
  });
  await stack.service.clearRequests();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
  expect(await stack.drift()).toMatchObject({ code: 0 });
  await stack.close();
});

test("a refresh before the first up keeps a password that the service shows encrypted", async () => {
  const stack = await Stack.create({ program: "" });
  const { emulator } = stack.service;
  await integrate(emulator);
  await api(emulator, "PATCH", `${DEMO}/auth/email_server`, { ...STANDARD_EMAIL, password: PASSWORD });
  expect(await svc(stack, ["import", "--project", "prj-demo"])).toMatchObject({ code: 0 });
  expect(await stack.run("import", "--file", "import.json", ...IMPORT)).toMatchObject({ code: 0 });
  expect(await stack.refresh()).toMatchObject({ code: 0 });
  const { inputs, outputs } = await stack.resource("mail");
  expect([inputs["password"], outputs["password"]]).toEqual([
    expect.objectContaining({ ciphertext: expect.any(String) }),
    expect.objectContaining({ ciphertext: expect.any(String) }),
  ]);
  expect(await stack.leaks([PASSWORD])).toEqual([]);
  await stack.close();
});

/** Follows the printed steps like a user. `skipped`: steps that the user overlooks. */
async function followed(stack: Stack, next: readonly string[], skipped = /^$/): Promise<string[]> {
  const ended: string[] = [];
  for (const step of next.filter((one) => !skipped.test(one))) {
    const [, file, line] = /^# add to (\S+): (.*)$/.exec(step) ?? [];
    const path = join(stack.folder, "program", file ?? "");
    if (file !== undefined) {
      writeFileSync(path, `${readFileSync(path, "utf8")}\n${line}\n`);
      continue;
    }
    if (step.startsWith("#")) continue;
    expect(step).toMatch(/^pulumi [\w -.=]+$/);
    const [, command = "", ...args] = step.split(" ");
    const { code, text } = await stack.run(command, ...args, ...(command === "up" ? ["--yes"] : []));
    ended.push(`${command} ${code}${code === 0 ? "" : ` ${text}`}`);
  }
  return ended;
}

describe.each([
  {
    title: "JavaScript with a component",
    settings: "",
    files: {
      "index.js": `const svc = require("pulumi-svc");
        new svc.ProjectAuth("shop", { projectId: "prj-demo", oauth: { google: "shared" } });`,
    },
    written: "imported.js",
  },
  {
    title: "TypeScript in another folder",
    settings: "main: src/app.ts\n",
    files: {
      "src/app.ts": `import * as svc from "pulumi-svc";
        const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
        new svc.OAuthProvider("google", { projectId, providerId: "google", adopt: true });`,
    },
    written: "src/imported.ts",
  },
])("a stack that holds something: $title", ({ settings, files, written }) => {
  test("the printed steps delete nothing, whether the program takes the file in or not", async () => {
    const stack = await Stack.create({ program: "" });
    const { service } = stack;
    stack.write("Pulumi.yaml", `name: proj\nruntime: nodejs\n${settings}`);
    stack.write("tsconfig.json", readFileSync(join(ROOT, "examples", "quickstart", "tsconfig.json"), "utf8"));
    for (const [name, text] of Object.entries(files)) stack.write(name, text);
    expect(await stack.up()).toMatchObject({ code: 0 });
    // A colleague makes these by hand.
    await createCompute(service.emulator, { branch_id: "br-dev", type: "read_write" });
    const own = { id: "microsoft", client_id: "id", client_secret: CLIENT_SECRET };
    await api(service.emulator, "POST", `${DEMO}/auth/oauth_providers`, own);

    const made = await svc(stack, [
      "import",
      "--project",
      "prj-demo",
      "--only",
      "microsoft",
      "--from-env",
      "--protect",
      "--json",
    ]);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const { next, files: names } = JSON.parse(made.stdout) as { next: string[]; files: string[] };
    expect(names).toEqual(["import.json", written]);
    const held = JSON.stringify((await service.state()).projects);
    await service.clearRequests();
    stack.env["MICROSOFT_CLIENT_SECRET"] = CLIENT_SECRET;

    // Somebody overlooks the first step, whose line no shell runs. What is imported is protected then.
    const overlooked = await followed(stack, next, /^# add|config set/);
    expect(overlooked).toEqual([
      "import 0",
      expect.stringMatching(/^preview 1 [^]*microsoft[^]*is protected/),
      expect.stringMatching(/^up 1 [^]*microsoft[^]*is protected/),
    ]);
    expect(await service.mutations()).toEqual([]);

    await stack.config("microsoftClientId", "id");
    expect(await followed(stack, next, /^pulumi (import|config)/)).toEqual(["preview 0", "up 0"]);
    expect(await service.mutations()).toEqual([
      "PATCH /projects/{project_id}/auth/oauth_providers/{oauth_provider_id}",
    ]);
    expect(JSON.stringify((await service.state()).projects)).toBe(held);
    expect((await stack.exported()).match(/"protect":true/g)).toHaveLength(1);
    expect(await stack.leaks([CLIENT_SECRET])).toEqual([]);
    await stack.close();
  });
});
