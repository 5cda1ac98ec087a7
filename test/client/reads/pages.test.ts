/** Lists in pages, through the whole client, in memory. */
import {
  AuthenticationError,
  type Client,
  Deadline,
  Gone,
  OperationFailedError,
  PermissionError,
  ServiceError,
  SvcError,
  Unknown,
  WaitTimeoutError,
} from "../../../src/client";
import { ANY } from "../../support/creating";
import { PROVEN } from "../../support/proven";
import { compute, gone, operation, PRJ } from "../../support/scene";
import { skippingClock } from "../../support/fakeClock";
import { errorOf, inMemory, type Reply, type Script, type Seen } from "../../support/scriptedServer";

skippingClock();

const SIZE = 2;

/** The cursors of this file are the number of items before a page. */
const cursorOf = ({ path }: Seen): number => Number(/[?&]cursor=([^&]*)/.exec(path)?.[1] ?? 0);
const listOf = ({ path }: Seen): string => path.replace(/\?.*$/, "").replace(/^.*\//, "");

type Named = (cursor: string) => unknown;
const byCursor: Named = (cursor) => ({ cursor });

/** The page of these items that a request asks for. `named`: how it names the next one. */
function pageOf(request: Seen, key: string, items: readonly object[], named = byCursor, size = SIZE): Reply {
  const from = cursorOf(request);
  const next = from + size < items.length ? { pagination: named(String(from + size)) } : {};
  return { json: { [key]: items.slice(from, from + size), ...next } };
}

const numbers = [1, 2, 3, 4, 5];
const COMPUTES = numbers.map((number) => compute({ id: `ep-${number}` }));

interface Listed {
  /** Of the array in the body. */
  readonly key: string;
  readonly items: readonly object[];
  readonly read: (client: Client) => Promise<readonly object[] | undefined>;
}
const LISTS: Record<string, Listed> = {
  endpoints: { key: "endpoints", items: COMPUTES, read: ({ computes }) => computes.list(PRJ) },
  branches: {
    key: "branches",
    items: numbers.map((number) => ({ id: `br-${number}` })),
    read: ({ projects }) => projects.branches(PRJ),
  },
  integrations: {
    key: "data",
    items: numbers.map((number) => ({
      ...{ auth_provider: `a-${number}`, auth_provider_project_id: `x-${number}`, branch_id: "b" },
    })),
    read: ({ auth }) => auth.integrations(PRJ).list(),
  },
  oauth_providers: {
    key: "providers",
    items: numbers.map((number) => ({ id: `o-${number}`, type: "shared" })),
    read: ({ auth }) => auth.oauthProviders(PRJ).list(),
  },
  domains: {
    key: "domains",
    items: numbers.map((number) => ({ domain: `https://${number}.test`, auth_provider: "a" })),
    read: ({ auth }) => auth.domains(PRJ).list(),
  },
};

describe.each(Object.entries(LISTS))("the list of %s, in pages", (_name, { key, items, read }) => {
  test.each<[string, Named]>([
    ["cursor", byCursor],
    ["next", (next) => ({ next, sort_by: "created_at" })],
    ["a number", (cursor) => ({ cursor: Number(cursor) })],
  ])("is read whole and once, with one request for each page (%s)", async (_, named) => {
    const { server, client } = inMemory((request) => pageOf(request, key, items, named));
    expect(await read(client)).toEqual(items);
    expect(await read(client)).toEqual(items);
    expect(server.seen.map(cursorOf)).toEqual([0, 2, 4]);
  });

  test.each<[string, string | null]>([
    ["an empty cursor", ""],
    ["no cursor", null],
    ["the cursor that was asked for", "2"],
  ])("ends with an empty page that has %s", async (_, cursor) => {
    const { server, client } = inMemory((request) => {
      if (cursorOf(request) === 0) return pageOf(request, key, items);
      return { json: { [key]: [], pagination: { cursor } } };
    });
    expect(await read(client)).toEqual(items.slice(0, SIZE));
    expect(server.seen).toHaveLength(2);
  });

  test.each([{ cursor: { after: 2 } }, "2", [2], { next: true }])(
    "is not taken for whole if it goes on in a way that is unknown: %j",
    async (pagination) => {
      const { client } = inMemory(() => ({ json: { [key]: items.slice(0, SIZE), pagination } }));
      expect(String(await errorOf(read(client)))).toContain("an unexpected shape: pagination");
    },
  );

  test.each<[string, Reply]>([
    ["401", { status: 401 }],
    ["403", { status: 403 }],
    ["404", gone()],
    ["405", { status: 405 }],
    ["500", { status: 500 }],
  ])("is an error if a later page is answered with %s", async (status, reply) => {
    const { client } = inMemory((request) => (cursorOf(request) === 0 ? pageOf(request, key, items) : reply), {
      baseDelayMs: 1,
    });
    expect(String(await errorOf(read(client)))).toContain(`-> ${status}`);
  });
});

const computesIn =
  (later: (request: Seen) => Reply, first: Script = (request) => pageOf(request, "endpoints", COMPUTES)): Script =>
  (request, nth) =>
    cursorOf(request) === 0 ? first(request, nth) : later(request);

describe("a compute of a list in pages", () => {
  test("is found on any page, and gone if no page of two lists shows it", async () => {
    const { server, client } = inMemory((request) => pageOf(request, "endpoints", COMPUTES));
    const found = await Promise.all(["ep-1", "ep-5", "ep-9"].map((id) => client.computes.find(PRJ, id)));
    expect(found).toEqual([COMPUTES[0], COMPUTES[4], expect.any(Gone)]);
    expect(server.seen.map(cursorOf)).toEqual([0, 2, 4, 0, 2, 4]);
  });

  test("is listed once if it moves to the next page meanwhile, as it was shown last", async () => {
    const [one, two, three] = COMPUTES;
    const later = { ...two, name: "later" };
    const { client } = inMemory(
      computesIn(
        () => ({ json: { endpoints: [later, three] } }),
        () => ({ json: { endpoints: [one, two], pagination: { cursor: "2" } } }),
      ),
    );
    expect(await client.computes.list(PRJ)).toEqual([one, later, three]);
  });

  test("is changed on a later page", async () => {
    const { client } = inMemory((request) => {
      if (request.method === "PATCH") return { json: { endpoint: COMPUTES[4], operations: [operation("running")] } };
      if (listOf(request) === "operations") return { json: { operations: [operation("finished")] } };
      return pageOf(request, "endpoints", COMPUTES);
    });
    const change = { projectId: PRJ, endpointId: "ep-5", attributes: {}, expected: ANY };
    await expect(client.computes.update(change)).resolves.toMatchObject({ id: "ep-5" });
  });

  test("is not deleted as long as a later page shows it", async () => {
    let lists = 0;
    const { client } = inMemory((request) => {
      if (request.method === "DELETE") return { status: 204 };
      if (listOf(request) === "operations") return gone();
      if (cursorOf(request) === 0) lists += 1;
      return pageOf(request, "endpoints", lists < 4 ? COMPUTES : COMPUTES.slice(0, 4));
    });
    await client.computes.delete({ projectId: PRJ, endpointId: "ep-5" }, PROVEN);
    expect(lists).toBeGreaterThanOrEqual(4);
  });
});

/** Lists that cannot be read to their end, with the error that says so. */
const INCOMPLETE: readonly [string, Script, typeof SvcError, RegExp][] = [
  [
    "whose second page names itself as the next one",
    computesIn(() => ({ json: { endpoints: [COMPUTES[2]], pagination: { cursor: "2" } } })),
    SvcError,
    /it names the same next page again and again/,
  ],
  [
    "that has no end",
    (request) => ({
      json: { endpoints: [COMPUTES[cursorOf(request) % 2]], pagination: { cursor: String(cursorOf(request) + 1) } },
    }),
    SvcError,
    /it has more than 100 pages/,
  ],
  ["whose second page fails", computesIn(() => ({ status: 503 })), ServiceError, /503/],
  ["whose second page refuses the key", computesIn(() => ({ status: 401 })), AuthenticationError, /401/],
  [
    "whose second page is not found",
    computesIn(() => gone()),
    SvcError,
    /read to its end: not found \(project prj-1\): not there \(GET/,
  ],
];

describe.each(INCOMPLETE)("a list %s", (_title, script, kind, words) => {
  const quick = { baseDelayMs: 1 };

  test("shows what it has shown", async () => {
    const { client } = inMemory(script, quick);
    await expect(client.computes.find(PRJ, "ep-1")).resolves.toMatchObject({ id: "ep-1" });
  });

  test("does not prove that anything else is gone, and is no list for who needs a whole one", async () => {
    const { client } = inMemory(script, quick);
    const outcome = await client.computes.find(PRJ, "ep-9").catch((error: unknown) => error);
    const error = outcome instanceof Unknown ? outcome.error : outcome;
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toMatch(words);
    const listed = await errorOf(client.computes.list(PRJ));
    expect(listed).toBeInstanceOf(kind);
    expect(String(listed)).toMatch(words);
  });

  test("is no reason to keep a compute that it shows: its deletion ends with the operations that it named", async () => {
    let isDeleted = false;
    const { client } = inMemory((request, nth) => {
      if (request.method === "DELETE") {
        isDeleted = true;
        return { json: { endpoint: COMPUTES[0], operations: [operation("running", { action: "suspend_compute" })] } };
      }
      if (listOf(request) === "operations") return { json: { operations: [operation("finished")] } };
      const reply = script(request, nth) as Reply;
      if (!isDeleted || reply.json === undefined) return reply;
      const { endpoints, ...rest } = reply.json as { endpoints: { id: string }[] };
      return { json: { ...rest, endpoints: endpoints.filter((one) => one.id !== "ep-1") } };
    }, quick);
    await client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, PROVEN);
  });

  test("does not show that a deletion has ended while it shows the compute", async () => {
    const { client } = inMemory((request, nth) => {
      if (request.method === "DELETE") return { json: { endpoint: COMPUTES[0], operations: [operation("running")] } };
      if (listOf(request) === "operations") return { json: { operations: [operation("running")] } };
      return script(request, nth);
    }, quick);
    const options = { ...PROVEN, deadline: new Deadline(5_000) };
    const error = await errorOf(client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, options));
    // A refused key ends every wait at once.
    expect(error).toBeInstanceOf(kind === AuthenticationError ? AuthenticationError : WaitTimeoutError);
  });

  test("does not show that a compute was deleted during a wait, and ends no wait for one that it shows", async () => {
    const { client } = inMemory((request, nth) => {
      if (request.method === "PATCH") return { json: { endpoint: COMPUTES[0], operations: [operation("running")] } };
      if (listOf(request) === "operations") return { json: { operations: [operation("finished")] } };
      return script(request, nth);
    }, quick);
    const change = { projectId: PRJ, attributes: {}, expected: ANY };
    const shown = client.computes.update({ ...change, endpointId: "ep-1" });
    await expect(shown).resolves.toMatchObject({ id: "ep-1" });
    const error = await errorOf(
      client.computes.update({ ...change, endpointId: "ep-9" }, { deadline: new Deadline(5_000) }),
    );
    expect(String(error)).not.toContain("it was deleted during the wait");
  });
});

