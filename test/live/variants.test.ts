import type { EmulatorFault, EmulatorOptions } from "../../src/emulator";
import type { Target } from "./before";
import { isGoodReport, render } from "./report";
import type { Delays } from "./suite";
import { AUTH, COMPUTE, DELAYS, startService, tryAt, type Trial, WHOLE } from "./support";

/** Runs whose service has several variants that do not touch each other. */
const SERVICES: Record<
  string,
  { options?: EmulatorOptions; faults?: EmulatorFault[]; delays?: Delays; target?: Target }
> = {
  plain: {},
  "without the observed routes": { options: { seedOnly: true }, target: COMPUTE },
  strict: {
    options: {
      // Long enough for a request, on a slow machine too.
      activationMs: 300,
      lockProjects: true,
      secretAnswers: "masked",
      variants: {
        goneEndpointDelete: 404,
        keepSchemas: true,
        extraFields: true,
        startReplicas: true,
        restartToApply: true,
      },
    },
  },
  generous: {
    options: {
      anyAuthBranch: true,
      anyOAuthProvider: true,
      appDomains: true,
      secretAnswers: "absent",
      listLagMs: 400,
      pageSize: 2,
    },
    delays: { client: { ...DELAYS.client, lagMs: 800 } },
    target: { ...AUTH, branchId: "br-dev", authBranchId: "br-main" },
  },
  "with other responses": {
    faults: [
      { method: "POST", path: "/projects/{project_id}/endpoints", status: 202, effect: "done", merge: NAMELESS() },
      { method: "PATCH", path: "/projects/{project_id}/endpoints/{endpoint_id}", effect: "done", merge: UPGRADING() },
      { method: "DELETE", path: "/projects/{project_id}/auth/domains", status: 204, effect: "done", times: 0 },
      {
        method: "DELETE",
        path: "/projects/{project_id}/auth/oauth_providers/{oauth_provider_id}",
        status: 202,
        effect: "done",
        times: 0,
      },
      { method: "GET", path: "/projects/{project_id}/auth/domains", body: { domains: null } },
      {
        method: "GET",
        path: "/projects/{project_id}/endpoints/{endpoint_id}",
        status: 404,
        body: "<p>gone</p>",
        after: 2,
      },
      {
        method: "GET",
        path: "/projects/{project_id}/branches",
        status: 429,
        headers: { "retry-after": "0" },
        after: 1,
      },
      { method: "GET", path: "/projects/{project_id}/branches", effect: "done", merge: { pagination: { offset: 3 } } },
      { method: "POST", path: "/projects/auth/user", status: 201, body: { id: "usr-2" }, after: 1 },
    ],
  },
  "without bodies": {
    target: COMPUTE,
    faults: [
      { method: "POST", path: "/projects/{project_id}/endpoints", status: 200, body: "", effect: "done" },
      {
        method: "PATCH",
        path: "/projects/{project_id}/endpoints/{endpoint_id}",
        status: 200,
        body: "",
        effect: "done",
        times: 0,
      },
    ],
  },
};

function NAMELESS(): Record<string, unknown> {
  return { endpoint: { name: null, suspended_at: "" } };
}
function UPGRADING(): Record<string, unknown> {
  return { endpoint: { current_state: "upgrading" } };
}

const trials = new Map<string, Promise<Trial>>();
beforeAll(async () => {
  for (const [name, { options, faults = [], delays = {}, target = WHOLE }] of Object.entries(SERVICES)) {
    const emulator = await startService(options);
    for (const fault of faults) emulator.fault(fault);
    // They wait most of their time.
    trials.set(name, tryAt(emulator, target, { delays }));
  }
  await Promise.all(trials.values());
}, 120_000);

const trialOf = async (name: string): Promise<Trial> => {
  const trial = await trials.get(name);
  if (trial === undefined) throw new Error(`no service ${name}`);
  return trial;
};

test("at the emulator as it is, everything that can be tried holds", async () => {
  const { report } = await trialOf("plain");
  const tried = report.statements.filter(({ verdict }) => verdict !== "not tried");
  expect(tried.filter(({ verdict }) => verdict !== "holds")).toEqual([]);
  expect(tried.length).toBeGreaterThan(50);
  expect(report.steps.filter(({ outcome }) => outcome === "failed" || outcome === "left out")).toEqual([]);
  expect([isGoodReport(report), report.left]).toEqual([true, []]);
});

test.each([
  ["without the observed routes", "project-routes", /^differs: status (200, )?404/],
  ["without the observed routes", "read-one", /^differs: status 404/],
  ["without the observed routes", "operation-routes", /^differs: status 404/],
  ["without the observed routes", "suspend-response", /^differs: status 404/],
  ["strict", "client-secret", /^holds: masked$/],
  ["strict", "mail-password", /^holds: masked$/],
  ["strict", "gone-compute", /^differs: status 404$/],
  ["strict", "kept-schema", /^holds: the schema stays: 409$/],
  ["strict", "replica-start", /^differs: init, operations start_compute$/],
  ["strict", "resize-operations", /^holds: operations apply_config, suspend_compute, start_compute$/],
  ["generous", "auth-branch", /^differs: status 201/],
  ["generous", "other-provider-ids", /^holds: status 200$/],
  ["generous", "client-secret", /^holds: not at all$/],
  ["generous", "list-lag", /^holds: integrations .*, domains .*, providers .*$/],
  ["with other responses", "created-status", /^differs: status 200, 201, 202$/],
  ["with other responses", "absent-or-null", /^differs: blank instead: suspended_at$/],
  ["with other responses", "states", /^differs: upgrading$/],
  ["with other responses", "empty-deletion", /^differs: status 204, without a body$/],
  ["with other responses", "provider-deletion", /^differs: status 202$/],
  ["with other responses", "required-lists", /^differs: responses without their list: domains$/],
  ["with other responses", "error-body", /^differs: without code and message: 404 for GET /],
  ["with other responses", "existing-user", /^differs: status 201$/],
  ["without bodies", "create-response", /^differs: status 200 without a body$/],
  ["without bodies", "update-response", /^differs: status 200 without a body$/],
])("a service %s is recognised: %s", async (name, assumption, expected) => {
  expect((await trialOf(name)).verdict(assumption)).toMatch(expected);
});

test.each(Object.keys(SERVICES))("nothing is left at a service %s, and nothing else is deleted", async (name) => {
  const { report, before, after } = await trialOf(name);
  expect([report.left, after]).toEqual([[], before]);
});

test("no secret is in a plan, a line or a report", async () => {
  for (const trial of await Promise.all(trials.values())) {
    const { plan, said, report } = trial;
    const text = [plan, ...said, render(report)].join("\n");
    // Of the account, of the run, and of the service: server keys, and the URL of a transfer.
    expect(text).not.toMatch(/canary|ssk_|\/transfer\/|no-key/);
  }
});

test("what differs says what it means", async () => {
  const text = render((await trialOf("with other responses")).report).replace(/\n +/g, " ");
  expect(text).toMatch(
    /differs +states: upgrading docs\/design\/api\.md, Compute states: … An unknown state[^]*?: please report it/,
  );
  expect(text).toMatch(
    /differs +created-status: status 200, 201, 202 docs\/design\/api\.md, Responses: … Also seen[^]*?copes with it: nothing to do/,
  );
});
