import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allRoutes } from "../../src/emulator/app";
import type { Site } from "../../src/emulator/http/access";
import { emptyLists } from "../../src/emulator/model/records";
import type { Service } from "../../src/emulator/model/service";
import { api, control, createCompute, DEMO, ERROR_BODY, PRIMARY, record, records, start } from "../support/emulator";

/** Lists that no person edits or sees. */
const HIDDEN_LISTS = ["deleted_endpoints", "key_sets", "kept_schemas"];

test("src/emulator/control/edits.ts, where the page has them from, has each list of src/emulator/model/records.ts", () => {
  const text = readFileSync(join(__dirname, "../../src/emulator/control/edits.ts"), "utf8");
  const lists = Object.keys(emptyLists()).filter((name) => !HIDDEN_LISTS.includes(name));
  expect({ lacking: lists.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)) }).toEqual({ lacking: [] });
});

describe("every API route", () => {
  test("stands in docs/design/api.md", () => {
    const text = readFileSync(join(__dirname, "../../docs/design/api.md"), "utf8");
    // The names of ids are free there, and what a list takes may follow.
    const unnamed = (path: string): string => path.replace(/\{\w+\}/g, "{}");
    const described = [...text.matchAll(/`([A-Z]+ \/[^`?]*)[^`]*`/g)].map(([, route = ""]) => unnamed(route));
    // Their handlers are not called.
    const routes = allRoutes({} as Service, {} as Site).map(({ method, template }) => `${method} ${template}`);
    expect(routes.filter((route) => !described.includes(unnamed(route)))).toEqual([]);
  });

  test("answers 401 with the error body to a missing, a wrong and a malformed key", async () => {
    const emulator = await start({ apiKey: "right-key" });
    for (const headers of [
      {},
      { authorization: "Bearer wrong-key" },
      { authorization: "right-key" },
      { authorization: "Basic right-key" },
    ]) {
      for (const path of [`${DEMO}/endpoints`, "/projects/prj-none", "/no/such/route"]) {
        const response = await fetch(emulator.baseUrl + path, { headers });
        const text = await response.text();
        expect([response.status, JSON.parse(text)]).toEqual([401, ERROR_BODY]);
        expect(text).not.toContain("right-key");
      }
    }
    expect((await api({ baseUrl: emulator.baseUrl, apiKey: "right-key" }, "GET", `${DEMO}/endpoints`)).status).toBe(
      200,
    );
  });

  test("knows no project where the key is that of another account, and changes nothing", async () => {
    const emulator = await start({ otherApiKeys: ["other-key", "third-key"] });
    await control(emulator.url, "POST", "/projects", { id: "prj-other" });
    const before = (await control(emulator.url, "GET", "/state")).text;
    const routes = allRoutes({} as Service, {} as Site);
    const inBody = { project_id: "prj-demo", auth_provider: "supported_provider" };
    for (const { method, template } of routes) {
      const path = template.replace("{project_id}", "prj-demo").replace(/\{\w+\}/g, PRIMARY);
      for (const apiKey of ["other-key", "third-key"]) {
        const target = { baseUrl: emulator.baseUrl, apiKey };
        const { status, body } = await api(target, method, path, method === "GET" ? undefined : inBody);
        const refused = { ...ERROR_BODY, code: "", message: "project not found" };
        expect([method, path, status, body]).toEqual([method, path, 404, refused]);
      }
    }
    const other = { baseUrl: emulator.baseUrl, apiKey: "other-key" };
    expect((await api(other, "GET", "/projects/prj-other")).body).toMatchObject({ message: "project not found" });
    expect((await api(other, "GET", "/no/such/route")).body).toMatchObject({ message: "this route does not exist" });
    expect((await control(emulator.url, "GET", "/state")).text).toBe(before);
    expect((await api({ baseUrl: emulator.baseUrl, apiKey: "fourth-key" }, "GET", DEMO)).status).toBe(401);
    expect((await api(emulator, "GET", DEMO)).status).toBe(200);
  });

  test("answers 404 in JSON where there is nothing, and 405 to another method", async () => {
    const emulator = await start();
    for (const path of ["", "/projects", "/projects/prj-demo/nothing", "/projects/prj-none/endpoints"]) {
      const { status, body, headers } = await api(emulator, "GET", path);
      expect([path, status, body]).toEqual([path, 404, ERROR_BODY]);
      expect(headers.get("content-type")).toMatch(/^application\/json/);
    }
    for (const [method, path] of [
      ["PUT", `${DEMO}/endpoints`],
      ["DELETE", `${DEMO}/endpoints`],
      ["GET", "/projects/auth/create"],
      ["GET", `${DEMO}/endpoints/${PRIMARY}/restart`],
    ] as const) {
      const { status, body } = await api(emulator, method, path);
      expect([method, path, status, body]).toEqual([method, path, 405, ERROR_BODY]);
    }
  });

  test("refuses a body that is no JSON or is not called JSON, without quoting it", async () => {
    const emulator = await start();
    const send = async (contentType: string, body: string) => {
      const response = await fetch(`${emulator.baseUrl}${DEMO}/auth/email_server`, {
        method: "PATCH",
        headers: { authorization: "Bearer test-key", "content-type": contentType },
        body,
      });
      return [response.status, await response.text()] as const;
    };
    for (const [status, text] of [
      await send("application/json", '{"password": "hunter2"'),
      await send("text/plain", '{"type": "shared", "password": "hunter2"}'),
      await send("application/json", '["hunter2"]'),
    ]) {
      expect(status).toBe(400);
      expect(text).not.toContain("hunter2");
    }
    expect((await send("application/json; charset=utf-8", '{"type": "shared"}'))[0]).toBe(404);
  });

  test("decodes ids in a path", async () => {
    const emulator = await start();
    const { status } = await api(emulator, "GET", "/projects/prj%2Ddemo/endpoints");
    expect(status).toBe(200);
    expect((await api(emulator, "GET", "/projects/prj%2Fdemo/endpoints")).status).toBe(404);
  });
});

