/** Ownership at the moment of acting: what is deleted, changed and created (docs/design/rules.md, 2). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Properties } from "../../src/contract/hiddenKeys";
import type { Kind } from "../../src/contract/pointer";
import type { EACH_KIND } from "../kinds";
import { EACH_CHILD, KIND_CASES } from "../kinds";
import { DEMO, PATIENCE, wholeIn, type KindCase } from "../kinds/KindCase";
import { sceneOf } from "../kinds/started";
import { expectNoSecrets, notes, PROJECT, PROVIDER, type Harness, type Json, type State } from "../support/harness";
import { altered, json, lost, page, type Arrived, type Reply, type Scene } from "../support/rules/hostile";
import { USER_ARGS } from "../kinds/AuthUser";
import { EMAIL_STANDARD } from "../kinds/EmailServer";
import { INTEGRATIONS, KEYS } from "../support/rules/routes";
import { integrationScene, keysScene, userScene } from "../support/rules/scenes";
import { output, type Program } from "../support/rules/program";
import { outcomeOf, wordsOf } from "../support/rules/steps";
import { branch, world } from "../support/rules/world";

const IN_AUTH = `/projects/${PROJECT}/auth`;

/** The integration itself, and its objects. */
const EACH: typeof EACH_KIND = [["AuthIntegration", KIND_CASES.AuthIntegration], ...EACH_CHILD];
const DELETED = EACH.flatMap(([kind, held]) =>
  held.deletion === undefined ? [] : [[kind, held, held.deletion] as const],
);
const UPDATED = EACH_CHILD.flatMap(([, held]) => held.updates.map((update) => [update.title, held, update] as const));

const argsOf = (held: KindCase): Properties => ({ ...wholeIn(held, DEMO), ...PATIENCE });
const mail = KIND_CASES.EmailServer;
const MAIL_UPDATE = { ...EMAIL_STANDARD, host: "smtp.other.example.com" };

/** Everything in the integration, as stored by the service. */
async function holdings(given: Harness): Promise<Json> {
  const { integrations, oauth_providers, domains, email_server, users } = await given.state();
  return { integrations, oauth_providers, domains, email_server, users };
}

async function integrationId(given: Harness): Promise<string> {
  // The state of the emulator is checked by its own tests.
  const [one] = (await given.state())["integrations"] as Json[];
  return String(one?.["auth_provider_project_id"]);
}

/** A colleague deletes the integration, if it still exists, and creates another one with objects of the same names. */
async function replaceIntegration(given: Harness): Promise<{ id: string; held: Json }> {
  await given.edit({ kind: "integration", delete: true }).catch(() => undefined);
  for (const [, held] of EACH) await held.plant(given.call, DEMO);
  return { id: await integrationId(given), held: await holdings(given) };
}

/** Our object, in a process that has read the lists: the situation of `up --refresh` before it changes and deletes. */
async function refreshed(held: KindCase): Promise<Scene & { state: State }> {
  const opened = await sceneOf(held);
  const state = await opened.given.create(argsOf(held));
  opened.given.restart();
  const found = await opened.given.read(state);
  expect(found?.outs).toEqual(state.outs);
  await opened.given.forgetRequests();
  return { ...opened, state };
}

const locked = json({ request_id: "req-3", code: "", message: "the project has a running operation" }, 423);
const isChange = ({ method }: Arrived): boolean => method !== "GET";

