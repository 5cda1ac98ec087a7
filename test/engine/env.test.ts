import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

const PASSWORD = "canary-password'$#";

const PROGRAM = `
  const old = { projectId: "prj-demo" };
  new svc.ComputeEndpoint("api", { ...old, branchId: "br-dev" });
  new svc.ComputeGroup("app-db", { ...old, branchId: "br-test", primary: { size: 1 }, replicas: 1 });
  const auth = new svc.AuthIntegration("auth", old);
  const keys = new svc.AuthKeys("workers", { projectId: auth.projectId });
  svc.ComputeEndpoint.get("found", "prj-demo/ep-demo-main-10000001");
  exports.serverKeys = pulumi.secret([auth.secretServerKey, keys.secretServerKey]);
  exports.clientKeys = [auth.pubClientKey, keys.pubClientKey];`;

const jsonOf = (text: string): Record<string, string> => JSON.parse(text) as Record<string, string>;

/** A `pulumi` before the real one on PATH that records its arguments. */
function notingCli(stack: Stack): { env: NodeJS.ProcessEnv; started: () => string } {
  const folder = join(stack.folder, "noting");
  mkdirSync(folder);
  const log = join(folder, "arguments");
  writeFileSync(join(folder, "pulumi"), `#!/bin/sh\necho "$@" >> "${log}"\nPATH="\${PATH#*:}" exec pulumi "$@"\n`);
  chmodSync(join(folder, "pulumi"), 0o755);
  return { env: { PATH: `${folder}:${stack.env["PATH"]}` }, started: () => readFileSync(log, "utf8") };
}

