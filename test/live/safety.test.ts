import { EventEmitter, once } from "node:events";
import type { Emulator, EmulatorFault } from "../../src/emulator";
import { api, DEMO, integrate } from "../support/emulator";
import { Service } from "../support/service";
import { PREFIX } from "./before";
import { Exchanges, recordsIn } from "./exchanges";
import { handled } from "./findings";
import { COMPUTES } from "./kinds/computeStatements";
import { isGoodReport, judge, render } from "./report";
import { runOf } from "./suite";
import { AUTH, COMPUTE, DELAYS, KEY, objectsOf, startService, type Trial, tryAt, WHOLE } from "./support";
import { clean, type Left } from "./sweep";

const PROVIDER = "supported_provider";
const ENDPOINTS = COMPUTES.template;
const ENDPOINT = `${ENDPOINTS}/{endpoint_id}`;
const INTEGRATION = "/projects/{project_id}/auth/integration/{auth_provider}";

const THEIR_MAIL = {
  type: "standard",
  host: "smtp.example.com",
  port: 25,
  username: "a",
  password: "b",
  sender_email: "a@example.com",
  sender_name: "A",
};

const LEFT = "pulumi-svc-live-1234abcd-primary";

/** What a run that was killed leaves behind. */
const leaveCompute = (emulator: Emulator): Record<string, unknown> =>
  emulator.edit({ kind: "endpoint", project_id: "prj-demo", create: { branch_id: "br-dev", name: LEFT } });

async function leaveIntegration(emulator: Emulator): Promise<void> {
  await integrate(emulator);
  const domain = "https://pulumi-svc-live-1234abcd-app.example.com";
  await api(emulator, "POST", `${DEMO}/auth/domains`, { domain, auth_provider: PROVIDER });
}

function cleanAt(emulator: Emulator): Promise<Left[]> {
  const settings: Record<string, string> = { apiKey: KEY, baseUrl: emulator.baseUrl };
  const run = runOf(WHOLE, (name) => settings[name], DELAYS, PREFIX);
  return clean(run, WHOLE, () => undefined);
}

const computes = async (emulator: Emulator): Promise<Record<string, unknown>[]> => new Service(emulator).endpoints();

/** A run that is stopped there is cheap, and still removes what it has made. */
const stopAfter =
  (text: string) =>
  (line: string, stop: AbortController): void =>
    line.includes(text) ? stop.abort() : undefined;

const outcomes = ({ report }: Pick<Trial, "report">): Record<string, string> =>
  Object.fromEntries(report.steps.map(({ name, outcome }) => [name, outcome]));

describe("before anything is changed", () => {
  const refused = async (emulator: Emulator, target = WHOLE, key = KEY): Promise<string> => {
    const words = await tryAt(emulator, target, { key }).then(
      () => "it began",
      ({ message }: Error) => message,
    );
    expect(emulator.requests().filter(({ method }) => method !== "GET")).toEqual([]);
    return words;
  };

  test("a refused key is said in words", async () => {
    expect(await refused(await startService(), WHOLE, "canary-other-key")).toMatch(/^the API key is missing or wrong/);
  });

  test.each([
    ["a project", { ...WHOLE, projectId: "prj-none" }, /^not found \(project prj-none\)/],
    [
      "a branch",
      { ...WHOLE, branchId: "br-none" },
      /project prj-demo has no branch br-none\. It has br-main \(main\), br-dev/,
    ],
    ["a second branch", { ...WHOLE, moveTo: "br-none" }, /has no branch br-none/],
    ["a branch for auth", { ...WHOLE, authBranchId: "br-none" }, /has no branch br-none/],
  ])("%s that does not exist is named", async (_what, target, expected) => {
    expect(await refused(await startService(), target)).toMatch(expected);
  });

  test("a branch with computes and a project with an integration are refused, unless only the other part is asked", async () => {
    const emulator = await startService();
    await integrate(emulator);
    const words = await tryAt(emulator, { ...WHOLE, branchId: "br-main" }).catch(({ message }: Error) => message);
    expect(words).toMatch(
      /^nothing was changed\nbranch br-main has a compute \(ep-demo-main-10000001\)\. .*--part auth\n/,
    );
    expect(words).toMatch(
      /\nthe project has an auth integration \(supported_provider on br-main\), and it stays.*--part compute/,
    );
    const { report, after, before } = await tryAt(emulator, COMPUTE, { onSaid: stopAfter("create a primary") });
    expect([outcomes({ report })["compute-create"], after]).toEqual(["ok", before]);
  });

  test("an auth integration is not put on another branch than the one that is named", async () => {
    const target = { ...WHOLE, authBranchId: undefined };
    expect(await refused(await startService(), target)).toMatch(
      /belongs to the default branch.*--auth-branch br-main if its database may keep the schema svc_auth, --auth-branch br-dev to try/,
    );
  });

  test("what an earlier run has left is recognised, and is in the way", async () => {
    const emulator = await startService();
    const { id } = leaveCompute(emulator);
    await leaveIntegration(emulator);
    const words = await tryAt(emulator, WHOLE).catch(({ message }: Error) => message);
    expect(words).toMatch(
      `nothing was changed\n${String(id)} on br-dev (${LEFT}) is left from an earlier run. npm run`,
    );
    expect(words).toMatch(/\nthe project has an auth integration .*left from an earlier run.*--clean/);
  });
});

