import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "../../../src/emulator";
import {
  api,
  control,
  createCompute,
  DEMO,
  demoState,
  endpoint,
  INTEGRATION,
  integrate,
  PRIMARY,
  records,
  settled,
  start,
  until,
} from "../../support/emulator";

let folder: string;
let data: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "emulator-data-"));
  data = join(folder, "state.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the state outlives the emulator", async () => {
  const first = await start({ data });
  await integrate(first);
  const { id } = await createCompute(first, { branch_id: "br-dev", type: "read_write" });
  await settled(first, String(id), "active");
  const before = await demoState(first);
  await first.close();

  // The state shows its address.
  const second = await start({ data, port: first.port });
  expect(await demoState(second)).toEqual(before);
});

test("the address of a key set follows the emulator to another port, and stays where an earlier version wrote one", async () => {
  const first = await start({ data });
  await integrate(first);
  await first.close();
  const jwksUrl = async (target: { baseUrl: string }) =>
    records((await api(target, "GET", `${DEMO}/auth/integrations`)).body, "data")[0]?.jwks_url;
  const second = await start({ data });
  expect(await jwksUrl(second)).toContain(`${second.url}/auth/`);
  await second.close();
  const former = "https://auth.svc.localhost/api/v1/projects/a/.well-known/jwks.json";
  writeFileSync(data, readFileSync(data, "utf8").replace('"owned_by":', `"jwks_url":"${former}","owned_by":`));
  expect(await jwksUrl(await start({ data }))).toBe(former);
});

test("a running activation is taken up again", async () => {
  const first = await start({ data, activationMs: 1500 });
  const { id } = await createCompute(first, { branch_id: "br-dev", type: "read_write" });
  await api(first, "PATCH", `${DEMO}/endpoints/${String(id)}`, { endpoint: { autoscaling_limit_max_cu: 4 } });
  await first.close();
  expect(readFileSync(data, "utf8")).toContain('"pending_state":"active"');
  const second = await start({ data });
  expect(await settled(second, String(id), "active")).toMatchObject({ autoscaling_limit_max_cu: 4 });
});

test("changes are saved while the emulator runs, in a file that only its owner can read", async () => {
  const emulator = await start({ data });
  expect(existsSync(data)).toBe(true);
  await integrate(emulator);
  await api(emulator, "POST", `${DEMO}/auth/oauth_providers`, {
    id: "microsoft",
    client_id: "c",
    client_secret: "kept-for-the-echo",
  });
  await until(
    () => Promise.resolve(readFileSync(data, "utf8")),
    (text) => text.includes("kept-for-the-echo"),
  );
  expect(statSync(data).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["state.json", "state.json.lock"]);
});

test("a second emulator on the file is refused, and one after a kill is not", async () => {
  const first = await start({ data });
  await expect(start({ data })).rejects.toThrow(
    `another emulator (process ${process.pid}) uses the data file "${data}"`,
  );
  await expect(start({ data, host: "256.0.0.1" })).rejects.toThrow("another emulator");
  await first.close();
  expect(readdirSync(folder)).toEqual(["state.json"]);
  const other = spawnSync(process.execPath, ["-e", ""]);
  writeFileSync(`${data}.lock`, String(other.pid));
  await (await start({ data })).close();
  await expect(start({ data, host: "256.0.0.1" })).rejects.toThrow();
  expect(readdirSync(folder)).toEqual(["state.json"]);
});

test("a lock that names no process is not taken over: its emulator may be about to write it", async () => {
  writeFileSync(`${data}.lock`, "");
  await expect(start({ data })).rejects.toThrow(`another emulator is about to use the data file "${data}"`);
  expect(readdirSync(folder)).toEqual(["state.json.lock"]);
});

test("a link as data file stays one, and its file is locked", async () => {
  await (await start({ data })).close();
  const link = join(folder, "link.json");
  symlinkSync(data, link);
  const emulator = await start({ data: link });
  await expect(start({ data })).rejects.toThrow("another emulator");
  await integrate(emulator);
  await emulator.close();
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(data, "utf8")).toContain("svcdb");
});

test("a link to a file that is not there yet leads to the file that is made", async () => {
  const link = join(folder, "link.json");
  symlinkSync("state.json", link);
  await (await start({ data: link })).close();
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(lstatSync(data).isFile()).toBe(true);
});