describe("an integration that a colleague has replaced since the last look", () => {
  describe.each(DELETED)("the deletion of %s", (_kind, held, { method, path }) => {
    test("leaves theirs alone, says whose it is, and ends well", async () => {
      const { given, network, state } = await refreshed(held);
      const theirs = await replaceIntegration(given);
      network.arrived.splice(0);
      await given.delete(state);
      expect(await holdings(given)).toEqual(theirs.held);
      expect(network.arrived.filter(isChange)).toEqual([]);
      expect(notes(given)).toEqual([
        expect.stringMatching(
          new RegExp(
            `its auth integration was replaced by another one \\(${theirs.id}, on br-main.*nothing in that one was deleted`,
          ),
        ),
      ]);
    });

    test.each<readonly [string, Reply]>([
      ["was held off", locked],
      ["was answered with a 502 and did nothing", lost],
    ])("leaves theirs alone where its first attempt %s", async (_how, answer) => {
      const { given, network, state } = await refreshed(held);
      let theirs: Json = {};
      const after = async () => void (theirs = (await replaceIntegration(given)).held);
      network.on({ method, path, nth: 1, executed: false, after, answer });
      await given.delete(state);
      expect(await holdings(given)).toEqual(theirs);
    });

    test("leaves theirs alone where its first attempt took effect and was answered with a 502", async () => {
      const { given, network, state } = await refreshed(held);
      let theirs: Json = {};
      const after = async () => void (theirs = (await replaceIntegration(given)).held);
      network.on({ method, path, nth: 1, after, answer: lost });
      await given.delete(state);
      expect(await holdings(given)).toEqual(theirs);
    });
  });

  describe.each(UPDATED)("the update of %s", (_title, held, update) => {
    const refused = async ({ given, state }: Scene & { state: State }, id: () => string) => {
      const outcome = await outcomeOf(() => given.update(state, update.args));
      expect(wordsOf(outcome)).toContain(id());
      expect(wordsOf(outcome)).toMatch(
        /^(Could not update|The update of Whitelist \S+ did not finish:) .*another one has replaced it.*Nothing was sent.*pulumi up --refresh/,
      );
      expectNoSecrets(given);
    };

    test("fails with a message and sends nothing, in the process that has read the lists and in another one", async () => {
      const scene = await refreshed(held);
      const theirs = await replaceIntegration(scene.given);
      scene.network.arrived.splice(0);
      await refused(scene, () => theirs.id);
      scene.given.restart();
      await refused(scene, () => theirs.id);
      expect(scene.network.arrived.filter(isChange)).toEqual([]);
      expect(await holdings(scene.given)).toEqual(theirs.held);
    });

    // A POST of unknown fate is looked for, and not sent again.
    const again = update.method === "POST" ? [] : [["was answered with a 502", lost] as const];
    test.each<readonly [string, Reply]>([["was held off", locked], ...again])(
      "fails with a message and changes nothing of theirs where its first attempt %s",
      async (_how, answer) => {
        const scene = await refreshed(held);
        let theirs = { id: "", held: {} };
        const after = async () => void (theirs = await replaceIntegration(scene.given));
        scene.network.on({
          method: update.method,
          path: update.path,
          nth: 1,
          executed: false,
          after,
          answer,
        });
        await refused(scene, () => theirs.id);
        expect(await holdings(scene.given)).toEqual(theirs.held);
      },
    );
  });

  const readStale = async (held: KindCase) => {
    const scene = await sceneOf(held);
    const { given } = scene;
    // The first list that an `up --refresh` reads: any child of the integration requires it.
    await given.read({ id: held.idIn(PROJECT), outs: {} }).catch(() => undefined);
    await given.edit({ kind: "integration", delete: true });
    await given.post("/projects/auth/create", { project_id: PROJECT, auth_provider: PROVIDER, branch_id: "br-main" });
    return scene;
  };

  test.each(EACH_CHILD)("creating %s is recorded with the integration that it was made in", async (_kind, held) => {
    const { given } = await readStale(held);
    const { outs } = await given.create(argsOf(held));
    expect(outs["authProviderProjectId"]).toBe(await integrationId(given));
  });

  test.each(EACH_CHILD)(
    "creating %s that was held off meanwhile ends with a message, and nothing is made in theirs",
    async (_kind, held) => {
      const { given, network } = await sceneOf(held);
      let theirs: Json = {};
      const after = async () => void (theirs = (await replaceIntegration(given)).held);
      network.on({ when: isChange, nth: 1, executed: false, after, answer: locked });
      const outcome = await outcomeOf(() => given.create(argsOf(held)));
      expect(wordsOf(outcome)).toMatch(/another one has replaced it/);
      expect(outcome).toMatchObject({ kept: undefined });
      expect(await holdings(given)).toEqual(theirs);
      expectNoSecrets(given);
    },
  );
});

