import { EACH_CASE, KIND_CASES } from "../kinds";
import type { Creation, KindCase } from "../kinds/KindCase";
import { REPLICA } from "../kinds/ComputeEndpoint";
import { sceneOf } from "../kinds/started";
import { ENDPOINTS as DEMO_ENDPOINTS } from "../support/computeCases";
import { expectNoSecrets, PROJECT, type Harness, type Json, type State } from "../support/harness";
import { cut, empty, json, lost, type Hostile, type Reply, type Scene } from "../support/rules/hostile";
import { OAUTH_SHARED, OAUTH_STANDARD } from "../kinds/OAuthProvider";
import { WHITELIST_ARGS } from "../kinds/Whitelist";
import { DOMAIN_ARGS } from "../kinds/WhitelistDomain";
import { computesOf, DOMAINS, ENDPOINTS, OAUTH, providerOf, recordsOf } from "../support/rules/routes";
import { computeScene, oauthScene, whitelistScene } from "../support/rules/scenes";
import { Network } from "../support/rules/network";
import { lastingLines, outcomeOf, up, wordsOf, type Outcome } from "../support/rules/steps";
import { world } from "../support/rules/world";

/** The service's id for the object of a state or record. */
const idIn = ({ id }: State): string => id.slice(PROJECT.length + 1);

/** Creates an object by the API, like somebody else. */
const byColleague = (given: Harness, path: string, body: Json): Promise<Json> => given.post(path, body);
const computeByColleague = (given: Harness, endpoint: Json): Promise<Json> =>
  byColleague(given, DEMO_ENDPOINTS, { endpoint });
const sized = (cu: number): Json => ({ autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu });

const CREATIONS = EACH_CASE.flatMap((kindCase) =>
  kindCase.creations.map((creation): Opened => ({
    ...creation,
    open: () => sceneOf(kindCase, creation.options),
  })),
);

interface Opened extends Creation {
  readonly open: () => Promise<Scene>;
}

/** A creation that is also tested on its own. */
function creationOf(kindCase: KindCase, title: string): Opened {
  const found = kindCase.creations.find((one) => one.title === title);
  if (found === undefined) throw new Error(`${kindCase.kind} has no creation "${title}"`);
  return { ...found, open: () => sceneOf(kindCase, found.options) };
}
const primary = creationOf(KIND_CASES.ComputeEndpoint, "a primary");
const replica = creationOf(KIND_CASES.ComputeEndpoint, "a replica");
const user = creationOf(KIND_CASES.AuthUser, "a user");

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const isNamedIn = ({ nameOf, marks = () => [] }: Creation, words: string, record: Json): boolean =>
  [nameOf(record), ...marks(record)].some((name) => words.includes(name));

/** Fields that change by themselves while a compute starts. */
const FLEETING = new Set(["current_state", "pending_state", "updated_at", "last_active", "suspended_at"]);
const lasting = (records: readonly Json[]): Json[] =>
  records.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => !FLEETING.has(name))));

/** Nothing of the colleague is ours: it is not in the state, and we neither change nor delete it. */
async function expectTheirs({ given }: Scene, { list }: Creation, outcome: Outcome, theirs: readonly Json[]) {
  expect(wordsOf(outcome)).not.toBe("");
  expect(outcome).toMatchObject({ kept: undefined });
  expect(lasting(await list(given))).toEqual(lasting(theirs));
  expectNoSecrets(given);
}

