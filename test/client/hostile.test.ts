import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { Client, FateUnknownError, SvcError, TimeoutError, type ClientOptions } from "../../src/client";
import { load } from "../../src/provider";
import { compute } from "../support/scene";
import { closeAll, errorOf, scripted, type Reply } from "../support/scriptedServer";
import { PROVEN } from "../support/proven";

/* A service, or something in front of it, that means harm or is badly broken. */

const KEY = "canary-key-Hs4";
const PROXY_PASSWORD = "canary-proxy-Hs4";
const USER = { auth_provider: "a", email: "e@x.test" };
const MB = 1024 * 1024;

const open: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
  await closeAll();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  // A TCP server's address is an object.
  return (server.address() as AddressInfo).port;
}

const clientOf = (baseUrl: string, options: Partial<ClientOptions> = {}): Client =>
  new Client({ baseUrl, apiKey: KEY, baseDelayMs: 1, lagMs: 20, readDeadlineMs: 3_000, ...options });

/** A client of a server that answers like this, and how many requests that got. */
async function serving(listener: RequestListener, options: Partial<ClientOptions> = {}) {
  const seen: string[] = [];
  const port = await listen(
    createServer((request, response) => {
      seen.push(`${request.method ?? ""} ${request.url ?? ""}`);
      response.on("error", () => undefined);
      listener(request, response);
    }),
  );
  return { seen, client: clientOf(`http://127.0.0.1:${port}/api/v2`, options) };
}

/** The same below HTTP: what is done with a socket on which a request has arrived. */
async function rawly(answer: (socket: Socket, request: string) => void, options: Partial<ClientOptions> = {}) {
  const seen: string[] = [];
  const server = createTcpServer((socket) => {
    socket.on("data", (chunk) => {
      seen.push(chunk.toString());
      answer(socket, chunk.toString());
    });
  });
  return { seen, client: clientOf(`http://127.0.0.1:${await listen(server)}/api/v2`, options) };
}

/** The words of an error that is fit to be shown. */
function wordsOf(error: unknown): string {
  expect(error).toBeInstanceOf(SvcError);
  const { message } = error as SvcError;
  expect(message).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]|axios|call stack|\bat .*:\d+:\d+/iu);
  expect(message.length).toBeLessThan(1_000);
  expect(inspect(error, { depth: null, showHidden: true })).not.toMatch(/canary|Bearer/);
  return message;
}

/** A read and a POST, both of which must fail. */
const both = async (client: Client): Promise<[read: unknown, post: unknown]> => [
  await errorOf(client.computes.list("p")),
  await errorOf(client.auth.createUser("p", USER, PROVEN)),
];

test.each([301, 302, 303, 307, 308])(
  "a redirect (%i) takes neither the key nor the request anywhere else",
  async (status) => {
    const arrived: string[] = [];
    const other = await listen(createTcpServer((socket) => socket.on("data", (data) => arrived.push(data.toString()))));
    for (const path of ["", "/elsewhere"]) {
      const { seen, client } = await serving((request, response) => {
        const location = `http://127.0.0.1:${other}${path === "" ? request.url : path}`;
        response.writeHead(status, { location }).end();
      });
      const words = `redirect to 127.0.0.1:${other}, which is not followed`;
      for (const error of await both(client)) expect(wordsOf(error)).toContain(words);
      expect(seen).toHaveLength(2);
    }
    expect(arrived).toEqual([]);
  },
);

test.each([
  ["https://login.example.com/start?token=canary#canary", "redirect to login.example.com, which"],
  ["https://me:canary@login.example.com:8443/canary", "redirect to login.example.com:8443, which"],
  ["//login.example.com/canary", "redirect to login.example.com, which"],
  [`https://${KEY}.example.com/`, "redirect to [secret], which"],
  ["/canary", "redirect to another path of the same host, which"],
  ["myapp:canary", "redirect, which"],
  ["https://[canary", "redirect, which"],
])("of the address %s of a redirect, the message names the host alone", async (location, words) => {
  const { client } = await serving((_request, response) => void response.writeHead(302, { location }).end());
  for (const error of await both(client)) {
    expect(wordsOf(error)).toContain(words);
    expect(wordsOf(error)).not.toContain("canary");
  }
});

/** Writes until the other side closes the connection, at most this many bytes. */
function flood(response: ServerResponse, chunk: Buffer, times: number): () => number {
  let written = 0;
  const go = (): void => {
    while (written < times && !response.destroyed) {
      written += 1;
      if (!response.write(chunk)) return void response.once("drain", go);
    }
    response.end();
  };
  go();
  return () => written;
}

