import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../support/cli";
import { type Ended, MAIN, runCommand } from "../support/command";
import { api, control, DEMO, integrate, until } from "../support/emulator";

const { SVC_EMULATOR_API_KEY: _unset, ...ENVIRONMENT } = process.env;

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "emulator-cli-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const children: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const run = (...args: string[]): Promise<Ended> => runCommand({ args, cwd: folder, env: ENVIRONMENT });

interface Served {
  child: ChildProcessWithoutNullStreams;
  /** All of stdout so far. */
  output: () => string;
  url: string;
  baseUrl: string;
  ended: Promise<number | null>;
}

/** Starts `pulumi-svc emulator` and waits for its first line. */
function serve(parameters: string[], environment: NodeJS.ProcessEnv = {}): Promise<Served> {
  const child = spawn(process.execPath, [MAIN, "emulator", "--port", "0", ...parameters], {
    env: { ...ENVIRONMENT, ...environment },
  });
  children.push(child);
  child.stdin.end();
  const ended = new Promise<number | null>((done) => child.once("close", done));
  let text = "";
  return new Promise((done, fail) => {
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const baseUrl = /^listening on (http:\/\/127\.0\.0\.1:\d+\/api\/v2)\n/.exec(text)?.[1];
      if (baseUrl !== undefined) {
        done({ child, output: () => text, url: baseUrl.slice(0, -"/api/v2".length), baseUrl, ended });
      }
    });
    void ended.then((code) => fail(new Error(`ended with ${code}: ${text}`)));
  });
}

test("prints its address first, then the demo ids, the default key, and lines to paste", async () => {
  const served = await serve([]);
  expect(served.output()).toMatch(/prj-demo.*br-main.*br-dev.*br-test/);
  expect(served.output()).toContain("API key: test-key (the default)");
  const [, page = ""] = /^look at it in a browser: (.*)$/m.exec(served.output()) ?? [];
  expect(page).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}$/);
  const lines = served.output().split("\n");
  const [exported, ...configured] = lines.filter((line) => line.startsWith("  ")).map((line) => line.trim());
  const shell = `${exported} && env`;
  const { stdout } = spawnSync("/bin/sh", ["-c", shell], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "" },
  });
  expect(stdout).toContain(`SVC_BASE_URL=${served.baseUrl}\n`);
  expect(stdout).toContain("SVC_API_KEY=test-key\n");
  expect(configured).toEqual([
    `pulumi config set svc:baseUrl ${served.baseUrl}`,
    "pulumi config set --secret svc:apiKey test-key",
  ]);
  expect((await api(served, "GET", `${DEMO}/endpoints`)).status).toBe(200);
});

test.each([
  ["warns of the default key where other machines reach it", "0.0.0.0", {}, true],
  ["does not warn where only this machine reaches it", "127.0.0.1", {}, false],
  ["does not warn of a key of one's own", "0.0.0.0", { SVC_EMULATOR_API_KEY: "own-key" }, false],
])("%s", async (_what, host, environment, warns) => {
  const env = { PATH: process.env["PATH"] ?? "", ...environment };
  const child = spawn(process.execPath, [MAIN, "emulator", "--host", host, "--port", "0"], { env });
  children.push(child);
  const ended = new Promise((done) => child.once("close", done));
  let said = "";
  await new Promise<void>((done) => {
    child.stdout.on("data", (chunk) => {
      said += String(chunk);
      // The last line.
      if (said.includes("pulumi config set --secret")) done();
    });
    void ended.then(() => done());
  });
  child.kill("SIGTERM");
  await ended;
  expect(said).toContain(`http://${host}:`);
  expect(/^warning: .*SVC_EMULATOR_API_KEY$/m.test(said)).toBe(warns);
  const page = host === "0.0.0.0" ? /^http:\/\/0\.0\.0\.0:\d+\/ \(the page asks for the API key\)$/ : /^\S+#token=\S+$/;
  expect(/^look at it in a browser: (.*)$/m.exec(said)?.[1]).toMatch(page);
});

