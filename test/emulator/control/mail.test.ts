import { createServer, Socket, type AddressInfo, type Server } from "node:net";
import type { LookupAddress } from "node:dns";
import dns from "node:dns/promises";
import net from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { sendBySmtp, type SmtpSettings } from "../../../src/emulator/control/smtp";
import {
  control,
  ERROR_BODY,
  integrate,
  records,
  start,
  STANDARD_EMAIL,
  type Answer,
  type Json,
} from "../../support/emulator";

const PASSWORD = "canary-smtp-password";
const SECRETS = [PASSWORD, ...["", "mailer:", "\0mailer\0"].map((more) => btoa(more + PASSWORD).replace(/=+$/, ""))];
const MESSAGE = { to: "ana@example.com", subject: "Hello", text: "Line one\n" };

interface Received {
  user: unknown;
  tls: boolean;
  from: unknown;
  to: string[];
  raw: string;
}

const servers: (SMTPServer | Server)[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  jest.restoreAllMocks();
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise<void>((done) => server.close(() => done()))));
});

const portOf = (server: Server | SMTPServer["server"]): number => (server.address() as AddressInfo).port;

/** A real server on a loopback address, with the certificate that smtp-server brings along, signed by itself. */
async function smtpServer(options: SMTPServerOptions = {}): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = [];
  const server = new SMTPServer({
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      username === "mailer" && password === PASSWORD
        ? done(null, { user: username })
        : done(Object.assign(new Error(`no: ${password}`), { responseCode: 535 })),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          user: session.user,
          tls: session.secure,
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
    ...options,
  });
  servers.push(server);
  server.on("error", () => undefined);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", () => done()));
  return { port: portOf(server.server), received };
}

/** Another listener, which is notified of each connection. */
async function listener(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.resume();
    onConnection(socket);
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", () => done()));
  return portOf(server);
}

/** Stands in for the connections to e-mail servers alone: those of fetch go through the same function. */
function onMailConnect(stand: (options: net.TcpNetConnectOpts) => Socket): jest.Mock {
  const real = net.connect.bind(net);
  const mail = jest.fn(stand);
  jest
    .spyOn(net, "connect")
    .mockImplementation(((options: net.TcpNetConnectOpts) =>
      options.lookup === undefined ? real(options) : mail(options)) as typeof net.connect);
  return mail;
}

/** An emulator whose project declares this e-mail server. */
async function declared(settings: Json, options: Parameters<typeof start>[0] = {}) {
  const emulator = await start(options);
  await integrate(emulator);
  const fields = { ...STANDARD_EMAIL, host: "127.0.0.1", password: PASSWORD, ...settings };
  const answer = await control(emulator.url, "POST", "/edit", {
    ...{ kind: "email_server", project_id: "prj-demo", set: fields },
  });
  expect(answer.status).toBe(200);
  return emulator;
}

const send = (emulator: { url: string }, body: unknown = MESSAGE): Promise<Answer> =>
  control(emulator.url, "POST", "/mail", body);

/** A refusal by the server, whose words never hold the password. */
function expectFailure({ status, body, text }: Answer, words: RegExp, wanted = 502): void {
  expect([status, body]).toEqual([wanted, { ...ERROR_BODY, message: expect.stringMatching(words) }]);
  for (const secret of SECRETS) expect(text).not.toContain(secret);
}

test("a message arrives through the declared settings, by STARTTLS, with their sender", async () => {
  const { port, received } = await smtpServer();
  const emulator = await declared({ port });
  const { status, body } = await send(emulator);
  expect([status, body]).toEqual([
    201,
    { delivered: "smtp", project_id: "prj-demo", host: "127.0.0.1", port, authenticated: true },
  ]);
  expect(received).toMatchObject([
    { user: "mailer", tls: true, from: "no-reply@example.com", to: ["ana@example.com"] },
  ]);
  expect(received[0]?.raw).toMatch(
    /^From: Example <no-reply@example\.com>\r\nTo: ana@example\.com\r\nSubject: Hello\r\n/,
  );
  expect(received[0]?.raw).toMatch(/\r\n\r\nLine one\r\n$/);
  // The inbox is the shared server's.
  expect((await control(emulator.url, "GET", "/mail")).body).toEqual({ messages: [] });
});

