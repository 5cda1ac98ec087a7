import { connect, type Socket } from "node:net";
import { Feed } from "../../../src/emulator/page/feed";
import type { Emulator } from "../../../src/emulator";
import {
  api,
  control,
  createCompute,
  DEMO,
  ERROR_BODY,
  integrate,
  PRIMARY,
  start,
  STANDARD_EMAIL,
} from "../../support/emulator";

interface Entry {
  kind: string;
  project: string;
  id: string;
  value: Record<string, unknown>;
}

interface Message {
  set: [string, Entry][];
  gone: string[];
  fresh: boolean;
  now: number;
}

const credentials = ({ pageUrl }: Emulator) => ({ "svc-page-token": new URL(pageUrl).hash.slice("#token=".length) });

/** What a page knows: it applies each message as page.mjs does. */
class Reader {
  readonly messages: Message[] = [];
  readonly known = new Map<string, Entry>();
  text = "";
  ended = false;
  private readonly abort = new AbortController();
  private waiting: (() => void)[] = [];

  static async open(emulator: Emulator, headers: Record<string, string> = credentials(emulator)): Promise<Reader> {
    const reader = new Reader();
    opened.push(reader);
    const response = await fetch(`${emulator.url}/_page/events`, {
      headers,
      signal: reader.abort.signal,
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    void reader.read(response).catch(() => reader.end());
    await reader.until(() => reader.messages.length > 0);
    return reader;
  }

  close(): void {
    this.abort.abort();
  }

  find(kind: string, id: string): Entry["value"] | undefined {
    return [...this.known.values()].find((entry) => entry.kind === kind && entry.id === id)?.value;
  }

  async until(passes: () => boolean): Promise<void> {
    while (!passes()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private end(): void {
    this.ended = true;
    this.wake();
  }

  private wake(): void {
    for (const each of this.waiting.splice(0)) each();
  }

  private async read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    for await (const part of response.body ?? []) {
      this.text += decoder.decode(part as Uint8Array, { stream: true }); // a body is made of bytes
      const events = this.text.split("\n\n");
      this.text = events.pop() ?? "";
      for (const event of events) if (event.startsWith("data: ")) this.apply(JSON.parse(event.slice(6)) as Message); // written by the feed
      this.wake();
    }
    this.end();
  }

  private apply(message: Message): void {
    this.messages.push(message);
    if (message.fresh) this.known.clear();
    for (const key of message.gone) this.known.delete(key);
    for (const [key, entry] of message.set) this.known.set(key, entry);
  }
}

const opened: Reader[] = [];
afterEach(() => opened.splice(0).forEach((reader) => reader.close()));

test("the first event holds everything, and the next ones what has changed", async () => {
  const emulator = await start();
  const reader = await Reader.open(emulator);
  expect(reader.messages).toMatchObject([{ fresh: true, gone: [] }]);
  expect(reader.find("project", "prj-demo")).toMatchObject({ name: "demo" });
  expect(reader.find("endpoint", PRIMARY)).toMatchObject({ current_state: "active", autoscaling_limit_max_cu: 2 });
  const created = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
  const id = String(created.id);
  await reader.until(() => reader.find("endpoint", id)?.current_state === "active");
  expect(reader.messages.slice(1).flatMap(({ set }) => set.map(([, { kind }]) => kind))).not.toContain("project");
  expect([...reader.known.values()].filter(({ kind }) => kind === "operation")).toMatchObject([
    { value: { endpoint_id: id, action: "start_compute", status: "finished", started_ms: expect.any(Number) } },
  ]);
  await api(emulator, "DELETE", `${DEMO}/endpoints/${id}`);
  await reader.until(() => reader.find("endpoint", id) === undefined);
});

test("each change by hand, fault and request arrives", async () => {
  const emulator = await start();
  const reader = await Reader.open(emulator);
  const edit = (kind: string, more: object) =>
    control(emulator.url, "POST", "/edit", { kind, project_id: "prj-demo", ...more });
  await edit("domain", { create: { domain: "https://by-hand.example.com" } });
  await reader.until(() => reader.find("domain", "https://by-hand.example.com") !== undefined);
  await edit("endpoint", { id: PRIMARY, set: { autoscaling_limit_max_cu: 8 } });
  await reader.until(() => reader.find("endpoint", PRIMARY)?.autoscaling_limit_max_cu === 8);

  const { body } = await control(emulator.url, "POST", "/faults", { status: 503, body: "canary" });
  const fault = String(body.id);
  await reader.until(() => reader.find("fault", fault) !== undefined);
  await api(emulator, "GET", `${DEMO}/endpoints`);
  await reader.until(() => reader.find("fault", fault) === undefined && reader.find("request", "0")?.status === 503);
  await control(emulator.url, "DELETE", "/requests");
  await reader.until(() => reader.find("request", "0") === undefined);
  await api(emulator, "GET", `${DEMO}/branches`);
  await reader.until(() => reader.find("request", "1")?.status === 200);
  await control(emulator.url, "POST", "/reset");
  await reader.until(() => reader.find("domain", "https://by-hand.example.com") === undefined);
});

test("a compute that goes idle by itself is seen on its way", async () => {
  const emulator = await start({ idleAfterMs: 20, activationMs: 900 });
  const reader = await Reader.open(emulator);
  await reader.until(() => reader.find("endpoint", PRIMARY)?.pending_state === "idle");
  await reader.until(() => reader.find("endpoint", PRIMARY)?.current_state === "idle");
});

test("what the control routes mask is masked here", async () => {
  const emulator = await start({ apiKey: "canary-api-key" });
  await integrate(emulator);
  await api(emulator, "PATCH", `${DEMO}/auth/email_server`, { ...STANDARD_EMAIL, password: "canary-smtp" });
  await api(emulator, "POST", `${DEMO}/auth/oauth_providers`, {
    id: "microsoft",
    client_id: "client",
    client_secret: "canary-client",
  });
  const transfer = await api(emulator, "POST", "/projects/auth/transfer_ownership", {
    project_id: "prj-demo",
    auth_provider: "supported_provider",
  });
  const keys = await api(emulator, "POST", "/projects/auth/keys", {
    project_id: "prj-demo",
    auth_provider: "supported_provider",
  });
  expect(await control(emulator.url, "POST", "/keys", { project_id: "prj-demo" })).toMatchObject({ status: 201 });
  const settings = { pg_settings: { "app.token": "canary-setting", work_mem: "8MB" } };
  await api(emulator, "PATCH", `${DEMO}/endpoints/${PRIMARY}`, { endpoint: { settings } });
  await control(emulator.url, "POST", "/faults", {
    status: 500,
    body: "canary-fault",
    headers: { "x-a": "canary-head" },
  });
  const reader = await Reader.open(emulator);
  const shown = JSON.stringify([...reader.known]);
  expect(keys.status).toBe(201);
  expect(shown).not.toContain("canary-");
  expect(shown).not.toContain(String(keys.body.secret_server_key));
  expect(shown).not.toContain(String(transfer.body.url).split("/").at(-1));
  expect(shown).not.toMatch(/private|hashes|signing_keys|secret_server_key/);
  expect(shown).toContain(String(keys.body.pub_client_key));
  expect(shown).toContain("/.well-known/jwks.json");
  expect(shown).toContain("sha256:");
  expect(shown).toContain("8MB");
});

test("a message, its end and a key arrive; the text of the message does not", async () => {
  const emulator = await start();
  await integrate(emulator);
  const reader = await Reader.open(emulator);
  const { body } = await control(emulator.url, "POST", "/mail", { to: "ada@example.com", text: "canary" });
  const id = String(body.id);
  await reader.until(() => reader.find("mail", id)?.to === "ada@example.com");
  expect(reader.text).not.toContain("canary");
  expect(await control(emulator.url, "GET", `/mail/${id}`)).toMatchObject({ status: 200, body: { text: "canary" } });
  await control(emulator.url, "DELETE", "/mail");
  await reader.until(() => reader.find("mail", id) === undefined);
  expect(await control(emulator.url, "GET", `/mail/${id}`)).toMatchObject({ status: 404, body: ERROR_BODY });
  const kid = String((await control(emulator.url, "POST", "/keys")).body.kid);
  await reader.until(() => reader.find("signing_key", kid)?.signs === true);
});

test("an edit that would leave an integration without an address is refused, and the open page lives on", async () => {
  const emulator = await start();
  await integrate(emulator);
  const reader = await Reader.open(emulator);
  const edit = (set: object) =>
    control(emulator.url, "POST", "/edit", { kind: "integration", project_id: "prj-demo", set });
  expect(await edit({ auth_provider_project_id: "\ud800" })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("auth_provider_project_id") },
  });
  expect(await edit({ auth_provider_project_id: "a/b \u{1F511}" })).toMatchObject({ status: 200 });
  const address = () => String(reader.find("integration", "supported_provider")?.jwks_url);
  await reader.until(() => address().includes("/auth/a%2Fb%20%F0%9F%94%91/"));
  expect(await control(emulator.url, "GET", "/state")).toMatchObject({ status: 200 });
});

test("a large body is shortened", async () => {
  const emulator = await start();
  await api(emulator, "PATCH", `${DEMO}/endpoints/${PRIMARY}`, { endpoint: { name: "x".repeat(100_000) } });
  const reader = await Reader.open(emulator);
  const body = String(reader.find("request", "0")?.body);
  expect(body.length).toBeLessThan(2200);
  expect(body).toContain("/_emulator/requests shows all");
});

test("closing the emulator ends every stream", async () => {
  const emulator = await start();
  const readers = await Promise.all(Array.from({ length: 10 }, () => Reader.open(emulator)));
  await emulator.close();
  for (const reader of readers) await reader.until(() => reader.ended);
});

const withKey = (key: string) => ({ authorization: `Bearer ${key}` });

test("on an address that others reach, a rotation or reset of the key ends every stream that was opened with another", async () => {
  const emulator = await start({ host: "0.0.0.0" });
  const rotate = (from: string, path: string, body?: object) =>
    fetch(`${emulator.url}/_emulator${path}`, {
      method: "POST",
      headers: withKey(from),
      ...(body && { body: JSON.stringify(body) }),
    });
  const first = await Promise.all(Array.from({ length: 3 }, () => Reader.open(emulator, withKey("test-key"))));
  expect(await rotate("test-key", "/key", { api_key: "second-key" })).toMatchObject({ status: 204 });
  for (const reader of first) await reader.until(() => reader.ended);
  expect(await fetch(`${emulator.url}/_page/events`, { headers: withKey("test-key") })).toMatchObject({ status: 401 });

  const second = await Reader.open(emulator, withKey("second-key"));
  // To the same key: nothing changes.
  expect(await rotate("second-key", "/key", { api_key: "second-key" })).toMatchObject({ status: 204 });
  await api({ baseUrl: emulator.baseUrl, apiKey: "second-key" }, "GET", `${DEMO}/branches`);
  await second.until(() => second.find("request", "0")?.status === 200);
  expect(second.ended).toBe(false);
  expect(await rotate("second-key", "/reset")).toMatchObject({ status: 204 });
  await second.until(() => second.ended);
});

test("on a loopback address a stream lives on: the token of the page is not the key", async () => {
  const emulator = await start();
  const reader = await Reader.open(emulator);
  await control(emulator.url, "POST", "/key", { api_key: "second-key" });
  await api({ baseUrl: emulator.baseUrl, apiKey: "second-key" }, "GET", `${DEMO}/branches`);
  await reader.until(() => reader.find("request", "0")?.status === 200);
  expect(reader.ended).toBe(false);
});

test("too many pages are refused with a message, and a closed one makes room", async () => {
  const emulator = await start();
  const readers = await Promise.all(Array.from({ length: 50 }, () => Reader.open(emulator)));
  const refused = await fetch(`${emulator.url}/_page/events`, { headers: credentials(emulator) });
  expect({ status: refused.status, body: await refused.json() }).toMatchObject({
    status: 503,
    body: { message: expect.stringContaining("too many pages") },
  });
  readers[0]?.close();
  let status: number | undefined = 503;
  while (status === 503) {
    const response = await fetch(`${emulator.url}/_page/events`, { headers: credentials(emulator) });
    status = response.status;
    await response.body?.cancel();
  }
  expect(status).toBe(200);
});

test("a page that does not read gets the sum of the changes when it reads again", async () => {
  const emulator = await start();
  const head = Object.entries(credentials(emulator)).map(([name, value]) => `${name}: ${value}\r\n`);
  const slow: Socket = connect(emulator.port, "127.0.0.1");
  slow.write(`GET /_page/events HTTP/1.1\r\nhost: 127.0.0.1\r\n${head.join("")}\r\n`);
  await new Promise((resolve) => slow.once("readable", resolve));
  const quick = await Reader.open(emulator);
  // Far more than the buffers of a connection hold, as 40 changes of 100 kB each.
  for (let round = 0; round < 40; round++) {
    const name = `${round}-${"x".repeat(100_000)}`;
    const edit = { kind: "endpoint", project_id: "prj-demo", id: PRIMARY, set: { name } };
    await control(emulator.url, "POST", "/edit", edit);
    await quick.until(() => quick.find("endpoint", PRIMARY)?.name === name);
  }
  let text = "";
  slow.setEncoding("utf8");
  slow.on("data", (part: string) => (text += part));
  await new Promise<void>((resolve) => slow.on("data", () => (text.includes('"name":"39-') ? resolve() : undefined)));
  slow.destroy();
});

describe("the feed", () => {
  const decode = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Message> => {
    const { value } = await reader.read();
    return JSON.parse(new TextDecoder().decode(value).slice("data: ".length)) as Message; // written by the feed
  };

  test("looks at nothing without a reader, and at nothing any more when the last one has gone", async () => {
    let looks = 0;
    const feed = new Feed(() => new Map([["a", String(looks++)]]));
    feed.changed();
    // Never read: neither does it count as a reader.
    feed.stream();
    expect(looks).toBe(0);
    const reader = feed.stream().getReader();
    expect(await decode(reader)).toMatchObject({ set: [["a", 0]], fresh: true });
    feed.changed();
    expect(await decode(reader)).toMatchObject({ set: [["a", 1]], fresh: false });
    feed.changed();
    await reader.cancel();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(looks).toBe(2);
  });

  test("gives a slow reader one message for many changes", async () => {
    let state = new Map([["a", "1"]]);
    const feed = new Feed(() => new Map(state));
    const [slow, quick] = [feed.stream().getReader(), feed.stream().getReader()];
    await decode(slow);
    await decode(quick);
    for (let round = 0; round < 5; round++) {
      state = new Map([[`b${round}`, String(round)]]);
      feed.changed();
      expect(await decode(quick)).toMatchObject({ set: [[`b${round}`, round]] });
    }
    expect(await decode(slow)).toMatchObject({ set: [["b4", 4]], gone: ["a"] });
    await Promise.all([slow.cancel(), quick.cancel()]);
  });

  test("ends a stream that waits and one that is not read, and counts neither any more", async () => {
    let looks = 0;
    const feed = new Feed(() => new Map([["a", String(looks++)]]));
    const [waiting, unread] = [feed.stream().getReader(), feed.stream().getReader()];
    await decode(waiting);
    await decode(unread);
    const next = waiting.read();
    feed.end();
    expect(await next).toMatchObject({ done: true });
    expect(await unread.read()).toMatchObject({ done: true });
    await waiting.cancel();
    feed.changed();
    const later = feed.stream().getReader();
    expect(await decode(later)).toMatchObject({ set: [["a", 1]], fresh: true });
    await later.cancel();
  });

  test("says nothing of what is the same again", async () => {
    let value = "1";
    let looks = 0;
    const feed = new Feed(() => {
      looks += 1;
      return new Map([["a", value]]);
    });
    const reader = feed.stream().getReader();
    await decode(reader);
    feed.changed();
    while (looks < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    value = "2";
    feed.changed();
    expect(await decode(reader)).toMatchObject({ set: [["a", 2]], gone: [] });
    await reader.cancel();
  });
});
