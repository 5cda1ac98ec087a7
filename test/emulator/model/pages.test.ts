import type { Emulator, EmulatorOptions } from "../../../src/emulator";
import {
  api,
  control,
  createCompute,
  DEMO,
  ERROR_BODY,
  integrate,
  records,
  start,
  type Json,
} from "../../support/emulator";

const edit = async (emulator: Emulator, kind: string, more: object): Promise<void> => {
  const { status, text } = await control(emulator.url, "POST", "/edit", { kind, project_id: "prj-demo", ...more });
  if (status !== 200) throw new Error(text);
};

interface Listed {
  path: string;
  key: string;
  /** The name of an item. */
  name: string;
  /** The cursor's place in a page. */
  next?: string;
  newestFirst?: true;
  /** Adds the item with this number. */
  add: (emulator: Emulator, number: number) => Promise<void>;
}

const PRIMARY_OPERATION = { endpoint_id: "ep-demo-main-10000001", duration_ms: 0 };

const LISTS: Record<string, Listed> = {
  computes: {
    ...{ path: "/endpoints", key: "endpoints", name: "id" },
    add: async (emulator) => void (await createCompute(emulator, { branch_id: "br-dev", type: "read_only" })),
  },
  branches: {
    ...{ path: "/branches", key: "branches", name: "id", next: "next" },
    add: (emulator, number) => edit(emulator, "branch", { create: { id: `br-${number}` } }),
  },
  operations: {
    ...{ path: "/operations", key: "operations", name: "id", newestFirst: true },
    add: (emulator) => edit(emulator, "operation", { create: PRIMARY_OPERATION }),
  },
  integrations: {
    ...{ path: "/auth/integrations", key: "data", name: "auth_provider_project_id" },
    add: (emulator) => edit(emulator, "integration", { create: { branch_id: "br-main" } }),
  },
  "OAuth providers": {
    ...{ path: "/auth/oauth_providers", key: "providers", name: "id" },
    add: (emulator, number) => edit(emulator, "oauth_provider", { create: { id: `own-${number}` } }),
  },
  domains: {
    ...{ path: "/auth/domains", key: "domains", name: "domain" },
    add: (emulator, number) => edit(emulator, "domain", { create: { domain: `https://${number}.example.com` } }),
  },
};

/** An emulator with seven objects in the list. */
async function filled(list: Listed, options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await start(options);
  await integrate(emulator);
  for (let number = 1; (await whole(emulator, list)).length < 7; number += 1) await list.add(emulator, number);
  return emulator;
}

/** All that is in the list, in the order in which it is shown. */
async function whole(emulator: Emulator, list: Listed): Promise<unknown[]> {
  return (await page(emulator, list, "?limit=1000")).names;
}

async function page(
  emulator: Emulator,
  list: Listed,
  query = "",
): Promise<{ names: unknown[]; next?: string; body: Json }> {
  const { status, body } = await api(emulator, "GET", `${DEMO}${list.path}${query}`);
  expect(status).toBe(200);
  const pagination = body.pagination as Json | undefined;
  const next = pagination?.[list.next ?? "cursor"];
  const names = records(body, list.key).map((item) => item[list.name]);
  return { names, body, ...(next !== undefined && { next: String(next) }) };
}

const after = (cursor: string | undefined, more = ""): string => `?cursor=${encodeURIComponent(String(cursor))}${more}`;

describe.each(Object.entries(LISTS))("the list of %s", (_what, list) => {
  test("is whole by default, and in pages of the option's size", async () => {
    const emulator = await filled(list);
    const all = await whole(emulator, list);
    const { names, body } = await page(emulator, list);
    expect([names, body]).toEqual([all, expect.not.objectContaining({ pagination: expect.anything() })]);

    const paged = await filled(list, { pageSize: 3 });
    const first = await page(paged, list);
    const second = await page(paged, list, after(first.next));
    const third = await page(paged, list, after(second.next));
    expect([first, second, third].map((one) => one.names.length)).toEqual([3, 3, 1]);
    expect([...first.names, ...second.names, ...third.names]).toEqual(await whole(paged, list));
    expect(third.body).not.toHaveProperty("pagination");
  });

  test("takes another size from the request, and refuses a cursor that it has not given", async () => {
    const emulator = await filled(list, { pageSize: 3 });
    const all = await whole(emulator, list);
    const first = await page(emulator, list, "?limit=5");
    const second = await page(emulator, list, after(first.next, "&limit=1"));
    expect([first.names, second.names]).toEqual([all.slice(0, 5), all.slice(5, 6)]);
    const other = list.path === "/endpoints" ? LISTS.branches : LISTS.computes;
    const foreign = other && (await page(emulator, other, "?limit=1")).next;
    const stranger = await filled(list, { pageSize: 3 });
    for (const query of ["?limit=0", "?limit=1001", "?limit=x", "?cursor=", after("none"), after(foreign)]) {
      const { status, body } = await api(emulator, "GET", `${DEMO}${list.path}${query}`);
      expect([query, status, body]).toEqual([query, 400, ERROR_BODY]);
    }
    expect((await api(stranger, "GET", `${DEMO}${list.path}${after(first.next)}`)).status).toBe(400);
  });

  test("goes on at the same place where something was added meanwhile", async () => {
    const emulator = await filled(list, { pageSize: 3 });
    const all = await whole(emulator, list);
    const first = await page(emulator, list);
    await list.add(emulator, 100);
    const second = await page(emulator, list, after(first.next));
    const third = await page(emulator, list, after(second.next));
    const added = (await whole(emulator, list)).filter((name) => !all.includes(name));
    expect(added).toHaveLength(1);
    // What was added stands at the end, or in front of what was shown.
    const expected = list.newestFirst ? all : [...all, ...added];
    expect([...first.names, ...second.names, ...third.names]).toEqual(expected);
  });
});

