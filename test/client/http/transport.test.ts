/** Over HTTP and TLS: what the sockets do. */
import { createServer } from "node:http";
import { Agent } from "node:https";
import type { AddressInfo } from "node:net";
import { Duplex } from "node:stream";
import { ApiKey } from "../../../src/client/http/apiKey";
import { Transport } from "../../../src/client/http/transport";
import { closeAll, errorOf, scripted, type Reply } from "../../support/scriptedServer";
import { PROVEN } from "../../support/proven";

afterEach(closeAll);

test("a change may take longer than an attempt of a read", async () => {
  const slow: Record<string, Reply> = {
    GET: { json: { endpoints: [] }, delayMs: 400 },
    POST: { status: 201, json: { id: "u1" }, delayMs: 400 },
    DELETE: { status: 204, delayMs: 400 },
  };
  const limits = { attemptTimeoutMs: 100, mutationAttemptTimeoutMs: 5_000 };
  const { server, client } = await scripted(({ method }) => slow[method] ?? { status: 599 }, {
    ...limits,
    readDeadlineMs: 300,
  });
  await expect(client.auth.createUser("p", { auth_provider: "a", email: "e@x.test" }, PROVEN)).resolves.toEqual({
    id: "u1",
  });
  await client.auth.deleteUser("p", "u1", PROVEN);
  expect(server.seen).toHaveLength(2);
  expect(String(await errorOf(client.computes.list("p")))).toContain("no complete response within 0.1 s");
});

test.each(["127.0.0.1", "localhost"])(
  "a service on %s is not asked through the proxy of the environment",
  async (host) => {
    let proxied = 0;
    const proxy = createServer((_request, response) => {
      proxied += 1;
      response.writeHead(502).end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const names = ["HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"];
    const before = names.map((name) => process.env[name]);
    // A TCP server's address is an object.
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    names.forEach((name) => (process.env[name] = name.toLowerCase() === "http_proxy" ? address : ""));
    try {
      const { server } = await scripted(() => ({ json: { endpoints: [] } }));
      const baseUrl = server.baseUrl.replace("127.0.0.1", host);
      const { client } = await scripted(() => ({ status: 599 }), { baseUrl, readDeadlineMs: 5_000 });
      await expect(client.computes.list("p")).resolves.toEqual([]);
      expect(proxied).toBe(0);
    } finally {
      names.forEach((name, i) => {
        const value = before[i];
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      });
      proxy.close();
    }
  },
);

test("the service's clock is that of its newest answer that tells it, and an answer without a date takes nothing back", async () => {
  const [first, later] = [Date.UTC(2030, 0, 1), Date.UTC(2031, 0, 1)];
  const dates: (number | undefined)[] = [undefined, first, undefined, later, first];
  const server = createServer((_request, response) => {
    const date = dates.shift();
    response.sendDate = false;
    if (date !== undefined) response.setHeader("date", new Date(date).toUTCString());
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A TCP server's address is an object.
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v2`;
  const transport = new Transport(baseUrl, new ApiKey("key"));
  const request = { method: "GET", template: "/x", path: "/x", timeoutMs: 60_000, repeatable: false } as const;
  const years: number[] = [];
  while (dates.length > 0) {
    await transport.send(request);
    years.push(new Date(transport.serviceNow()).getUTCFullYear());
  }
  expect(years).toEqual([Number.NaN, 2030, 2030, 2031, 2030]);
  server.close();
});

test("TLS that breaks, by whatever name, is no refused certificate, and the request may have been sent", async () => {
  const connect = jest.spyOn(Agent.prototype as unknown as { createConnection: () => Duplex }, "createConnection");
  connect.mockImplementation(() => {
    const broken = Object.assign(new Error("broken"), { code: "ERR_SSL_WRONG_VERSION_NUMBER" });
    const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done(broken) });
    const none = () => socket;
    return Object.assign(socket, { setKeepAlive: none, setNoDelay: none, setTimeout: none, ref: none, unref: none });
  });
  try {
    const transport = new Transport("https://127.0.0.1:1/api/v2", new ApiKey("key"));
    const request = { method: "POST", template: "/x", path: "/x", timeoutMs: 5_000, repeatable: false } as const;
    const error = await transport.send(request).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: "EPROTO", beforeSending: false });
    expect(String(error)).toMatch(
      /the connection to 127\.0\.0\.1:1 failed: EPROTO.*The server does not speak TLS on that port/,
    );
  } finally {
    connect.mockRestore();
  }
});