test.each(["SIGTERM", "SIGINT"] as const)("ends with code 0 on %s and saves its data file", async (signal) => {
  const data = join(folder, `${signal}.json`);
  const first = await serve(["--data", data]);
  await integrate(first);
  first.child.kill(signal);
  expect(await first.ended).toBe(0);
  expect(existsSync(data)).toBe(true);
  const second = await serve(["--data", data]);
  expect((await integrate(second)).status).toBe(409);
});

test("takes the key from a flag or the environment and never prints it", async () => {
  for (const served of [
    await serve(["--api-key", "very-own-key"]),
    await serve([], { SVC_EMULATOR_API_KEY: "very-own-key" }),
  ]) {
    expect((await api(served, "GET", `${DEMO}/endpoints`)).status).toBe(401);
    const { status } = await api({ baseUrl: served.baseUrl, apiKey: "very-own-key" }, "GET", `${DEMO}/endpoints`);
    expect(status).toBe(200);
    served.child.kill("SIGTERM");
    await served.ended;
    expect(served.output()).not.toContain("very-own-key");
    expect(served.output()).toMatch(/export SVC_BASE_URL=\S+ SVC_API_KEY(?:="\$SVC_EMULATOR_API_KEY"\n| {3}# )/);
  }
});

test("starts with the projects of flags and of a file", async () => {
  const seed = join(folder, "seed.json");
  const edits = [{ kind: "integration", project_id: "prj-shop", create: { branch_id: "br-a" } }];
  writeFileSync(seed, JSON.stringify({ projects: [{ id: "prj-shop", branches: [{ id: "br-a" }] }], edits }));
  const served = await serve(["--seed", seed, "--project", "prj-b", "--project", "prj-c"]);
  expect(served.output()).toMatch(/project prj-shop: branches br-a \(default\)\nproject prj-b: .*\nproject prj-c: /);
  expect((await api(served, "GET", "/projects/prj-shop/auth/integrations")).body["data"]).toHaveLength(1);
  expect((await api(served, "GET", `${DEMO}/endpoints`)).status).toBe(404);
});

/** A program of Node, as a command line. */
const node = (program: string): string => `"${process.execPath}" -e '${program}'`;

const beside = (parameters: string[], environment: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [MAIN, "emulator", ...parameters], {
    encoding: "utf8",
    env: { ...ENVIRONMENT, ...environment },
    timeout: 60_000,
  });

test("runs a command beside it that finds the service, prints nothing of its own, and ends with its code", async () => {
  const ask = node(`
    const { SVC_BASE_URL: url, SVC_API_KEY: key } = process.env;
    fetch(url + "/projects/prj-demo/endpoints", { headers: { authorization: "Bearer " + key } })
      .then(({ status }) => { console.log(status, url); process.exitCode = 9; })`);
  const { status, stdout, stderr } = beside(["--exec", ask], { SVC_EMULATOR_API_KEY: "very-own-key" });
  expect([status, stderr]).toEqual([9, ""]);
  const [, url = ""] = /^200 (http:\S+)\n$/.exec(stdout) ?? [];
  // Not the usual port, and nothing listens there any more.
  expect(new URL(url).port).not.toBe("8787");
  await expect(fetch(url)).rejects.toThrow();
  expect(beside(["--exec", "true"]).status).toBe(0);
  expect(beside(["--exec", "kill -KILL $$"]).status).toBe(137);
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "passes %s on to the command once, and to all that it started",
  async (signal) => {
    const told = join(folder, `told-${signal}`);
    const program = `process.on("${signal}", () => { require("fs").appendFileSync("${told}", "x"); setTimeout(() => process.exit(5), 300); });
    setInterval(() => {}, 1000); console.log("ready " + process.env.SVC_BASE_URL)`;
    // With a shell in between, which waits for it.
    const child = spawn(process.execPath, [MAIN, "emulator", "--exec", `trap : INT TERM; ${node(program)}; exit $?`], {
      env: ENVIRONMENT,
    });
    children.push(child);
    let text = "";
    child.stdout.on("data", (chunk) => (text += String(chunk)));
    await until(
      () => Promise.resolve(text),
      (seen) => seen.includes("ready"),
    );
    const ended = new Promise((done) => child.once("close", done));
    child.kill(signal);
    expect(await ended).toBe(5);
    expect(readFileSync(told, "utf8")).toBe("x");
    await expect(fetch(text.replace("ready ", "").trim())).rejects.toThrow();
  },
);

test("serves an OpenAPI document that a validator of another hand finds valid", async () => {
  const served = await serve([]);
  const { text } = await control(served.url, "GET", "/openapi.json");
  // An ES module, which this process cannot load.
  const program = `import { Validator } from "@seriousme/openapi-schema-validator";
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(process.argv[1]));
    console.log(JSON.stringify([validator.version, result]));`;
  const validate = (document: string) =>
    spawnSync(process.execPath, ["--input-type=module", "-e", program, document], { encoding: "utf8", cwd: ROOT })
      .stdout;
  expect(JSON.parse(validate(text))).toEqual(["3.1", { valid: true }]);
  // It finds what is wrong.
  expect(JSON.parse(validate(text.replaceAll('"responses":', '"answers":')))).toMatchObject(["3.1", { valid: false }]);
});

test("hands every other flag on to the emulator", async () => {
  const served = await serve([
    ...["--auth-provider", "stack", "--activation-ms", "60000", "--latency-ms", "1", "--idle-after-ms", "60000"],
    ...["--rate-per-second", "1000", "--list-lag-ms", "60000", "--secret-answers", "masked"],
    ...["--lock-projects", "--seed-only"],
    ...["--any-auth-branch", "--any-oauth-provider", "--app-domains", "--mail-remote"],
  ]);
  expect((await integrate(served, { auth_provider: "stack", branch_id: "br-dev" })).status).toBe(201);
  const provider = { id: "of-our-own", client_id: "c", client_secret: "s" };
  const added = await api(served, "POST", `${DEMO}/auth/oauth_providers`, provider);
  expect(added.body).toMatchObject({ client_secret: "****" });
  expect((await api(served, "GET", DEMO)).status).toBe(404);
  expect((await api(served, "GET", `${DEMO}/auth/integrations`)).body.data).toEqual([]);
  const path = `${DEMO}/endpoints/ep-demo-main-10000001`;
  expect((await api(served, "DELETE", path)).status).toBe(200);
  const create = { endpoint: { branch_id: "br-dev", type: "read_write" } };
  expect((await api(served, "POST", `${DEMO}/endpoints`, create)).status).toBe(423);
  expect((await control(served.url, "GET", "/health")).status).toBe(200);
});

test("hands on the flags that may be repeated, and those that exclude others", async () => {
  const served = await serve([
    ...["--page-size", "1", "--lock-projects", "--lock-status", "409", "--activation-ms", "60000"],
    ...["--other-api-key", "second", "--other-api-key", "third"],
    ...["--oauth-provider-id", "github", "--oauth-provider-id", "google"],
  ]);
  await integrate(served);
  expect((await api(served, "GET", `${DEMO}/branches`)).body).toMatchObject({
    branches: [{ id: "br-main" }],
    pagination: { next: expect.any(String) },
  });
  for (const apiKey of ["second", "third"])
    expect((await api({ baseUrl: served.baseUrl, apiKey }, "GET", DEMO)).status).toBe(404);
  expect((await api(served, "POST", `${DEMO}/auth/oauth_providers`, { id: "microsoft" })).status).toBe(400);
  const create = { endpoint: { branch_id: "br-dev", type: "read_write" } };
  expect((await api(served, "POST", `${DEMO}/endpoints`, create)).status).toBe(201);
  expect((await api(served, "POST", `${DEMO}/endpoints`, create)).status).toBe(409);
  for (const [flags, words] of [
    [["--lock-status", "409"], /--lock-status has no effect without locks: give --lock-projects as well\n$/],
    [["--other-api-key", "test-key"], /--other-api-key contains the key of the projects: give another one\n$/],
    [["--any-oauth-provider", "--oauth-provider-id", "x"], /--oauth-provider-id has no effect if any id is accepted/],
  ] as const)
    expect(await run("emulator", ...flags)).toMatchObject({ code: 1, stderr: expect.stringMatching(words) });
});

test("--log prints a line for each request on stderr, also beside a command, and without it nothing is printed there", async () => {
  const request = `node -e 'fetch(process.env.SVC_BASE_URL + "/projects/prj-demo").then(() => 0)'`;
  const logged = await run("emulator", "--log", "--exec", request);
  expect(logged.code).toBe(0);
  expect(logged.stderr).toMatch(/^\d{4}-\S+Z GET \/api\/v2\/projects\/prj-demo -> 401, request \S+, \d+ ms\n$/);
  expect(await run("emulator", "--exec", request)).toMatchObject({ code: 0, stderr: "" });
});

/** `pulumi-svc emulator token`, with these variables for it alone. */
const token = (parameters: string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  runCommand({
    args: ["emulator", "token", ...parameters],
    cwd: folder,
    env: { PATH: process.env["PATH"], ...environment },
  });

/** The claims of a token, which is all that was printed. */
function printedClaims({ code, stdout, stderr }: Ended): unknown {
  expect([code, stderr]).toEqual([0, ""]);
  const [, payload = ""] = /^[\w-]+\.([\w-]+)\.[\w-]+\n$/.exec(stdout) ?? [];
  return JSON.parse(Buffer.from(payload, "base64url").toString());
}

const ANA = { project_id: "prj-demo", auth_provider: "supported_provider", email: "ana@example.com" };

test("token prints a token and nothing else, found by --url or by SVC_BASE_URL", async () => {
  const served = await serve(["--project", "prj-demo", "--project", "prj-two"]);
  await integrate(served);
  await api(served, "POST", "/projects/auth/user", ANA);
  const given = [
    "--user",
    "ANA@example.com",
    "--project",
    "prj-demo",
    "--expires-in",
    "-5",
    "--claims",
    '{"role": "x"}',
  ];
  const claims = printedClaims(await token([...given, "--url", served.url]));
  expect(claims).toMatchObject({ email: ANA.email, role: "x", iss: expect.stringContaining(`${served.url}/auth/`) });
  expect(printedClaims(await token([], { SVC_BASE_URL: served.baseUrl }))).toMatchObject({ email: ANA.email });
  const refused = await token(["--project", "prj-two", "--url", served.baseUrl]);
  expect([refused.code, refused.stdout, refused.stderr]).toEqual([
    1,
    "",
    expect.stringMatching(/^pulumi-svc: the emulator at \S+ signed no token: the project has no auth integration\n$/),
  ]);
});

test("token sends the key to an emulator that demands it, and SVC_API_KEY to no other address than its own", async () => {
  const headers: (string | undefined)[] = [];
  const other = createServer((request, response) => {
    headers.push(request.headers.authorization);
    response.end("{}");
  });
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const asked = async (parameters: string[], environment: NodeJS.ProcessEnv) => {
    const { stderr: said } = await token(parameters, environment);
    expect(said).toMatch(/^pulumi-svc: http:\S+ is not an emulator that signs tokens \(status 200\)\n$/);
    return headers.pop();
  };
  try {
    expect(await asked(["--url", url], { SVC_API_KEY: "k" })).toBeUndefined();
    expect(await asked(["--url", url], { SVC_API_KEY: "k", SVC_BASE_URL: "http://127.0.0.1:9" })).toBeUndefined();
    expect(await asked([], { SVC_API_KEY: "k", SVC_BASE_URL: `${url}/api/v2` })).toBe("Bearer k");
    expect(await asked(["--url", url], { SVC_EMULATOR_API_KEY: "e" })).toBe("Bearer e");
    const file = join(folder, "key-of-a-file");
    writeFileSync(file, "of-file\n");
    const ofFile = { SVC_BASE_URL: `${url}/api/v2`, SVC_API_KEY_FILE: file };
    expect(await asked([], ofFile)).toBe("Bearer of-file");
    expect(await asked([], { ...ofFile, SVC_API_KEY: "k" })).toBe("Bearer k");
    expect(await asked([], { ...ofFile, SVC_API_KEY: "k", SVC_EMULATOR_API_KEY: "e" })).toBe("Bearer e");
    expect(await asked(["--url", url], { SVC_API_KEY_FILE: file })).toBeUndefined();
  } finally {
    other.close();
  }
});

test("token prints nothing of an answer that is no token", async () => {
  const other = createServer((_request, response) => {
    response.end(JSON.stringify({ token: "a.b.c\u001b[2J\nrm -rf x" }));
  });
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const { code, stdout, stderr } = await token(["--url", url]);
  other.close();
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^pulumi-svc: http:\S+ is not an emulator that signs tokens \(status 200\)\n$/);
});

test.each([
  [
    "nobody listens",
    1,
    ["--url", "http://127.77.0.9:8787"],
    {},
    /no emulator answers at http:\/\/127.77.0.9:8787 \(ECONNREFUSED\): .*--url/,
  ],
  ["it is no address", 1, ["--url", "secret@host"], {}, /^pulumi-svc: --url must be an address/],
  [
    "the key would go to another host in clear",
    1,
    ["--url", "http://192.0.2.1"],
    { SVC_EMULATOR_API_KEY: "e" },
    /SVC_ALLOW_HTTP/,
  ],
  [
    "the file of the key does not exist",
    1,
    [],
    { SVC_BASE_URL: "http://127.0.0.1:9/api/v2", SVC_API_KEY_FILE: "/none/key" },
    /^pulumi-svc: no API key: the file \/none\/key does not exist; SVC_API_KEY_FILE names it\n$/,
  ],
  ["claims are no JSON", 2, ["--claims", "role=x"], {}, /JSON object/],
  ["the lifetime is no number", 2, ["--expires-in", "1h"], {}, /whole number of seconds/],
  ["the project can be none", 2, ["--project", "a/b"], {}, /id of a project/],
])("token says why there is none where %s", async (_where, code, parameters, environment, words) => {
  const ended = await token(parameters, environment);
  expect([ended.code, ended.stdout, ended.stderr]).toEqual([code, "", expect.stringMatching(words)]);
});

test("says in one line why it cannot start, and exits with 1", async () => {
  const served = await serve([]);
  const port = new URL(served.url).port;
  const broken = join(folder, "broken.json");
  writeFileSync(broken, "{");
  const odd = join(folder, "odd.json");
  writeFileSync(odd, '{"projects": [{"id": "prj-x", "branches": [{"id": "main"}]}]}');
  for (const [parameters, words] of [
    [["--port", port], `port ${port}`],
    [["--port", "many"], "--port"],
    [["--port", "70000"], "--port must be a whole number"],
    [["--port", "0", "--postgres-port", "5433"], "--postgres-port has no effect without a Postgres"],
    [["--activation-ms", "-1"], "--activation-ms"],
    [["--port", "0", "--data", broken], broken],
    [["--port", "0", "--seed", broken], `seed file "${broken}": it is not JSON`],
    [["--port", "0", "--seed", odd], odd],
    [["--port", "0", "--seed", join(folder, "none.json")], "none.json"],
    [["--port", "0", "--project", "A B"], "--project: "],
  ] as const) {
    const { code, stdout, stderr } = await run("emulator", ...parameters);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^pulumi-svc: [^\n]+\n$/);
    expect(stderr).toContain(words);
  }
});

test("exits with 2 when it is called wrongly", async () => {
  for (const parameters of [["emulate"], ["emulator", "--ports"], ["emulator", "--secret-answers", "loud"]]) {
    const { code, stderr } = await run(...parameters);
    expect([code, stderr]).toEqual([2, expect.stringContaining("error:")]);
  }
});

test("prints help when it is asked nothing, and its version", async () => {
  const help = await run();
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("emulator")]);
  expect((await run("--version")).stdout).toMatch(/^\d+\.\d+\.\d+/);
});

test("every flag stands in the documentation", async () => {
  const documentation = readFileSync(join(ROOT, "docs/emulator.md"), "utf8");
  const flags = [...(await run("emulator", "--help")).stdout.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag);
  expect(flags.length).toBeGreaterThanOrEqual(17);
  for (const flag of flags) expect(documentation).toContain(`| \`${flag}\` `);
});
