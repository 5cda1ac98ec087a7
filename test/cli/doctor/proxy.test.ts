/** The proxy that the doctor shows is the one that is used, and it is used once. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProcess } from "../../support/command";
import { startProxy, startSecure } from "../../support/proxy";

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly remedy?: string;
}

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "doctor-proxy-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function doctor(env: Record<string, string>): Promise<Record<string, Check>> {
  const own = { PATH: folder, HOME: folder, SVC_API_KEY: "test-key", no_proxy: "127.0.0.1", ...env };
  const { stdout } = await runProcess({ args: ["doctor", "--json", "--project", "p"], cwd: folder, env: own });
  expect(stdout).not.toContain("canary");
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return Object.fromEntries(checks.map((check) => [check.name, check]));
}

test.each([
  ["taken as curl takes it", "", {}],
  // With this, Node does not even start without the scheme.
  ["whether Node uses it by itself or not", "http://", { NODE_USE_ENV_PROXY: "1" }],
])("each request goes through the proxy once, %s", async (_, scheme, more) => {
  const seen: string[] = [];
  const service = await startSecure(["service.test"], (request, response) => {
    seen.push(request.url ?? "");
    const isBranches = request.url?.endsWith("/branches");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(isBranches ? { branches: [] } : { endpoints: [] }));
  });
  const proxy = await startProxy(service.port);
  writeFileSync(join(folder, "ca.pem"), service.ca);
  try {
    const checks = await doctor({
      SVC_BASE_URL: "https://service.test:8443/api/v2",
      HTTPS_PROXY: `${scheme}canary:canary@127.0.0.1:${proxy.port}`,
      NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
      ...more,
    });
    expect(checks["service proxy"]).toMatchObject({
      status: "ok",
      message: `127.0.0.1:${proxy.port} to service.test:8443, from HTTPS_PROXY`,
    });
    expect(checks["service"]?.status).toBe("ok");
    expect(checks["project p"]?.status).toBe("ok");
    expect(seen).toEqual(["/api/v2/projects/p/endpoints", "/api/v2/projects/p/branches"]);
    expect(new Set(proxy.tunnels.map(({ target }) => target))).toEqual(new Set(["service.test:8443"]));
    expect(proxy.tunnels.length).toBeLessThanOrEqual(2);
    expect(proxy.forwarded).toEqual([]);
  } finally {
    service.close();
    proxy.close();
  }
});

test.each([
  [
    "NO_PROXY excepts it",
    { no_proxy: "127.0.0.1,api.invalid" },
    "ok",
    /^none to api\.invalid:443: no_proxy excepts it/,
  ],
  ["it cannot be used", { https_proxy: "socks5://canary:canary@127.0.0.1" }, "failure", /^https_proxy names a proxy/],
])("if %s, the doctor says so", async (_, more, status, message) => {
  const env = { SVC_BASE_URL: "https://api.invalid/v2", https_proxy: "canary:canary@127.0.0.1:9", ...more };
  expect((await doctor(env))["service proxy"]).toMatchObject({ status, message: expect.stringMatching(message) });
});

test("a proxy that does not answer is named in the failure, with its variable", async () => {
  const { service } = await doctor({
    SVC_BASE_URL: "https://api.invalid/v2",
    HTTPS_PROXY: "canary:canary@127.0.0.1:9",
  });
  expect(service?.message).toContain("the proxy at 127.0.0.1:9 (from HTTPS_PROXY) cannot be reached: ECONNREFUSED");
  expect(service?.remedy).toBe("Correct HTTPS_PROXY, or except api.invalid from it with NO_PROXY.");
});

test("without a proxy in the environment it says nothing of one", async () => {
  expect((await doctor({ SVC_BASE_URL: "https://api.invalid/v2" }))["service proxy"]).toBeUndefined();
});

test("an IPv6 address of an emulator works as it is printed, around any proxy", async () => {
  const command = `"${process.execPath}" "$MAIN" doctor --json --project prj-demo; "${process.execPath}" "$MAIN" emulator token >token 2>&1; cat token`;
  const { stdout } = await runProcess({
    args: ["emulator", "--host", "::1", "--exec", command],
    cwd: folder,
    env: {
      PATH: "/bin:/usr/bin",
      HOME: folder,
      MAIN: join(__dirname, "../../../dist/cli/main.js"),
      http_proxy: "http://127.0.0.1:9",
      no_proxy: "127.0.0.1",
      NODE_USE_ENV_PROXY: "1",
    },
  });
  const { checks } = JSON.parse(stdout.slice(0, stdout.lastIndexOf("}") + 1)) as { checks: Check[] };
  const byName = Object.fromEntries(checks.map((check) => [check.name, check]));
  expect(byName["address"]?.message).toMatch(/^\[::1\]:\d+, from the environment/);
  expect(byName["service"]).toMatchObject({ status: "ok", message: expect.stringMatching(/^\[::1\]:\d+ answers$/) });
  expect(byName["service proxy"]?.message).toMatch(/^none to \[::1\]:\d+: http_proxy is not used for this machine$/);
  // It has been asked: the emulator has no integration yet.
  expect(stdout).toMatch(/the emulator at http:\/\/\[::1\]:\d+ signed no token/);
});
