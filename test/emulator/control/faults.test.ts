import { get } from "node:http";
import {
  api,
  control,
  createCompute,
  DEMO,
  ERROR_BODY,
  integrate,
  PRIMARY,
  record,
  records,
  settled,
  start,
  until,
} from "../../support/emulator";
import type { Emulator } from "../../../src/emulator";

const ENDPOINTS = `${DEMO}/endpoints`;
const TEMPLATE = "/projects/{project_id}/endpoints";

const arm = async (emulator: Emulator, fault: object): Promise<void> => {
  const { status, body } = await control(emulator.url, "POST", "/faults", fault);
  expect([status, body]).toEqual([201, { id: expect.stringMatching(/.+/) }]);
};

const list = (emulator: Emulator) => api(emulator, "GET", ENDPOINTS);
const create = (emulator: Emulator, branch = "br-dev") =>
  api(emulator, "POST", ENDPOINTS, { endpoint: { branch_id: branch, type: "read_write" } });
const count = async (emulator: Emulator) => records((await list(emulator)).body, "endpoints").length;

describe("a fault that answers", () => {
  test("stands in for one request, which is not executed", async () => {
    const emulator = await start();
    await arm(emulator, { method: "POST", path: TEMPLATE, status: 503 });
    const { status, body } = await create(emulator);
    expect([status, body]).toEqual([503, ERROR_BODY]);
    expect(await count(emulator)).toBe(1);
    expect((await create(emulator)).status).toBe(201);
  });

  test.each([501, 502, 504])("can let the request happen first, and answer %i", async (status) => {
    const emulator = await start();
    await arm(emulator, { method: "post", path: TEMPLATE, status, effect: "done" });
    expect((await create(emulator)).status).toBe(status);
    expect(await count(emulator)).toBe(2);
    const { body } = await control(emulator.url, "GET", "/requests?method=POST");
    expect(body["requests"]).toEqual([expect.objectContaining({ status, real_status: 201 })]);
  });

  test("carries the status, body, content type and headers it was given", async () => {
    const emulator = await start();
    await arm(emulator, { status: 429, headers: { "retry-after": "7" }, body: { message: "slow down" } });
    const slow = await list(emulator);
    expect([slow.status, slow.headers.get("retry-after"), slow.body]).toEqual([429, "7", { message: "slow down" }]);
    await arm(emulator, { status: 502, body: "<html>Bad gateway</html>" });
    const html = await list(emulator);
    expect([html.status, html.headers.get("content-type"), html.text]).toEqual([
      502,
      "text/html",
      "<html>Bad gateway</html>",
    ]);
    await arm(emulator, { body: "{}", contentType: "application/problem+json" });
    const odd = await list(emulator);
    expect([odd.status, odd.headers.get("content-type")]).toEqual([200, "application/problem+json"]);
  });

  test("of success keeps the real body, or has none where none may be", async () => {
    const emulator = await start();
    await arm(emulator, { method: "POST", status: 202, effect: "done" });
    const kept = await create(emulator);
    expect([kept.status, kept.body]).toMatchObject([202, { endpoint: { branch_id: "br-dev" } }]);
    await arm(emulator, { method: "DELETE", status: 204, effect: "done" });
    const empty = await api(emulator, "DELETE", `${ENDPOINTS}/${PRIMARY}`);
    expect([empty.status, empty.text]).toEqual([204, ""]);
    expect(await count(emulator)).toBe(1);
  });

  test("can lay other values over the real answer, and take some away", async () => {
    const emulator = await start();
    const endpoint = { autoscaling_limit_max_cu: 7, settings: { pg_settings: { odd: "on" } } };
    const merge = { endpoint: { ...endpoint, host: null }, operations: [] };
    await arm(emulator, { method: "POST", path: TEMPLATE, effect: "done", merge });
    const { status, body } = await create(emulator);
    expect([status, body]).toMatchObject([201, { endpoint: { ...endpoint, branch_id: "br-dev" }, operations: [] }]);
    const made = record(body, "endpoint");
    expect(made).not.toHaveProperty("host");
    // The real one is as it was asked for.
    expect(records((await list(emulator)).body, "endpoints")).toContainEqual(
      expect.objectContaining({ id: made.id, autoscaling_limit_max_cu: 2, settings: {}, host: expect.any(String) }),
    );
  });

  test("can give a body to an answer that has none, under another status", async () => {
    const emulator = await start();
    await integrate(emulator);
    await arm(emulator, { method: "POST", effect: "done", status: 200, merge: { domain: "https://b.example.com" } });
    const domain = { domain: "https://a.example.com", auth_provider: "supported_provider" };
    const added = await api(emulator, "POST", `${DEMO}/auth/domains`, domain);
    expect([added.status, added.body]).toEqual([200, { domain: "https://b.example.com" }]);
    expect((await api(emulator, "GET", `${DEMO}/auth/domains`)).body).toEqual({ domains: [domain] });
  });

  test("matches a literal path as well as a template, and nothing else", async () => {
    const emulator = await start();
    await control(emulator.url, "POST", "/projects", { id: "prj-other" });
    await arm(emulator, { path: "/projects/prj-other/endpoints", status: 500 });
    expect((await list(emulator)).status).toBe(200);
    expect((await api(emulator, "GET", "/projects/prj-other/endpoints")).status).toBe(500);
  });

  test("skips the first matches, then strikes so many times", async () => {
    const emulator = await start();
    await arm(emulator, { path: TEMPLATE, status: 500, after: 1, times: 2 });
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) statuses.push((await list(emulator)).status);
    expect(statuses).toEqual([200, 500, 500, 200]);
  });

  test("stays until it is cleared when its times are 0, and is listed", async () => {
    const emulator = await start();
    await arm(emulator, { status: 500, times: 0 });
    for (let turn = 0; turn < 3; turn += 1) expect((await list(emulator)).status).toBe(500);
    const { body } = await control(emulator.url, "GET", "/faults");
    expect(body.faults).toMatchObject([{ status: 500, left: null }]);
    expect((await control(emulator.url, "DELETE", "/faults")).status).toBe(204);
    expect((await control(emulator.url, "GET", "/faults")).body).toEqual({ faults: [] });
    expect((await list(emulator)).status).toBe(200);
  });

  test("is not used up by a request without a key", async () => {
    const emulator = await start();
    await arm(emulator, { status: 500 });
    expect((await fetch(emulator.baseUrl + ENDPOINTS)).status).toBe(401);
    expect((await list(emulator)).status).toBe(500);
  });
});

