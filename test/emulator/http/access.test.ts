import { request } from "node:http";
import { api, control, DEMO, demoState, ERROR_BODY, PRIMARY, records, start } from "../../support/emulator";
import type { Emulator } from "../../../src/emulator";

interface Sent {
  status: number | undefined;
  body: unknown;
}

/** By hand: fetch sends no Host of one's choice. A body that is declared in the headers alone is never sent. */
const send = (
  { port }: Emulator,
  method: string,
  path: string,
  headers: Record<string, string>,
  content?: string,
): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () => {
        resolve({ status: response.statusCode, body: JSON.parse(text || "null") as unknown });
        sent.destroy();
      });
    });
    sent.on("error", reject);
    if ("content-length" in headers) sent.flushHeaders();
    else sent.end(content);
  });

const KEY = { authorization: "Bearer test-key" };
const ENDPOINTS = `/api/v2${DEMO}/endpoints`;

const logged = async (emulator: Emulator) => (await control(emulator.url, "GET", "/requests")).body.requests;

const CONTROL_ROUTES = [
  ["GET", "/health"],
  ["GET", "/state"],
  ["GET", "/requests"],
  ["DELETE", "/requests"],
  ["GET", "/faults"],
  ["POST", "/faults"],
  ["DELETE", "/faults"],
  ["POST", "/projects"],
  ["POST", "/edit"],
  ["POST", "/reset"],
  ["POST", "/key"],
  ["GET", "/transfer/token"],
] as const;

test.each(CONTROL_ROUTES)("%s %s is refused to a web page", async (method, path) => {
  const emulator = await start();
  const answer = await send(emulator, method, `/_emulator${path}`, { origin: "https://page.example.com" });
  expect(answer).toEqual({ status: 403, body: ERROR_BODY });
});

test("a refused reset changes nothing", async () => {
  const emulator = await start();
  await api(emulator, "GET", `${DEMO}/endpoints`);
  for (const headers of [{ origin: "null" }, { origin: emulator.url }, { host: "rebound.example.com" }]) {
    expect(await send(emulator, "POST", "/_emulator/reset", headers)).toMatchObject({ status: 403 });
  }
  expect(records((await control(emulator.url, "GET", "/requests")).body, "requests")).toHaveLength(1);
});

test.each([
  "rebound.example.com",
  "rebound.example.com:8787",
  "127.0.0.1.example.com",
  "localhost.example.com:8787",
  "192.0.2.7",
  "[2001:db8::7]:8787",
])("the control routes are refused under the host %s", async (host) => {
  const emulator = await start();
  expect(await send(emulator, "GET", "/_emulator/state", { host })).toEqual({ status: 403, body: ERROR_BODY });
});

test.each(["127.0.0.1", "127.0.0.1:8787", "localhost:1", "LOCALHOST", "[::1]", "[::1]:8787"])(
  "the control routes answer under the loopback host %s, whatever its port",
  async (host) => {
    const emulator = await start();
    expect(await send(emulator, "GET", "/_emulator/health", { host })).toMatchObject({ status: 200 });
  },
);

test("the control routes answer under the host that the emulator was told to listen on", async () => {
  // Reached at 127.0.0.1 like the others, but under a name that is not a loopback name.
  const emulator = await start({ host: "::ffff:127.0.0.1" });
  const { host } = new URL(emulator.url);
  expect(host).toBe(`[::ffff:7f00:1]:${emulator.port}`);
  expect(await send(emulator, "GET", "/_emulator/health", { host })).toMatchObject({ status: 200 });
  expect(await send(emulator, "GET", "/_emulator/health", { host: "192.0.2.7" })).toMatchObject({ status: 403 });
});

test("the API asks a web page for its key, as everybody", async () => {
  const emulator = await start();
  const headers = { origin: "https://page.example.com" };
  expect(await send(emulator, "GET", ENDPOINTS, headers)).toMatchObject({ status: 401 });
  expect(await send(emulator, "GET", ENDPOINTS, { ...headers, ...KEY })).toMatchObject({ status: 200 });
});

test.each(["rebound.example.com", "127.0.0.1.example.com:8787", "x.localhost", "192.0.2.7", "0.0.0.0"])(
  "the API is refused under the host %s on a loopback address, with the key too, and does nothing",
  async (host) => {
    const emulator = await start();
    for (const headers of [{ host }, { host, ...KEY }]) {
      expect(await send(emulator, "DELETE", `${ENDPOINTS}/${PRIMARY}`, headers)).toEqual({
        status: 403,
        body: { ...ERROR_BODY, message: expect.stringContaining("--host") },
      });
    }
    expect(await logged(emulator)).toEqual([]);
    expect(await demoState(emulator)).toMatchObject({ endpoints: [{ id: PRIMARY }] });
  },
);

