import { readFileSync } from "node:fs";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { Emulator } from "../../src/emulator";
import { startBrowser } from "./browser";

let browser: Browser | undefined;
const contexts: BrowserContext[] = [];

// One browser for the file, because its start is slow. Each page has its own context and profile.
afterEach(async () => {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
});
afterAll(async () => {
  await browser?.close();
});

/** An empty tab. Script errors and errors on the console are recorded. */
export async function newTab(options: BrowserContextOptions = {}): Promise<{ page: Page; errors: string[] }> {
  browser ??= await startBrowser();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  contexts.push(context);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  return { page, errors };
}

/** The emulator's page, opened by its printed address and connected. */
export async function openPage(
  { pageUrl }: Pick<Emulator, "pageUrl">,
  options?: BrowserContextOptions,
): Promise<{ page: Page; errors: string[] }> {
  const tab = await newTab(options);
  await tab.page.goto(pageUrl);
  await tab.page.locator("#connection", { hasText: "live" }).waitFor();
  return tab;
}

/** What axe finds wrong with the page as it is. */
export async function violationsOf(page: Page): Promise<unknown> {
  await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  return page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html + failureSummary).join()))`);
}