test.each([
  ["500 MB", 64 * 1024, {}, (size: number) => Buffer.alloc(size, " ")],
  ["a gzip bomb of 500 MB", 16 * MB, { "content-encoding": "gzip" }, (size: number) => gzipSync(Buffer.alloc(size))],
] as const)("%s are not read to their end, and not kept", async (_what, size, headers, make) => {
  const chunk = make(size);
  const times = (500 * MB) / size;
  let written = (): number => 0;
  const { seen, client } = await serving((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers });
    written = flood(response, chunk, times);
  });
  const before = process.memoryUsage().rss;
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
  for (const [index, error] of (await both(client)).entries()) {
    expect(wordsOf(error)).toMatch(/longer than 10 MB/);
    expect(error instanceof FateUnknownError).toBe(index === 1);
    if (chunk.length === size) expect(written() * size).toBeLessThan(60 * MB);
  }
  clearInterval(timer);
  expect(seen).toHaveLength(2);
  expect(peak - before).toBeLessThan(200 * MB);
});

test.each([
  ["of a body", "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n"],
  ["of a header", "HTTP/1.1 200 OK\r\nx-more: "],
  ["of a status line", "HTTP/1.1 200 "],
])("a byte %s now and then holds up no deadline", async (_what, start) => {
  const answer = (socket: Socket): void => {
    socket.write(start);
    const timer = setInterval(() => socket.write("1"), 40);
    socket.on("close", () => clearInterval(timer));
  };
  const { client } = await rawly(answer, { attemptTimeoutMs: 200, readDeadlineMs: 500 });
  const began = performance.now();
  const [read, post] = await both(client);
  expect(performance.now() - began).toBeLessThan(4_000);
  expect(read).toBeInstanceOf(TimeoutError);
  expect(post).toBeInstanceOf(FateUnknownError);
  [read, post].forEach(wordsOf);
});

const DEEP = 100_000;
test.each([
  ["lists", "[".repeat(DEEP) + "]".repeat(DEEP)],
  ["objects", '{"message":'.repeat(DEEP) + "1" + "}".repeat(DEEP)],
  ["a field of a good answer", `{"id":"u1","endpoints":[],"more":${"[".repeat(DEEP)}${"]".repeat(DEEP)}}`],
])("JSON of 100,000 levels is no answer: %s", async (_what, text) => {
  for (const status of [200, 400, 404, 503]) {
    const { client } = await scripted(() => ({ status, text, headers: { "content-type": "application/json" } }), {
      readDeadlineMs: 100,
    });
    const [read, post] = await both(client);
    [read, post].forEach(wordsOf);
    if (status === 200) expect(post).toBeInstanceOf(FateUnknownError);
  }
});

describe("an id that is invalid", () => {
  const HARMFUL = ["", ".", "..", "ep\n1", "ep-\u001b[2J", "ep-\u202e1", "ep-\u0000", "e".repeat(10_000)];

  test.each(HARMFUL.map((id) => [id.slice(0, 9), id]))(
    "%j is taken from no answer, so that no state holds it",
    async (_short, id) => {
      const lists = { endpoints: [compute({ id })], providers: [{ id, type: "shared" }], branches: [{ id }] };
      const { server, client } = await scripted(({ method }) => ({ json: method === "GET" ? lists : { id } }));
      expect(wordsOf(await errorOf(client.computes.list("p")))).toMatch(/an unexpected shape: endpoints\.0\.id/);
      expect(wordsOf(await errorOf(client.auth.oauthProviders("p").list()))).toMatch(/providers\.0\.id/);
      expect(wordsOf(await errorOf(client.projects.branches("p")))).toMatch(/branches\.0\.id/);
      expect(await errorOf(client.auth.createUser("p", USER, PROVEN))).toBeInstanceOf(FateUnknownError);
      expect(server.seen).toHaveLength(4);
    },
  );

  test.each(["../../q/users/v", "a/../b", "%2f..%2f", "a?b#c", "a b"])("%j stays one segment of a path", async (id) => {
    const { server, client } = await scripted(({ method }) =>
      method === "POST" ? { status: 201, json: { id } } : { status: 204 },
    );
    const made = await client.auth.createUser("p", USER, PROVEN);
    await client.auth.deleteUser("p", made.id, PROVEN);
    expect(server.lines()[1]).toBe(`DELETE /projects/p/auth/users/${encodeURIComponent(id)}`);
  });
});

const NASTY = "\u001b[2J\u001b]0;owned\u0007 \u202e\u200f\u2066line\r\nsecond\u2028third\u0000";

test("terminal escapes, bidi marks and line ends of the service reach no message", async () => {
  const replies: Reply[] = [
    { status: 400, json: { code: NASTY, message: NASTY, request_id: NASTY } },
    { status: 409, json: { code: "", message: NASTY } },
    { status: 200, json: { [NASTY]: NASTY, endpoints: [{ [NASTY]: 1 }] } },
  ];
  for (const reply of replies) {
    const { client } = await scripted(() => reply);
    (await both(client)).forEach(wordsOf);
  }
});

