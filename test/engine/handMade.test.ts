import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "../../src/cli/drift/report";
import { ROOT } from "../support/cli";
import { api, createCompute, DEMO } from "../support/emulator";
import { handMadeProject } from "../support/handMade";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

const CLIENT_SECRET = "canary-client-secret-hand-made";
const PASSWORD = "canary-smtp-password-hand-made";

test("a project that was set up by hand is brought under Pulumi, edited by hand, and brought back", async () => {
  const stack = await Stack.create({ program: "", emulator: { secretAnswers: "masked" } });
  const { service } = stack;
  const { emulator } = service;
  const settings = { env: { SVC_API_KEY: emulator.apiKey, SVC_BASE_URL: emulator.baseUrl } };
  const file = (name: string): string => join(stack.folder, "program", name);
  await handMadeProject(emulator, { clientSecret: CLIENT_SECRET, password: PASSWORD });
  stack.write("Pulumi.yaml", "name: proj\nruntime: nodejs\nmain: index.ts\n");
  stack.write("tsconfig.json", readFileSync(join(ROOT, "examples", "quickstart", "tsconfig.json"), "utf8"));

  expect(await svc(stack, ["import", "--project", "prj-demo"], settings)).toMatchObject({ code: 0 });
  await stack.config("githubClientId", "own-id");
  await stack.config("githubClientSecret", CLIENT_SECRET, true);
  await stack.config("smtpPassword", PASSWORD, true);
  const imported = ["--file", "import.json", "--generate-code=false", "--yes"];
  expect(await stack.run("import", ...imported)).toMatchObject({ code: 0 });
  // Sends what cannot be read; from then on a preview is empty.
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await svc(stack, ["drift", "--unmanaged"], settings)).toEqual({
    code: 0,
    stdout: "Stack dev: no drift\n",
    stderr: "",
  });

  // By hand: one object of each kind is changed or deleted, and one is added.
  const endpoints = await service.endpoints();
  const endpointOf = (branch: string, type: string) =>
    endpoints.find((each) => each["branch_id"] === branch && each["type"] === type)?.["id"] as string;
  const [resized, deleted] = [endpointOf("br-test", "read_write"), endpointOf("br-main", "read_only")];
  const gone = async (path: string, body?: object) =>
    expect((await api(emulator, "DELETE", `${DEMO}${path}`, body)).status).toBeLessThan(300);
  const size = { autoscaling_limit_min_cu: 24, autoscaling_limit_max_cu: 24 };
  await service.edit({ kind: "endpoint", id: resized, set: size });
  await gone(`/endpoints/${deleted}`);
  await service.edit({
    kind: "oauth_provider",
    id: "github",
    set: { type: "shared", client_id: null, client_secret: null },
  });
  await gone("/auth/oauth_providers/google");
  const local = "http://localhost:3000";
  await gone("/auth/domains", { auth_provider: "supported_provider", domains: [{ domain: local }] });
  await service.edit({ kind: "email_server", set: { host: "smtp.foreign.example.com" } });
  const added = await createCompute(emulator, { branch_id: "br-dev", type: "read_only", name: "theirs" });
  await api(emulator, "POST", `${DEMO}/auth/oauth_providers`, { id: "microsoft" });
  await service.edit({ kind: "domain", create: { domain: "https://foreign.example.com" } });

  const json = await svc(stack, ["drift", "--unmanaged", "--format", "json"], settings);
  expect(json.code).toBe(7);
  const report = JSON.parse(json.stdout) as Report;
  expect(
    report.drift.map(({ kind, name, change, properties, repair: { action, restarts } }) =>
      [kind, name, change, properties.map(({ path }) => path).join(), action, restarts].join(" "),
    ),
  ).toEqual([
    "ComputeEndpoint main-reports deleted  create false",
    "ComputeEndpoint test changed size update true",
    "EmailServer mail changed host update false",
    "OAuthProvider github changed clientId update false",
    "OAuthProvider google deleted  create false",
    "WhitelistDomain localhost-3000 deleted  create false",
  ]);
  expect(report.unmanaged.map(({ kind, id, adopt }) => [kind, id, adopt])).toEqual([
    ["ComputeEndpoint", `prj-demo/${added["id"]}`, `adopt: "${added["id"]}"`],
    ["OAuthProvider", "prj-demo/microsoft", "adopt: true"],
    ["WhitelistDomain", "prj-demo/https://foreign.example.com", "adopt: true"],
  ]);
  writeFileSync(file("report.json"), json.stdout);
  const text = (await svc(stack, ["drift", "--from", "report.json"], settings)).stdout;
  const markdown = (await svc(stack, ["drift", "--from", "report.json", "--format", "markdown"], settings)).stdout;
  for (const { kind, name, id, change, repair } of report.drift) {
    const words = repair.restarts ? `${repair.action}, which restarts the compute` : repair.action;
    const [, block = ""] = text.split(`\n${kind} ${name} (${id}) ${change}\n`);
    expect(block.split("\n\n")[0]).toContain(`  repair: ${words}`);
    expect(markdown).toContain(`\n- ${kind} \`${name}\` (\`${id}\`): ${words}\n`);
  }
  for (const { kind, id, adopt } of report.unmanaged) {
    const row = (report: string, start: string) => report.split("\n").find((line) => line.startsWith(start));
    expect(row(text, `  ${kind} ${id} `)).toMatch(new RegExp(` ${adopt}$`));
    expect(row(markdown, `| ${kind} \`${id}\` |`)).toContain(`| \`${adopt}\` |`);
  }

  // Brought back, and what was added taken over as the report says.
  const [compute] = report.unmanaged;
  const program = readFileSync(file("index.ts"), "utf8");
  stack.write(
    "index.ts",
    `${program}
new svc.ComputeEndpoint("theirs", { projectId: "prj-demo", branchId: "br-dev", type: "read_only", name: "theirs", ${compute?.adopt} });
new svc.OAuthProvider("microsoft", { projectId: "prj-demo", providerId: "microsoft", adopt: true });
new svc.WhitelistDomain("foreign", { projectId: "prj-demo", domain: "https://foreign.example.com", adopt: true });
`,
  );
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect((await service.endpoints()).map(({ id }) => id)).toContain(added["id"]);
  expect(await service.list("/projects/prj-demo/auth/email_server")).toMatchObject({ host: "smtp.example.com" });
  expect(await svc(stack, ["drift", "--unmanaged"], settings)).toEqual({
    code: 0,
    stdout: "Stack dev: no drift\n",
    stderr: "",
  });

  expect(await stack.destroy()).toMatchObject({ code: 0 });
  const [left] = (await service.state()).projects;
  expect(left).toMatchObject({ endpoints: [], integrations: [], oauth_providers: [], domains: [] });
  expect(await stack.leaks([CLIENT_SECRET, PASSWORD, emulator.apiKey])).toEqual([]);
  await stack.close();
});
