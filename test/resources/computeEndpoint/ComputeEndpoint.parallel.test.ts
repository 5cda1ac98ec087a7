import type { ClientOptions } from "../../../src/client";
import { dynamicProvider } from "../../../src/protocols/dynamic/provider";
import { Session } from "../../../src/runtime/session";
import type { Emulator, EmulatorOptions } from "../../../src/emulator";
import { computeEndpoint } from "../../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { control, records, start, type Json } from "../../support/emulator";

const REPLICA = { branchId: "br-main", type: "read_only" };
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

/** One process of the provider, as one `up` has it. */
async function started(options: EmulatorOptions, client: Partial<ClientOptions> = {}) {
  const emulator = await start(options);
  return { emulator, provider: providerOf(emulator, client) };
}

function providerOf(emulator: Emulator, client: Partial<ClientOptions> = {}) {
  const provider = dynamicProvider(computeEndpoint, new Session(() => undefined, { client }));
  const settings: Record<string, string> = { "svc:apiKey": emulator.apiKey, "svc:baseUrl": emulator.baseUrl };
  void provider.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
  return provider;
}

const requests = async ({ url }: Emulator, method: string): Promise<Json[]> =>
  records((await control(url, "GET", `/requests?method=${method}`)).body, "requests");

const withStatus = (log: readonly Json[], status: number) => log.filter((request) => request["status"] === status);

/** A project of its own, with branches that have no compute. */
async function project(emulator: Emulator, id: string, branches: number): Promise<string[]> {
  const ids = times(branches, (i) => `br-${id}-${i}`);
  const body = { id, branches: ids.map((branch) => ({ id: branch })) };
  const { status, text } = await control(emulator.url, "POST", "/projects", body);
  if (status !== 201) throw new Error(`no project: ${text}`);
  return ids;
}

test("ten computes of one project that locks are created at the first try, and none meets two 423", async () => {
  const { emulator, provider } = await started({ lockProjects: true, activationMs: 60 });
  const branches = await project(emulator, "prj-ten", 10);
  const made = await Promise.all(branches.map((branchId) => provider.create({ projectId: "prj-ten", branchId })));
  expect(new Set(made.map(({ id }) => id)).size).toBe(10);
  const posts = await requests(emulator, "POST");
  expect(withStatus(posts, 201)).toHaveLength(10);
  expect(withStatus(posts, 423).length).toBeLessThanOrEqual(9);
  expect(posts).toHaveLength(withStatus(posts, 201).length + withStatus(posts, 423).length);
}, 30_000);

test("what is changed and deleted beside creations waits in the same line", async () => {
  const { emulator, provider: before } = await started({ lockProjects: true, activationMs: 60 });
  const branches = await project(emulator, "prj-mix", 6);
  const [a, b, ...others] = branches.map((branchId) => ({ projectId: "prj-mix", branchId }));
  const first = await before.create(a ?? {});
  const second = await before.create(b ?? {});
  // The next up.
  const provider = providerOf(emulator);
  await Promise.all([
    ...others.map((inputs) => provider.create(inputs)),
    provider.update(first.id, first.outs ?? {}, { ...a, size: 4 }),
    provider.delete(second.id, second.outs ?? {}),
  ]);
  const log = (await Promise.all(["POST", "PATCH", "DELETE"].map((method) => requests(emulator, method)))).flat();
  expect(withStatus(log, 423).length).toBeLessThanOrEqual(5);
  expect(withStatus(log, 200).map(({ method }) => method)).toEqual(expect.arrayContaining(["PATCH", "DELETE"]));
}, 30_000);

test("on a project that does not lock they run side by side: their operations overlap", async () => {
  const { emulator, provider } = await started({ activationMs: 1_500 });
  const branches = await project(emulator, "prj-free", 10);
  await Promise.all(branches.map((branchId) => provider.create({ projectId: "prj-free", branchId })));
  const posts = await requests(emulator, "POST");
  expect(withStatus(posts, 201)).toHaveLength(10);
  expect(withStatus(posts, 423)).toHaveLength(0);
  const { body } = await control(emulator.url, "GET", "/state");
  const free = records(body, "projects").find(({ id }) => id === "prj-free");
  // All had begun before the first one ended.
  const operations = records(free ?? {}, "operations");
  const began = operations.map(({ created_at }) => Date.parse(String(created_at)));
  const ended = operations.map(({ updated_at }) => Date.parse(String(updated_at)));
  const overlapping = began.filter((time) => time < Math.min(...ended)).length;
  expect(overlapping).toBeGreaterThan(5);
}, 30_000);

test("five projects do not wait for each other, also where each of them locks", async () => {
  const { emulator, provider } = await started({ lockProjects: true, activationMs: 400 });
  const projects = times(5, (i) => `prj-five-${i}`);
  const branches = await Promise.all(projects.map((id) => project(emulator, id, 2)));
  await Promise.all(
    projects.flatMap((projectId, i) => (branches[i] ?? []).map((branchId) => provider.create({ projectId, branchId }))),
  );
  const posts = await requests(emulator, "POST");
  expect(withStatus(posts, 201)).toHaveLength(10);
  for (const id of projects) {
    const own = posts.filter(({ path }) => String(path).startsWith(`/projects/${id}/`));
    expect(withStatus(own, 423).length).toBeLessThanOrEqual(1);
  }
  // Operations of one project run while those of another do.
  const { body } = await control(emulator.url, "GET", "/state");
  const spans = records(body, "projects").flatMap((one) =>
    records(one, "operations").map(({ created_at, updated_at, project_id }) => ({
      from: Date.parse(String(created_at)),
      to: Date.parse(String(updated_at)),
      project_id,
    })),
  );
  const beside = spans.filter(({ from, project_id }) =>
    spans.some((other) => other.project_id !== project_id && other.from < from && from < other.to),
  );
  expect(beside.length).toBeGreaterThan(3);
}, 30_000);

test("replicas of one branch are as many as were asked for, although they look alike", async () => {
  const { emulator, provider } = await started({ activationMs: 60 }, { lagMs: 500 });
  await control(emulator.url, "POST", "/faults", {
    method: "POST",
    path: "/projects/{project_id}/endpoints",
    status: 500,
    effect: "done",
    times: 2,
  });
  const made = await Promise.all(times(6, () => provider.create({ projectId: "prj-demo", ...REPLICA })));
  expect(new Set(made.map(({ id }) => id)).size).toBe(6);
  const { body } = await control(emulator.url, "GET", "/state");
  const demo = records(body, "projects").find(({ id }) => id === "prj-demo");
  expect(records(demo ?? {}, "endpoints")).toHaveLength(7);
}, 30_000);
