/** Ways in which a hostile reading of the core found that production could be harmed, one test each. */
import { createHash } from "node:crypto";
import { Redactor } from "../../src/client/http/redact";
import { authIntegration } from "../../src/resources/authIntegration/lifecycle";
import { PROJECT, urnOf, UNKNOWN, CANARY, PROVIDER, expectNoSecrets, type State } from "../support/harness";
import { ENDPOINTS as DEMO_ENDPOINTS } from "../support/computeCases";
import { altered, empty, json, lost, otherShape, scene } from "../support/rules/hostile";
import {
  COMPUTE,
  computeScene,
  CREATE_INTEGRATION,
  domainScene,
  DOMAIN_ARGS,
  DOMAINS,
  EMAIL,
  EMAIL_STANDARD,
  emailScene,
  ENDPOINT,
  ENDPOINTS,
  INTEGRATED,
  INTEGRATIONS,
  mailOf,
  OAUTH_PROVIDER,
  OAUTH_STANDARD,
  oauthScene,
  providerOf,
  REPLICA,
  recordsOf,
  userScene,
  USER_ARGS,
  WHITELIST_ARGS,
  whitelistScene,
} from "../support/rules/mutations";
import { output } from "../support/rules/program";
import { outcomeOf, step, up, wordsOf } from "../support/rules/steps";
import { branch, world } from "../support/rules/world";

const ONE = "https://one.example.com";
const TWO = "https://two.example.com";
const THREE = "https://three.example.com";

/** As the emulator shows a secret that it keeps. */
const kept = (secret: string): string => `sha256:${createHash("sha256").update(secret).digest("hex")}`;

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
    const id = outcome.ended === "well" ? outcome.state?.id : outcome.kept?.id;
    expect(id).not.toBe(`${PROJECT}/${theirs}`);
  });

  test("of two replicas that look the same: each is in the state of one of them", async () => {
    const { given, network } = await computeScene();
    network.on({ method: "POST", path: ENDPOINTS, answer: empty() });
    const [one, two] = await Promise.all([given.create(REPLICA), given.create(REPLICA)]);
    expect(one?.id).not.toBe(two?.id);
  });
});

describe("a resize that is answered without a body, and whose operation fails,", () => {
  test.each([
    ["no body", empty()],
    ["another shape", otherShape],
  ])("is not green in the second up, where nothing was done (%s)", async (_how, answer) => {
    const { given, network } = await computeScene({ activationMs: 400 });
    const first = await given.create(COMPUTE);
    await given.fault({ operation: { action: "apply_config", status: "failed", error: "no capacity left" } });
    network.on({ method: "PATCH", path: ENDPOINT, nth: 1, answer });
    const broken = await up(given, first, { ...COMPUTE, size: 4 });
    expect(wordsOf(broken.outcome)).toMatch(/apply_config/);
    network.calm();
    const before = await recordsOf(given, "operations");
    const again = await up(given, broken.state, { ...COMPUTE, size: 4 });
    const since = (await recordsOf(given, "operations")).filter(({ id }) => !before.some((one) => one["id"] === id));
    if (again.outcome.ended === "well") expect(since.filter(({ status }) => status === "finished")).not.toEqual([]);
  });

  test("before the answer has come, is no success", async () => {
    const { given, network } = await computeScene();
    const first = await given.create(COMPUTE);
    await given.fault({ operation: { action: "apply_config", status: "failed", error: "no capacity left" } });
    const ended = async (): Promise<void> => {
      while (!(await recordsOf(given, "operations")).some(({ status }) => status === "failed"));
    };
    network.on({ method: "PATCH", path: ENDPOINT, nth: 1, after: ended, answer: empty() });
    const { outcome } = await up(given, first, { ...COMPUTE, size: 4 });
    expect(wordsOf(outcome)).toMatch(/apply_config/);
  });
});

