import { request, type IncomingHttpHeaders } from "node:http";
import type { Emulator } from "../../../src/emulator";
import { api, control, DEMO, demoState, ERROR_BODY, PRIMARY, start } from "../../support/emulator";
import { startWatched } from "../../support/watchedGate";

interface Sent {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  text: string;
}

/** By hand: fetch sends no Host and no Origin of one's choice. It reads what comes first: a stream does not end. */
const send = (
  { port }: Emulator,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  content?: string,
): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers }, (response) => {
      const { statusCode: status } = response;
      let text = "";
      const answer = () => resolve({ status, headers: response.headers, text });
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
        if (response.headers["content-type"] === "text/event-stream" && text.endsWith("\n\n")) sent.destroy();
      });
      response.on("close", answer);
      response.on("error", answer);
    });
    sent.on("error", reject);
    sent.end(content);
  });

const tokenOf = ({ pageUrl }: Emulator): string => new URL(pageUrl).hash.slice("#token=".length);
const asPage = (emulator: Emulator, more: Record<string, string> = {}): Record<string, string> => ({
  "svc-page-token": tokenOf(emulator),
  ...more,
});

const RENAME = JSON.stringify({ kind: "endpoint", project_id: "prj-demo", set: { name: "renamed" } });
const nameNow = async (emulator: Emulator) => (await demoState(emulator)).endpoints;

test("the address of the page has a token in its fragment, which is another one at each start", async () => {
  const [one, other] = [await start(), await start()];
  expect(one.pageUrl).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${one.port}/#token=[\\w-]{32}$`));
  expect(tokenOf(one)).not.toBe(tokenOf(other));
});

const PATHS = ["/", "/_page/page.css", "/_page/page.mjs", "/_page/events", "/_page/missing"];

test.each(PATHS)("%s runs nothing from elsewhere, stands in no frame, and is not stored", async (path) => {
  const emulator = await start();
  for (const headers of [{}, asPage(emulator)]) {
    const answer = await send(emulator, "GET", path, headers);
    expect(answer.headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types 'none'",
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
    expect(answer.headers).not.toHaveProperty("set-cookie");
    expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
  }
});

test("the shell, its style and its module hold nothing of the state, and neither the token nor the key", async () => {
  const emulator = await start({ apiKey: "canary-key" });
  for (const path of ["/", "/_page/page.css", "/_page/page.mjs"]) {
    const { status, text } = await send(emulator, "GET", path);
    expect(status).toBe(200);
    for (const hidden of ["canary-key", tokenOf(emulator), "prj-demo"]) expect(text).not.toContain(hidden);
    // Nothing inline: the policy would refuse it.
    expect(path === "/" ? text : "").not.toMatch(/<script(?![^>]*src=)|<style| style=| on\w+=/);
  }
});

test("a module that the page imports is served, as each of them", async () => {
  const emulator = await start();
  const { text } = await send(emulator, "GET", "/_page/page.mjs");
  const names = [...text.matchAll(/from "\.\/(\w+\.mjs)"/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) {
    const { status, headers } = await send(emulator, "GET", `/_page/${name}`);
    expect([name, status, headers["content-type"]]).toEqual([name, 200, "text/javascript; charset=utf-8"]);
  }
});

test("a connection string, which has the key, is told to the page alone", async () => {
  const emulator = await startWatched({ apiKey: "canary-key" }, (id, key) => `${id}:${key}`);
  const path = `/_page/connection?project=prj-demo&id=${PRIMARY}`;
  for (const headers of [{}, { "svc-page-token": "wrong" }, asPage(emulator, { origin: "https://page.example.com" })]) {
    const { status, text } = await send(emulator, "GET", path, headers);
    expect([status, text.includes("canary")]).toEqual([403, false]);
  }
  const given = await send(emulator, "GET", path, asPage(emulator));
  expect(JSON.parse(given.text)).toEqual({ uri: `${PRIMARY}:canary-key` });
  const missing = path.replace(PRIMARY, "ep-missing");
  expect(await send(emulator, "GET", missing, asPage(emulator))).toMatchObject({ status: 404 });
  const other = await start();
  expect(await send(other, "GET", path, asPage(other))).toMatchObject({ status: 404 });
});

test("the page is refused under another host, as everything is", async () => {
  const emulator = await start();
  for (const path of PATHS) {
    const answer = await send(emulator, "GET", path, asPage(emulator, { host: "rebound.example.com" }));
    expect(answer.status).toBe(403);
  }
});

test("the events need the token: no other page can hold them open", async () => {
  const emulator = await start();
  for (const headers of [{}, { "svc-page-token": "" }, { "svc-page-token": "wrong" }]) {
    const { status, text } = await send(emulator, "GET", "/_page/events", headers);
    expect({ status, body: JSON.parse(text) as unknown }).toEqual({ status: 403, body: ERROR_BODY });
  }
  expect(await send(emulator, "GET", "/_page/events", asPage(emulator))).toMatchObject({ status: 200 });
});

test("a page may use the control routes with the emulator's own origin and the token, under each of its names", async () => {
  const emulator = await start();
  for (const host of [`127.0.0.1:${emulator.port}`, `localhost:${emulator.port}`, "localhost:1234", "[::1]:8787"]) {
    const headers = asPage(emulator, { host, origin: `http://${host}` });
    expect(await send(emulator, "POST", "/_emulator/edit", headers, RENAME)).toMatchObject({ status: 200 });
  }
  expect(await nameNow(emulator)).toMatchObject([{ id: PRIMARY, name: "renamed" }]);
});

test.each([
  ["another port of this machine", (emulator: Emulator) => `http://127.0.0.1:${emulator.port + 1}`],
  ["another name of this machine", (emulator: Emulator) => `http://localhost:${emulator.port}`],
  ["another scheme", (emulator: Emulator) => `https://127.0.0.1:${emulator.port}`],
  ["another site", () => "https://page.example.com"],
  ["a page without an origin", () => "null"],
  ["nothing", () => ""],
])("the token does not help a page of %s", async (_whose, origin) => {
  const emulator = await start();
  const headers = asPage(emulator, { origin: origin(emulator) });
  expect(await send(emulator, "POST", "/_emulator/edit", headers, RENAME)).toMatchObject({ status: 403 });
  expect(await send(emulator, "GET", "/_page/events", headers)).toMatchObject({ status: 403 });
  expect(await nameNow(emulator)).toMatchObject([{ id: PRIMARY }]);
  expect(await nameNow(emulator)).not.toMatchObject([{ name: "renamed" }]);
});

test.each([
  ["no token", {}],
  ["a wrong token", { "svc-page-token": "wrong" }],
  ["the token as a cookie", { cookie: "svc-page-token=TOKEN" }],
  ["the token as a key", { authorization: "Bearer TOKEN" }],
])("the own origin does not help with %s", async (_what, given: Record<string, string>) => {
  const emulator = await start();
  const headers = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value.replace("TOKEN", tokenOf(emulator))]),
  );
  const answer = await send(emulator, "POST", "/_emulator/edit", { ...headers, origin: emulator.url }, RENAME);
  expect(answer.status).toBe(403);
  expect(await nameNow(emulator)).not.toMatchObject([{ name: "renamed" }]);
});