describe("characters beyond ASCII", () => {
  const WITHOUT = { hideSMTPUTF8: true };
  const words = { subject: "Grüße 👋", text: "Zoë sagt: schön\n" };

  test("arrive in the subject, the text and the domain, whatever the server announces", async () => {
    const { port, received } = await smtpServer(WITHOUT);
    const emulator = await declared({ port });
    expect((await send(emulator, { to: "ana@bücher.example.com", ...words })).status).toBe(201);
    expect(received[0]?.raw).toContain("To: ana@xn--bcher-kva.example.com\r\n");
    expect(received[0]?.raw).toMatch(/\r\nSubject: =\?UTF-8\?[\x21-\x7e]+\?=\r\n/);
    expect(received[0]?.raw).toContain("Zo=C3=AB sagt: sch=C3=B6n");
  });

  test.each([
    ["of who receives", STANDARD_EMAIL.sender_email, "zoë@example.com"],
    ["of who sends", "grüße@example.com", "ana@example.com"],
  ])("in an address %s need a server that announces SMTPUTF8", async (_whose, sender_email, to) => {
    const { port, received } = await smtpServer();
    expect((await send(await declared({ port, sender_email }), { to, ...words })).status).toBe(201);
    expect(received).toMatchObject([{ to: [to], from: sender_email }]);
    const other = await smtpServer(WITHOUT);
    const began = Date.now();
    const refused = await send(await declared({ port: other.port, sender_email }), { to, ...words });
    expectFailure(refused, /did not accept the message: it does not announce SMTPUTF8, which the address \S+ needs$/);
    expect(Date.now() - began).toBeLessThan(5_000);
    expect(other.received).toEqual([]);
  });

  test("arrive in the inbox as they were sent", async () => {
    const emulator = await start();
    await integrate(emulator);
    await send(emulator, { to: "zoë@bücher.example.com", ...words });
    const { body } = await control(emulator.url, "GET", "/mail");
    expect(body.messages).toMatchObject([{ to: "zoë@bücher.example.com", ...words }]);
  });
});

test("a name that resolves to a loopback address is one", async () => {
  const { port, received } = await smtpServer();
  expect((await send(await declared({ host: "localhost", port }))).status).toBe(201);
  expect(received).toHaveLength(1);
});

test("port 465 is TLS from the start", async () => {
  const secure = await smtpServer({ secure: true });
  const plain = await smtpServer();
  const emulator = await declared({ port: 465 });
  const real = net.connect.bind(net);
  let target = 0;
  // Only the system's administrator may listen on 465.
  onMailConnect((options) => real({ ...options, port: target }));
  for (const [{ port }, status] of [
    [secure, 201],
    [plain, 502],
  ] as const) {
    target = port;
    const answer = await send(emulator);
    expect(answer.status).toBe(status);
    if (status === 502)
      expectFailure(answer, /127\.0\.0\.1:465 did not accept the message: .*Port 465 is TLS from the start/);
  }
  expect(secure.received).toMatchObject([{ tls: true, user: "mailer" }]);
  expect(plain.received).toEqual([]);
});

test("a server without STARTTLS and without a login takes the message, and the answer says that it did not ask", async () => {
  const { port, received } = await smtpServer({ disabledCommands: ["STARTTLS", "AUTH"], authOptional: true });
  expect((await send(await declared({ port }))).body).toMatchObject({ delivered: "smtp", authenticated: false });
  expect(received).toMatchObject([{ tls: false }]);
});