test.each(["branches", "endpoints", "operations", "integrations", "key_sets", "oauth_providers", "domains", "users"])(
  "a record without content in %s is refused",
  async (list) => {
    await (await start({ data })).close();
    const content = JSON.parse(readFileSync(data, "utf8")) as { projects: Record<string, unknown[]>[] };
    content.projects[0]?.[list]?.push({});
    writeFileSync(data, JSON.stringify(content));
    await expect(start({ data })).rejects.toThrow(`the data file "${data}" was not written by this emulator`);
  },
);

test("what somebody else has put in the place of the temporary file is neither followed nor kept", async () => {
  const other = join(folder, "other.txt");
  writeFileSync(other, "theirs", { mode: 0o644 });
  symlinkSync(other, `${data}.${process.pid}.tmp`);
  await start({ data });
  expect(readFileSync(other, "utf8")).toBe("theirs");
  expect(lstatSync(data).isFile()).toBe(true);
  expect(lstatSync(data).mode & 0o777).toBe(0o600);
});

test("a secret server key is never written down", async () => {
  const emulator = await start({ data });
  const { body } = await integrate(emulator);
  await emulator.close();
  const text = readFileSync(data, "utf8");
  expect(text).toContain(String(body.pub_client_key));
  expect(text).not.toContain(String(body.secret_server_key));
});

test("the url of a transfer is never written down, and still opens after a restart", async () => {
  const first = await start({ data });
  await integrate(first);
  const { project_id, auth_provider } = INTEGRATION;
  const asked = await api(first, "POST", "/projects/auth/transfer_ownership", { project_id, auth_provider });
  const token = String(asked.body.url).split("/").pop() ?? "";
  expect(token).not.toBe("");
  await first.close();
  expect(readFileSync(data, "utf8")).not.toContain(token);
  const second = await start({ data });
  expect((await control(second.url, "GET", `/transfer/${token}`)).status).toBe(200);
  expect(await demoState(second)).toMatchObject({ integrations: [{ owned_by: "user" }] });
});

test("a reset reaches the file", async () => {
  const first = await start({ data });
  await api(first, "DELETE", `${DEMO}/endpoints/${PRIMARY}`);
  first.reset();
  await first.close();
  const second = await start({ data });
  expect(await endpoint(second, PRIMARY)).toMatchObject({ current_state: "active" });
});

/** A project as the file has it, with nothing in it. */
const EMPTY = {
  id: "prj-a",
  email_server: { type: "shared" },
  ...{ branches: [], endpoints: [], deleted_endpoints: [], operations: [], integrations: [], key_sets: [] },
  ...{ oauth_providers: [], domains: [], users: [], kept_schemas: [] },
};

test("a file with an empty project is read", async () => {
  writeFileSync(data, JSON.stringify({ format: 1, projects: [EMPTY] }));
  const emulator = await start({ data });
  expect((await api(emulator, "GET", "/projects/prj-a/endpoints")).body).toEqual({ endpoints: [] });
});

test("a list that a file lacks, as one of an earlier version does, begins empty", async () => {
  const { users: _, ...older } = EMPTY;
  writeFileSync(data, JSON.stringify({ format: 1, projects: [older] }));
  const emulator = await start({ data });
  const { body } = await control(emulator.url, "GET", "/state");
  expect(body).toMatchObject({ projects: [{ id: "prj-a", users: [] }] });
});

test.each([
  ["is no JSON", 'secret-looking { "text'],
  ["is some other JSON", '{"name": "package"}'],
  ["has another format", '{"format": 99, "projects": []}'],
  ["lacks the e-mail server of a project", '{"format": 1, "projects": [{"id": "prj-a", "users": []}]}'],
  ["has something else for a list", JSON.stringify({ format: 1, projects: [{ ...EMPTY, domains: "none" }] })],
])("a file that %s is refused by name, unquoted and untouched", async (_what, content) => {
  writeFileSync(data, content);
  const failure = await startEmulator({ data }).catch((error: unknown) => error);
  expect(String(failure)).toContain(data);
  expect(String(failure)).not.toContain("secret-looking");
  expect(readFileSync(data, "utf8")).toBe(content);
});

test("a place that cannot be written to is refused at the start", async () => {
  await expect(startEmulator({ data: join(folder, "missing", "state.json") })).rejects.toThrow(/cannot write/);
  await expect(startEmulator({ data: folder })).rejects.toThrow(/cannot read/);
});
