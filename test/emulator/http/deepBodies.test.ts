import type { Emulator } from "../../../src/emulator";
import { api, control, DEMO, demoState, ERROR_BODY, integrate, PRIMARY, records, start } from "../../support/emulator";

/** Written as text: JSON.stringify overflows the stack, which is the point. */
const nested = (levels: number, open = '{"a":', close = "}"): string =>
  `${open.repeat(levels)}"x"${close.repeat(levels)}`;
const nestedList = (levels: number): string => nested(levels, "[", "]");

const send = async (emulator: Emulator, method: string, path: string, body: string) => {
  const response = await fetch(emulator.url + path, {
    method,
    headers: { authorization: "Bearer test-key", "content-type": "application/json" },
    body,
  });
  return { status: response.status, body: JSON.parse((await response.text()) || "null") as unknown };
};

const editOf = (fields: string): string =>
  `{"kind":"endpoint","project_id":"prj-demo","id":"${PRIMARY}","set":${fields}}`;

const TOO_DEEP = { status: 400, body: { ...ERROR_BODY, message: expect.stringContaining("nested deeper than") } };

test.each([
  ["an edit of settings", "POST", "/_emulator/edit", editOf(`{"settings":{"odd":${nested(20_000)}}}`)],
  ["an edit with a list", "POST", "/_emulator/edit", editOf(`{"settings":{"odd":${nestedList(20_000)}}}`)],
  ["a fault's body", "POST", "/_emulator/faults", `{"status":500,"body":${nested(20_000)}}`],
  ["a project", "POST", "/_emulator/projects", nested(20_000)],
  ["a compute", "POST", `/api/v2${DEMO}/endpoints`, `{"endpoint":${nested(20_000)}}`],
  ["a change", "PATCH", `/api/v2${DEMO}/endpoints/${PRIMARY}`, `{"endpoint":{"settings":${nested(20_000)}}}`],
  ["a mail server", "PATCH", `/api/v2${DEMO}/auth/email_server`, nestedList(20_000)],
  ["an optional body", "DELETE", `/api/v2${DEMO}/auth/integration/supported_provider`, nested(20_000)],
])("%s that is nested without measure is refused, and all answers go on", async (_title, method, path, body) => {
  const emulator = await start();
  await integrate(emulator);
  const before = await demoState(emulator);
  expect(await send(emulator, method, path, body)).toEqual(TOO_DEEP);
  expect(await demoState(emulator)).toEqual(before);
  expect((await api(emulator, "GET", `${DEMO}/endpoints`)).status).toBe(200);
  expect((await control(emulator.url, "GET", "/faults")).body).toEqual({ faults: [] });
  expect((await control(emulator.url, "GET", "/requests")).status).toBe(200);
});

test("32 levels are taken and shown everywhere, 33 are refused", async () => {
  const emulator = await start();
  // Three levels are the edit's own.
  const settings = (levels: number) => editOf(`{"settings":{"odd":${nested(levels)}}}`);
  expect(await send(emulator, "POST", "/_emulator/edit", settings(29))).toMatchObject({ status: 200 });
  expect(await send(emulator, "POST", "/_emulator/edit", settings(30))).toEqual(TOO_DEEP);
  const { body } = await api(emulator, "GET", `${DEMO}/endpoints`);
  const [found] = records(body, "endpoints");
  expect(JSON.stringify(found)).toContain(nested(29));
  expect(await demoState(emulator)).toMatchObject({ endpoints: [found] });
});