describe("an integration that is replaced between the list and the request for keys", () => {
  const replacedBefore = (path: string, { given, network }: Scene): (() => { id: string; held: Json }) => {
    let theirs = { id: "", held: {} };
    const before = async () => void (theirs = await replaceIntegration(given));
    network.on({ method: "POST", path, nth: 1, before });
    return () => theirs;
  };

  const refusedKeys = async (scene: Scene, args: Properties) => {
    const theirs = replacedBefore(KEYS, scene);
    const outcome = await outcomeOf(() => scene.given.create(args));
    expect(wordsOf(outcome)).toMatch(
      /was replaced by another one \(\S+\) while keys were created.*not stored.*up --refresh/,
    );
    expect(wordsOf(outcome)).toContain(theirs().id);
    // Not in the state, where a destroy would find it.
    expect(JSON.stringify(outcome)).not.toMatch(/ssk_/);
    expect(outcome).toMatchObject({ kept: undefined });
    expect((await holdings(scene.given))["integrations"]).toEqual(theirs().held["integrations"]);
    expectNoSecrets(scene.given);
  };

  test("AuthKeys keeps no keys of theirs", async () => {
    await refusedKeys(await keysScene(), argsOf(KIND_CASES.AuthKeys));
  });

  test("an adoption keeps neither their keys nor their integration", async () => {
    const scene = await integrationScene();
    await scene.given.post("/projects/auth/create", {
      project_id: PROJECT,
      auth_provider: PROVIDER,
      branch_id: "br-main",
    });
    await refusedKeys(scene, { projectId: PROJECT, adopt: true });
  });
});

describe("a list of integrations that cannot be read right before", () => {
  const TROUBLES: readonly (readonly [string, Reply])[] = [
    ["a 500", json({ request_id: "r", code: "", message: "broken" }, 500)],
    ["a 401", json({ request_id: "r", code: "", message: "no" }, 401)],
    ["a page", page(200)],
    ["no list", json({ data: null })],
    ["a 404 of something in front", page(404)],
    ["a list that does not tell which one it is", json({ data: [{ auth_provider: PROVIDER, branch_id: "br-main" }] })],
  ];
  test.each(TROUBLES.flatMap(([how, answer]) => DELETED.map(([kind, held]) => [how, kind, held, answer] as const)))(
    "because of %s: nothing is sent, %s stays in the state, and the next try does it",
    async (_how, _kind, held, answer) => {
      const { given, network, state } = await refreshed(held);
      const before = await holdings(given);
      network.on({ method: "GET", path: INTEGRATIONS, answer });
      const [update] = held.updates;
      const short = { ...state, outs: { ...state.outs, __timeouts: { update: 1, delete: 1 } } };
      expect(wordsOf(await outcomeOf(async () => void (await given.delete(short))))).toMatch(/Could not delete/);
      if (update !== undefined) {
        const args = { ...update.args, __timeouts: { update: 1, delete: 1 } };
        expect(wordsOf(await outcomeOf(() => given.update(short, args)))).toMatch(/Could not update/);
      }
      expect(await given.mutations()).toEqual([]);
      expect(await holdings(given)).toEqual(before);
      network.calm();
      given.restart();
      await given.delete(state);
      expect(await holdings(given)).not.toEqual(before);
    },
  );

  test("an update whose first attempt may have taken effect is marked as unfinished", async () => {
    const { given, network, state } = await refreshed(mail);
    const unreadable = () => network.on({ method: "GET", path: INTEGRATIONS, answer: page(200) });
    network.on({ method: "PATCH", nth: 1, after: unreadable, answer: lost });
    const outcome = await outcomeOf(() => given.update(state, MAIL_UPDATE));
    expect(wordsOf(outcome)).toMatch(/an earlier attempt may have taken effect/);
    expect(outcome).toMatchObject({ kept: { outs: { __unfinished: "update" } } });
  });
});

