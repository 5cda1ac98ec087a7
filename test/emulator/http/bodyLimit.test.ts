import { Agent, request } from "node:http";
import { connect } from "node:net";
import { api, control, DEMO, demoState, ERROR_BODY, PRIMARY, start } from "../../support/emulator";
import type { Emulator } from "../../../src/emulator";

const MIB = 1024 * 1024;
const ENDPOINTS = `/api/v2${DEMO}/endpoints`;
const TOO_LARGE = { ...ERROR_BODY, message: "the request body is larger than 1 MiB" };

/** JSON of this many bytes. */
const padded = (bytes: number, before = '{"endpoint":{"name":"', after = '"}}'): string =>
  before + "x".repeat(bytes - before.length - after.length) + after;

async function send(emulator: Emulator, method: string, path: string, body: string | ReadableStream, key = "test-key") {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" };
  const request = { method, headers, body, duplex: "half" as const };
  const response = await fetch(emulator.url + path, request);
  return { status: response.status, body: await response.json().catch(() => null) };
}

test.each([
  ["POST", ENDPOINTS],
  ["PATCH", `${ENDPOINTS}/${PRIMARY}`],
  ["POST", `${ENDPOINTS}/${PRIMARY}/restart`],
  ["DELETE", `/api/v2${DEMO}/auth/integration/supported_provider`],
  ["POST", "/_emulator/edit"],
  ["POST", "/_emulator/faults"],
  ["POST", "/_emulator/projects"],
  ["POST", "/_emulator/key"],
  ["POST", "/_emulator/keys"],
  ["POST", "/_emulator/tokens"],
  ["POST", "/_emulator/mail"],
  ["POST", "/_emulator/reset"],
])(
  "%s %s is refused with 413 for a body above 1 MiB, also of unsaid length, and does nothing",
  async (method, path) => {
    const emulator = await start();
    const before = await demoState(emulator);
    const body = padded(MIB + 1);
    for (const sent of [body, new Blob([body]).stream()]) {
      expect(await send(emulator, method, path, sent)).toEqual({ status: 413, body: TOO_LARGE });
    }
    expect(await demoState(emulator)).toEqual(before);
  },
);

test.each([
  ["a declared", { "content-length": 2 * MIB }],
  ["an undeclared", { "transfer-encoding": "chunked" }],
])("a client that sends a body of %s length whole gets the 413, and keeps its connection", async (_which, length) => {
  const emulator = await start();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** The status, and the port that the connection has on this side. */
  const ask = (method: string, path: string, headers: object, body?: string): Promise<(number | undefined)[]> =>
    new Promise((resolve, reject) => {
      const options = { agent, method, headers: { authorization: "Bearer test-key", ...headers } };
      const sent = request(emulator.url + path, options, (answer) => {
        const { localPort } = answer.socket;
        answer.resume().once("end", () => resolve([answer.statusCode, localPort]));
      });
      sent.once("error", reject).end(body);
    });
  try {
    const [, port] = await ask("GET", ENDPOINTS, {});
    for (const path of [ENDPOINTS, "/_emulator/edit"]) {
      expect(await ask("POST", path, length, padded(2 * MIB))).toEqual([413, port]);
      await new Promise((resolve) => setTimeout(resolve, 700)); // the web server ends what is not read within 500 ms
      expect(await ask("GET", ENDPOINTS, {})).toEqual([200, port]);
    }
  } finally {
    agent.destroy();
  }
});

test("a body of 1 MiB is read", async () => {
  const emulator = await start();
  const body = padded(MIB);
  for (const sent of [body, new Blob([body]).stream()]) {
    // The name is too long, and that is all.
    expect(await send(emulator, "PATCH", `${ENDPOINTS}/${PRIMARY}`, sent)).toMatchObject({ status: 400 });
  }
  const fault = padded(MIB, '{"path":"/none","status":503,"body":"', '"}');
  for (const sent of [fault, new Blob([fault]).stream()]) {
    expect(await send(emulator, "POST", "/_emulator/faults", sent)).toMatchObject({ status: 201 });
  }
});

test("a body of unsaid length is read as any other", async () => {
  const emulator = await start();
  const body = new Blob([JSON.stringify({ endpoint: { name: "strömt 🦊" } })]).stream();
  expect(await send(emulator, "PATCH", `${ENDPOINTS}/${PRIMARY}`, body)).toMatchObject({
    status: 200,
    body: { endpoint: { name: "strömt 🦊" } },
  });
});

test("a request whose body is refused is logged without it", async () => {
  const emulator = await start();
  await send(emulator, "PATCH", `${ENDPOINTS}/${PRIMARY}`, padded(MIB + 1));
  await api(emulator, "PATCH", `${DEMO}/endpoints/${PRIMARY}?shown=yes`, { endpoint: { name: "short" } });
  expect((await control(emulator.url, "GET", "/requests")).body.requests).toMatchObject([
    { method: "PATCH", path: `${DEMO}/endpoints/${PRIMARY}`, body: null, status: 413 },
    { method: "PATCH", query: { shown: "yes" }, body: { endpoint: { name: "short" } } },
  ]);
});

test("the size of a body is told only to who has the key", async () => {
  const emulator = await start();
  expect(await send(emulator, "POST", ENDPOINTS, padded(MIB + 1), "wrong")).toEqual({ status: 401, body: ERROR_BODY });
});

test.each([ENDPOINTS, "/_emulator/edit"])(
  "a body to %s that never ends is answered at its limit, and its connection is closed",
  async (path) => {
    const emulator = await start();
    const socket = connect(emulator.port, "127.0.0.1");
    socket.on("error", () => undefined); // the emulator closes it in the middle
    const closed = new Promise((resolve) => socket.once("close", resolve));
    let answer = "";
    socket.on("data", (part) => (answer += String(part)));
    const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer test-key\r\n`;
    socket.write(`${head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const flood = (): void => {
      while (socket.writable && socket.write(chunk)) continue;
    };
    socket.on("drain", flood);
    flood();
    await closed;
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*larger than 1 MiB/);
    expect((await api(emulator, "GET", `${DEMO}/endpoints`)).status).toBe(200);
  },
);