test("the pages of branches have another form, as at some services", async () => {
  const emulator = await start({ pageSize: 2 });
  const { body } = await api(emulator, "GET", `${DEMO}/branches`);
  expect(body.pagination).toEqual({ next: expect.stringMatching(/.+/), sort_by: "created_at", sort_order: "asc" });
});

test("a page begins at the same place where what was shown is gone, or was made again", async () => {
  const domains = LISTS.domains as Listed;
  const emulator = await filled(domains, { pageSize: 3 });
  const first = await page(emulator, domains);
  const remove = (domain: string) => edit(emulator, "domain", { id: domain, delete: true });
  for (const domain of ["https://1.example.com", "https://3.example.com"]) await remove(domain);
  await edit(emulator, "domain", { create: { domain: "https://3.example.com" } });
  const second = await page(emulator, domains, after(first.next));
  expect(second.names).toEqual([4, 5, 6].map((number) => `https://${number}.example.com`));
  const third = await page(emulator, domains, after(second.next));
  expect(third.names).toEqual(["https://7.example.com", "https://3.example.com"]);
});

test("operations come in pages of 100 without any option", async () => {
  const emulator = await start();
  const operations = LISTS.operations as Listed;
  for (let number = 0; number < 150; number += 1) await operations.add(emulator, number);
  const first = await page(emulator, operations);
  const second = await page(emulator, operations, after(first.next));
  expect([first.names.length, second.names.length, second.next]).toEqual([100, 50, undefined]);
  expect(new Set([...first.names, ...second.names]).size).toBe(150);
  expect((await page(emulator, operations, "?limit=100")).next).toEqual(expect.any(String));
  expect((await page(emulator, operations, "?limit=150")).next).toBeUndefined();
});

describe("a fault of a list", () => {
  const computes = LISTS.computes as Listed;
  const template = "/projects/{project_id}/endpoints";
  const arm = async (emulator: Emulator, fault: object): Promise<void> => {
    const { status, text } = await control(emulator.url, "POST", "/faults", { path: template, ...fault });
    expect([status, text]).toEqual([201, expect.any(String)]);
  };

  test("lets one page fail, whatever else is asked meanwhile", async () => {
    const emulator = await filled(computes, { pageSize: 3 });
    await arm(emulator, { page: 2, status: 503 });
    const first = await page(emulator, computes);
    const again = await page(emulator, computes);
    const create = { endpoint: { branch_id: "br-test", type: "read_write" } };
    expect((await api(emulator, "POST", `${DEMO}/endpoints`, create)).status).toBe(201);
    expect((await api(emulator, "GET", `${DEMO}/endpoints${after(first.next)}`)).status).toBe(503);
    expect((await page(emulator, computes, after(again.next))).names).toHaveLength(3);
  });

  test("lets the cursor repeat for ever", async () => {
    const emulator = await filled(computes, { pageSize: 3 });
    await arm(emulator, { paging: "repeats", times: 0 });
    const first = await page(emulator, computes);
    const second = await page(emulator, computes, after(first.next));
    expect(second.next).toBe(first.next);
    expect((await page(emulator, computes, after(second.next))).body).toEqual(second.body);
  });

  test.each([0, 3])("lets a list never end, with pages of %i", async (pageSize) => {
    const emulator = await filled(computes, { pageSize });
    await arm(emulator, { paging: "endless", times: 0 });
    const all = await whole(emulator, computes);
    const cursors: unknown[] = [];
    const seen: unknown[] = [];
    for (let query = "", turn = 0; turn < 10; turn += 1) {
      const { next, names } = await page(emulator, computes, query);
      cursors.push(next);
      seen.push(...names);
      query = after(next);
    }
    expect(new Set(cursors).size).toBe(10);
    expect(seen.slice(0, 14)).toEqual([...all, ...all]);
  });

  test.each([{ page: 0, status: 500 }, { page: 2 }, { paging: "never" }, { paging: "repeats", status: 500 }])(
    "such as %j is refused",
    async (fault) => {
      const emulator = await start();
      expect((await control(emulator.url, "POST", "/faults", fault)).status).toBe(400);
    },
  );
});
