/** A key that is replaced while a command runs: what a 401 does, over HTTP. */
import { inspect } from "node:util";
import { AuthenticationError, Client, Deadline, RateLimitError } from "../../../src/client";
import { Account } from "../../../src/client/account";
import { closeAll, errorOf, scripted, type Reply, type Seen } from "../../support/scriptedServer";
import { PROVEN } from "../../support/proven";

afterEach(closeAll);

const [FIRST, SECOND, THIRD] = ["canary-first-key", "canary-second-key", "canary-third-key"];

/** A service that accepts one key, and a client whose key file is `held`. */
async function service(other: (request: Seen) => Reply | undefined = () => undefined) {
  const key = { accepted: FIRST, held: FIRST as string | undefined, reads: 0 };
  const refused = ({ headers: { authorization = "" } }: Seen): Reply | undefined =>
    authorization === `Bearer ${key.accepted}`
      ? undefined
      : { status: 401, json: { code: "", message: `${authorization} is wrong`, request_id: "r" } };
  const { server, client } = await scripted(
    (request) => {
      const { method } = request;
      return (
        refused(request) ??
        other(request) ??
        (method === "POST" ? { status: 201, json: { id: "u1" } } : { json: { endpoints: [] } })
      );
    },
    {
      apiKey: FIRST,
      renewKey: () => {
        key.reads += 1;
        return key.held;
      },
    },
  );
  const createUser = (email: string) =>
    client.auth.createUser("p", { auth_provider: "a", email }, { deadline: new Deadline(5_000), ...PROVEN });
  return { key, server, client, createUser };
}

test("50 requests at once, changes too, go on with the new key, which is read once, and each takes effect once", async () => {
  const { key, server, client, createUser } = await service();
  key.accepted = key.held = SECOND;
  const lists = Array.from({ length: 25 }, (_, index) => client.computes.list(`p${index}`));
  const users = Array.from({ length: 25 }, (_, index) => createUser(`u${index}@example.com`));
  expect(await Promise.all(lists)).toEqual(lists.map(() => []));
  expect(await Promise.all(users)).toEqual(users.map(() => ({ id: "u1" })));
  expect(key.reads).toBe(1);
  const sentWith = (apiKey: string, method: string) =>
    server.seen.filter((request) => request.method === method && request.headers.authorization === `Bearer ${apiKey}`);
  expect(
    sentWith(SECOND, "POST")
      .map(({ text }) => text)
      .sort(),
  ).toEqual(
    sentWith(FIRST, "POST")
      .map(({ text }) => text)
      .sort(),
  );
  expect([sentWith(SECOND, "POST").length, sentWith(SECOND, "GET").length]).toEqual([25, 25]);
  // From then on the new one alone.
  await client.computes.list("later");
  expect(server.seen.at(-1)?.headers.authorization).toBe(`Bearer ${SECOND}`);
  expect(key.reads).toBe(1);
});

test("a file that holds the refused key, or none, fails as any refused key: sent once, with advice once", async () => {
  const { key, server, client, createUser } = await service();
  key.accepted = SECOND;
  for (const held of [FIRST, undefined]) {
    key.held = held;
    const sent = server.seen.length;
    const errors = await Promise.all([errorOf(client.computes.list("p")), errorOf(createUser("u@example.com"))]);
    for (const error of errors) expect(error).toBeInstanceOf(AuthenticationError);
    expect(errors.filter((error) => String(error).includes("The key was sent to"))).toHaveLength(
      held === FIRST ? 1 : 0,
    );
    expect(server.seen).toHaveLength(sent + 2);
  }
  // Written late, the new key serves what comes after it.
  key.held = SECOND;
  expect(await client.computes.list("p")).toEqual([]);
});

test("a new key that is refused as well ends the request, with advice, and a file that changes back and forth does, too", async () => {
  const { key, server, client } = await service();
  key.accepted = THIRD;
  key.held = SECOND;
  expect(String(await errorOf(client.computes.list("p")))).toContain("The key was sent to");
  expect(server.lines()).toHaveLength(2);
  // Back again: it may have become valid, so it is tried, once.
  key.held = FIRST;
  expect(await errorOf(client.computes.list("p"))).toBeInstanceOf(AuthenticationError);
  expect(server.lines()).toHaveLength(4);
  key.held = THIRD;
  expect(await client.computes.list("p")).toEqual([]);
});

test("a rotation that is taken back, at the service and in the file, continues with the first key", async () => {
  const { key, client, createUser } = await service();
  key.accepted = key.held = SECOND;
  expect(await client.computes.list("p")).toEqual([]);
  key.accepted = key.held = FIRST;
  expect(await client.computes.list("p")).toEqual([]);
  expect(await createUser("u@example.com")).toEqual({ id: "u1" });
});

test("a file that changes with every look ends each of several requests, which send each key once", async () => {
  const { key, server, client } = await service();
  key.accepted = THIRD;
  Object.defineProperty(key, "held", { get: () => (key.reads % 2 === 0 ? FIRST : SECOND) });
  const lists = await Promise.all(["p1", "p2", "p3"].map((project) => errorOf(client.computes.list(project))));
  for (const error of lists) expect(error).toBeInstanceOf(AuthenticationError);
  const sent = server.seen.map(({ path, headers }) => `${path} ${headers.authorization}`);
  expect(new Set(sent).size).toBe(sent.length);
});

test("what is sent once for a loop around it continues with the new key as well", async () => {
  const { key, server } = await service();
  key.accepted = SECOND;
  const account = new Account({ baseUrl: server.baseUrl, apiKey: FIRST, renewKey: () => SECOND });
  expect(await account.readOnce("endpoints", "p")).toEqual([]);
  expect(server.lines()).toHaveLength(2);
});

test("no other refusal reads the key again", async () => {
  for (const status of [400, 403, 404]) {
    const { key, client } = await service(() => ({ status, json: { code: "", message: "no", request_id: "r" } }));
    await errorOf(client.computes.list("p"));
    expect(key.reads).toBe(0);
  }
  const limited = await service(() => ({ status: 429, headers: { "retry-after": "9999" } }));
  expect(await errorOf(limited.client.computes.list("p"))).toBeInstanceOf(RateLimitError);
  expect(limited.key.reads).toBe(0);
});

test("neither key shows in an error that repeats it, nor in a client that is printed", async () => {
  const { key, client, createUser } = await service(({ method }) =>
    method === "POST"
      ? { status: 400, json: { code: "", message: `${FIRST} ${SECOND}`, request_id: SECOND } }
      : undefined,
  );
  key.accepted = key.held = SECOND;
  const error = await errorOf(createUser("u@example.com"));
  expect(String(error)).toMatch(/\[the service's message repeats a secret\] \(.* 400, request \[secret\]\)$/);
  key.accepted = THIRD;
  const refused = await errorOf(client.computes.list("p"));
  for (const thing of [error, refused, client, new Client({ baseUrl: "http://127.0.0.1:1/v2", apiKey: FIRST })]) {
    expect(inspect(thing, { depth: null, showHidden: true }) + JSON.stringify(thing)).not.toContain("canary");
  }
});
