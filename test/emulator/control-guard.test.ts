import { request } from "node:http";
import { api, control, DEMO, ERROR_BODY, records, start } from "./support";
import type { Emulator } from "../../src/emulator";

/** By hand: fetch sends no Host of one's choice. */
const send = (
  { port }: Emulator,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; body: unknown }> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode, body: JSON.parse(text || "null") as unknown }));
    });
    sent.on("error", reject);
    sent.end();
  });

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
  // Reached at 127.0.0.1 like the others, but under a name that is none of the loopback ones.
  const emulator = await start({ host: "::ffff:127.0.0.1" });
  const { host } = new URL(emulator.url);
  expect(host).toBe(`[::ffff:7f00:1]:${emulator.port}`);
  expect(await send(emulator, "GET", "/_emulator/health", { host })).toMatchObject({ status: 200 });
  expect(await send(emulator, "GET", "/_emulator/health", { host: "192.0.2.7" })).toMatchObject({ status: 403 });
});

test("the API itself asks for its key instead, under any host", async () => {
  const emulator = await start();
  const headers = { host: "svc.example.com", origin: "https://page.example.com" };
  const path = `/api/v2${DEMO}/endpoints`;
  expect(await send(emulator, "GET", path, headers)).toMatchObject({ status: 401 });
  const withKey = { ...headers, authorization: "Bearer test-key" };
  expect(await send(emulator, "GET", path, withKey)).toMatchObject({ status: 200 });
});
