/** Two entries of one state for one object, as a rename without an alias can leave them: who names them, and the way out. */
import { doctor } from "../support/doctor";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

const PROGRAM = `
new svc.ComputeEndpoint("renamed", { projectId: "prj-demo", branchId: "br-dev", size: 1 });`;

interface State {
  readonly deployment: { readonly resources: { urn: string }[] };
}

test("drift and the doctor name both, and what they say to do deletes nothing at the service", async () => {
  const stack = await Stack.create({ program: PROGRAM });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { urn } = await stack.resource("renamed");
  const old = urn.replace(/renamed$/, "it's old");
  const state = JSON.parse(await stack.exported()) as State;
  const entry = state.deployment.resources.find((one) => one.urn === urn);
  state.deployment.resources.push({ ...entry, urn: old });
  stack.write("twice.json", JSON.stringify(state));
  expect(await stack.run("stack", "import", "--file", "twice.json")).toMatchObject({ code: 0 });

  const { code, report } = await drift(stack);
  expect(code).toBe(0);
  expect(report.sharedObjects).toEqual([
    {
      objects: [expect.stringMatching(/^compute ep-/)],
      resources: [expect.objectContaining({ urn: old }), expect.objectContaining({ urn, name: "renamed" })],
    },
  ]);
  const fleet = await svc(stack, ["fleet", "drift"]);
  expect(fleet).toMatchObject({ code: 0, stdout: expect.stringContaining("Held by several resources") });
  const shared = (await doctor(stack)).checks.find(({ name }) => name === "shared object");
  expect(shared).toMatchObject({
    status: "warning",
    message: expect.stringMatching(
      /^ComputeEndpoint "it's old" and ComputeEndpoint "renamed" of the state hold compute /,
    ),
  });

  const [, removal = ""] = /(pulumi state delete '.*old')/.exec(shared?.remedy ?? "") ?? [];
  expect(removal).toContain(`'\\''s old'`);
  await service.clearRequests();
  expect(await stack.run("state", "delete", old, "--yes")).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([]);
  expect((await drift(stack)).report.sharedObjects).toEqual([]);
  await stack.finish(before);
});
