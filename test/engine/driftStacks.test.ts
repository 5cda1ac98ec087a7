import { api, DEMO } from "../support/emulator";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

/** A stack's resources depend on its name; the project is the same. */
const PROGRAM = `
const [branchId, providerId] = pulumi.getStack() === "dev" ? ["br-dev", "github"] : ["br-test", "microsoft"];
const auth = pulumi.getStack() === "dev" ? new svc.AuthIntegration("auth", { projectId: "prj-demo" }) : undefined;
// After the integration, where this stack makes it.
new svc.OAuthProvider("oauth", { projectId: auth?.projectId ?? "prj-demo", providerId, adopt: true });
if (auth) new svc.OAuthProvider("google", { projectId: auth.projectId, providerId: "google", absent: true, adopt: true });
new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId, size: 1 });
`;

test("two stacks of one project, checked together, do not report each other, and each one's drift bears its name", async () => {
  const stack = await Stack.create({ program: PROGRAM, emulator: { anyOAuthProvider: true } });
  const { service } = stack;
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.run("stack", "init", "prod", "--copy-config-from", "dev")).toMatchObject({ code: 0 });
  expect(await stack.run("up", "--yes", "--skip-preview", "--stack", "prod")).toMatchObject({ code: 0 });

  // Alone, each one reports what the other one holds.
  const alone = await drift(stack, "--unmanaged", "--stack", "dev");
  expect(alone.code).toBe(8);
  expect(alone.report.unmanaged.map(({ kind }) => kind)).toEqual(["ComputeEndpoint", "OAuthProvider"]);
  const both = ["--unmanaged", "--stack", "dev", "--stack", "prod"];
  expect(await drift(stack, ...both)).toMatchObject({
    code: 0,
    report: { stack: "dev, prod", drift: [], unmanaged: [] },
  });

  const compute = (await service.endpoints()).find(({ branch_id }) => branch_id === "br-test");
  await service.edit({ kind: "endpoint", id: compute?.["id"], set: { autoscaling_limit_max_cu: 4 } });
  expect((await api(service.emulator, "POST", `${DEMO}/auth/oauth_providers`, { id: "vercel" })).status).toBe(200);
  const changed = await drift(stack, ...both);
  expect(changed.code).toBe(7);
  expect(changed.report.drift).toMatchObject([{ urn: expect.stringMatching(/^urn:pulumi:prod::/), name: "api" }]);
  expect(changed.report.unmanaged.map(({ id }) => id)).toEqual(["prj-demo/vercel"]);
  // The same as text.
  stack.write("report.json", JSON.stringify(changed.report));
  const { stdout: text } = await svc(stack, ["drift", "--from", "report.json"]);
  expect(text).toContain(`ComputeEndpoint api of stack prod (prj-demo/${String(compute?.["id"])}) changed`);
  expect(text).toContain("Not declared in any of these stacks");

  // Drift that one stack tolerates is still drift in the other one.
  const ignored = await svc(stack, ["drift", "--ignore", "api", "--stack", "prod", "--reason", "the sale"]);
  expect(ignored).toMatchObject({ code: 0, stdout: expect.stringMatching(/: 1 entry for stack prod\n/) });
  const own = (await service.endpoints()).find(({ branch_id }) => branch_id === "br-dev");
  await service.edit({ kind: "endpoint", id: own?.["id"], set: { autoscaling_limit_max_cu: 4 } });
  expect(await drift(stack, "--stack", "dev", "--stack", "prod")).toMatchObject({
    code: 7,
    report: {
      drift: [{ urn: expect.stringMatching(/^urn:pulumi:dev::/), properties: [{ path: "size" }] }],
      tolerated: [{ urn: expect.stringMatching(/^urn:pulumi:prod::/), reason: "the sale" }],
    },
  });
  expect(await stack.leaks([service.emulator.apiKey])).toEqual([]);
  await stack.close();
});