test("a browser's question whether another page may send is refused", async () => {
  const emulator = await start();
  for (const path of ["/_emulator/edit", "/_page/events"]) {
    const { status, headers } = await send(emulator, "OPTIONS", path, {
      origin: "https://page.example.com",
      "access-control-request-method": "POST",
      "access-control-request-headers": "svc-page-token",
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});

test("the token opens no route of the API", async () => {
  const emulator = await start();
  const headers = asPage(emulator, { origin: emulator.url });
  expect(await send(emulator, "GET", `/api/v2${DEMO}/endpoints`, headers)).toMatchObject({ status: 401 });
});

test("on an address that others reach, the page needs the key, and its address has no token", async () => {
  const emulator = await start({ host: "0.0.0.0" });
  expect(emulator.pageUrl).toBe(`http://0.0.0.0:${emulator.port}/`);
  expect(await send(emulator, "GET", "/")).toMatchObject({ status: 200 });
  const origin = `http://svc.example.com:${emulator.port}`;
  const from = { host: `svc.example.com:${emulator.port}`, origin };
  for (const headers of [{}, { "svc-page-token": "" }, { authorization: "Bearer wrong" }]) {
    expect(await send(emulator, "GET", "/_page/events", { ...from, ...headers })).toMatchObject({ status: 401 });
    expect(await send(emulator, "POST", "/_emulator/edit", { ...from, ...headers }, RENAME)).toMatchObject({
      status: 401,
    });
  }
  const headers = { ...from, authorization: "Bearer test-key" };
  expect(await send(emulator, "GET", "/_page/events", headers)).toMatchObject({ status: 200 });
  expect(await send(emulator, "POST", "/_emulator/edit", headers, RENAME)).toMatchObject({ status: 200 });
});

test("what the page asks for is in no request log", async () => {
  const emulator = await start();
  for (const path of PATHS) await send(emulator, "GET", path, asPage(emulator));
  await api(emulator, "GET", `${DEMO}/endpoints`);
  expect((await control(emulator.url, "GET", "/requests")).body.requests).toMatchObject([
    { path: `${DEMO}/endpoints` },
  ]);
});