test("a compute that a list shows before it fails needs no second list", async () => {
  const { server, client } = inMemory(computesIn(() => ({ status: 403 })));
  await client.computes.find(PRJ, "ep-2");
  expect(server.seen.map(cursorOf)).toEqual([0, 2]);
});

test("a list of branches whose later page is refused is not a service without branches", async () => {
  const { client } = inMemory((request) => {
    if (listOf(request) === "endpoints") return { json: { endpoints: [] } };
    return cursorOf(request) === 0 ? pageOf(request, "branches", COMPUTES) : { status: 403 };
  });
  await expect(client.projects.branches(PRJ)).rejects.toBeInstanceOf(SvcError);
  await expect(client.projects.branches(PRJ)).rejects.not.toBeInstanceOf(PermissionError);
});

describe("the history of operations", () => {
  /** Newest first, a second apart; ours is at the end. */
  const history = (newer: number, ours: object): object[] => [
    ...Array.from({ length: newer }, (_, index) =>
      operation("finished", { id: `op-new-${index}`, endpoint_id: "ep-other", created_at: timeOf(newer - index) }),
    ),
    ours,
    operation("finished", { id: "op-old", endpoint_id: "ep-other", created_at: timeOf(-60) }),
  ];
  const timeOf = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
  const own = (status: string, fields: object = {}): object =>
    operation(status, { id: "op-ours", action: "apply_config", created_at: timeOf(0), ...fields });
  const operationPages = (server: { seen: Seen[] }): number[] =>
    server.seen.filter((request) => listOf(request) === "operations").map(cursorOf);

  /** A resize whose operation is behind 150 newer ones by the time that somebody looks. */
  const resizing = (outcome: object, newer = 150) => {
    const { server, client } = inMemory((request) => {
      if (request.method === "PATCH") return { json: { endpoint: compute(), operations: [own("running")] } };
      if (listOf(request) === "operations")
        return pageOf(request, "operations", history(newer, outcome), byCursor, 100);
      return { json: { endpoints: [compute()] } };
    });
    const change = { projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY };
    return { server, done: client.computes.update(change) };
  };

  test("is read on until it shows the operation of a change: one that failed is an error", async () => {
    const { server, done } = resizing(own("failed", { error: "no capacity left" }));
    const error = await errorOf(done);
    expect(error).toBeInstanceOf(OperationFailedError);
    expect(String(error)).toContain("no capacity left");
    expect(operationPages(server)).toEqual([0, 100]);
  });

  test("is read on, and the change is done with its operation", async () => {
    const { server, done } = resizing(own("finished"));
    await expect(done).resolves.toMatchObject({ id: "ep-1" });
    expect(operationPages(server)).toEqual([0, 100]);
  });

  test("is not read on if the first page shows it", async () => {
    const { server, done } = resizing(own("finished"), 99);
    await done;
    expect(operationPages(server)).toEqual([0]);
  });

  test("is not read on for an operation that no list shows yet", async () => {
    let looks = 0;
    const { server, client } = inMemory((request) => {
      if (request.method === "PATCH") return { json: { endpoint: compute(), operations: [own("running")] } };
      if (listOf(request) !== "operations") return { json: { endpoints: [compute()] } };
      looks += 1;
      const older = Array.from({ length: 150 }, (_, index) =>
        operation("finished", { id: `op-${index}`, endpoint_id: "ep-other", created_at: timeOf(-1 - index) }),
      );
      const listed = looks < 3 ? older : [own("finished"), ...older];
      return pageOf(request, "operations", listed, byCursor, 100);
    });
    await client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY });
    expect(new Set(operationPages(server))).toEqual(new Set([0]));
  });

  describe("of an unfinished update", () => {
    const unfinished = compute({ created_at: timeOf(-10) });
    const hasFailed = async (listed: readonly object[]) => {
      const { server, client } = inMemory((request) => pageOf(request, "operations", listed, byCursor, 100));
      // A record of a list.
      const record = unfinished as Parameters<Client["projects"]["hasFailedChange"]>[1];
      return [await client.projects.hasFailedChange(PRJ, record), operationPages(server)] as const;
    };

    test("is read back to the operation that failed", async () => {
      expect(await hasFailed(history(150, own("failed")))).toEqual([true, [0, 100]]);
    });

    test("is read back to the creation of the compute, or to a suspension that settles everything", async () => {
      expect(await hasFailed(history(150, own("finished")))).toEqual([false, [0, 100]]);
      const suspension = own("finished", { id: "op-s", action: "suspend_compute", created_at: timeOf(200) });
      expect(await hasFailed([suspension, ...history(150, own("failed"))])).toEqual([false, [0]]);
    });

    test("is read on if the last operation of a page was cancelled, since an older one may have failed", async () => {
      const cancelled = ["start_compute", "suspend_compute", "apply_config"].map((action, index) =>
        own("cancelled", { id: `op-c${index}`, action, created_at: timeOf(200 - index) }),
      );
      const others = history(97, own("failed"));
      const [first, ...rest] = cancelled;
      const listed = [first, ...others.slice(0, 97), ...rest, ...others.slice(97)] as object[];
      expect(await hasFailed(listed)).toEqual([true, [0, 100]]);
    });
  });
});
