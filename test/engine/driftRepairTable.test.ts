import { ARGUMENTS_WITHOUT_ROW, DRIFTED_ARGUMENTS } from "../support/driftedArguments";
import { Stack } from "../support/Stack";
import { drift, svc } from "../support/svc";

const NEW = `new svc.ComputeEndpoint("new", { projectId: "prj-computeendpoint-size-update", branchId: "br-other" });`;

test("the table has every argument that can drift", () => {
  expect(ARGUMENTS_WITHOUT_ROW).toEqual([]);
});

test("each argument that drifted is brought back by one repair, and the pending edits of the program stay pending", async () => {
  const program = DRIFTED_ARGUMENTS.map(({ declaration }) => declaration).join("\n");
  const stack = await Stack.create({ program });
  const { service } = stack;
  for (const { projectId } of DRIFTED_ARGUMENTS) {
    const branches = ["br-main", "br-dev", "br-other"].map((id, index) => ({ id, default: index === 0 }));
    await service.addProject({ id: projectId, branches });
  }
  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(`${program.replace('name: "reports"', 'name: "pending"')}\n${NEW}`);
  const resources = await stack.resources();
  for (const { name, projectId, edit } of DRIFTED_ARGUMENTS) {
    const { id } = resources.find(({ urn }) => urn.endsWith(`::${name}`)) ?? { id: "" };
    await service.edit({ project_id: projectId, ...edit(id.split("/")[1] ?? "") });
  }
  const { report } = await drift(stack);
  const found = report.drift.map(({ name, change, properties, repair }) => ({
    name,
    paths: change === "deleted" ? [undefined] : properties.map(({ path }) => path),
    action: repair.action,
  }));
  expect(found.map(({ name, action }) => ({ name, action })).toSorted(byName)).toEqual(
    DRIFTED_ARGUMENTS.map(({ name, repair }) => ({ name, action: repair })).toSorted(byName),
  );
  for (const { name, path } of DRIFTED_ARGUMENTS)
    expect(found.find((one) => one.name === name)).toMatchObject({ paths: expect.arrayContaining([path]) });

  expect(
    await svc(stack, ["drift", "--repair", "--yes", "--allow-replace", "--expect", report.fingerprint]),
  ).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0, report: { drift: [] } });
  const plan = await stack.preview("--diff");
  expect(plan.text).toMatch(/name: "reports" => "pending"/);
  expect(plan.text).toMatch(/\+ 1 to create\n +~ 1 to update\n/);
  expect(await stack.leaks(["canary-table"])).toEqual([]);
});

const byName = (left: { readonly name: string }, right: { readonly name: string }): number =>
  left.name < right.name ? -1 : 1;
