import type { Page } from "playwright-core";
import { control, PRIMARY } from "../support/emulator";
import { startGate, stateOf, suspended, uriOf, useServers } from "../support/gate";
import { openPage, violationsOf } from "../support/openPage";
import { postgresBin } from "../support/postgres";
import { VISITORS } from "../support/visitors";

jest.setTimeout(120_000);
useServers();

const run = postgresBin() === undefined ? test.skip : test;
const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };
const visit = VISITORS.pg;
const row = (page: Page) => page.locator("tr.compute", { hasText: PRIMARY });

run(
  "the connection string that the page copies opens a connection, which the page then shows until it ends",
  async () => {
    const emulator = await startGate({ apiKey: "canary-key" });
    const { page, errors } = await openPage(emulator, CLIPBOARD);
    await page.getByRole("button", { name: PRIMARY }).click();
    const dialog = page.getByRole("dialog", { name: `Compute ${PRIMARY}` });
    await page.getByRole("button", { name: "Copy connection string" }).click();
    await page.getByText("The connection string was copied.").waitFor();
    const uri = String(await page.evaluate("navigator.clipboard.readText()"));
    const client = await visit(`${uri}&application_name=shop`);
    const shown = dialog.getByText(/^svcdb_owner on svcdb shop, since \d\d:\d\d:\d\d: idle$/);
    await shown.waitFor();
    await client.ask("begin; select 'canary-query'");
    await dialog.getByText(/^svcdb_owner on svcdb shop, since .*: busy$/).waitFor();
    await client.ask("rollback");
    await shown.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await row(page).getByText("1 connection", { exact: true }).waitFor();
    expect(await page.content()).not.toContain("canary");
    await client.close();
    await row(page).getByText("1 connection").waitFor({ state: "detached" });
    expect(errors).toEqual([]);
  },
);

run("a client that waits for its compute is shown as waiting", async () => {
  const emulator = await startGate({ activationMs: 1500 });
  await suspended(emulator);
  const { page } = await openPage(emulator);
  const coming = visit(uriOf(emulator));
  await row(page).getByText("1 connection, 1 waiting", { exact: true }).waitFor();
  await coming;
  await row(page).getByText("1 connection", { exact: true }).waitFor();
  expect(await stateOf(emulator)).toBe("active");
});

run.each([390, 1440])("refused connections are listed with the reason, by the keyboard too: %i px", async (width) => {
  const emulator = await startGate();
  const { page, errors } = await openPage(emulator, { viewport: { width, height: 900 } });
  const hostile = `<img src=x onerror="window.hit=1">${"long".repeat(40)}`;
  await visit(uriOf(emulator, PRIMARY, { key: "canary-wrong", role: hostile })).catch(() => undefined);
  await visit(uriOf(emulator, "ep-never-was-1")).catch(() => undefined);
  const refused = page.getByRole("region", { name: "Refused connections" }).locator("li");
  await refused.nth(1).waitFor();
  expect(await refused.locator("summary").allTextContents()).toEqual([
    expect.stringMatching(/08004\s+ep-never-was-1/),
    expect.stringMatching(new RegExp(`28P01\\s+${PRIMARY}`)),
  ]);
  await refused.nth(1).locator("summary").focus();
  await page.keyboard.press("Enter");
  await refused.getByText("password authentication failed for user").waitFor();
  await refused.nth(0).locator("summary").click();
  await refused.getByText('the compute "ep-never-was-1" does not exist').waitFor();
  expect(await page.evaluate("[document.documentElement.scrollWidth, window.hit]")).toEqual([width, undefined]);
  expect(await violationsOf(page)).toEqual([]);
  expect(await page.content()).not.toContain("canary");
  await control(emulator.url, "POST", "/reset");
  await refused.first().waitFor({ state: "detached" });
  expect(errors).toEqual([]);
});