describe("a fault that drops", () => {
  const isDropped = (call: Promise<unknown>): Promise<boolean> =>
    call.then(
      () => false,
      () => true,
    );

  test("resets the connection before or after the request is executed", async () => {
    const emulator = await start();
    await arm(emulator, { method: "POST", drop: "reset" });
    expect(await isDropped(create(emulator))).toBe(true);
    expect(await count(emulator)).toBe(1);
    await arm(emulator, { method: "POST", drop: "reset", effect: "done" });
    expect(await isDropped(create(emulator))).toBe(true);
    expect(await count(emulator)).toBe(2);
  });

  test("cuts the answer off in the middle", async () => {
    const emulator = await start();
    await arm(emulator, { method: "POST", drop: "cut", effect: "done" });
    expect(await isDropped(create(emulator))).toBe(true);
    expect(await count(emulator)).toBe(2);

    await arm(emulator, { drop: "cut" });
    const headers = { authorization: "Bearer test-key" };
    const seen = await new Promise<{ declared: number; received: number; complete: boolean }>((resolve, reject) => {
      const request = get(emulator.baseUrl + ENDPOINTS, { headers }, (response) => {
        let received = 0;
        response.on("data", (chunk: Buffer) => (received += chunk.length));
        response.on("error", () => undefined);
        response.on("close", () =>
          resolve({ declared: Number(response.headers["content-length"]), received, complete: response.complete }),
        );
      });
      request.on("error", reject);
    });
    expect(seen.complete).toBe(false);
    expect(seen.received).toBeGreaterThan(0);
    expect(seen.received).toBeLessThan(seen.declared);
  });

  test("hangs without an answer, yet the emulator still closes", async () => {
    const emulator = await start();
    await arm(emulator, { drop: "hang" });
    const hanging = fetch(emulator.baseUrl + ENDPOINTS, { headers: { authorization: "Bearer test-key" } }).then(
      () => "answered",
      () => "dropped",
    );
    const { body } = await until(
      () => control(emulator.url, "GET", "/requests"),
      (answer) => records(answer.body, "requests").length === 1,
    );
    expect(body.requests).toMatchObject([{ method: "GET", status: null }]);
    await emulator.close();
    expect(await hanging).toBe("dropped");
  });
});

test("a fault that only delays lets the request through", async () => {
  const emulator = await start();
  const startedAt = Date.now();
  await arm(emulator, { delayMs: 60 });
  await arm(emulator, { delayMs: 60, effect: "done" });
  expect((await create(emulator)).status).toBe(201);
  expect((await create(emulator, "br-test")).status).toBe(201);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(100);
});

test("a delay beyond what a timer can wait is refused: it would be none", async () => {
  const emulator = await start();
  const { status, text } = await control(emulator.url, "POST", "/faults", { delayMs: 2 ** 31 });
  expect([status, text]).toEqual([400, expect.stringContaining("delayMs")]);
  await arm(emulator, { path: "/never-asked-for", delayMs: 2 ** 31 - 1 });
});