describe("a list of integrations that lags", () => {
  const earlier = { auth_provider: PROVIDER, auth_provider_project_id: "earlier", branch_id: "br-main" };
  test.each([
    ["lacks ours", { data: [] }],
    ["shows an earlier one", { data: [earlier] }],
  ])(
    "and %s is not believed at once: the deletion and the update wait for another one, and are sent",
    async (_how, body) => {
      for (const [, held] of DELETED) {
        const [update] = held.updates;
        const { given, network, state } = await refreshed(held);
        const before = await holdings(given);
        network.on({ method: "GET", path: INTEGRATIONS, nth: 1, answer: json(body) });
        network.arrived.splice(0);
        const now = update === undefined ? state : await given.update(state, update.args);
        const updated = network.arrived.filter(isChange);
        const isOnce = (sent: Arrived): boolean => updated.filter(({ method }) => method === sent.method).length === 1;
        expect([held.kind, updated.length > 0, updated.every(isOnce)]).toEqual([held.kind, update !== undefined, true]);
        network.calm();
        // A run does not delete what it has added.
        given.restart();
        network.on({ method: "GET", path: INTEGRATIONS, nth: 1, answer: json(body) });
        await given.delete(now);
        expect(await holdings(given)).not.toEqual(before);
        expect(await given.mutations()).toHaveLength(updated.length + 1);
        expect(notes(given).join()).not.toContain("its auth integration was replaced");
      }
    },
  );

  test("an update whose integration no list shows any more fails with a message, and nothing is sent", async () => {
    for (const [, held, update] of UPDATED) {
      const { given, network, state } = await refreshed(held);
      network.on({ method: "GET", path: INTEGRATIONS, answer: json({ data: [] }) });
      const outcome = await outcomeOf(() => given.update(state, update.args));
      expect(wordsOf(outcome)).toMatch(/no longer exists\. Nothing was sent.*pulumi up --refresh/);
      expect(await given.mutations()).toEqual([]);
    }
  });
});

describe("what it costs", () => {
  const isIntegrationList = ({ method, path }: { method: string; path: string }): boolean =>
    method === "GET" && path.endsWith("/auth/integrations");

  // A whitelist sends a request for each domain.
  test.each(UPDATED.filter(([, , { method }]) => method === "PATCH"))(
    "an update of %s reads one list of integrations, right before it",
    async (_title, held, update) => {
      const { given, state } = await refreshed(held);
      await given.update(state, update.args);
      const all = await given.requests();
      expect(all.filter(isIntegrationList)).toHaveLength(1);
      const sentAt = all.findIndex(({ method }) => method !== "GET");
      expect(all.slice(0, sentAt).some(isIntegrationList)).toBe(true);
    },
  );

  test("five that are deleted in one wave share one list", async () => {
    const given = await world();
    await given.project("prj-one", { integration: true });
    const inputs = { projectId: "prj-one" };
    const program: Program = [1, 2, 3, 4, 5].map((n) => ({
      kind: "WhitelistDomain",
      name: `domain${n}`,
      inputs: { ...inputs, domain: `https://a${n}.example.com` },
    }));
    const stack = given.stack();
    expect((await stack.up(program)).errors).toEqual([]);
    await given.forgetRequests();
    expect((await stack.destroy({ seed: 1, parallel: 16, jitterMs: 0 })).errors).toEqual([]);
    expect(await given.domains("prj-one")).toEqual([]);
    const requests = await given.requests();
    expect(requests.filter((line) => line.startsWith("DELETE"))).toHaveLength(5);
    expect(requests.filter((line) => line.endsWith("/auth/integrations"))).toHaveLength(1);
  });
});

