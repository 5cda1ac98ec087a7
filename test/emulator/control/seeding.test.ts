import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator, type EmulatorSeed } from "../../../src/emulator";
import { api, control, createCompute, records, start, type Json } from "../../support/emulator";
import { errorOf } from "../../support/scriptedServer";

const SHOP = { id: "prj-shop", branches: [{ id: "br-a", compute: true }, { id: "br-b" }] };

const SEED: EmulatorSeed = {
  projects: [SHOP],
  edits: [
    { kind: "endpoint", project_id: "prj-shop", create: { id: "ep-shop-b", branch_id: "br-b", pooler_enabled: true } },
    { kind: "integration", project_id: "prj-shop", create: { branch_id: "br-a" } },
    { kind: "domain", project_id: "prj-shop", create: { domain: "https://shop.example.com" } },
    { kind: "oauth_provider", project_id: "prj-shop", id: "github", delete: true },
  ],
};

test("it starts with other projects than the demo one, and comes back to them after a reset", async () => {
  const emulator = await start({ projects: ["prj-a", "prj-b"] });
  const branches = (id: string) => [
    { id: `br-main-${id}`, default: true, primaryId: expect.stringMatching(/^ep-/) },
    { id: `br-dev-${id}`, default: false, primaryId: undefined },
    { id: `br-test-${id}`, default: false, primaryId: undefined },
  ];
  const atFirst = ["prj-a", "prj-b"].map((id) => ({ id, branches: branches(id) }));
  expect(emulator.projects()).toEqual(atFirst);
  expect((await api(emulator, "GET", "/projects/prj-demo/endpoints")).status).toBe(404);
  await control(emulator.url, "POST", "/projects", { id: "prj-c" });
  expect(emulator.projects()).toHaveLength(3);
  emulator.reset();
  expect(emulator.projects()).toEqual(atFirst);
});

test("a seed is what the control routes take: projects, then edits", async () => {
  const emulator = await start({ seed: SEED, projects: ["prj-b"] });
  const look = async (): Promise<Json> => {
    const at = (path: string) => api(emulator, "GET", `/projects/prj-shop${path}`);
    const [endpoints, domains, providers] = [
      await at("/endpoints"),
      await at("/auth/domains"),
      await at("/auth/oauth_providers"),
    ];
    return {
      endpoints: records(endpoints.body, "endpoints").map(({ branch_id }) => branch_id),
      domains: records(domains.body, "domains").map(({ domain }) => domain),
      providers: records(providers.body, "providers").map(({ id }) => id),
    };
  };
  const seeded = { endpoints: ["br-a", "br-b"], domains: ["https://shop.example.com"], providers: ["google"] };
  expect(await look()).toEqual(seeded);
  expect(emulator.projects().map(({ id }) => id)).toEqual(["prj-shop", "prj-b"]);
  await api(emulator, "DELETE", "/projects/prj-shop/endpoints/ep-shop-b");
  expect(await look()).not.toEqual(seeded);
  emulator.reset();
  expect(await look()).toEqual(seeded);
});

test("edits alone change the demo project", async () => {
  const emulator = await start({
    seed: { edits: [{ kind: "branch", project_id: "prj-demo", create: { id: "br-more" } }] },
  });
  await createCompute(emulator, { branch_id: "br-more", type: "read_write" });
  expect(emulator.projects()[0]?.branches.map(({ id }) => id)).toEqual(["br-main", "br-dev", "br-test", "br-more"]);
});

test.each<[EmulatorSeed, string]>([
  [{ projects: [{ id: "Shop" }] }, "projects: 0: id"],
  [{ projects: [SHOP, SHOP] }, "projects.1: the project exists already"],
  [{ projects: [{ branches: [{ id: "br-a", computes: 1 } as never] }] }, "computes"],
  [
    { edits: [{ kind: "domain", project_id: "prj-shop", create: { domain: "https://x.test" } }] },
    "edits.0: project not found",
  ],
  [
    { edits: [{ kind: "user", project_id: "prj-demo", create: { email: "a@b.test", canary: 1 } as never }] },
    "edits.0: invalid request",
  ],
  [{ edits: [{ kind: "planet" as never, project_id: "prj-demo", delete: true }] }, "edits: 0: kind"],
  [[] as never, "object"],
])("a seed that is wrong is refused with the place: %j", async (seed, words) => {
  const error = await errorOf(startEmulator({ seed }));
  expect(String(error)).toMatch(/^Error: the seed: /);
  expect(String(error)).toContain(words);
});

test("so is an id that is invalid", async () => {
  expect(String(await errorOf(startEmulator({ projects: ["A B"] })))).toMatch(/option projects: .*lower-case letters/);
});

test("the seed that the documentation shows is taken", async () => {
  const page = readFileSync(join(__dirname, "../../../docs/emulator.md"), "utf8");
  const [, shown = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const emulator = await start({ seed: JSON.parse(shown) as EmulatorSeed });
  expect(emulator.projects().map(({ id, branches }) => [id, branches.length])).toEqual([["prj-shop", 2]]);
});
