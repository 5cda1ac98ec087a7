import { openPage } from "../support/openPage";
import { Stack } from "../support/Stack";
import { drift } from "../support/svc";

test("computes appear while `pulumi up` makes them, and a click makes drift that `pulumi-svc drift` finds", async () => {
  const stack = await Stack.create({
    program: `
      const opts = { projectId: "prj-demo", branchId: "br-dev" };
      const api = new svc.ComputeEndpoint("api", { ...opts, type: "read_write", name: "api", size: { min: 0.25, max: 2 } });
      new svc.ComputeEndpoint("reports", { ...opts, type: "read_only", name: "reports" }, { dependsOn: api });`,
    emulator: { activationMs: 1500 },
  });
  const { page, errors } = await openPage(stack.service.emulator);
  const row = (name: string) => page.locator("tr.compute", { hasText: name });
  const up = stack.up();
  // In order of arrival, not only at the end: the second one waits for the first.
  await row("api").getByText("init → active").waitFor({ timeout: 120_000 });
  expect(await row("reports").count()).toBe(0);
  await row("api").getByText("active", { exact: true }).waitFor();
  await row("reports").waitFor({ timeout: 60_000 });
  expect(await up).toMatchObject({ code: 0 });
  expect(await drift(stack)).toMatchObject({ code: 0, report: { drift: [] } });

  await row("api").getByRole("button").click();
  await page.getByLabel("To, CU").selectOption("8");
  await page.getByRole("button", { name: "Change size" }).click();
  await row("api").getByText("0.25–8 CU").waitFor();
  await page.getByText("npx pulumi-svc drift").waitFor();
  expect(await drift(stack)).toMatchObject({ code: 7, report: { drift: [{ name: "api" }] } });

  await row("reports").getByRole("button").click();
  await page.getByRole("button", { name: "Delete this compute" }).click();
  await page.locator("#delete-dialog").getByRole("button", { name: "Delete" }).click();
  await row("reports").waitFor({ state: "detached" });
  expect(await drift(stack)).toMatchObject({ code: 7, report: { drift: [{ name: "api" }, { name: "reports" }] } });
  expect(errors).toEqual([]);
});