test("one 404 of something in front of the list of operations does not make a failed resize green", async () => {
  const { given, network } = await computeScene({ activationMs: 300 });
  const first = await given.create(COMPUTE);
  await given.fault({ operation: { action: "apply_config", status: "failed", error: "no capacity left" } });
  given.restart();
  network.on({
    method: "GET",
    path: "/projects/{project_id}/operations",
    nth: 1,
    executed: false,
    answer: { status: 404, text: "default backend - 404" },
  });
  const outcome = await outcomeOf(() => step(given, first, { ...COMPUTE, size: 4 }));
  expect(wordsOf(outcome)).toMatch(/apply_config/);
});

describe("a change of a secret of unknown fate", () => {
  const SECRET = { ...OAUTH_STANDARD, clientSecret: `${CANARY}-new` };

  test("stays unfinished after a refresh: the program may go back to the old secret", async () => {
    const { given, network } = await oauthScene();
    const first = await given.create(OAUTH_STANDARD);
    network.on({ method: "PATCH", path: OAUTH_PROVIDER, answer: otherShape });
    const broken = await up(given, first, SECRET);
    expect(wordsOf(broken.outcome)).not.toBe("");
    expect((await providerOf(given))?.["client_secret"]).toBe(kept(SECRET.clientSecret));
    network.calm();
    given.restart();
    const refreshed = await given.read(broken.state as State);
    const back = await up(given, refreshed, OAUTH_STANDARD);
    expect(back.outcome.ended).toBe("well");
    expect((await providerOf(given))?.["client_secret"]).toBe(kept(OAUTH_STANDARD.clientSecret));
  });

  test("which is of a mail server stays unfinished after a refresh as well", async () => {
    const { given, network } = await emailScene();
    const first = await given.create(EMAIL_STANDARD);
    network.on({ method: "PATCH", path: EMAIL, answer: otherShape });
    const broken = await up(given, first, { ...EMAIL_STANDARD, password: `${CANARY}-new` });
    expect(wordsOf(broken.outcome)).not.toBe("");
    network.calm();
    given.restart();
    const refreshed = await given.read(broken.state as State);
    const back = await up(given, refreshed, EMAIL_STANDARD);
    expect(back.outcome.ended).toBe("well");
    expect((await mailOf(given))["password"]).toBe(kept(EMAIL_STANDARD.password));
  });

  test("of a mail server, accepted without a body and with an effect that could not be read, is unfinished", async () => {
    const { given, network } = await emailScene();
    const first = await given.create(EMAIL_STANDARD);
    network.on({ method: "PATCH", path: EMAIL, answer: empty() });
    network.on({ method: "GET", path: EMAIL, executed: false, answer: json({ code: "", message: "no" }, 403) });
    const broken = await up(given, first, { ...EMAIL_STANDARD, password: `${CANARY}-new` });
    expect(wordsOf(broken.outcome)).toMatch(/its effect could not be read/);
    expect(broken.state?.outs).toMatchObject({ password: EMAIL_STANDARD.password, __unfinished: "update" });
    network.calm();
    const back = await up(given, broken.state, EMAIL_STANDARD);
    expect(back.state?.outs).not.toHaveProperty("__unfinished");
    expect((await mailOf(given))["password"]).toBe(kept(EMAIL_STANDARD.password));
    expectNoSecrets(given);
  });

  test("that took effect at the first attempt, and is refused at the second one, is unfinished", async () => {
    const { given, network } = await oauthScene();
    const first = await given.create(OAUTH_STANDARD);
    network.on({ method: "PATCH", path: OAUTH_PROVIDER, nth: 1, answer: lost });
    network.on({
      method: "PATCH",
      path: OAUTH_PROVIDER,
      executed: false,
      answer: json({ code: "", message: "no" }, 400),
    });
    const broken = await up(given, first, SECRET);
    expect(wordsOf(broken.outcome)).toMatch(/400/);
    expect((await providerOf(given))?.["client_secret"]).toBe(kept(SECRET.clientSecret));
    network.calm();
    const back = await up(given, broken.state, OAUTH_STANDARD);
    expect(back.outcome.ended).toBe("well");
    expect((await providerOf(given))?.["client_secret"]).toBe(kept(OAUTH_STANDARD.clientSecret));
  });
});

