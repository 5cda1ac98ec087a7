/** Over sockets: what a proxy of the environment gets, and what is said when it does not connect. */
import { type AddressInfo, createServer } from "node:net";
import tls from "node:tls";
import type { SvcError } from "../../../src/client";
import { Client, ProxyError } from "../../../src/client";
import { PROVEN } from "../../support/proven";
import { startProxy, startSecure, withProxies } from "../../support/proxy";
import { errorOf } from "../../support/scriptedServer";

const SERVICE = "https://service.test:8443/api/v2";
const USER = { auth_provider: "a", email: "e@x.test" };

const open: { close: () => void }[] = [];
const opened = <T extends { close: () => void }>(one: T): T => {
  open.push(one);
  return one;
};
afterEach(() => {
  jest.restoreAllMocks();
  for (const { close } of open.splice(0)) close();
});

/** Connections of this process trust the authority, as with NODE_EXTRA_CA_CERTS. */
function trust(ca: string): void {
  const { connect } = tls;
  const trusting = (options: tls.ConnectionOptions): tls.TLSSocket => connect({ ...options, ca });
  jest.spyOn(tls, "connect").mockImplementation(trusting as typeof connect);
}

async function secureService(names = ["service.test"]) {
  const requests: { line: string; authorization: string | undefined }[] = [];
  const service = opened(
    await startSecure(names, (request, response) => {
      requests.push({ line: `${request.method} ${request.url}`, authorization: request.headers.authorization });
      const body = request.method === "POST" ? { id: "u1" } : { endpoints: [] };
      request.resume();
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    }),
  );
  trust(service.ca);
  return { ...service, requests };
}

const clientFor = (baseUrl: string) =>
  new Client({ baseUrl, apiKey: "test-key", baseDelayMs: 5, lagMs: 50, readDeadlineMs: 1_000 });

const closedPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server's address is an object.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

test("a proxy without a scheme leads to the service, once, with the login of the variable, and connections are kept", async () => {
  const service = await secureService();
  const proxy = opened(await startProxy(service.port));
  await withProxies({ HTTPS_PROXY: `me:p%40ss@127.0.0.1:${proxy.port}` }, async () => {
    const client = clientFor(SERVICE);
    await client.computes.list("p");
    client.forgetReads();
    await client.computes.list("p");
    await client.auth.createUser("p", USER, PROVEN);
  });
  expect(service.requests.map(({ line }) => line)).toEqual([
    "GET /api/v2/projects/p/endpoints",
    "GET /api/v2/projects/p/endpoints",
    "POST /api/v2/projects/auth/user",
  ]);
  expect(service.requests.every(({ authorization }) => authorization === "Bearer test-key")).toBe(true);
  // One for the reads, and one of its own for the creation.
  expect(proxy.tunnels).toEqual([1, 2].map(() => ({ target: "service.test:8443", login: "me:p@ss" })));
  expect(proxy.forwarded).toEqual([]);
});

test("a service with an IPv6 address is named to the proxy with its brackets", async () => {
  const service = await secureService(["2001:db8::5"]);
  const proxy = opened(await startProxy(service.port));
  await withProxies({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }, () =>
    clientFor("https://[2001:db8::5]:8443/api/v2").computes.list("p"),
  );
  expect(proxy.tunnels.map(({ target }) => target)).toEqual(["[2001:db8::5]:8443"]);
});

test("what a service with http:// gets, the proxy forwards", async () => {
  const proxy = opened(await startProxy({ status: 200 }));
  await withProxies({ http_proxy: `127.0.0.1:${proxy.port}` }, () =>
    errorOf(clientFor("http://emulator.test:8787/api/v2").computes.list("p")),
  );
  expect(proxy.forwarded).toEqual(["http://emulator.test:8787/api/v2/projects/p/endpoints"]);
});

test("NO_PROXY leads around the proxy", async () => {
  const proxy = opened(await startProxy({ status: 502 }));
  const error = await withProxies({ HTTPS_PROXY: `127.0.0.1:${proxy.port}`, NO_PROXY: "invalid" }, () =>
    errorOf(clientFor("https://api.invalid/v2").computes.list("p")),
  );
  expect(String(error)).toMatch(/DNS does not resolve api\.invalid/);
  expect(proxy.tunnels).toEqual([]);
});

test.each([403, 404, 407, 401, 409])(
  "%i of a proxy is not an answer of the service: nothing was sent, once, and the variable is named",
  async (status) => {
    const proxy = opened(await startProxy({ status }));
    await withProxies({ HTTPS_PROXY: `http://canary:canary@127.0.0.1:${proxy.port}` }, async () => {
      const client = clientFor(SERVICE);
      for (const ask of [() => client.computes.list("p"), () => client.auth.createUser("p", USER, PROVEN)]) {
        const error = await errorOf(ask());
        expect(error).toBeInstanceOf(ProxyError);
        expect(error).toMatchObject({ beforeSending: true });
        // Nobody takes it for a status of the service.
        expect((error as SvcError).status).toBeUndefined();
        expect(String(error)).toContain(
          `the proxy at 127.0.0.1:${proxy.port} (from HTTPS_PROXY) does not connect to service.test:8443: it answers ${status}`,
        );
        expect(String(error)).toContain("Correct HTTPS_PROXY, or except service.test from it with NO_PROXY");
        expect(String(error)).not.toContain("canary");
      }
    });
    expect(proxy.tunnels).toHaveLength(2);
  },
);

test("a proxy that is busy is asked again: the creation was not sent before", async () => {
  const service = await secureService();
  const proxy = opened(await startProxy({ status: 503 }, service.port));
  await withProxies({ HTTPS_PROXY: `127.0.0.1:${proxy.port}` }, () =>
    clientFor(SERVICE).auth.createUser("p", USER, PROVEN),
  );
  expect([proxy.tunnels.length, service.requests.length]).toEqual([2, 1]);
});

test.each([
  ["HTTPS_PROXY", SERVICE],
  ["HTTP_PROXY", "http://emulator.test:8787/api/v2"],
])("a proxy that cannot be reached is not taken for the service (%s)", async (variable, baseUrl) => {
  const port = await closedPort();
  const error = await withProxies({ [variable]: `http://canary:canary@127.0.0.1:${port}` }, () =>
    errorOf(clientFor(baseUrl).computes.list("p")),
  );
  expect(String(error)).toContain(`the proxy at 127.0.0.1:${port} (from ${variable}) cannot be reached: ECONNREFUSED`);
  expect(String(error)).not.toMatch(/canary|start the emulator/);
});

test("a proxy that cannot be used is an error that names the variable, and nothing is sent", async () => {
  const service = await secureService();
  const error = await withProxies({ all_proxy: "socks5://canary:canary@127.0.0.1:1" }, () =>
    errorOf(clientFor(SERVICE).auth.createUser("p", USER, PROVEN)),
  );
  expect(error).toBeInstanceOf(ProxyError);
  expect(String(error)).toContain(
    "nothing was sent to service.test:8443, because all_proxy names a proxy that does not begin with http:// or https://",
  );
  expect(String(error)).not.toMatch(/canary|socks/);
  expect(service.requests).toEqual([]);
});
