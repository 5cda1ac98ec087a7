/** Attacks on rules 2, 3 and 4, in process: claims, deletions and what this run has taken over. */
import { Deadline, FateUnknownError } from "../../src/client";
import { whitelist } from "../../src/resources/whitelist/whitelistLifecycle";
import { whitelistDomain } from "../../src/resources/whitelist/whitelistDomainLifecycle";
import { createCompute } from "../support/creating";
import { harness, PROJECT, withIntegration } from "../support/harness";
import { listed } from "../support/whitelists";
import { compute, ENDPOINTS, PRJ } from "../support/scene";
import { closeAll, errorOf, scripted } from "../support/scriptedServer";

afterEach(closeAll);

const site = (letter: string): string => `https://${letter}.example.com`;
const DOMAINS = `/projects/${PROJECT}/auth/domains`;

test("two creations that look alike, and both answers are about one compute: one of them made it", async () => {
  const made = compute({ type: "read_only", current_state: "idle" });
  const { server, client } = await scripted(({ method, path }) => {
    if (method === "POST") return { status: 201, json: { endpoint: made, operations: [] } };
    // The list lags: it shows nothing yet.
    return path === ENDPOINTS ? { json: { endpoints: [] } } : { json: { operations: [] } };
  });
  const replica = { branch_id: "br-1", type: "read_only" };
  const first = createCompute(client, PRJ, replica, { idleIsReady: true });
  const second = errorOf(createCompute(client, PRJ, replica, { idleIsReady: true }));
  expect(await first).toMatchObject({ id: "ep-1" });
  expect(await second).toBeInstanceOf(FateUnknownError);
  expect(server.count(`POST ${ENDPOINTS}`)).toBe(2);
});

test("creations that look alike end, each by its own clock, when no POST is answered", async () => {
  const { client } = await scripted(
    ({ method, path }) => {
      if (method === "POST") return { fault: "hang" };
      return path === ENDPOINTS ? { json: { endpoints: [] } } : { json: { operations: [] } };
    },
    { mutationAttemptTimeoutMs: 200 },
  );
  const replica = { branch_id: "br-1", type: "read_only" };
  const errors = await Promise.all(
    [1, 2, 3].map(() => errorOf(createCompute(client, PRJ, replica, { deadline: new Deadline(400) }))),
  );
  for (const error of errors) expect(error).toBeInstanceOf(FateUnknownError);
});

describe("a domain that the service spells otherwise, and that a lagging list hides", () => {
  const spelt = "https://A.Example.com/";
  test.each([
    ["a WhitelistDomain", whitelistDomain, { projectId: PROJECT, domain: site("a") }],
    ["a Whitelist", whitelist, { projectId: PROJECT, domains: [site("a")] }],
  ] as const)("%s is not deleted green while it stands", async (_, lifecycle, inputs) => {
    // The union of both lifecycles is none of them.
    const given = await harness(lifecycle as typeof whitelistDomain);
    await withIntegration(given);
    const state = await given.create(inputs);
    await given.edit({ kind: "domain", id: site("a"), set: { domain: spelt } });
    await given.fault({ method: "GET", path: DOMAINS, status: 200, body: { domains: [] }, times: 1 });
    const ended = await given.delete(state).then(
      () => "green",
      () => "red",
    );
    expect([ended, (await listed(given)).sort()]).not.toEqual(["green", [spelt]]);
  });
});

test("a replacement that makes the new Whitelist first does not delete what that has taken over", async () => {
  const given = await harness(whitelist);
  await withIntegration(given);
  const list = (letters: string) => ({ projectId: PROJECT, domains: [...letters].map(site) });
  const old = await given.create(list("ab"));
  given.restart();
  // As with `deleteBeforeReplace: false` and `replaceOnChanges: ["domains"]`: both bear one URN.
  await given.create(list("bc"));
  await given.provider.delete(old.id, old.outs);
  expect((await listed(given)).sort()).toEqual([site("b"), site("c")]);
});