describe("--clean", () => {
  test("removes computes with the prefix, and an integration with nothing else in it, and no other object", async () => {
    const emulator = await startService();
    const before = await objectsOf(emulator);
    leaveCompute(emulator);
    emulator.edit({ kind: "endpoint", project_id: "prj-demo", create: { branch_id: "br-test", name: `x-${LEFT}` } });
    await leaveIntegration(emulator);
    expect(await cleanAt(emulator)).toEqual([]);
    const [others] = (await computes(emulator)).filter(({ branch_id }) => branch_id === "br-test");
    expect(others).toMatchObject({ name: `x-${LEFT}` });
    await api(emulator, "DELETE", `${DEMO}/endpoints/${String(others?.["id"])}`);
    expect(await objectsOf(emulator)).toEqual(before);
  });

  test.each([
    ["domain https://theirs", "POST", "domains", { domain: "https://theirs.example.com", auth_provider: PROVIDER }],
    ["an e-mail server", "PATCH", "email_server", THEIR_MAIL],
    ["OAuth provider microsoft", "POST", "oauth_providers", { id: "microsoft", client_id: "a", client_secret: "b" }],
  ])("leaves an integration in which somebody else has %s, and names it", async (what, method, route, body) => {
    const emulator = await startService();
    await leaveIntegration(emulator);
    await api(emulator, method, `${DEMO}/auth/${route}`, body);
    const theirs = await authOf(emulator);
    expect(await cleanAt(emulator)).toMatchObject([
      { kind: "AuthIntegration", reason: expect.stringContaining(what), byHand: expect.stringContaining("DELETE") },
    ]);
    expect(await authOf(emulator)).toEqual(theirs);
  });
});

