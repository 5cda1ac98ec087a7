import { createServer } from "node:net";
import { api, INTEGRATION } from "../support/emulator";
import { Stack } from "../support/Stack";

const ENDPOINTS = "GET /projects/{project_id}/endpoints";
const BRANCHES = "GET /projects/{project_id}/branches";
const INTEGRATIONS = "GET /projects/{project_id}/auth/integrations";
const DOMAINS = "GET /projects/{project_id}/auth/domains";

const compute = (name: string, more: string): string =>
  `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", ${more} });`;
const replicas = (count: number): string =>
  `for (let nth = 0; nth < ${count}; nth++) new svc.ComputeEndpoint("replica-" + nth, { projectId: "prj-demo", branchId: "br-main", type: "read_only", name: "r" + nth, size: 1 });`;

const asked = async ({ service }: Stack): Promise<string[]> =>
  (await service.requests()).map(({ method, template }) => `${method} ${template}`).sort();

const count = (text: string, what: RegExp): number => [...text.matchAll(new RegExp(what, "g"))].length;

/** The warnings and errors under "Diagnostics", where each appears once. */
const diagnostics = (text: string): string => text.split("Diagnostics:")[1] ?? "";

/** A local port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

test("a branch that is not there and a domain that is listed already are reported in the plan, and fail it with strictPlan", async () => {
  const program = `
    ${compute("api", 'branchId: "br-prod"')}
    new svc.WhitelistDomain("app", { projectId: "prj-demo", domain: "https://app.example.com" });`;
  const stack = await Stack.create({ program });
  const { service } = stack;
  await api(service.emulator, "POST", "/projects/auth/create", INTEGRATION);
  await service.edit({ kind: "domain", create: { domain: "https://app.example.com" } });

  await service.clearRequests();

  const plan = await stack.preview();
  expect(plan.code).toBe(0);
  expect(diagnostics(plan.text)).toMatch(/\(api\):\s+warning: project prj-demo has no branch br-prod\. It has br-main/);
  expect(diagnostics(plan.text)).toMatch(
    /\(app\):\s+warning: pulumi up will fail here.*https:\/\/app\.example\.com is on the whitelist already.*"adopt: true"/,
  );
  expect(await asked(stack)).toEqual([DOMAINS, INTEGRATIONS, BRANCHES, ENDPOINTS]);

  stack.env["SVC_STRICT_PLAN"] = "1";
  const strict = await stack.preview();
  expect(strict.code).not.toBe(0);
  expect(diagnostics(strict.text)).toMatch(/error:.*(has no branch br-prod|is on the whitelist already)/);
  // What prevents the update itself is reported by the update.
  const update = await stack.up();
  expect(update.code).not.toBe(0);
  expect(update.text).not.toMatch(/pulumi up will fail here|warning: project prj-demo has no branch/);

  stack.env["SVC_OFFLINE_PLAN"] = "1";
  await service.clearRequests();
  expect(await stack.preview()).toMatchObject({ code: 0, text: expect.not.stringMatching(/warning/) });
  expect(await asked(stack)).toEqual([]);

  delete stack.env["SVC_OFFLINE_PLAN"];
  stack.program(`
    ${compute("api", 'branchId: "br-dev"')}
    new svc.WhitelistDomain("app", { projectId: "prj-demo", domain: "https://app.example.com", adopt: true });`);
  const adopting = await stack.preview();
  expect(adopting).toMatchObject({
    code: 0,
    text: expect.stringMatching(/pulumi up takes over https:\/\/app\.example/),
  });
  expect(adopting.text).not.toMatch(/warning: (?!pulumi up takes over)/);
});

test("a key that is refused fails the plan, and a service that cannot be reached is a warning: each once for the whole plan", async () => {
  const stack = await Stack.create({
    program: compute("a", 'branchId: "br-dev"') + compute("b", 'branchId: "br-test"'),
    configured: false,
  });
  Object.assign(stack.env, { SVC_BASE_URL: stack.service.emulator.baseUrl, SVC_API_KEY: "canary-wrong-key" });
  const refused = await stack.preview();
  expect(refused.code).not.toBe(0);
  expect(count(diagnostics(refused.text), /refused a request of this plan: the API key is missing or wrong/)).toBe(1);
  expect(refused.text).toMatch(/127\.0\.0\.1:\d+ refused a request of this plan/);
  expect(refused.text).not.toContain("canary-wrong-key");

  stack.env["SVC_BASE_URL"] = `http://127.0.0.1:${await closedPort()}/api/v2`;
  const unreachable = await stack.preview();
  expect(unreachable.code).toBe(0);
  expect(count(diagnostics(unreachable.text), /could not be queried.*ECONNREFUSED/)).toBe(1);
  stack.env["SVC_STRICT_PLAN"] = "true";
  expect(await stack.preview()).toMatchObject({ code: 1, text: expect.stringMatching(/error:.*could not be queried/) });
});

test("a plan asks for at most one list of a collection, none without new objects, and an update for none more", async () => {
  const stack = await Stack.create({ program: replicas(200), emulator: { activationMs: 20 } });
  const { service } = stack;
  expect(await stack.preview()).toMatchObject({ code: 0 });
  expect(await asked(stack)).toEqual([BRANCHES, ENDPOINTS]);

  // Deployed are fewer: each step of each resource writes the whole state.
  stack.program(replicas(20));
  await service.clearRequests();
  expect(await stack.run("up", "--yes")).toMatchObject({ code: 0 });
  // Only a plan reads the branches: here the plan of the preview.
  expect((await asked(stack)).filter((request) => request === BRANCHES)).toHaveLength(1);

  // No request is sent, so a wrong key would not matter.
  await service.clearRequests();
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await asked(stack)).toEqual([]);

  // The refresh has read the computes already.
  stack.program(replicas(200));
  expect(await stack.preview("--refresh")).toMatchObject({ code: 0 });
  expect(await asked(stack)).toEqual([BRANCHES, ENDPOINTS]);

  stack.program(replicas(20));
  await service.clearRequests();
  expect(await stack.refresh("--run-program")).toMatchObject({ code: 0 });
  expect(await asked(stack)).toEqual([ENDPOINTS]);

  await service.clearRequests();
  expect(await stack.run("destroy", "--yes")).toMatchObject({ code: 0 });
  expect(await asked(stack)).not.toContain(BRANCHES);
});