test("nor do they where a message names what a list shows", async () => {
  const record = {
    auth_provider: "supported_provider",
    auth_provider_project_id: "x",
    branch_id: NASTY,
    db_name: NASTY,
  };
  let lists = 0;
  const { server } = await scripted(({ method }) => {
    if (method === "POST") return { status: 409, json: { code: "", message: "there is one" } };
    lists += 1;
    return { json: { data: lists > 1 ? [record] : [] } };
  });
  const settings: Record<string, string> = { "svc:apiKey": KEY, "svc:baseUrl": server.baseUrl };
  const provider = load("AuthIntegration");
  await provider.configure({ config: { get: (name: string) => settings[name], require: () => "" } });
  const error = await errorOf(provider.create({ projectId: "prj-1", branchId: "br-1" }));
  expect((error as Error).message).toMatch(/an auth integration exists on .*second/);
  expect((error as Error).message).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u);
});

test.each([
  ["headers of 1 MB", `HTTP/1.1 200 OK\r\nx-more: ${"x".repeat(MB)}\r\ncontent-length: 2\r\n\r\n{}`],
  ["a body that is shorter than announced", "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{}"],
  ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 40\r\n\r\n{}"],
  ["no HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
  [
    "a length and chunks",
    "HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
  ],
  ["a chunk size that is none", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}"],
  ["a switch of protocols", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
])("%s: an error with a message, and a POST is sent once", async (_what, answer) => {
  const { seen, client } = await rawly((socket) => socket.end(answer), { attemptTimeoutMs: 300, readDeadlineMs: 300 });
  const [read, post] = await both(client);
  [read, post].forEach(wordsOf);
  expect(post).toBeInstanceOf(FateUnknownError);
  expect(seen.filter((request) => request.startsWith("POST"))).toHaveLength(1);
});

test("what follows a body that is longer than announced is no answer to the next request", async () => {
  const good = '{"endpoints":[]}';
  const smuggled = `HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"endpoints":[{"id":"ep-evil"}],"padding":"xxxxxx"}`;
  const { client } = await rawly((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${good.length}\r\n\r\n${good}${smuggled}`),
  );
  for (let nth = 0; nth < 3; nth += 1)
    await expect(client.computes.list("p", { since: performance.now() })).resolves.toEqual([]);
});

test("a flood of interim answers ends with the attempt", async () => {
  const hints = Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".repeat(500));
  const { client } = await rawly(
    (socket) => {
      const timer = setInterval(() => socket.writableLength < MB && socket.write(hints), 1);
      socket.on("close", () => clearInterval(timer));
    },
    { attemptTimeoutMs: 300, readDeadlineMs: 600 },
  );
  const began = performance.now();
  const [read, post] = await both(client);
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(read).toBeInstanceOf(TimeoutError);
  expect(post).toBeInstanceOf(FateUnknownError);
});

test("a connection that is closed under a request: a read is repeated, a POST is not", async () => {
  const good = '{"endpoints":[]}';
  const used: Socket[] = [];
  const { seen, client } = await rawly((socket, request) => {
    used.push(socket);
    if (request.startsWith("POST") || used.length === 2) return void socket.destroy();
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${good.length}\r\n\r\n${good}`);
  });
  for (let read = 0; read < 2; read += 1) await client.computes.list("p", { since: performance.now() });
  expect(await errorOf(client.auth.createUser("p", USER, PROVEN))).toBeInstanceOf(FateUnknownError);
  expect(seen.map((request) => request.split(" ")[0])).toEqual(["GET", "GET", "GET", "POST"]);
  // The read was closed on a connection that had been kept. A POST has one of its own, though one is kept here as well.
  expect(used.map((socket) => used.indexOf(socket))).toEqual([0, 0, 2, 3]);
});

describe("a proxy", () => {
  const names = ["HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"];
  const before = names.map((name) => process.env[name]);
  afterEach(() =>
    names.forEach((name, index) => {
      const value = before[index];
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }),
  );

  test.each([
    ["refuses", "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n"],
    [
      "wants a password",
      "HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n",
    ],
    ["answers with a page", "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>log in</html>"],
    ["redirects", "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"],
    ["talks of something else", `${NASTY}\r\n\r\n`],
    ["hangs up", ""],
  ])("that %s is never given the key, nor the password of the proxy shown", async (_what, answer) => {
    const seen: string[] = [];
    const port = await listen(
      createTcpServer((socket) =>
        socket.on("data", (data) => {
          seen.push(data.toString("latin1"));
          socket.end(answer);
        }),
      ),
    );
    names.forEach((name) => (process.env[name] = ""));
    process.env["https_proxy"] = `http://user:${PROXY_PASSWORD}@127.0.0.1:${port}`;
    const client = clientOf("https://service.invalid/api/v2", { attemptTimeoutMs: 500, readDeadlineMs: 500 });
    for (const error of await both(client)) expect(wordsOf(error)).toMatch(/service\.invalid|response|redirect|40[37]/);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen[0]).toMatch(/^CONNECT service\.invalid:443 /);
    expect(seen.join("")).not.toMatch(/canary-key|Bearer|POST|GET/);
  });
});