describe("a fault of an operation", () => {
  const operations = async (emulator: Emulator) =>
    records((await api(emulator, "GET", `${DEMO}/operations`)).body, "operations");

  test.each(["failed", "error", "cancelled"])(
    "ends the next one as %s and leaves the compute where it was",
    async (end) => {
      const emulator = await start();
      await arm(emulator, { operation: { action: "start_compute", status: end, error: "no capacity" } });
      const { id } = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
      await settled(emulator, String(id), "init");
      const failures = end === "cancelled" ? 0 : 1;
      expect(await operations(emulator)).toMatchObject([
        { status: end, error: "no capacity", failures_count: failures },
      ]);
      await api(emulator, "POST", `${ENDPOINTS}/${String(id)}/start`);
      await settled(emulator, String(id), "active");
    },
  );

  test("cancels what was queued behind it", async () => {
    const emulator = await start();
    await arm(emulator, { operation: { action: "suspend_compute", status: "failed" } });
    await api(emulator, "POST", `${ENDPOINTS}/${PRIMARY}/restart`);
    await settled(emulator, PRIMARY, "active");
    expect((await operations(emulator)).map(({ action, status }) => [action, status])).toEqual([
      ["start_compute", "cancelled"],
      ["suspend_compute", "failed"],
    ]);
  });

  test("waits for its action", async () => {
    const emulator = await start();
    await arm(emulator, { operation: { action: "apply_config", status: "failed" } });
    const { id } = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    await settled(emulator, String(id), "active");
  });
});

test("a stuck activation never ends, but can be deleted", async () => {
  const emulator = await start({ activationMs: 0 });
  await arm(emulator, { stuck: true });
  const stuck = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
  const fine = await createCompute(emulator, { branch_id: "br-test", type: "read_write" });
  await settled(emulator, String(fine.id), "active");
  const { body } = await api(emulator, "GET", `${ENDPOINTS}/${String(stuck.id)}`);
  expect(body).toMatchObject({ endpoint: { current_state: "init", pending_state: "active" } });
  expect((await api(emulator, "DELETE", `${ENDPOINTS}/${String(stuck.id)}`)).status).toBe(200);
});

test.each([
  {},
  { times: 2 },
  { status: 99 },
  { status: 500, times: -1 },
  { drop: "softly" },
  { path: "projects", status: 500 },
  { statu: 500 },
  { merge: { endpoint: {} } },
  { merge: { endpoint: {} }, effect: "done", body: {} },
  { merge: { endpoint: {} }, effect: "done", drop: "cut" },
  { merge: "text", effect: "done" },
  { operation: { status: "fine" } },
  { stuck: false },
])("a fault such as %j is refused", async (fault) => {
  const emulator = await start();
  const { status, body } = await control(emulator.url, "POST", "/faults", fault);
  expect([status, body]).toEqual([400, ERROR_BODY]);
});

test.each([
  [{ headers: { "retry after": "1" } }, /^invalid request: headers: .*HTTP header/],
  [{ headers: { "": "1" } }, /^invalid request: headers: .*HTTP header/],
  [{ headers: { "x-note": "a\r\nb: canary" } }, /^invalid request: headers: .*HTTP header/],
  [{ headers: { "x-note": "a\u0001b" } }, /^invalid request: headers: .*HTTP header/],
  [{ headers: { "x-note": "5 €" } }, /^invalid request: headers: .*HTTP header/],
  [{ headers: { Trailer: "x-canary" } }, /^invalid request: headers: .*cannot send: trailer/],
  [{ headers: { "X-Hono-Already-Sent": "1" } }, /^invalid request: headers: .*cannot send: .*x-hono-already-sent/],
  [{ contentType: "text/html\r\nx: canary" }, /^invalid request: contentType: .*HTTP header/],
])("a fault whose answer could not be sent is refused when it is set: %j", async (fault, words) => {
  const emulator = await start();
  const { status, body, text } = await control(emulator.url, "POST", "/faults", { status: 503, ...fault });
  expect([status, body]).toEqual([400, { ...ERROR_BODY, message: expect.stringMatching(words) }]);
  expect(text).not.toContain("canary");
  expect((await list(emulator)).status).toBe(200);
});

test("a failed integration call leaves nothing behind unless its effect was done", async () => {
  const emulator = await start();
  await arm(emulator, { path: "/projects/auth/create", status: 500 });
  await arm(emulator, { path: "/projects/auth/create", status: 500, effect: "done" });
  const existing = async () => records((await api(emulator, "GET", `${DEMO}/auth/integrations`)).body, "data").length;
  expect([(await integrate(emulator)).status, await existing()]).toEqual([500, 0]);
  expect([(await integrate(emulator)).status, await existing()]).toEqual([500, 1]);
});