describe("a state that does not say its integration", () => {
  interface Kept {
    readonly kind: Kind;
    readonly id: string;
    readonly inputs: Properties;
    readonly outputs: Properties;
  }
  // As an earlier version has written them.
  const FIXTURE = join(__dirname, "../contract/fixtures/state-0.1.0.json");
  const kept = JSON.parse(readFileSync(FIXTURE, "utf8")) as Kept[];
  const older = (kind: Kind): State => {
    const found = kept.find((one) => one.kind === kind && one.id.startsWith(PROJECT));
    if (found === undefined) throw new Error(`the fixture holds no ${kind}`);
    return { id: found.id, outs: { ...found.outputs, authProviderProjectId: undefined } };
  };
  const CASES = [KIND_CASES.EmailServer, KIND_CASES.OAuthProvider, KIND_CASES.WhitelistDomain] as const;
  const standing = async (held: KindCase): Promise<Scene> => {
    const opened = await sceneOf(held);
    await opened.given.post(`${IN_AUTH}/domains`, { domain: "https://app.example.com", auth_provider: PROVIDER });
    await opened.given.forgetRequests();
    return opened;
  };

  test.each(CASES)("gets it with the next refresh: $kind", async (held) => {
    const { given } = await standing(held);
    const found = await given.read(older(held.kind));
    expect(found?.outs["authProviderProjectId"]).toBe(await integrationId(given));
    expect(notes(given)).toEqual([]);
  });

  test("gets it with the next update, which goes by the name and says so", async () => {
    const { given } = await standing(mail);
    const { outs } = await given.update(older("EmailServer"), EMAIL_STANDARD);
    const id = await integrationId(given);
    expect(outs["authProviderProjectId"]).toBe(id);
    expect(notes(given)).toContainEqual(
      expect.stringMatching(new RegExp(`its state does not name its auth integration.*${id}`)),
    );
    expect((await holdings(given))["email_server"]).toMatchObject({ host: EMAIL_STANDARD.host });
  });

  test.each(CASES)("is deleted by the name, which a line says: $kind", async (held) => {
    const { given } = await standing(held);
    await given.delete(older(held.kind));
    expect(await given.mutations()).toHaveLength(1);
    expect(notes(given)).toContainEqual(expect.stringContaining("its state does not name its auth integration"));
  });
});

test("an up with a refresh leaves a colleague alone who replaces the integration while it works", async () => {
  const given = await world();
  const id = "prj-one";
  await given.project(id);
  const inAuth = { projectId: output("auth", "projectId") };
  const whole: Program = [
    { kind: "AuthIntegration", name: "auth", inputs: { projectId: id, branchId: branch(id, 1) } },
    { kind: "EmailServer", name: "mail", inputs: { ...inAuth, ...EMAIL_STANDARD, projectId: inAuth.projectId } },
    { kind: "WhitelistDomain", name: "site", inputs: { ...inAuth, domain: "https://app.example.com" } },
    { kind: "OAuthProvider", name: "provider", inputs: { ...inAuth, providerId: "microsoft" } },
  ];
  const stack = given.stack();
  expect((await stack.up(whole)).errors).toEqual([]);
  const createdBefore = stack.entry("auth").outs["authProviderProjectId"];
  const replace = async () => {
    await given.call("DELETE", `/projects/${id}/auth/integration/${PROVIDER}`);
    await given.call("POST", "/projects/auth/create", {
      project_id: id,
      auth_provider: PROVIDER,
      branch_id: branch(id, 1),
    });
    await given.call("POST", `/projects/${id}/auth/domains`, {
      domain: "https://app.example.com",
      auth_provider: PROVIDER,
    });
    await given.call("POST", `/projects/${id}/auth/oauth_providers`, { id: "microsoft" });
  };
  let theirs: Json = {};
  const done = await stack.up([], {
    seed: 1,
    preview: "none",
    refreshFirst: async () => {
      await replace();
      theirs = await given.holdings(id);
    },
  });
  expect(done.errors).toEqual([]);
  expect(stack.state).toEqual([]);
  expect(theirs["integrations"]).not.toMatchObject([{ auth_provider_project_id: createdBefore }]);
  expect(await given.holdings(id)).toEqual(theirs);
});

test("what is looked up learns that it lives in the integration of its own auth provider", async () => {
  const { given, network } = await userScene();
  const { id, outs } = await given.create(USER_ARGS);
  const home = outs["authProviderProjectId"];
  delete outs["authProviderProjectId"];
  const other = {
    auth_provider: "another_provider",
    auth_provider_project_id: "another-home",
    branch_id: "br-main",
    db_name: "appdb",
  };
  network.on({
    method: "GET",
    path: INTEGRATIONS,
    answer: altered((body) => ({ data: [other, ...(body["data"] as object[])] })),
  });
  given.restart();
  expect((await given.read({ id, outs }))?.outs["authProviderProjectId"]).toBe(home);
});