test("an application gets the hosts and keys of a stack, and secrets only where they are asked for", async () => {
  const stack = await Stack.create({ program: PROGRAM });
  const before = await stack.service.state();
  expect(await svc(stack, ["env"])).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^pulumi-svc: the stack holds no compute, .* Run pulumi up first/),
  });
  expect(await svc(stack, ["env", "--stack", "prod"])).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^pulumi-svc: pulumi stack export failed: no stack named 'prod' found/),
  });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const outputs = await stack.outputs();
  // The outputs of the program: strings.
  const serverKeys = outputs["serverKeys"] as string[];
  const clientKeys = outputs["clientKeys"] as string[];
  expect(new Set([...serverKeys, ...clientKeys]).size).toBe(4);

  const cli = notingCli(stack);
  const shown = await svc(stack, ["env", "--json"], { env: { ...cli.env, DB_PASSWORD: PASSWORD } });
  expect(shown).toMatchObject({ code: 0 });
  const values = jsonOf(shown.stdout);
  // Each host as the service itself has it.
  const endpoints = await stack.service.endpoints();
  const hostOf = (branch: string, type: string) => {
    const found = endpoints.find((one) => one["branch_id"] === branch && one["type"] === type) ?? {};
    const [id, proxy] = [String(found["id"]), String(found["proxy_host"])];
    return { host: String(found["host"]), pooled: `${id}-pooler.${proxy}` };
  };
  for (const [name, { host, pooled }] of Object.entries({
    API: hostOf("br-dev", "read_write"),
    APP_DB_PRIMARY: hostOf("br-test", "read_write"),
    APP_DB_REPLICA_0: hostOf("br-test", "read_only"),
    FOUND: hostOf("br-main", "read_write"),
  })) {
    expect(values).toMatchObject({
      [`${name}_HOST`]: host,
      [`${name}_POOLED_HOST`]: pooled,
      [`${name}_CONNECTION_URI`]: `postgresql://ROLE:PASSWORD@${host}:5432/DATABASE?sslmode=require`,
      [`${name}_POOLED_CONNECTION_URI`]: `postgresql://ROLE:PASSWORD@${pooled}:5432/DATABASE?sslmode=require`,
    });
  }
  const { data } = (await stack.service.list("/projects/prj-demo/auth/integrations")) as {
    data: { jwks_url: string }[];
  };
  expect(values).toMatchObject({ AUTH_JWKS_URL: data[0]?.jwks_url, AUTH_PUB_CLIENT_KEY: clientKeys[0] });
  expect(values).toMatchObject({ WORKERS_JWKS_URL: data[0]?.jwks_url, WORKERS_PUB_CLIENT_KEY: clientKeys[1] });
  expect(Object.keys(values).filter((name) => name.includes("SECRET"))).toEqual([]);
  expect(shown.stderr).toContain("--show-secrets is not given: auth.secretServerKey, workers.secretServerKey\n");
  // One line for each variable; each other format shows the same variables.
  const dotenv = await svc(stack, ["env"], cli);
  expect(dotenv.stdout.trimEnd().split("\n")).toEqual(
    Object.entries(values).map(([name, value]) => `${name}=${value}`),
  );

  // None of this showed a secret anywhere.
  const refused = await svc(stack, ["env", "--password-env", "DB_PASSWORD"], { env: { DB_PASSWORD: PASSWORD } });
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  const secrets = [...serverKeys, PASSWORD, "canary-password"];
  expect(await stack.leaks(secrets)).toEqual([]);
  expect(cli.started()).not.toContain("--show-secrets");

  const args = ["env", "--show-secrets", "--password-env", "DB_PASSWORD", "--role", "app", "--database", "main"];
  const whole = await svc(stack, [...args, "--map", "api.pooledConnectionUri=DATABASE_URL", "--out", "app.env"], {
    env: { ...cli.env, DB_PASSWORD: PASSWORD },
  });
  expect(whole).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/^pulumi-svc: wrote \d+ variables/),
  });
  const file = join(stack.folder, "program", "app.env");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const written = readFileSync(file, "utf8");
  expect(written).toContain(`AUTH_SECRET_SERVER_KEY=${serverKeys[0]}\n`);
  expect(written).toContain(`WORKERS_SECRET_SERVER_KEY=${serverKeys[1]}\n`);
  const { pooled } = hostOf("br-dev", "read_write");
  expect(written).toContain(
    `\nDATABASE_URL=postgresql://app:canary-password%27%24%23@${pooled}:5432/main?sslmode=require\n`,
  );
  expect(readdirSync(join(stack.folder, "program")).filter((name) => name.includes("app.env"))).toEqual(["app.env"]);
  expect(whole.stderr).not.toContain("canary");
  expect(cli.started()).toContain("stack export --show-secrets");
  for (const secret of secrets) expect(cli.started()).not.toContain(secret);

  // A shell takes it from a pipe, into the environment of what it starts.
  const shell = await svc(stack, [...args, "--format", "shell"], { env: { DB_PASSWORD: PASSWORD } });
  const script = 'eval "$(cat)"; exec env';
  const { stdout } = spawnSync("sh", ["-c", script], {
    input: shell.stdout,
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin" },
  });
  expect(stdout).toContain(`AUTH_SECRET_SERVER_KEY=${serverKeys[0]}\n`);

  expect(await stack.destroy()).toMatchObject({ code: 0 });
  expect((await stack.service.state()).projects.length).toBe(before.projects.length);
});

test("two resources of one name are told by their URNs, and --map tells them apart", async () => {
  const stack = await Stack.create({
    program: `
      const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
      new svc.AuthKeys("auth", { projectId: auth.projectId });`,
    passphrase: true,
  });
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const clash = await svc(stack, ["env"]);
  expect(clash).toMatchObject({ code: 1, stdout: "" });
  const suggested = [...clash.stderr.matchAll(/--map '(urn:\S+)=NAME'/g)].map(([, entry = ""]) => entry);
  expect(suggested.length).toBeGreaterThan(2);
  const maps = suggested.flatMap((entry) => ["--map", `${entry}=MAIN_${entry.slice(entry.lastIndexOf(".") + 1)}`]);
  const { code, stdout } = await svc(stack, ["env", "--json", ...maps]);
  expect(code).toBe(0);
  expect(Object.keys(jsonOf(stdout))).toEqual(expect.arrayContaining(["AUTH_PUB_CLIENT_KEY", "MAIN_pubClientKey"]));
  // The state itself needs no passphrase, its secrets do.
  const wrong = { env: { PULUMI_CONFIG_PASSPHRASE: "canary of another one" } };
  expect(await svc(stack, ["env", ...maps], wrong)).toMatchObject({ code: 0 });
  expect(await svc(stack, ["env", "--show-secrets", ...maps], wrong)).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^pulumi-svc: pulumi stack export failed: (?!.*canary).*passphrase/),
  });
  await stack.finish(before);
});