describe("the routes that complete the picture", () => {
  test("show the project and its branches", async () => {
    const emulator = await start();
    expect((await api(emulator, "GET", DEMO)).body).toMatchObject({
      project: { id: "prj-demo", region_id: "aws-us-east-1" },
    });
    expect((await api(emulator, "GET", `${DEMO}/branches`)).body).toMatchObject({
      branches: [
        { id: "br-main", name: "main", default: true },
        { id: "br-dev", default: false },
        { id: "br-test", default: false },
      ],
    });
    expect((await api(emulator, "GET", `${DEMO}/endpoints`)).body).toMatchObject({
      endpoints: [{ id: PRIMARY, branch_id: "br-main", type: "read_write", current_state: "active" }],
    });
  });

  test("page through operations, newest first, and show a single one", async () => {
    const emulator = await start({ activationMs: 60_000 });
    for (const branch_id of ["br-dev", "br-test"]) await createCompute(emulator, { branch_id, type: "read_write" });
    await api(emulator, "POST", `${DEMO}/endpoints/${PRIMARY}/suspend`);
    const page = async (query: string) => (await api(emulator, "GET", `${DEMO}/operations?${query}`)).body;

    const everything = records(await page(""), "operations").map(({ id }) => id);
    expect(everything).toHaveLength(3);
    const first = await page("limit=2");
    expect(records(first, "operations")).toMatchObject([{ action: "suspend_compute" }, { branch_id: "br-test" }]);
    const second = await page(`limit=2&cursor=${String(record(first, "pagination").cursor)}`);
    expect(records(second, "operations")).toMatchObject([{ branch_id: "br-dev" }]);
    expect(second).not.toHaveProperty("pagination");
    expect([...records(first, "operations"), ...records(second, "operations")].map(({ id }) => id)).toEqual(everything);

    const single = await api(emulator, "GET", `${DEMO}/operations/${String(everything[0])}`);
    expect(single.body).toMatchObject({ operation: { id: everything[0], endpoint_id: PRIMARY, status: "running" } });
    expect((await api(emulator, "GET", `${DEMO}/operations/op-none`)).status).toBe(404);
    for (const query of ["limit=0", "limit=1001", "limit=x", "cursor=none"]) {
      expect((await api(emulator, "GET", `${DEMO}/operations?${query}`)).status).toBe(400);
    }
  });

  test("are missing with seedOnly, while the routes of the API document stay", async () => {
    const emulator = await start({ seedOnly: true });
    const endpointPath = `${DEMO}/endpoints/${PRIMARY}`;
    for (const [method, path] of [
      ["GET", DEMO],
      ["GET", `${DEMO}/branches`],
      ["GET", `${DEMO}/operations`],
      ["GET", `${DEMO}/operations/op-1`],
      ["GET", endpointPath],
      ["POST", `${endpointPath}/start`],
      ["POST", `${endpointPath}/suspend`],
    ] as const) {
      const { status, body } = await api(emulator, method, path);
      expect([path, status, body]).toEqual([path, 404, ERROR_BODY]);
    }
    expect((await api(emulator, "POST", `${endpointPath}/restart`)).status).toBe(200);
    expect((await api(emulator, "PATCH", endpointPath, { endpoint: { name: "main" } })).status).toBe(200);
    expect((await api(emulator, "GET", `${DEMO}/endpoints`)).status).toBe(200);
  });
});