describe("whatever happens, what was made is removed", () => {
  test.each([
    [{ method: "PATCH", path: ENDPOINT, status: 400, times: 0 }, "compute-rename"],
    [{ operation: { action: "apply_config", status: "failed" } }, "compute-resize"],
    [{ stuck: true }, "compute-create"],
  ] satisfies [EmulatorFault, string][])("a failure in the middle: %j", async (fault, failing) => {
    const emulator = await startService();
    emulator.fault(fault);
    const trial = await tryAt(emulator, COMPUTE, { delays: { stepSeconds: 2 } });
    expect(outcomes(trial)[failing]).toBe("failed");
    expect([isGoodReport(trial.report), trial.report.left, trial.after]).toEqual([false, [], trial.before]);
  });

  test("a key that is refused from some point on: what is left is named, and nothing is taken for gone", async () => {
    const emulator = await startService();
    const trial = await tryAt(emulator, WHOLE, {
      onSaid: (line) =>
        line.includes("create a primary") ? new Service(emulator).rotateKey("canary-other") : undefined,
    });
    const [compute] = (await new Service(emulator).endpoints()).filter(({ branch_id }) => branch_id === "br-dev");
    expect(trial.report.left).toMatchObject([
      {
        byHand: `DELETE /projects/prj-demo/endpoints/${String(compute?.["id"])}`,
        reason: expect.stringMatching(/401/),
      },
    ]);
  });

  test("a colleague who deletes what this run has made", async () => {
    const emulator = await startService();
    const computeTrial = await tryAt(emulator, COMPUTE, {
      onSaid: async (line) => void (line.includes("create a primary") && (await deleteAll(emulator, "br-dev"))),
    });
    const authTrial = await tryAt(emulator, AUTH, {
      onSaid: (line) => {
        if (line.includes("create an auth integration, and"))
          emulator.edit({ kind: "integration", project_id: "prj-demo", id: "supported_provider", delete: true });
      },
    });
    for (const { report, after } of [computeTrial, authTrial])
      expect([isGoodReport(report), report.left, after]).toEqual([false, [], computeTrial.before]);
  });

  test("a signal: the step ends, no other begins", async () => {
    const trial = await tryAt(await startService(), WHOLE, {
      onSaid: (line, stop) => (line.includes("resize") ? stop.abort() : undefined),
    });
    const of = outcomes(trial);
    expect([of["compute-resize"], of["compute-settings"], of["integration-create"]]).toEqual([
      "ok",
      "left out",
      "left out",
    ]);
    expect([trial.report.left, trial.after]).toEqual([[], trial.before]);
    expect([isGoodReport(trial.report), render(trial.report)]).toEqual([
      false,
      expect.stringMatching(/A signal has ended this run/),
    ]);
  });

  test("a creation whose response is lost", async () => {
    const emulator = await startService();
    for (const path of [ENDPOINTS, "/projects/auth/create"])
      emulator.fault({ method: "POST", path, drop: "reset", effect: "done", times: 1 });
    const trial = await tryAt(emulator, AUTH, { onSaid: stopAfter("create an auth integration, and") });
    const other = await tryAt(emulator, COMPUTE, { onSaid: stopAfter("create a primary") });
    // They were found in the lists.
    expect([outcomes(trial)["integration-create"], outcomes(other)["compute-create"]]).toEqual(["ok", "ok"]);
    expect([trial.report.left, other.report.left, other.after]).toEqual([[], [], trial.before]);
  });

  test("a compute that a service makes of an empty body", async () => {
    const emulator = await startService();
    const endpoint = { branch_id: "br-test", type: "read_write" };
    const trial = await tryAt(emulator, COMPUTE, {
      onSaid: async (line) => {
        if (!line.includes("read a compute that does not exist")) return;
        // As if the request created it: the list right before does not have it.
        const listed = { endpoints: await computes(emulator) };
        emulator.fault({ method: "GET", path: ENDPOINTS, status: 200, body: listed, times: 1 });
        const { body } = await api(emulator, "POST", "/projects/prj-demo/endpoints", { endpoint });
        emulator.fault({ method: "POST", path: ENDPOINTS, status: 201, body, times: 1 });
      },
    });
    expect(trial.verdict("refused-body")).toBe("differs: status 201");
    expect([trial.report.left, trial.after]).toEqual([[], trial.before]);
  });

  test("a creation of which nothing is known but its name", async () => {
    const emulator = await startService();
    emulator.fault({ method: "POST", path: ENDPOINTS, drop: "reset", effect: "done" });
    // The look after the lost response fails, too.
    emulator.fault({ method: "GET", path: ENDPOINTS, status: 403, times: 1, after: 3 });
    const trial = await tryAt(emulator, COMPUTE);
    expect([trial.report.left, trial.after]).toEqual([[], trial.before]);
  });

  test("what cannot be removed is named, with the request that removes it", async () => {
    const emulator = await startService();
    emulator.fault({ method: "DELETE", path: ENDPOINT, status: 403, times: 0 });
    emulator.fault({ method: "DELETE", path: INTEGRATION, status: 403, times: 0 });
    const one = await tryAt(emulator, COMPUTE, { onSaid: stopAfter("create a read replica of") });
    const other = await tryAt(emulator, AUTH, { onSaid: stopAfter("create an auth integration, and") });
    const made = (await computes(emulator))
      .filter(({ branch_id }) => branch_id === "br-dev")
      .map(({ id }) => String(id));
    expect(made).toHaveLength(2);
    const requests = made.map((id) => `DELETE /projects/prj-demo/endpoints/${id}`);
    expect(one.report.left.map(({ byHand }) => byHand).sort()).toEqual(requests.sort());
    expect(other.report.left.map(({ byHand }) => byHand)).toEqual([
      "DELETE /projects/prj-demo/auth/integration/supported_provider",
    ]);
    expect(isGoodReport(one.report)).toBe(false);
    expect(render(one.report)).toMatch(/\nLeft behind: remove it by hand[^]*403[^]*left behind: 2\n$/);
  });
});

