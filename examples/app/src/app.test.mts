// The whole service on this machine: what the program declares, a real Postgres, tokens that verify. Runs in
// `pulumi-svc emulator --exec` (npm test), which sets SVC_BASE_URL, SVC_API_KEY and SVC_POSTGRES_GATE.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";

const { SVC_BASE_URL = "", SVC_API_KEY = "", SVC_POSTGRES_GATE } = process.env;
if (!SVC_POSTGRES_GATE) throw new Error("There is no emulator with a Postgres: run `npm test`.");

const folder = join(import.meta.dirname, "..");
const backend = mkdtempSync(join(tmpdir(), "pulumi-svc-app-"));
// Neither your login nor your stacks are touched.
const envVars = { PULUMI_BACKEND_URL: `file://${backend}`, PULUMI_CONFIG_PASSPHRASE: "of the tests" };
const stack = await LocalWorkspace.createOrSelectStack({ stackName: "test", workDir: folder }, { envVars });
const stops: (() => unknown)[] = [];

after(async () => {
  for (const stop of stops.reverse()) await stop();
  // Takes away Pulumi.test.yaml as well.
  await stack.workspace.removeStack("test", { force: true });
  rmSync(backend, { recursive: true, force: true });
});

/** A user of the project, who would have signed up. */
async function signUp(email: string): Promise<void> {
  const response = await fetch(`${SVC_BASE_URL}/projects/auth/user`, {
    method: "POST",
    headers: { authorization: `Bearer ${SVC_API_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ project_id: "prj-demo", auth_provider: "supported_provider", email }),
  });
  assert.equal(response.status, 201);
}

const tokenOf = (user: string, ...more: string[]): string =>
  execFileSync("pulumi-svc", ["emulator", "token", "--user", user, ...more], { encoding: "utf8" }).trim();

/** The application as it is started in production, and what it says. */
async function start(env: Record<string, string>): Promise<{ url: string; said: () => string }> {
  const server = spawn(process.execPath, ["src/server.mts"], {
    cwd: folder,
    env: { ...process.env, PORT: "0", ...env },
  });
  let said = "";
  for (const stream of [server.stdout, server.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  const ended = once(server, "exit");
  stops.push(async () => {
    server.kill("SIGTERM");
    await ended;
  });
  for (;;) {
    const [, url] = /listening on (\S+)/.exec(said) ?? [];
    if (url !== undefined) return { url, said: () => said };
    await Promise.race([once(server.stdout, "data"), ended]);
    if (server.exitCode !== null) throw new Error(said);
  }
}

test("a user reads their notes, also after the compute was resized under the running application", async () => {
  await stack.setAllConfig({ size: { value: "0.5" }, databasePassword: { value: SVC_API_KEY, secret: true } });
  const { outputs } = await stack.up();
  // This has checked the types of the program. Each command would take two seconds to check them again.
  stack.workspace.envVars["PULUMI_NODEJS_TRANSPILE_ONLY"] = "true";
  const env = {
    DATABASE_URL: outputs.databaseUrl.value as string,
    JWKS_URL: outputs.jwksUrl.value as string,
    AUDIENCE: outputs.audience.value as string,
  };
  const migrate = (): string =>
    execFileSync(process.execPath, ["src/migrate.mts"], {
      cwd: folder,
      env: { ...process.env, ...env },
      encoding: "utf8",
    });
  assert.equal(migrate(), "1 migrations were run\n");
  assert.equal(migrate(), "0 migrations were run\n");

  const { url, said } = await start(env);
  const notes = async (token?: string, body?: object): Promise<[status: number, body: unknown]> => {
    const response = await fetch(`${url}/notes`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new Error(`the application does not answer. It said:\n${said()}`, { cause });
    });
    return [response.status, await response.json()];
  };
  await signUp("ada@example.com");
  await signUp("grace@example.com");
  const ada = tokenOf("ada@example.com");
  const ofAda = [200, { notes: [{ id: 1, text: "buy paper" }] }];
  assert.deepEqual(await notes(ada, { text: "buy paper" }), [201, { id: 1, text: "buy paper" }]);
  assert.deepEqual(await notes(ada), ofAda);
  assert.deepEqual(await notes(tokenOf("grace@example.com")), [200, { notes: [] }]);
  assert.deepEqual(await notes(), [401, { error: "sign in first" }]);
  assert.deepEqual(await notes(tokenOf("ada@example.com", "--expires-in", "0")), [
    401,
    { error: "the token is not valid" },
  ]);

  // The compute restarts with its new size and ends the sessions of the pool. The user keeps reading during the
  // restart.
  await stack.setConfig("size", { value: "2" });
  let isResized = false;
  const resized = stack.up().finally(() => (isResized = true));
  const statuses = new Set<number | "no answer">();
  while (!isResized) {
    const status = await notes(ada).then(
      ([each]) => each,
      () => "no answer" as const,
    );
    // 503: its query was under way. The caller repeats it.
    statuses.add(status === 503 ? 200 : status);
    await sleep(100);
  }
  assert.equal((await resized).summary.resourceChanges?.update, 1);
  assert.deepEqual([...statuses], [200], said());
  assert.match(said(), /terminating connection/);
  assert.deepEqual(await notes(ada), ofAda);

  await stack.destroy();
  assert.equal((await notes(ada))[0], 503);
});