describe("a wrong setting is reported with a message, never with the password", () => {
  test.each([
    ["username", "somebody"],
    ["password", "canary-wrong-password"],
  ])("%s", async (name, value) => {
    const { port, received } = await smtpServer();
    const answer = await send(await declared({ port, [name]: value }));
    expectFailure(answer, /did not accept the message: it refused the user name or the password.* \(535\)$/);
    expect(answer.text).not.toContain("canary");
    expect(received).toEqual([]);
  });

  test("port: nothing listens there", async () => {
    const { port } = await smtpServer();
    await new Promise<void>((done) => servers.pop()?.close(() => done()));
    expectFailure(await send(await declared({ port })), /nothing listens there \(ECONNREFUSED\)\. Check host and port/);
  });

  test("port: something else listens there", async () => {
    const http = await listener((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    expectFailure(await send(await declared({ port: http })), /did not accept the message: /);
    const closing = await listener((socket) => socket.end());
    expectFailure(await send(await declared({ port: closing })), /closed the connection|connection failed/);
  });

  test("host: it does not resolve", async () => {
    jest.spyOn(dns, "lookup").mockRejectedValue(Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" }));
    const answer = await send(await declared({ host: "no.such.invalid" }));
    expectFailure(answer, /e-mail server no\.such\.invalid:587 .*does not resolve \(ENOTFOUND\)\. Check the host/);
  });

  test("sender: the server says why it refuses it", async () => {
    const { port } = await smtpServer({
      onMailFrom: (_address, _session, done) =>
        done(Object.assign(new Error("5.7.1 sender is not verified"), { responseCode: 550 })),
    });
    expectFailure(await send(await declared({ port })), /refused the sender.* \(550 5\.7\.1 sender is not verified\)$/);
  });

  test.each(SECRETS)("a reply that repeats %p is not quoted", async (secret) => {
    const { port } = await smtpServer({
      onRcptTo: (_address, _session, done) => done(Object.assign(new Error(`no ${secret}`), { responseCode: 550 })),
    });
    expectFailure(await send(await declared({ port })), /refused the sender or the recipient \(550\)$/);
  });
});

describe("a server that does not answer ends in bounded time", () => {
  const settings = (port: number): SmtpSettings => ({
    ...{ type: "standard", host: "127.0.0.1", port, username: "mailer", password: PASSWORD },
    ...{ sender_email: "a@example.com", sender_name: "A" },
  });

  test.each([
    ["says nothing", () => undefined],
    [
      "says a line at a time, without end",
      (socket: Socket) => void setInterval(() => socket.write("220-x\r\n"), 20).unref(),
    ],
    ["stops after the greeting", (socket: Socket) => void socket.write("220 hello\r\n")],
  ])("where it %s", async (_how, onConnection) => {
    let closed = 0;
    const port = await listener((socket) => {
      socket.once("close", () => (closed += 1));
      onConnection(socket);
    });
    await expect(sendBySmtp(settings(port), MESSAGE, { remote: false, deadlineMs: 300 })).rejects.toThrow(
      /did not accept the message: no answer within 0\.3 s$/,
    );
    while (closed === 0) await new Promise((done) => setTimeout(done, 10));
  });

  test("where its name is being resolved, and no connection is made later", async () => {
    let resolved: (addresses: LookupAddress[]) => void = () => undefined;
    const pending = new Promise<LookupAddress[]>((done) => (resolved = done));
    jest.spyOn(dns, "lookup").mockReturnValue(pending as unknown as ReturnType<typeof dns.lookup>);
    const connect = onMailConnect(() => new Socket());
    const sending = sendBySmtp(settings(25), MESSAGE, { remote: false, deadlineMs: 100 });
    await expect(sending).rejects.toThrow(/no answer within 0\.1 s/);
    resolved([{ address: "127.0.0.1", family: 4 }]);
    await new Promise((done) => setTimeout(done, 20));
    expect(connect).not.toHaveBeenCalled();
  });
});

describe("other machines", () => {
  const resolving = (...addresses: string[]) =>
    jest
      .spyOn(dns, "lookup")
      .mockResolvedValue(addresses.map((address) => ({ address, family: 4 })) as unknown as LookupAddress);
  const REFUSED = /smtp\.example\.com is not on this machine.*nothing was sent.*--mail-remote/;

  test.each([[["192.0.2.1"]], [["127.0.0.1", "192.0.2.1"]], [["0.0.0.0"]], [["::ffff:192.0.2.1"]]])(
    "are not connected to: a name that resolves to %j",
    async (addresses) => {
      resolving(...addresses);
      const connect = onMailConnect(() => new Socket());
      expectFailure(await send(await declared({ host: "smtp.example.com" })), REFUSED, 403);
      expect(connect).not.toHaveBeenCalled();
    },
  );

  /** A connection that ends at a local server, and seems to have come to another machine. */
  const leadingTo = (target: () => number) => {
    const real = net.connect.bind(net);
    onMailConnect(({ lookup: _lookup, ...options }) => {
      const socket = real({ ...options, host: "127.0.0.1", port: target() });
      Object.defineProperty(socket, "remoteAddress", { value: "192.0.2.1" });
      return socket;
    });
  };

  test("are told by the address that was connected to, whatever the name resolved to", async () => {
    const { port, received } = await smtpServer();
    resolving("127.0.0.1");
    leadingTo(() => port);
    expectFailure(await send(await declared({ host: "smtp.example.com" })), REFUSED, 403);
    expect(received).toEqual([]);
  });

  test("are sent to with mailRemote, and must prove who they are", async () => {
    const proven = await smtpServer({ hideSTARTTLS: true, allowInsecureAuth: true });
    const emulator = await declared({ host: "smtp.example.com", port: 587 }, { mailRemote: true });
    resolving("192.0.2.1");
    let target = proven.port;
    leadingTo(() => target);
    expect((await send(emulator)).status).toBe(201);
    const selfSigned = await smtpServer();
    target = selfSigned.port;
    expectFailure(await send(emulator), /TLS failed|connection failed/);
    expect([proven.received.length, selfSigned.received.length]).toEqual([1, 0]);
  });
});

describe("no header can be injected", () => {
  test("by the sender's name, which the API takes as it is", async () => {
    const { port, received } = await smtpServer();
    const sender_name = 'Evil\r\nBcc: victim@example.com\r\n\r\n<b>, "x" <y@example.com>, ';
    const answer = await send(await declared({ port, sender_name }));
    expect(answer.status).toBe(201);
    const [headers = ""] = received[0]?.raw.split("\r\n\r\n") ?? [];
    const names = headers.split(/\r\n(?!\s)/).map((line) => line.split(":")[0]);
    expect(names.sort()).toEqual(
      [
        "Content-Transfer-Encoding",
        "Content-Type",
        "Date",
        "From",
        "MIME-Version",
        "Message-ID",
        "Subject",
        "To",
      ].sort(),
    );
    expect(received[0]).toMatchObject({ from: "no-reply@example.com", to: ["ana@example.com"] });
  });

  test.each([
    ["to", "a@example.com\r\nRCPT TO:<b@example.com>"],
    ["to", "a@example.com, b@example.com"],
    ["to", "a@example.com> <b@example.com"],
    ["to", "a\u0000@example.com"],
    ["to", "nobody"],
    ["to", ["a@example.com"]],
    ["to", { address: "a@example.com" }],
    ["to", `${"a".repeat(400)}@example.com`],
    ["subject", "Hello\r\nBcc: b@example.com"],
    ["subject", "Hello\nBcc: b@example.com"],
    ["subject", "x".repeat(1000)],
    ["subject", 5],
    ["text", { path: "/etc/passwd" }],
    ["text", "x".repeat(100_001)],
    ["html", "<b>"],
    ["attachments", [{ path: "/etc/passwd" }]],
    ["from", "other@example.com"],
  ])("by %s: %p is refused", async (name, value) => {
    const { port, received } = await smtpServer();
    const { status, body } = await send(await declared({ port }), { ...MESSAGE, [name]: value });
    expect([status, body]).toEqual([400, { ...ERROR_BODY, message: expect.stringContaining(name) }]);
    expect(received).toEqual([]);
  });

  test("what is missing or no address is reported once, and with a message", async () => {
    const emulator = await declared({ port: 25 });
    const refusal = async (body: object): Promise<unknown> => (await send(emulator, body)).body.message;
    expect(await refusal({ to: "nobody" })).toBe("invalid request: to: must be one e-mail address");
    expect(await refusal({})).toMatch(/^invalid request: to: [^;]+$/);
  });

  test("a subject of other letters arrives", async () => {
    const { port, received } = await smtpServer();
    await send(await declared({ port }), { to: "ana@example.com", subject: "Zoë 🦊: 日本" });
    expect(received[0]?.raw).toMatch(/Subject: =\?UTF-8\?/);
  });
});

describe("with the shared server", () => {
  const inbox = async (emulator: { url: string }) =>
    records((await control(emulator.url, "GET", "/mail")).body, "messages");

  test("a message lands in the inbox, until it is cleared or reset", async () => {
    const emulator = await start();
    await integrate(emulator);
    const { status, body } = await send(emulator);
    const { delivered, ...kept } = body;
    expect([status, delivered]).toEqual([201, "inbox"]);
    expect(kept).toEqual({
      ...{ id: expect.any(String), project_id: "prj-demo", ...MESSAGE },
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await inbox(emulator)).toEqual([kept]);
    expect((await control(emulator.url, "DELETE", "/mail")).status).toBe(204);
    expect(await inbox(emulator)).toEqual([]);
    await send(emulator, { to: "bo@example.com" });
    expect(await inbox(emulator)).toMatchObject([{ to: "bo@example.com", subject: expect.stringMatching(/./) }]);
    await control(emulator.url, "POST", "/reset");
    expect(await inbox(emulator)).toEqual([]);
  });

  test("it holds the last 200", async () => {
    const emulator = await start();
    await integrate(emulator);
    await Promise.all(Array.from({ length: 250 }, (_, at) => send(emulator, { ...MESSAGE, subject: String(at) })));
    expect(await inbox(emulator)).toHaveLength(200);
  });

  test("a project without an integration, and one that is not said, are refused", async () => {
    const emulator = await start();
    expect((await send(emulator)).text).toContain("no project has an auth integration");
    expect((await send(emulator, { ...MESSAGE, project_id: "prj-none" })).status).toBe(404);
    expect((await send(emulator, { ...MESSAGE, project_id: "prj-demo" })).status).toBe(404);
  });
});
