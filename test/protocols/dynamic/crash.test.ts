import { spawnSync } from "node:child_process";
import { join } from "node:path";

const ROOT = join(__dirname, "..", "..", "..");

/**
 * A process that crashes with one of our errors prints the error with all its enumerable properties. That is worse than
 * the SDK's process, which prints the stack or the message. The service accepts each change, repeats the secrets, and
 * never gets ready.
 */
const PROGRAM = `
  const { createServer } = require("node:http");
  const { load } = require("./dist/provider.js");
  const SECRETS = "canary-Cr2-setting canary-Cr3-api-key";
  const endpoint = {
    id: "ep-1", project_id: "prj-1", branch_id: "br-1", type: "read_write", current_state: "init", pending_state: "active", host: "h",
    autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1, disabled: false, suspend_timeout_seconds: 0, region_id: "r", name: "n",
    settings: { pg_settings: { "app.token": "canary-Cr2-setting" } }, created_at: new Date().toISOString(), updated_at: new Date().toISOString(),
  };
  const operation = { id: "op-1", endpoint_id: "ep-1", action: "start_compute", status: "failed", error: SECRETS };
  const server = createServer((request, response) => {
    const json = request.method === "POST" ? { endpoint, operations: [operation] }
      : request.url.includes("operations") ? { operations: [operation] } : { endpoints: [] };
    response.writeHead(request.method === "POST" ? 201 : 200, { "content-type": "application/json" }).end(JSON.stringify(json));
  });
  server.listen(0, "127.0.0.1", async () => {
    const settings = { "svc:apiKey": "canary-Cr3-api-key", "svc:baseUrl": "http://127.0.0.1:" + server.address().port + "/api/v2" };
    const provider = load("ComputeEndpoint");
    await provider.configure({ config: { get: (name) => settings[name], require: () => "" } });
    const creation = provider.create({
      projectId: "prj-1", branchId: "br-1", settings: { pgSettings: { "app.token": "canary-Cr2-setting" } }, __version: 1,
    });
    if (process.argv[1] === "unhandled") return;
    creation.catch((error) => {
      const held = JSON.stringify(error.properties);
      console.log(held.includes("canary-Cr2-setting") ? "kept for the engine" : held);
      if (process.argv[1] === "thrown") setImmediate(() => { throw error; });
      else process.exit();
    });
  });`;

/** The same with a secret by reference, which the arguments do not hold. */
const BY_REFERENCE = PROGRAM.replace(
  '"app.token": "canary-Cr2-setting" } }, __v',
  '"app.token": { fromEnv: "TOKEN" } } }, __v',
).replace('held.includes("canary-Cr2-setting")', `held.includes('{"fromEnv":"TOKEN"}')`);

const HOW = ["unhandled", "thrown"] as const;

test.each([
  ...HOW.map((how) => [how, "by its value", PROGRAM] as const),
  ...HOW.map((how) => [how, "by reference", BY_REFERENCE] as const),
])("a process that dies of an error shows no secret: %s, with a setting %s", (how, _, program) => {
  const environment = { PATH: process.env["PATH"], SVC_DEBUG: "1", TOKEN: "canary-Cr2-setting" };
  const { status, stdout, stderr } = spawnSync(process.execPath, ["-e", program, how], {
    cwd: ROOT,
    env: environment,
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/start_compute failed/);
  expect(stderr).toMatch(/id: 'prj-1\/ep-1'/);
  if (how === "thrown") expect(stdout).toContain("kept for the engine");
  expect(stdout + stderr).not.toMatch(/canary|scrypt/);
});

test("the program of the second kind holds a reference", () => {
  expect(BY_REFERENCE).toMatch(/"app.token": { fromEnv: "TOKEN" }[^]*held\.includes\('{"fromEnv":"TOKEN"}'\)/);
});