describe("a POST that was lost before it was executed, while a colleague makes", () => {
  const LOOKALIKES = CREATIONS.flatMap((creation) =>
    creation.lookalikes.map((theirs) => [theirs.title, creation, theirs] as const),
  );
  test.each(LOOKALIKES)("%s: it stays theirs", async (_what, creation, { make, isNamed }) => {
    const opened = await creation.open();
    const { given, network } = opened;
    let theirs: Json[] = [];
    const after = async () => {
      await make(given);
      theirs = await creation.list(given);
    };
    network.on({ method: "POST", path: creation.path, nth: 1, executed: false, after, answer: lost });
    const outcome = await outcomeOf(() => given.create(creation.args));
    expect(theirs).toHaveLength(1);
    await expectTheirs(opened, creation, outcome, theirs);
    if (isNamed) for (const one of theirs) expect(isNamedIn(creation, wordsOf(outcome), one)).toBe(true);
  });

  test("a replica that nothing distinguishes from ours, made while our POST waited for a lock: it stays theirs", async () => {
    const opened = await replica.open();
    const { given, network } = opened;
    const locked = json({ request_id: "req-3", code: "", message: "the project has a running operation" }, 423);
    const theirs = () => computeByColleague(given, { branch_id: "br-main", type: "read_only", ...sized(2) });
    const POST = { method: "POST", path: ENDPOINTS, executed: false };
    network.on({ ...POST, nth: 1, after: theirs, answer: locked });
    // The second that arrives, of which this rule sees the first.
    network.on({ ...POST, nth: 1, answer: lost });
    const outcome = await outcomeOf(() => given.create(replica.args));
    expect(await computesOf(given)).toHaveLength(1);
    await expectTheirs(opened, replica, outcome, await computesOf(given));
  });

  test("a replica that nothing distinguishes from ours, made while our POST waited for another change of ours: it stays theirs", async () => {
    const { given, network } = await computeScene({ lockProjects: true, activationMs: 300 });
    const isReplica = ({ body }: { body: Json }) => (body["endpoint"] as Json)["type"] === "read_only";
    let theirs = "";
    // The first is being started, which locks the project; an edit knows no locks.
    network.on({
      method: "POST",
      path: ENDPOINTS,
      nth: 1,
      when: isReplica,
      after: async () => {
        await given.edit({
          kind: "endpoint",
          create: { id: "ep-theirs", branch_id: "br-main", type: "read_only", current_state: "idle", ...sized(2) },
        });
        theirs = "ep-theirs";
      },
    });
    network.on({ method: "POST", path: ENDPOINTS, nth: 1, when: isReplica, executed: false, answer: lost });
    const ours = given.create(primary.args);
    const outcome = await outcomeOf(() => given.create(replica.args));
    await ours;
    expect(theirs).toBe("ep-theirs");
    expect(wordsOf(outcome)).not.toBe("");
    expect(outcome).toMatchObject({ kept: undefined });
    expect((await computesOf(given)).map(({ id }) => id)).toContain("ep-theirs");
  });
});

const LOSSES: readonly (readonly [string, Reply | ((real: Reply) => Reply) | "reset"])[] = [
  ["a gateway's 502", lost],
  ["a gateway's 501", { ...lost, status: 501 }],
  ["a redirect", { status: 303, text: "", headers: { location: "https://login.example.com/" } }],
  ["half an answer", cut],
  ["a connection that ends", "reset"],
];
const losing = (network: Hostile, path: string, answer: (typeof LOSSES)[number][1]) =>
  network.on({ method: "POST", path, nth: 1, answer });

describe.each(CREATIONS.filter(({ isFound }) => isFound !== false))(
  "$title that was created and whose response was lost",
  (creation) => {
    // Half of an answer without a body is the whole.
    const losses = LOSSES.filter(([, answer]) => creation.isFound !== "bodiless" || answer !== cut);
    test.each(losses)("to %s, is found and recorded once, and a line says so", async (_how, answer) => {
      const { given, network } = await creation.open();
      losing(network, creation.path, answer);
      const { id, outs } = await given.create(creation.args);
      expect(outs).toMatchObject(creation.args);
      const made = await creation.list(given);
      expect(made.map(creation.nameOf)).toEqual([idIn({ id, outs })]);
      expect(network.arrived.filter(({ method, path }) => method === "POST" && path === pathOf(creation))).toHaveLength(
        1,
      );
      expect(lastingLines(given).join("\n")).toMatch(
        new RegExp(`(found|lost).*${escaped(idIn({ id, outs }))}|${escaped(idIn({ id, outs }))}.*(found|lost)`, "s"),
      );
      given.restart();
      await given.delete({ id, outs });
      expect(await creation.list(given)).toEqual([]);
    });
  },
);

const pathOf = ({ path }: Creation): string => path.replace("{project_id}", PROJECT);

describe("what nothing can prove to be ours", () => {
  test.each(LOSSES)(
    "a user whose response was lost to %s ends with a message, and the next up says that one exists",
    async (_how, answer) => {
      const { given, network } = await user.open();
      losing(network, user.path, answer);
      const outcome = await outcomeOf(() => given.create(user.args));
      expect(wordsOf(outcome)).toMatch(/users_sync/);
      expect(outcome).toMatchObject({ kept: undefined });
      const again = await up(given, undefined, user.args);
      expect(wordsOf(again.outcome)).toMatch(/email/);
      expect(await user.list(given)).toHaveLength(1);
    },
  );

  test.each(LOSSES)(
    "credentials whose answer was lost to %s are not recorded, and what may have them is named",
    async (_how, answer) => {
      const { given, network } = await oauthScene();
      losing(network, OAUTH, answer);
      const outcome = await outcomeOf(() => given.create(OAUTH_STANDARD));
      expectNoSecrets(given);
      expect(wordsOf(outcome)).toMatch(/may or may not be the result: the OAuth provider microsoft/);
      expect(outcome).toMatchObject({ kept: undefined });
      // It stands: no list shows whose credentials it has.
      expect((await providerOf(given))?.["client_id"]).toBe("own-id");
    },
  );

  test.each([
    ["neither of which is ours", false],
    ["one of which is ours", true],
  ])("two replicas that look alike, %s: both are named and none is taken", async (_which, executed) => {
    const { given, network } = await replica.open();
    const theirs = () => computeByColleague(given, { branch_id: "br-main", type: "read_only", ...sized(2) });
    const after = async () => {
      await theirs();
      if (!executed) await theirs();
    };
    network.on({ method: "POST", path: ENDPOINTS, nth: 1, executed, after, answer: lost });
    const outcome = await outcomeOf(() => given.create(replica.args));
    const found = await computesOf(given);
    expect(found).toHaveLength(2);
    expect(outcome).toMatchObject({ ended: "badly", kept: undefined });
    for (const { id } of found) expect(wordsOf(outcome)).toContain(id);
  });
});