test("a response that nobody expected costs one statement, and not the report", () => {
  const look = (): never => {
    throw new Error("odd");
  };
  expect(judge(new Exchanges(), [{ Errors: [handled("odd", "", look)] }])).toMatchObject([
    { verdict: "not tried", seen: "it could not be judged: odd" },
  ]);
});

describe("what others have made stays", () => {
  test("an integration that somebody else creates first", async () => {
    const emulator = await startService();
    const trial = await tryAt(emulator, AUTH, {
      onSaid: async (line) => void (line.includes("a key that does not exist") && (await integrate(emulator))),
    });
    expect(outcomes(trial)["integration-create"]).toBe("failed");
    const { integrations } = (await new Service(emulator).state()).projects[0] as { integrations: unknown[] };
    expect([integrations.length, trial.report.left]).toEqual([1, []]);
  });

  test("an integration that replaces ours, with everything in it", async () => {
    const emulator = await startService();
    let theirs: unknown;
    const trial = await tryAt(emulator, AUTH, {
      onSaid: async (line) => {
        if (!line.includes("add a redirect domain, and read it")) return;
        emulator.edit({ kind: "integration", project_id: "prj-demo", id: "supported_provider", delete: true });
        await integrate(emulator);
        await api(emulator, "POST", `${DEMO}/auth/oauth_providers`, {
          id: "microsoft",
          client_id: "a",
          client_secret: "b",
        });
        await api(emulator, "PATCH", `${DEMO}/auth/email_server`, THEIR_MAIL);
        theirs = await authOf(emulator);
      },
    });
    expect(await authOf(emulator)).toEqual(theirs);
    // Ours is gone with what it contained.
    expect(trial.report.left).toEqual([]);
  });

  test("a domain that somebody else puts into our integration: both stay, and are named", async () => {
    const emulator = await startService();
    const trial = await tryAt(emulator, AUTH, {
      onSaid: async (line, stop) => {
        if (!line.includes("create an auth integration, and")) return;
        stop.abort();
        await api(emulator, "POST", `${DEMO}/auth/domains`, {
          domain: "https://theirs.example.com",
          auth_provider: "supported_provider",
        });
      },
    });
    expect(trial.report.left).toMatchObject([
      {
        kind: "AuthIntegration",
        reason: expect.stringMatching(/cannot prove to be its own.*domain https:\/\/theirs\.example\.com/),
      },
    ]);
    const { body } = await api(emulator, "GET", `${DEMO}/auth/domains`);
    expect(recordsIn(body, "domains")).toMatchObject([{ domain: "https://theirs.example.com" }]);
  });

  test("an e-mail server that somebody else sets in our integration is not overwritten", async () => {
    const emulator = await startService();
    const trial = await tryAt(emulator, AUTH, {
      onSaid: async (line) => {
        if (line.includes("create an auth integration, and"))
          await api(emulator, "PATCH", `${DEMO}/auth/email_server`, THEIR_MAIL);
      },
    });
    expect(await authOf(emulator)).toMatchObject({ email_server: { host: THEIR_MAIL.host } });
    expect(emulator.requests({ method: "PATCH", path: `${DEMO}/auth/email_server` })).toHaveLength(1);
    expect(trial.report.left).toMatchObject([
      { kind: "AuthIntegration", reason: expect.stringMatching(/an e-mail server$/) },
    ]);
  });

  test("a compute that a service names in place of refusing a creation", async () => {
    const emulator = await startService();
    const [theirs] = await computes(emulator);
    emulator.fault({ method: "POST", path: ENDPOINTS, status: 200, body: { endpoint: theirs }, times: 0, after: 1 });
    const trial = await tryAt(emulator, COMPUTE);
    expect([trial.report.left, trial.after]).toEqual([[], trial.before]);
  });

  test("the objects of another run at the same time", async () => {
    const emulator = await startService();
    // Both have looked before either begins, and the first one keeps its compute until the other has ended its attempt.
    const meeting = (text: string): ((line: string) => Promise<unknown>) => {
      let arrived = 0;
      const both = new EventEmitter();
      const met = once(both, "met");
      return async (line) => {
        if (!line.includes(text)) return;
        arrived += 1;
        if (arrived === 2) both.emit("met");
        await met;
      };
    };
    const [begin, created] = [meeting("a key that does not exist"), meeting("create a primary compute")];
    const onSaid = async (line: string, stop: AbortController): Promise<void> => {
      await begin(line);
      await created(line);
      stopAfter("create a primary compute")(line, stop);
    };
    const [one, other] = await Promise.all([
      tryAt(emulator, COMPUTE, { onSaid }),
      tryAt(emulator, COMPUTE, { onSaid }),
    ]);
    const failed = [one, other].map((trial) => outcomes(trial)["compute-create"]).sort();
    expect(failed).toEqual(["failed", "ok"]);
    expect([one.report.left, other.report.left]).toEqual([[], []]);
    expect((await computes(emulator)).map(({ branch_id }) => branch_id)).toEqual(["br-main"]);
  });
});

