import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { api, control, createCompute, DEMO, integrate, start, STANDARD_EMAIL } from "../support/emulator";
import { openPage } from "../support/openPage";

/** The folder of the pictures; without it they are discarded. */
const FOLDER = process.env["PULUMI_SVC_PICTURES"];

/** A service in the middle of its work: computes in each state, an integration, a fault, requests of each sort. */
async function scene() {
  const emulator = await start({ activationMs: 4000 });
  const edit = (kind: string, create: object) =>
    control(emulator.url, "POST", "/edit", { kind, project_id: "prj-demo", create });
  await integrate(emulator);
  await edit("domain", { domain: "https://shop.example.com" });
  await edit("domain", { domain: "https://admin.example.com" });
  await edit("user", { email: "ada@example.com", name: "Ada" });
  await edit("user", { email: "grace@example.com", name: "Grace" });
  await control(emulator.url, "POST", "/keys");
  await control(emulator.url, "POST", "/mail", { to: "ada@example.com", subject: "Your order" });
  await api(emulator, "PATCH", `${DEMO}/auth/email_server`, STANDARD_EMAIL);
  await edit("endpoint", { id: "ep-calm-lake-40000001", branch_id: "br-main", type: "read_only", name: "reports" });
  await edit("endpoint", { id: "ep-dry-tree-40000002", branch_id: "br-test", current_state: "idle", name: "nightly" });
  await control(emulator.url, "POST", "/faults", {
    operation: { action: "apply_config", status: "failed", error: "no capacity" },
  });
  for (const [id, max] of [
    ["ep-demo-main-10000001", 4],
    ["ep-calm-lake-40000001", 1],
  ] as const) {
    await api(emulator, "PATCH", `${DEMO}/endpoints/${id}`, { endpoint: { autoscaling_limit_max_cu: max } });
    await new Promise((resolve) => setTimeout(resolve, 1500));
  }
  await createCompute(emulator, { branch_id: "br-dev", type: "read_write", name: "preview" });
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await api(emulator, "GET", `${DEMO}/operations?limit=100`);
  await control(emulator.url, "POST", "/faults", { method: "POST", status: 503 });
  await api(emulator, "POST", `${DEMO}/auth/domains`, {
    auth_provider: "supported_provider",
    domain: "https://x.example",
  });
  await control(emulator.url, "POST", "/faults", { method: "PATCH", status: 429, times: 2 });
  await api(emulator, "POST", `${DEMO}/endpoints/ep-dry-tree-40000002/start`);
  await createCompute(emulator, { branch_id: "br-dev", type: "read_only" });
  await api(emulator, "POST", `${DEMO}/endpoints/ep-demo-main-10000001/restart`);
  await api(emulator, "GET", `${DEMO}/endpoints/ep-missing`);
  return emulator;
}

test("pictures of the page, light and dark, wide and narrow", async () => {
  const emulator = await scene();
  for (const [width, height] of [
    [1280, 720],
    [390, 844],
  ] as const) {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, errors } = await openPage(emulator, { viewport: { width, height }, colorScheme });
      await page.getByText("ep-demo-main-10000001").first().waitFor();
      if (width > 600) {
        // A change by hand, and the commands that find it.
        await page.getByRole("button", { name: "ep-calm-lake-40000001" }).click();
        await page.getByLabel("To, CU").selectOption("8");
        await page.getByRole("button", { name: "Change size" }).click();
        await page.getByText("0.25–8 CU").first().waitFor();
      }
      await page.waitForTimeout(500);
      const picture = await page.screenshot({ fullPage: width < 600 });
      expect(picture.length).toBeGreaterThan(10_000);
      expect(errors).toEqual([]);
      if (FOLDER === undefined) continue;
      mkdirSync(FOLDER, { recursive: true });
      const name = `emulator-${width < 600 ? "narrow" : "wide"}-${colorScheme}.png`;
      await page.screenshot({ fullPage: width < 600, path: join(FOLDER, name) });
    }
  }
}, 120_000);
