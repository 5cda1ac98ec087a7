import { api, control, DEMO, integrate, records, start } from "../support/emulator";

const KEY = "canary-key";

/** An emulator with its lines, without what differs each time. */
async function traced() {
  const lines: string[] = [];
  const emulator = await start({ apiKey: KEY, log: (line) => lines.push(line) });
  const shown = (): string[] =>
    lines.map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, "").replace(/\d+ ms$/, "N ms"));
  return { emulator, shown };
}

test("each request is a line: time, method, path, status, the id of a refusal and milliseconds", async () => {
  const { emulator, shown } = await traced();
  const target = { baseUrl: emulator.baseUrl, apiKey: KEY };
  await api(target, "GET", `${DEMO}/endpoints?branch=x%20y`);
  const { body } = await api(target, "GET", `${DEMO}/endpoints/ep-missing`);
  await control(emulator.url, "POST", "/faults", { drop: "reset" });
  await api(target, "GET", `${DEMO}/endpoints`).catch(() => undefined);
  await fetch(`${emulator.url}/nowhere?token=canary`);
  await fetch(emulator.url, { headers: { origin: "https://page.example.com" } });
  expect(shown()).toEqual([
    `GET /api/v2${DEMO}/endpoints?branch=x+y -> 200, N ms`,
    `GET /api/v2${DEMO}/endpoints/ep-missing -> 404, request ${String(body.request_id)}, N ms`,
    "POST /_emulator/faults -> 201, N ms",
    `GET /api/v2${DEMO}/endpoints -> no response, N ms`,
    expect.stringMatching(/^GET \/nowhere -> 404, request \S+, N ms$/),
    "GET / -> 200, N ms",
  ]);
});

test("no line has a secret: not of a query, a body, a header, a path of the control routes or an answer", async () => {
  const { emulator, shown } = await traced();
  const target = { baseUrl: emulator.baseUrl, apiKey: KEY };
  await integrate(target);
  const secret = "canary-secret";
  await api(target, "POST", `${DEMO}/auth/oauth_providers?password=${secret}&client_secret=${secret}`, {
    ...{ id: "google", client_id: "c", client_secret: secret },
  });
  await api({ ...target, apiKey: `${KEY}-wrong` }, "GET", `${DEMO}?anything=${secret}`);
  await control(emulator.url, "GET", `/transfer/${secret}`);
  await control(emulator.url, "POST", "/mail", { to: "ana@example.com", text: secret });
  const headers = { "x-request-id": `${secret} of two words` };
  await control(emulator.url, "POST", "/faults", { status: 500, headers, body: { request_id: { id: secret } } });
  await api(target, "GET", DEMO);
  await fetch(`${emulator.url}/auth/some/authorize?code_challenge=${secret}`);
  expect(shown()).toHaveLength(8);
  expect(shown()[1]).toMatch(
    /oauth_providers\?password=sha256%3A\w+&client_secret=sha256%3A\w+ -> 409, request \S+, N ms$/,
  );
  expect(shown()[3]).toMatch(/^GET \/_emulator\/transfer\/:token -> 404/);
  expect(shown().join("\n")).not.toContain("canary");
  // And so in the log that others read.
  expect(JSON.stringify(records((await control(emulator.url, "GET", "/requests")).body, "requests"))).not.toContain(
    secret,
  );
});
