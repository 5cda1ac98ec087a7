import { Client } from "../../../src/client";
import { PROVEN } from "../../support/proven";
import { Service } from "../../support/service";

const CANARY = "canary-Tr5";
const KEY = `${CANARY}-key`;

let service: Service;
beforeEach(async () => (service = await Service.start({ apiKey: KEY })));
afterEach(() => service.emulator.close());

function traced(times: { readDeadlineMs?: number } = {}) {
  const lines: string[] = [];
  const { baseUrl } = service.emulator;
  const client = new Client({ baseUrl, apiKey: KEY, baseDelayMs: 1, ...times, trace: (line) => lines.push(line) });
  /** Without the milliseconds, which differ each time. */
  const shown = (): string[] => lines.map((line) => line.replace(/\b\d+ ms\b/, "N ms"));
  return { client, shown };
}

test("each attempt is a line: route, status, the service's id of the request, time and number", async () => {
  const { client, shown } = traced();
  await service.fault({ method: "GET", status: 503 });
  await service.fault({ method: "GET", drop: "reset" });
  await client.computes.list("prj-demo");
  const route = "GET /projects/{project_id}/endpoints ->";
  expect(shown()).toEqual([
    `${route} 503, request req-fault, N ms, attempt 1`,
    `${route} ECONNRESET, N ms, attempt 2`,
    `${route} 200, N ms, attempt 3`,
  ]);
});

test("an attempt that nobody answers is a line too", async () => {
  const { client, shown } = traced({ readDeadlineMs: 100 });
  await service.fault({ method: "GET", drop: "hang", times: 0 });
  await expect(client.computes.list("prj-demo")).rejects.toThrow(/no (complete )?response within/);
  expect(shown()).toEqual(["GET /projects/{project_id}/endpoints -> no response, N ms, attempt 1"]);
});

test("no line has a value of the path, the body or a header, whatever the service repeats of them", async () => {
  const { client, shown } = traced();
  const password = `${CANARY}-password`;
  const all = `${KEY} | ${password} | Bearer ${KEY}`;
  const user = { auth_provider: "supported_provider", email: `${CANARY}@x.test`, password };
  const create = () => client.auth.createUser(`prj-${CANARY}`, user, PROVEN).catch((error: unknown) => error);
  const headers = { "x-request-id": all };
  await service.fault({ method: "POST", status: 422, headers, body: { code: all, message: all, request_id: all } });
  await create();
  // An id in the header alone, and one of a success.
  await service.fault({ method: "POST", status: 400, headers, body: { code: "", message: all } });
  await create();
  await service.fault({ method: "POST", status: 201, headers, body: { id: all } });
  await create();
  const created = shown();
  await expect(client.computes.list(`prj-${CANARY}`)).rejects.toThrow("404");
  expect(shown().at(-1)).toMatch(/^GET \/projects\/\{project_id\}\/endpoints -> 404, request \S+, N ms, attempt 1$/);
  expect(created).toHaveLength(3);
  for (const line of created)
    expect(line).toMatch(/^POST \/projects\/auth\/user -> (422|400|201), request \[secret\], N ms, attempt 1$/);
  expect(shown().join("\n")).not.toContain(CANARY);
});