test("a lost creation in one project claims nothing of the same name in another one", async () => {
  const given = await world();
  const network = await Network.before(given.baseUrl);
  try {
    const projects = ["prj-one", "prj-two"];
    for (const id of projects) {
      await given.project(id, { integration: true });
      network.set(id, { reads: new Map(), changes: new Map([[0, "lost, done"] as const, [1, "lost, done"] as const]) });
    }
    const stack = given.stack({}, network.baseUrl);
    const done = await stack.up(
      projects.flatMap((projectId) => [
        { kind: "WhitelistDomain", name: `domain of ${projectId}`, inputs: { ...DOMAIN_ARGS, projectId } },
        { kind: "OAuthProvider", name: `provider of ${projectId}`, inputs: { ...OAUTH_SHARED, projectId } },
      ]),
    );
    expect(done.errors).toEqual([]);
    expect(stack.state.map(({ id }) => id).sort()).toEqual(
      projects.flatMap((id) => [`${id}/${DOMAIN_ARGS.domain}`, `${id}/microsoft`]).sort(),
    );
  } finally {
    network.close();
  }
});

describe("a conflict with what no list showed in time", () => {
  const CONFLICTS = CREATIONS.flatMap((creation) =>
    creation.conflicts.map((theirs) => [theirs.title, creation, theirs] as const),
  );
  test.each(CONFLICTS)("names the %s that is in the way, and takes nothing", async (_what, creation, { make }) => {
    const opened = await creation.open();
    const { given, network } = opened;
    let theirs: Json[] = [];
    const before = async () => {
      await make(given);
      theirs = await creation.list(given);
    };
    network.on({ method: "POST", path: creation.path, nth: 1, before });
    const outcome = await outcomeOf(() => given.create(creation.args));
    expect(theirs).toHaveLength(1);
    await expectTheirs(opened, creation, outcome, theirs);
    for (const one of theirs) expect(isNamedIn(creation, wordsOf(outcome), one)).toBe(true);
  });
});

const ONE = "https://one.example.com";
const TWO = "https://two.example.com";
const THREE = "https://three.example.com";

describe("what an update has made before it failed", () => {
  test("a domain that a Whitelist added before the next one was refused goes when the Whitelist is destroyed", async () => {
    const { given, network } = await whitelistScene();
    const state = await given.create({ ...WHITELIST_ARGS, domains: [ONE] });
    network.on({
      method: "POST",
      path: DOMAINS,
      nth: 2,
      executed: false,
      answer: json({ code: "", message: "no" }, 400),
    });
    const broken = await up(given, state, { ...WHITELIST_ARGS, domains: [ONE, TWO, THREE] });
    expect(wordsOf(broken.outcome)).toMatch(/400/);
    network.calm();
    given.restart();
    await given.delete(broken.state as State);
    expect(await recordsOf(given, "domains")).toEqual([]);
  });
});

describe("a creation that is answered without a body", () => {
  test("is not taken for the replica of a colleague that stood before and looks the same", async () => {
    const { given, network } = await computeScene();
    const sent = { branch_id: "br-main", type: "read_only", autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 };
    const { endpoint } = await given.post(DEMO_ENDPOINTS, { endpoint: sent });
    const theirs = (endpoint as { id: string }).id;
    network.on({ method: "POST", path: ENDPOINTS, answer: empty() });
    const outcome = await outcomeOf(() => given.create(REPLICA));
    const others = (await computesOf(given)).map(({ id }) => id).filter((id) => id !== theirs);
    expect(others).toHaveLength(1);
    expect(outcome).toMatchObject({ ended: "well", state: { id: `${PROJECT}/${String(others[0])}` } });
  });

  test("of two replicas that look the same: each is in the state of one of them", async () => {
    const { given, network } = await computeScene();
    network.on({ method: "POST", path: ENDPOINTS, answer: empty() });
    const [one, two] = await Promise.all([given.create(REPLICA), given.create(REPLICA)]);
    expect(one?.id).not.toBe(two?.id);
  });
});