test.each(["127.0.0.1:1", "127.8.8.8", "LOCALHOST:8787", "[::1]:8787"])(
  "the API answers under the loopback host %s",
  async (host) => {
    const emulator = await start();
    expect(await send(emulator, "GET", ENDPOINTS, { host, ...KEY })).toMatchObject({ status: 200 });
  },
);

describe("on an address that others reach", () => {
  const HOSTS = ["localhost", "127.0.0.1", "emulator:8787", "svc.example.com"];

  test.each(CONTROL_ROUTES)("%s %s wants the key, whatever host is named", async (method, path) => {
    const emulator = await start({ host: "0.0.0.0" });
    for (const host of HOSTS) {
      for (const authorization of ["", "Bearer wrong", "test-key"]) {
        const answer = await send(emulator, method, `/_emulator${path}`, { host, authorization });
        expect(answer).toEqual({ status: 401, body: ERROR_BODY });
      }
    }
  });

  test("the control routes answer to the key, as through a published port of a container", async () => {
    const emulator = await start({ host: "0.0.0.0" });
    for (const host of HOSTS) {
      const headers = { host, ...KEY };
      expect(await send(emulator, "GET", "/_emulator/health", headers)).toMatchObject({ status: 200 });
      const project = JSON.stringify({ id: `prj-${HOSTS.indexOf(host)}` });
      expect(await send(emulator, "POST", "/_emulator/projects", headers, project)).toMatchObject({ status: 201 });
    }
    const state = await send(emulator, "GET", "/_emulator/state", { host: "localhost", ...KEY });
    expect(state.body).toMatchObject({ projects: [{ id: "prj-demo" }, ...HOSTS.map(() => ({}))] });
  });

  test("the API asks for its key, under any host", async () => {
    const emulator = await start({ host: "0.0.0.0" });
    const headers = { host: "svc.example.com", origin: "https://page.example.com" };
    expect(await send(emulator, "GET", ENDPOINTS, headers)).toMatchObject({ status: 401 });
    expect(await send(emulator, "GET", ENDPOINTS, { ...headers, ...KEY })).toMatchObject({ status: 200 });
  });
});

describe("a request without the key", () => {
  test.each([
    ["POST", "/api/v2/projects/auth/create", "127.0.0.1"],
    ["PATCH", `${ENDPOINTS}/${PRIMARY}`, "127.0.0.1"],
    ["POST", "/_emulator/edit", "0.0.0.0"],
  ])("is refused before its body has come: %s %s", async (method, path, host) => {
    const emulator = await start({ host });
    const headers = { "content-type": "application/json", "content-length": "1000000" };
    expect(await send(emulator, method, path, headers)).toEqual({ status: 401, body: ERROR_BODY });
  });

  test("is logged by method, path and status, without its query and body", async () => {
    const emulator = await start();
    const body = JSON.stringify({ name: "canary" });
    const headers = { authorization: "Bearer wrong", "content-type": "application/json" };
    const path = `${ENDPOINTS}/${PRIMARY}`;
    expect(await send(emulator, "PATCH", `${path}?token=canary`, headers, body)).toMatchObject({ status: 401 });
    const requests = await logged(emulator);
    expect(requests).toMatchObject([
      { method: "PATCH", path: `${DEMO}/endpoints/${PRIMARY}`, query: {}, body: null, status: 401 },
    ]);
    expect(JSON.stringify(requests)).not.toContain("canary");
  });

  test.each([
    ["a page of another site", { origin: "https://page.example.com" }],
    ["a page of another port", { origin: "http://127.0.0.1:3000" }],
    ["a page without an origin", { origin: "null" }],
    ["an image in a page of another site", { "sec-fetch-site": "cross-site" }],
    ["an image in a page of another port", { "sec-fetch-site": "same-site" }],
  ])("of %s is not logged: such a page cannot push out what the log holds", async (_whose, headers) => {
    for (const host of ["127.0.0.1", "0.0.0.0"]) {
      const emulator = await start({ host });
      for (const authorization of ["", "Bearer wrong"]) {
        for (const method of ["GET", "POST", "OPTIONS"]) {
          const answer = await send(emulator, method, ENDPOINTS, { ...headers, authorization });
          expect(answer).toEqual({ status: 401, body: ERROR_BODY });
        }
      }
      expect((await send(emulator, "GET", "/_emulator/requests", KEY)).body).toEqual({ requests: [] });
    }
  });

  test("of a client that is no page stays in the log, as one of a page with the key does", async () => {
    const emulator = await start();
    await send(emulator, "GET", ENDPOINTS, { "sec-fetch-site": "none" });
    await send(emulator, "GET", ENDPOINTS, { origin: "https://page.example.com", ...KEY });
    expect(await logged(emulator)).toMatchObject([{ status: 401 }, { status: 200 }]);
  });
});