describe("a project that locks", () => {
  test("answers 423 to every compute change while an operation is unfinished, and does nothing", async () => {
    const emulator = await start({ activationMs: 60_000, lockProjects: true });
    const { id } = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    const path = `${DEMO}/endpoints/${PRIMARY}`;
    const refused = await Promise.all([
      api(emulator, "POST", `${DEMO}/endpoints`, { endpoint: { branch_id: "br-test", type: "read_write" } }),
      api(emulator, "PATCH", path, { endpoint: { name: "later" } }),
      api(emulator, "DELETE", path),
      ...["restart", "start", "suspend"].map((action) => api(emulator, "POST", `${path}/${action}`)),
    ]);
    for (const { status, body } of refused) expect([status, body]).toEqual([423, ERROR_BODY]);
    const { body } = await api(emulator, "GET", `${DEMO}/endpoints`);
    expect(records(body, "endpoints").map((endpoint) => endpoint.id)).toEqual([PRIMARY, id]);
    expect(records(body, "endpoints")[0]).not.toHaveProperty("name");
  });

  test("can answer 409 instead, which does nothing either", async () => {
    const emulator = await start({ activationMs: 60_000, lockProjects: true, lockStatus: 409 });
    await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    const message = "project already has running conflicting operations, scheduling of new ones is prohibited";
    const path = `${DEMO}/endpoints/${PRIMARY}`;
    for (const [method, endpoint] of [["PATCH", { name: "later" }], ["DELETE"]] as const) {
      const { status, body } = await api(emulator, method, path, endpoint && { endpoint });
      expect([method, status, body]).toEqual([method, 409, { ...ERROR_BODY, code: "", message }]);
    }
    expect(record((await api(emulator, "GET", path)).body, "endpoint")).not.toHaveProperty("name");
  });

  test("lets the auth routes and other projects through, and opens when the operation ends", async () => {
    const emulator = await start({ activationMs: 300, lockProjects: true });
    await control(emulator.url, "POST", "/projects", { id: "prj-other" });
    await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    const create = (project: string, branch: string) =>
      api(emulator, "POST", `/projects/${project}/endpoints`, { endpoint: { branch_id: branch, type: "read_write" } });
    expect((await create("prj-other", "br-dev-prj-other")).status).toBe(201);
    const integration = { project_id: "prj-demo", auth_provider: "supported_provider", branch_id: "br-main" };
    expect((await api(emulator, "POST", "/projects/auth/create", integration)).status).toBe(201);
    let answer = await create("prj-demo", "br-test");
    while (answer.status === 423) answer = await create("prj-demo", "br-test");
    expect(answer.status).toBe(201);
  });

  test("is not what happens by default: changes are queued", async () => {
    const emulator = await start({ activationMs: 60_000 });
    await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    await createCompute(emulator, { branch_id: "br-test", type: "read_write" });
  });
});