test.each([
  ["protected", 403, "the branch is protected"],
  ["full", 412, "the quota is used up"],
])("a branch that is %s: the service's words are shown, and the rest is left out", async (_what, status, message) => {
  const emulator = await startService();
  emulator.fault({ method: "POST", path: ENDPOINTS, status, body: { code: "", message }, times: 0 });
  const trial = await tryAt(emulator, COMPUTE);
  expect(trial.report.steps.find(({ name }) => name === "compute-create")).toMatchObject({
    outcome: "failed",
    message: expect.stringContaining(message),
  });
  expect([outcomes(trial)["compute-delete"], trial.report.left, trial.after]).toEqual(["left out", [], trial.before]);
});

test("a project that stays locked ends in words", async () => {
  const emulator = await startService({ lockProjects: true });
  const duration_ms = 60_000;
  emulator.edit({
    kind: "operation",
    project_id: "prj-demo",
    create: { endpoint_id: "ep-demo-main-10000001", duration_ms },
  });
  const trial = await tryAt(emulator, COMPUTE, { delays: { stepSeconds: 0.3, patienceMs: 50 } });
  expect(trial.report.steps.find(({ name }) => name === "compute-create")?.message).toMatch(/running operation/);
  expect([isGoodReport(trial.report), trial.report.left, trial.after]).toEqual([false, [], trial.before]);
});

async function deleteAll(emulator: Emulator, branchId: string): Promise<void> {
  for (const { id, branch_id } of await computes(emulator))
    if (branch_id === branchId) await api(emulator, "DELETE", `${DEMO}/endpoints/${String(id)}`);
}

async function authOf(emulator: Emulator): Promise<unknown> {
  const [project = {}] = (await new Service(emulator).state()).projects;
  const { integrations, oauth_providers, domains, email_server } = project;
  return { integrations, oauth_providers, domains, email_server };
}
