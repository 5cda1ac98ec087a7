import { Stack } from "../support/Stack";

const LIMIT = 10;
const MINUTE_MS = 60_000;

test("an up with a share of requests waits where it must, ends well and never sends more in a minute", async () => {
  const branches = Array.from({ length: 7 }, (_, nth) => `br-${nth + 1}`);
  const program = branches
    .map((branch) => `new svc.ComputeEndpoint("${branch}", { projectId: "prj-ci", branchId: "${branch}", size: 1 });`)
    .join("\n");
  const stack = await Stack.create({ program });
  const { service } = stack;
  await service.addProject({
    id: "prj-ci",
    branches: [{ id: "br-0", default: true }, ...branches.map((id) => ({ id }))],
  });
  const before = await service.state();
  // Not in the configuration, so that the checks at the end need not wait.
  stack.env["SVC_MAX_REQUESTS_PER_MINUTE"] = String(LIMIT);
  expect(await stack.up()).toMatchObject({ code: 0 });
  const times = (await service.requests()).map(({ at }) => Date.parse(at));
  expect(times.length).toBeGreaterThan(LIMIT);
  const counts = times.map((from) => times.filter((time) => time >= from && time < from + MINUTE_MS).length);
  expect(Math.max(...counts)).toBeLessThanOrEqual(LIMIT);
  expect(await service.mutations()).toHaveLength(branches.length);

  delete stack.env["SVC_MAX_REQUESTS_PER_MINUTE"];
  await stack.finish(before);
});

test("an invalid share is refused in the plan, from the configuration and from a Provider", async () => {
  const compute = (options: string) =>
    `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 }, ${options});`;
  const stack = await Stack.create({ program: compute("{}") });
  await stack.config("svc:maxRequestsPerMinute", "9");
  const words = /svc:maxRequestsPerMinute \(or SVC_MAX_REQUESTS_PER_MINUTE\) must be a whole number, 10 or more/;
  const ofStack = await stack.preview();
  expect(ofStack.code).not.toBe(0);
  expect(ofStack.text).toMatch(words);
  stack.program(compute(`{ provider: new svc.Provider("given", { maxRequestsPerMinute: 12.5 }) }`));
  const given = await stack.preview();
  expect(given.code).not.toBe(0);
  expect(given.text).toMatch(words);
  expect(await stack.service.requests()).toEqual([]);
  stack.program(compute(`{ provider: new svc.Provider("given", { maxRequestsPerMinute: 12 }) }`));
  expect(await stack.preview()).toMatchObject({ code: 0 });
});