test("an integration that its creation left open is not done while the service shows another database", async () => {
  const { given, network } = await scene(authIntegration);
  network.on({
    method: "POST",
    path: CREATE_INTEGRATION,
    rewrite: (body) => ({ ...body, database_name: "other" }),
    after: () => network.on({ method: "GET", path: INTEGRATIONS, answer: json({ data: [] }) }),
  });
  const made = await outcomeOf(() => given.create(INTEGRATED));
  expect(wordsOf(made)).toMatch(/no list shows it yet/);
  network.calm();
  const again = await up(given, made.ended === "badly" ? made.kept : undefined, INTEGRATED);
  expect(wordsOf(again.outcome)).toMatch(/databaseName|replaced/);
});

test("a domain can be deleted while another auth provider of the project has it too", async () => {
  const { given, network } = await domainScene();
  const state = await given.create(DOMAIN_ARGS);
  const theirs = { domain: DOMAIN_ARGS.domain, auth_provider: "another_provider" };
  network.on({
    method: "GET",
    path: DOMAINS,
    answer: altered((body) => ({ domains: [...(body["domains"] as object[]), theirs] })),
  });
  await given.delete(state);
  expect(await recordsOf(given, "domains")).toEqual([]);
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

test("a mail server that a new resource configures is not reset by the deletion of another one that begins meanwhile", async () => {
  const { given, network } = await emailScene();
  const old = await given.create(EMAIL_STANDARD);
  given.restart();
  const news = { ...EMAIL_STANDARD, host: "smtp.new.example.com", __urn: `${urnOf("EmailServer")}-new` };
  let deleting: Promise<unknown> | undefined;
  network.on({
    method: "PATCH",
    path: EMAIL,
    nth: 1,
    after: async () => {
      // A resource that is replaced into another project is deleted beside the creation.
      deleting = given.provider.delete(old.id, old.outs);
      await new Promise((resolve) => setTimeout(resolve, 100));
    },
  });
  await given.provider.create({ ...news, __provider: "pointer" });
  await deleting;
  expect(await mailOf(given)).toMatchObject({ type: "standard", host: "smtp.new.example.com" });
});

test("a compute that is taken over by its id before its own resource is planned is refused, not kept in two entries", async () => {
  const given = await world();
  await given.project("prj-twice");
  const stack = given.stack();
  const at = { projectId: "prj-twice", branchId: branch("prj-twice", 1) };
  const own = {
    kind: "ComputeEndpoint" as const,
    name: "own",
    inputs: { projectId: at.projectId, branchId: at.branchId },
  };
  await stack.up([own], { seed: 1, preview: "none" });
  const id = stack.entry("own").id.split("/")[1] ?? "";
  const thief = {
    kind: "ComputeEndpoint" as const,
    name: "thief",
    inputs: { ...at, branchId: branch("prj-twice", 2), adopt: id },
  };
  // Planned after the takeover has ended.
  const after = { ...own, inputs: { ...own.inputs, projectId: output("thief", "projectId") } };
  const { errors } = await stack.up([thief, after], { seed: 1, preview: "none" });
  expect(errors).not.toEqual([]);
});

test("an integration whose auth provider is not known yet is no twin of the one of the setting", async () => {
  const { given } = await scene(authIntegration);
  const { provider } = given;
  const check = async (name: string, more: object) => {
    const urn = `${urnOf("AuthIntegration")}-${name}`;
    const { failures = [] } = await provider.check(
      {},
      { projectId: PROJECT, branchId: "br-main", __provider: "pointer", __urn: urn, ...more },
    );
    return failures;
  };
  expect(await check("a", { authProvider: UNKNOWN })).toEqual([]);
  expect(await check("b", { authProvider: PROVIDER })).toEqual([]);
});

test("a secret that a service written in Go repeats inside JSON inside its message is hidden", () => {
  const redactor = new Redactor("key");
  redactor.learn({ password: "p&ss<word>1" });
  const echoed = 'cannot apply {"password":"p\\u0026ss\\u003cword\\u003e1"}';
  expect(redactor.clean(echoed)).toBe('cannot apply {"password":"[secret]"}');
});
