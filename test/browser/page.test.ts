import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Emulator } from "../../src/emulator";
import {
  api,
  control,
  DEMO,
  demoState,
  endpoint,
  integrate,
  PRIMARY,
  records,
  start,
  until,
} from "../support/emulator";
import { newTab, openPage, violationsOf } from "../support/openPage";
import { startWatched } from "../support/watchedGate";

jest.setTimeout(120_000);

const edit = async ({ url }: Emulator, kind: string, more: object) => {
  const { status } = await control(url, "POST", "/edit", { kind, project_id: "prj-demo", ...more });
  expect(status).toBe(200);
};

/** Lets a page use the clipboard, and a test read it. */
const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

const compute = (page: Page, id: string) => page.locator("tr.compute", { hasText: id });

describe("the token", () => {
  test("leaves the address bar and the history, and stays for a reload", async () => {
    const emulator = await start();
    const { page, errors } = await openPage(emulator);
    expect(page.url()).toBe(`${emulator.url}/`);
    await page.reload();
    await compute(page, PRIMARY).waitFor();
    expect(await page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]")).toEqual(["", 0, 1]);
    expect(errors).toEqual([]);
  });

  test("is requested with a message if it is missing or from another start, and is then read from the address again", async () => {
    const emulator = await start();
    const { page } = await newTab();
    for (const address of [emulator.url, `${emulator.url}/#token=of-an-earlier-start`]) {
      await page.goto(address);
      await page.getByRole("heading", { name: "Open the address that the emulator printed" }).waitFor();
      expect(await page.getByText(PRIMARY).count()).toBe(0);
    }
    await page.goto(emulator.pageUrl);
    await compute(page, PRIMARY).waitFor();
  });

  test("of an emulator that has ended opens nothing at the next one", async () => {
    const first = await start();
    const { page } = await openPage(first);
    await first.close();
    await page.getByText("the emulator does not answer").or(page.getByText("connecting again")).waitFor();
    await start({ port: first.port });
    await page.getByRole("heading", { name: "Open the address that the emulator printed" }).waitFor();
    expect(await page.getByText(PRIMARY).first().isVisible()).toBe(false);
  });
});

test("on an address that others reach, the page asks for the key and then works", async () => {
  const emulator = await start({ host: "0.0.0.0", apiKey: "canary-key" });
  const { page } = await newTab();
  await page.goto(`http://127.0.0.1:${emulator.port}/`);
  await page.getByLabel("API key").fill("canary-wrong");
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("The emulator refused this key.").waitFor();
  await page.getByLabel("API key").fill("canary-key");
  await page.keyboard.press("Enter");
  await compute(page, PRIMARY).getByText("0.25–2 CU").waitFor();
  await page.getByLabel("New domain").fill("https://by-hand.example.com");
  await page.getByRole("button", { name: "Add domain" }).click();
  await page.getByText("Domain https://by-hand.example.com was added by hand.").waitFor();
  expect(await page.evaluate("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])")).not.toContain("canary");
  // After a rotation it asks for the new one.
  const rotation = {
    method: "POST",
    headers: { authorization: "Bearer canary-key" },
    body: '{"api_key": "canary-new"}',
  };
  expect(await fetch(`http://127.0.0.1:${emulator.port}/_emulator/key`, rotation)).toMatchObject({ status: 204 });
  await page.getByText("The emulator refused this key.").waitFor();
  expect(await page.getByText(PRIMARY).first().isVisible()).toBe(false);
  await page.getByLabel("API key").fill("canary-new");
  await page.keyboard.press("Enter");
  await compute(page, PRIMARY).getByText("0.25–2 CU").waitFor();
});

describe("what happens is seen", () => {
  test("a compute from its creation to its end, with its operations and its requests", async () => {
    const emulator = await start({ activationMs: 700 });
    const { page, errors } = await openPage(emulator);
    const created = await api(emulator, "POST", `${DEMO}/endpoints`, {
      endpoint: { branch_id: "br-dev", type: "read_write", name: "preview" },
    });
    const id = String((created.body.endpoint as { id: unknown }).id); // the record of a 201
    const row = compute(page, id);
    await row.getByText("init → active").waitFor();
    await row.getByText("start_compute running").waitFor({ state: "attached" });
    await row.getByText("active", { exact: true }).waitFor();
    await row.getByText(/start_compute finished in [\d.]+ m?s/).waitFor({ state: "attached" });
    await page
      .locator("#log tr", { hasText: `${DEMO}/endpoints` })
      .getByText("201")
      .waitFor();
    await page.locator(".branch", { hasText: "br-dev" }).getByText("1 compute").waitFor();

    await api(emulator, "DELETE", `${DEMO}/endpoints/${id}`);
    await row.waitFor({ state: "detached" });
    await page.locator(".branch", { hasText: "br-dev" }).getByText("no compute").waitFor();
    expect(errors).toEqual([]);
  });

  test("a compute that moves, a failed operation, and what is left after a reset", async () => {
    const emulator = await start();
    const { page, errors } = await openPage(emulator);
    await edit(emulator, "endpoint", { id: PRIMARY, set: { branch_id: "br-test" } });
    await page.locator(".branch", { hasText: "br-test" }).getByText(PRIMARY).waitFor();
    await edit(emulator, "branch", { id: "br-test", delete: true });
    await page.locator(".branch", { hasText: "br-test" }).waitFor({ state: "detached" });
    await control(emulator.url, "POST", "/reset");
    await page.locator(".branch", { hasText: "br-main" }).getByText(PRIMARY).waitFor();
    await control(emulator.url, "POST", "/faults", {
      operation: { action: "apply_config", status: "failed", error: "no capacity" },
    });
    await page.getByText("apply_config → failed · 1 left").waitFor();
    await api(emulator, "PATCH", `${DEMO}/endpoints/${PRIMARY}`, { endpoint: { autoscaling_limit_max_cu: 4 } });
    await compute(page, PRIMARY)
      .getByText(/apply_config failed in \d+ ms: no capacity/)
      .waitFor({ state: "attached" });
    expect(errors).toEqual([]);
  });

  test("a second project comes and goes with all that is in it", async () => {
    const emulator = await start({ projects: ["prj-one", "prj-two"] });
    const { page, errors } = await openPage(emulator);
    await expectHeadings(page, ["prj-one", "prj-two"]);
    await control(emulator.url, "POST", "/projects", { id: "prj-three" });
    await expectHeadings(page, ["prj-one", "prj-two", "prj-three"]);
    await control(emulator.url, "POST", "/reset");
    await expectHeadings(page, ["prj-one", "prj-two"]);
    expect(errors).toEqual([]);
  });
});

const expectHeadings = (page: Page, names: string[]) =>
  until(
    () => page.locator(".project h2 code").allTextContents(),
    (found) => found.join() === names.join(),
  );

test("a tab that nobody sees lets go of its connection, and shows the state of the moment when it is seen again", async () => {
  const emulator = await start();
  const { page, errors } = await openPage(emulator);
  const hide = (hidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"))`);
  const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/_page/events"));
  await hide(true);
  await page.getByText("paused").waitFor();
  await ended;
  await edit(emulator, "domain", { create: { domain: "https://meanwhile.example.com" } });
  await edit(emulator, "endpoint", { id: PRIMARY, delete: true });
  await hide(false);
  await page.getByText("https://meanwhile.example.com").waitFor();
  expect(await compute(page, PRIMARY).count()).toBe(0);
  expect(errors).toEqual([]);
});

describe("a button", () => {
  test("changes the size of a compute, and says which commands find that", async () => {
    const emulator = await start();
    const { page } = await openPage(emulator);
    await page.getByRole("button", { name: PRIMARY }).click();
    await page.getByLabel("From, CU").selectOption("1");
    await page.getByLabel("To, CU").selectOption("8");
    await page.getByRole("button", { name: "Change size" }).click();
    await compute(page, PRIMARY).getByText("1–8 CU").waitFor();
    expect(await endpoint(emulator, PRIMARY)).toMatchObject({
      autoscaling_limit_min_cu: 1,
      autoscaling_limit_max_cu: 8,
    });
    const notice = page.getByRole("region", { name: "What to do next" });
    await notice.getByText(`The size of ${PRIMARY} was changed by hand to 1–8 CU.`).waitFor();
    expect(await notice.locator("code").allTextContents()).toEqual([
      "pulumi preview --refresh",
      "npx pulumi-svc drift",
    ]);
  });

  test.each([
    [
      "compute",
      "endpoints",
      async (page: Page) => {
        await page.getByRole("button", { name: PRIMARY }).click();
        await page.getByRole("button", { name: "Delete this compute" }).click();
        await page.locator("#delete-dialog").getByRole("button", { name: "Delete" }).click();
      },
    ],
    ["branch", "branches", (page: Page) => deleteIt(page, "branch br-main")],
    ["integration", "integrations", (page: Page) => deleteIt(page, "integration supported_provider")],
    ["OAuth provider", "oauth_providers", (page: Page) => deleteIt(page, "OAuth provider google")],
    ["domain", "domains", (page: Page) => deleteIt(page, "domain https://shop.example.com")],
    ["user", "users", (page: Page) => deleteIt(page, "user ada@example.com")],
  ])("deletes a %s", async (what, list, click) => {
    const emulator = await start();
    await integrate(emulator);
    await edit(emulator, "domain", { create: { domain: "https://shop.example.com" } });
    await edit(emulator, "user", { create: { email: "ada@example.com" } });
    const before = records(await demoState(emulator), list).length;
    const { page } = await openPage(emulator);
    await click(page);
    await page.getByText(`Deleted by hand: ${what} `).waitFor();
    expect(records(await demoState(emulator), list)).toHaveLength(before - 1);
  });

  test("deletes nothing when the question is left", async () => {
    const emulator = await start();
    await edit(emulator, "domain", { create: { domain: "https://shop.example.com" } });
    const { page } = await openPage(emulator);
    for (const leave of [() => page.keyboard.press("Enter"), () => page.keyboard.press("Escape")]) {
      await page.getByRole("button", { name: "Delete domain https://shop.example.com" }).click();
      await page.getByRole("heading", { name: "Delete domain https://shop.example.com?" }).waitFor();
      await leave();
      await page.locator("#delete-dialog").waitFor({ state: "hidden" });
    }
    await page.getByRole("button", { name: PRIMARY }).click();
    await page.getByRole("button", { name: "Delete this compute" }).click();
    await page.getByRole("heading", { name: `Delete compute ${PRIMARY}?` }).waitFor();
    await page.keyboard.press("Escape");
    expect(records(await demoState(emulator), "domains")).toHaveLength(1);
    expect(records(await demoState(emulator), "endpoints")).toHaveLength(1);
    expect(await page.evaluate("document.activeElement.textContent")).toBe(PRIMARY);
  });

  test("lets the next request fail, and the ones after it not", async () => {
    const emulator = await start();
    const { page } = await openPage(emulator);
    await page.getByLabel("What happens").selectOption("503");
    await page.getByRole("combobox", { name: "Request", exact: true }).selectOption("GET");
    await page.getByRole("button", { name: "Let the next fail" }).click();
    await page.getByText("The next GET request fails with 503.").waitFor();
    await page.getByText("GET request → 503 · 1 left").waitFor();
    expect(await api(emulator, "GET", `${DEMO}/endpoints`)).toMatchObject({ status: 503 });
    expect(await api(emulator, "GET", `${DEMO}/endpoints`)).toMatchObject({ status: 200 });
    await page.getByText("GET request → 503 · 1 left").waitFor({ state: "detached" });
    expect(await page.locator("#log .status").allTextContents()).toEqual(["200", "503"]);
  });

  test.each(["503", "429", "done", "reset", "slow", "start-fails", "apply-fails", "stuck"])(
    "sets the fault %s, and another one clears it",
    async (what) => {
      const emulator = await start();
      const { page } = await openPage(emulator);
      await page.getByLabel("What happens").selectOption(what);
      await page.getByLabel("Times").fill("2");
      await page.getByRole("button", { name: "Let the next fail" }).click();
      await page.getByText("2 left").waitFor();
      expect(records((await control(emulator.url, "GET", "/faults")).body, "faults")).toMatchObject([{ left: 2 }]);
      await page.getByRole("button", { name: "Clear all faults" }).click();
      await page.getByText("2 left").waitFor({ state: "detached" });
      expect(records((await control(emulator.url, "GET", "/faults")).body, "faults")).toEqual([]);
    },
  );

  test("suspends, starts, restarts and moves a compute, as the service does", async () => {
    const emulator = await start();
    const { page, errors } = await openPage(emulator);
    await page.getByRole("button", { name: PRIMARY }).click();
    const dialog = page.getByRole("dialog", { name: `Compute ${PRIMARY}` });
    const press = (name: string) => dialog.getByRole("button", { name, exact: true }).click();
    await press("Start");
    await dialog.getByText("There is nothing to do.").waitFor();
    await press("Suspend");
    await dialog.getByText("Scheduled: suspend_compute.").waitFor();
    await dialog.locator("dd").getByText("idle", { exact: true }).waitFor();
    await press("Restart");
    await dialog.getByText("The emulator refused this: only an active endpoint can be restarted").waitFor();
    await press("Start");
    await dialog.locator("dd").getByText("active", { exact: true }).waitFor();
    await press("Restart");
    await dialog.getByText("Scheduled: suspend_compute, start_compute.").waitFor();
    await dialog.getByLabel("To branch").selectOption("br-test");
    await press("Move");
    await page.getByText(`${PRIMARY} was moved by hand to br-test.`).waitFor();
    await page.locator(".branch", { hasText: "br-test" }).getByText(PRIMARY).waitFor();
    expect(await endpoint(emulator, PRIMARY)).toMatchObject({ branch_id: "br-test" });
    expect(errors).toEqual([expect.stringContaining("412")]);
  });

  test("shows and copies the connection string of a compute, which the page does not have before", async () => {
    const emulator = await startWatched(
      { apiKey: "canary-key" },
      (id, key) => `postgresql://svcdb_owner:${key}@gate/svcdb?${id}`,
    );
    const { page, errors } = await openPage(emulator, CLIPBOARD);
    await page.getByRole("button", { name: PRIMARY }).click();
    expect(await page.content()).not.toContain("canary");
    const uri = `postgresql://svcdb_owner:canary-key@gate/svcdb?${PRIMARY}`;
    await page.getByRole("button", { name: "Copy connection string" }).click();
    await page.getByText("The connection string was copied.").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(uri);
    await page.getByRole("button", { name: "Show connection string" }).click();
    const shown = page.getByRole("textbox", { name: `Connection string of ${PRIMARY}` });
    expect(await shown.inputValue()).toBe(uri);
    await page.keyboard.press("Escape");
    // Emptied by an event that follows the closing.
    await page.waitForFunction("document.querySelector('#value-dialog textarea').value === ''");
    expect(errors).toEqual([]);
  });

  test("copies a token of a user, or shows it where the browser does not let it, and leads to the sign-in", async () => {
    const emulator = await start();
    await integrate(emulator);
    await edit(emulator, "user", { create: { email: "ada@example.com" } });
    const { page, errors } = await openPage(emulator, CLIPBOARD);
    const copyToken = page.getByRole("button", { name: "Copy token of user ada@example.com" });
    await copyToken.click();
    await page.getByText("A token of ada@example.com was copied.").waitFor();
    const copied = String(await page.evaluate("navigator.clipboard.readText()"));
    const claims: unknown = JSON.parse(Buffer.from(copied.split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ email: "ada@example.com" });
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))");
    await copyToken.click();
    expect(await page.getByRole("textbox", { name: "Token of ada@example.com" }).inputValue()).toMatch(/^eyJ/);
    await page.keyboard.press("Escape");

    const opened = page.waitForEvent("popup");
    await page.getByRole("link", { name: "discovery for sign-in" }).click();
    const discovery: unknown = JSON.parse(String(await (await opened).evaluate("document.body.textContent")));
    expect(discovery).toMatchObject({ issuer: expect.stringContaining(`${emulator.url}/auth/`) });
    expect(errors).toEqual([]);
  });

  test("makes a signing key and, when asked again, drops one; key sets are listed without their secret", async () => {
    const emulator = await start();
    await integrate(emulator);
    const keys = await api(emulator, "POST", "/projects/auth/keys", {
      project_id: "prj-demo",
      auth_provider: "supported_provider",
    });
    const { page, errors } = await openPage(emulator);
    await page.getByText(String(keys.body.pub_client_key)).waitFor();
    expect(await page.content()).not.toContain(String(keys.body.secret_server_key));
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByText("A new key signs from now on.").waitFor();
    // The first one, which is made with it, and the new one.
    const drops = page.getByRole("button", { name: /^Drop signing key/ });
    await until(
      () => drops.count(),
      (count) => count === 2,
    );
    await page.getByText(/RS256, made .*, signs/).waitFor();
    await drops.first().click();
    await page.locator("#delete-dialog").getByRole("button", { name: "Drop" }).click();
    await page.getByText(/^Signing key .* was dropped\.$/).waitFor();
    await until(
      () => drops.count(),
      (count) => count === 1,
    );
    expect(errors).toEqual([]);
  });

  test("opens a message of the inbox as it was sent, and clears the inbox when asked again", async () => {
    const emulator = await start();
    await integrate(emulator);
    const text = "Your code: canary-1234\n\n<b>bold</b>\n";
    await control(emulator.url, "POST", "/mail", { to: "ada@example.com", subject: "Welcome", text });
    const { page, errors } = await openPage(emulator);
    const message = page.locator("#mail li", { hasText: "Welcome" });
    await message.getByText("ada@example.com").waitFor();
    expect(await page.content()).not.toContain("canary");
    await message.locator("summary").click();
    await message.getByText("canary-1234").waitFor();
    expect(await message.locator("pre").textContent()).toContain(`Subject: Welcome\n`);
    expect(await message.locator("pre").textContent()).toContain(`\n\n${text}`);
    await page.getByRole("button", { name: "Clear inbox" }).click();
    await page.locator("#delete-dialog").getByRole("button", { name: "Clear" }).click();
    await page.getByText("No message yet.").waitFor();
    expect((await control(emulator.url, "GET", "/mail")).body.messages).toEqual([]);
    expect(errors).toEqual([]);
  });

  test("that the emulator refuses says why, and one that nobody answers says that", async () => {
    const emulator = await start();
    const { page } = await openPage(emulator);
    await page.getByRole("button", { name: PRIMARY }).click();
    await control(emulator.url, "POST", "/projects", { id: "prj-other" });
    await page.route("**/_emulator/edit", (route) =>
      route.fulfill({ status: 404, json: { message: "the record to edit was not found" } }),
    );
    await page.getByRole("button", { name: "Delete this compute" }).click();
    await page.locator("#delete-dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("The emulator refused this: the record to edit was not found").waitFor();
    await page.unroute("**/_emulator/edit");
    await emulator.close();
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByText("The emulator does not answer.").waitFor();
  });
});

async function deleteIt(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: `Delete ${name}`, exact: true }).click();
  await page.locator("#delete-dialog").getByRole("button", { name: "Delete" }).click();
}

test("a path is shown from its end, and whole when it is opened", async () => {
  const emulator = await start();
  const long = `${DEMO}/endpoints/ep-${"long-".repeat(20)}end`;
  await api(emulator, "GET", `${long}?cursor=${"c".repeat(30)}`);
  const { page } = await openPage(emulator);
  const row = page.locator("#log tbody tr");
  const box = async (part: string) => {
    const found = await row.locator(part).boundingBox();
    if (found === null) throw new Error(`${part} is not shown`);
    return found;
  };
  const [text, place] = [await box("bdi"), await box("summary")];
  expect(text.x).toBeLessThan(place.x);
  expect(text.x + text.width).toBeLessThanOrEqual(place.x + place.width + 1);
  expect(await row.locator("summary").textContent()).toBe(`${long}?…`);
  await row.locator("summary").click();
  const whole = `GET ${long}?cursor=${"c".repeat(30)}`;
  expect(await row.locator("pre").innerText()).toContain(whole);
  expect((await box("bdi")).x).toBeGreaterThanOrEqual(place.x - 1);
});

test("the summary counts the states of computes, whatever they are called", async () => {
  const emulator = await start();
  for (const current_state of ["constructor", "__proto__", "idle", "idle"])
    await edit(emulator, "endpoint", { create: { branch_id: "br-dev", type: "read_only", current_state } });
  const { page, errors } = await openPage(emulator);
  await compute(page, PRIMARY).waitFor();
  expect(await page.locator("#totals").innerText()).toBe("computes: 1 active, 1 constructor, 1 __proto__, 2 idle");
  expect(errors).toEqual([]);
});

describe("who may do what", () => {
  test("a name that looks like markup is text, wherever it stands", async () => {
    const hostile = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>"'&\u202e`;
    const emulator = await start({ authProvider: hostile, seed: { projects: [{ id: "prj-demo", name: hostile }] } });
    await edit(emulator, "branch", { create: { id: `br-${hostile}`, name: hostile } });
    const attributes = { name: hostile, host: hostile, current_state: hostile, pending_state: "x" };
    await edit(emulator, "endpoint", {
      create: { id: `ep-${hostile}`, branch_id: `br-${hostile}`, ...attributes, settings: { [hostile]: hostile } },
    });
    await edit(emulator, "endpoint", { id: `ep-${hostile}`, set: { branch_id: `br-not-there-${hostile}` } });
    await edit(emulator, "integration", { create: { branch_id: `br-${hostile}`, database_name: hostile } });
    await edit(emulator, "integration", { set: { jwks_url: `javascript:${hostile}`, owned_by: hostile } });
    await edit(emulator, "oauth_provider", { create: { id: hostile, client_id: hostile } });
    await edit(emulator, "domain", { create: { domain: hostile } });
    await edit(emulator, "user", { create: { email: hostile, name: hostile } });
    await edit(emulator, "email_server", {
      set: { type: "standard", host: hostile, port: 1, username: hostile, password: "p" },
    }).catch(() => undefined);
    await control(emulator.url, "POST", "/mail", { to: "ada@example.com", subject: hostile, text: hostile });
    await control(emulator.url, "POST", "/faults", { path: `/${hostile}`, status: 500 });
    await control(emulator.url, "POST", "/faults", { operation: { status: "failed", error: hostile } });
    await edit(emulator, "operation", { create: { endpoint_id: `ep-${hostile}`, duration_ms: 0 } });
    await api(emulator, "POST", `${DEMO}/${encodeURIComponent(hostile)}?q=${encodeURIComponent(hostile)}`, {
      [hostile]: hostile,
    });

    const { page, errors } = await openPage(emulator);
    await page.locator(".compute .muted", { hasText: hostile }).waitFor();
    for (const summary of await page.locator("summary").all()) await summary.click();
    await page.getByRole("button", { name: `ep-${hostile}` }).click();
    await page.locator("dd", { hasText: hostile }).first().waitFor();
    await page.keyboard.press("Escape");
    await deleteIt(page, `user ${hostile}`);
    await page.locator("#notice", { hasText: `user ${hostile}` }).waitFor();
    expect(await page.evaluate("[window.hit, document.images.length, document.scripts.length]")).toEqual([
      undefined,
      0,
      1,
    ]);
    // The policy did not have to prevent anything either.
    expect(errors).toEqual([]);
  });

  test("a page of another origin changes nothing, reads nothing and shows nothing of it in a frame", async () => {
    const emulator = await start();
    const body = JSON.stringify({ kind: "endpoint", project_id: "prj-demo", set: { name: "taken over" } });
    const attack = `<!doctype html><iframe src="${emulator.url}/"></iframe>
      <form id="form" method="post" enctype="text/plain" target="hidden" action="${emulator.url}/_emulator/edit">
        <input name='${body.slice(0, -1)},"x":"' value='"}'></form><iframe name="hidden"></iframe>
      <script src="${emulator.url}/_page/page.mjs"></script><script src="${emulator.url}/_emulator/state"></script>
      <script>
        window.results = {};
        const url = ${JSON.stringify(emulator.url)};
        const note = (name, promise) => promise.then(
          async (response) => { results[name] = response.type + ":" + (await response.text().catch(() => "unreadable")); },
          () => { results[name] = "refused"; });
        const post = { method: "POST", body: ${JSON.stringify(body)} };
        window.done = Promise.all([
          note("state", fetch(url + "/_emulator/state")),
          note("events", fetch(url + "/_page/events")),
          note("page", fetch(url + "/")),
          note("edit", fetch(url + "/_emulator/edit", post)),
          note("edit without cors", fetch(url + "/_emulator/edit", { ...post, mode: "no-cors" })),
          note("edit with credentials", fetch(url + "/_emulator/edit", { ...post, credentials: "include" })),
          note("edit with a token", fetch(url + "/_emulator/edit", { ...post, headers: { "svc-page-token": "guessed" } })),
          note("events without cors", fetch(url + "/_page/events", { mode: "no-cors" })),
          note("reset by a beacon", Promise.resolve({ type: String(navigator.sendBeacon(url + "/_emulator/reset")), text: async () => "" })),
          new Promise((resolve) => { const source = new EventSource(url + "/_page/events");
            source.onopen = () => { results.source = "open"; resolve(); };
            source.onerror = () => { results.source = "refused"; source.close(); resolve(); }; }),
        ]).then(() => document.getElementById("form").submit());
      </script>`;
    const other = createServer((_request, response) => response.end(attack));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    try {
      // The owner has the page open in the same browser, so that this holds the token.
      const { page } = await openPage(emulator);
      await edit(emulator, "domain", { create: { domain: "https://kept.example.com" } });
      const tab = await page.context().newPage();
      const { port } = other.address() as AddressInfo; // it listens on TCP
      await tab.goto(`http://127.0.0.1:${port}/`);
      await tab.evaluate("window.done");
      await tab.waitForTimeout(300);
      expect(await tab.evaluate("window.results")).toEqual({
        state: "refused",
        events: "refused",
        page: "refused",
        edit: "refused",
        "edit without cors": "opaque:",
        "edit with credentials": "refused",
        "edit with a token": "refused",
        "events without cors": "refused",
        "reset by a beacon": "true:",
        source: "refused",
      });
      const [frame] = tab.frames().filter((each) => each !== tab.mainFrame());
      expect(await frame?.locator("h1", { hasText: "Emulator" }).count()).toBe(0);
      const state = await demoState(emulator);
      expect(JSON.stringify(state)).not.toContain("taken over");
      expect(records(state, "domains")).toHaveLength(1);
    } finally {
      other.close();
      other.closeAllConnections();
    }
  });
});

describe("for everybody", () => {
  const focus = (page: Page) => page.evaluate("document.activeElement?.textContent?.trim()");

  test("the keyboard alone: every stop is seen, the focus stays, and comes back from a dialog", async () => {
    const emulator = await start();
    await integrate(emulator);
    const { page, errors } = await openPage(emulator);
    await compute(page, PRIMARY).waitFor();
    const stops: unknown[] = [];
    for (let stop = 0; stop < 40; stop++) {
      await page.keyboard.press("Tab");
      const seen = await page.evaluate(`(() => {
        const element = document.activeElement;
        if (element === document.body) return undefined;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        const { width, height } = element.getBoundingClientRect();
        return { outlined: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2, sized: width > 0 && height > 0 };
      })()`);
      if (seen === undefined || seen === null) break;
      stops.push(seen);
    }
    expect(stops.length).toBeGreaterThan(15);
    expect(new Set(stops.map((stop) => JSON.stringify(stop)))).toEqual(new Set(['{"outlined":true,"sized":true}']));

    await page.getByRole("button", { name: PRIMARY }).focus();
    // Additions, changes and deletions around the focused element, and in it, leave the focus where it is.
    await edit(emulator, "endpoint", { create: { id: "ep-added-1", branch_id: "br-main", type: "read_only" } });
    await edit(emulator, "endpoint", { id: PRIMARY, set: { name: "renamed" } });
    await compute(page, PRIMARY).getByText("renamed").waitFor();
    await edit(emulator, "endpoint", { id: PRIMARY, set: { branch_id: "br-test" } });
    await page.locator(".branch", { hasText: "br-test" }).getByText(PRIMARY).waitFor();
    expect(await focus(page)).toBe(PRIMARY);

    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: `Compute ${PRIMARY}` }).waitFor();
    await page.getByLabel("To, CU").focus();
    await page.keyboard.type("4");
    await edit(emulator, "endpoint", { id: PRIMARY, set: { name: "renamed again" } });
    await page.getByRole("dialog").getByText("renamed again").waitFor();
    await page.keyboard.press("Tab");
    expect(await focus(page)).toBe("Change size");
    await page.keyboard.press("Enter");
    await compute(page, PRIMARY).getByText("0.25–4 CU").waitFor();
    expect(await focus(page)).toBe(PRIMARY);

    // The focused element is deleted: the focus moves to a neighbour, not to the start of the page.
    await page.getByRole("button", { name: "ep-added-1" }).focus();
    await edit(emulator, "endpoint", { id: "ep-added-1", delete: true });
    await compute(page, "ep-added-1").waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement === document.body")).toBe(false);
    expect(errors).toEqual([]);
  });

  test.each([320, 390, 768, 1440])("a window of %i px shows all without scrolling sideways", async (width) => {
    const emulator = await start();
    await integrate(emulator);
    await edit(emulator, "endpoint", { id: PRIMARY, set: { name: "a-name-without-any-blank-".repeat(4) } });
    await edit(emulator, "user", { create: { email: `${"long".repeat(20)}@example.com`, name: "x".repeat(80) } });
    await edit(emulator, "domain", { create: { domain: `https://${"long".repeat(20)}.example.com` } });
    await api(emulator, "GET", `${DEMO}/endpoints?${"q".repeat(200)}=1`);
    await control(emulator.url, "POST", "/mail", {
      to: "ada@example.com",
      subject: "s".repeat(300),
      text: "unbroken".repeat(50),
    });
    await edit(emulator, "branch", { create: { id: `br-${"long".repeat(20)}`, name: "n".repeat(80) } });
    await control(emulator.url, "POST", "/keys");
    const { page } = await openPage(emulator, { viewport: { width, height: 800 } });
    await page.getByRole("button", { name: PRIMARY }).click();
    await page.getByRole("button", { name: "Change size" }).click();
    await page.getByText("was changed by hand").waitFor();
    for (const summary of await page.locator("summary").all()) await summary.click();
    await page.locator("#mail pre", { hasText: "unbroken" }).waitFor();
    const widths = await page.evaluate(`[document.documentElement.scrollWidth, document.documentElement.clientWidth,
      ...[...document.querySelectorAll(".project, #side > section")].map((each) => each.scrollWidth - each.clientWidth)]`);
    expect(widths).toEqual([width, width, 0, 0, 0, 0, 0]);
  });

  test.each([
    ["light", 1440],
    ["dark", 1440],
    ["light", 390],
  ] as const)("axe finds nothing wrong: %s, %i px", async (colorScheme, width) => {
    const emulator = await start({ activationMs: 5000 });
    await integrate(emulator);
    await edit(emulator, "domain", { create: { domain: "https://shop.example.com" } });
    await api(emulator, "POST", `${DEMO}/endpoints`, { endpoint: { branch_id: "br-dev", type: "read_write" } });
    await api(emulator, "GET", `${DEMO}/endpoints/ep-missing`);
    await control(emulator.url, "POST", "/faults", { status: 503 });
    await edit(emulator, "user", { create: { email: "ada@example.com" } });
    await control(emulator.url, "POST", "/keys");
    await control(emulator.url, "POST", "/mail", { to: "ada@example.com" });
    const { page } = await openPage(emulator, { viewport: { width, height: 900 }, colorScheme });
    await page.getByText("any request → 503").waitFor();
    const violations = () => violationsOf(page);
    for (const summary of await page.locator("summary").all()) await summary.click();
    expect(await violations()).toEqual([]);
    await page.getByRole("button", { name: PRIMARY }).click();
    expect(await violations()).toEqual([]);
    await page.getByRole("button", { name: "Change size" }).click();
    await page.getByText("was changed by hand").waitFor();
    await page.getByRole("button", { name: "main br-main" }).click();
    expect(await violations()).toEqual([]);
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))");
    await page.getByRole("button", { name: "Copy token" }).click();
    await page.getByRole("textbox", { name: "Token of ada@example.com" }).waitFor();
    expect(await violations()).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByLabel("Filter").fill("br-dev");
    await page.getByText("1 of 2 computes").waitFor();
    expect(await violations()).toEqual([]);
  });

  test.each([
    ["in one branch", 1440, false],
    ["in 200 branches", 390, true],
  ])(
    "200 computes %s are not long at %i px: what works is shown, and the rest when asked",
    async (_where, width, many) => {
      const emulator = await start({ activationMs: 600 });
      for (let number = 0; number < 200; number++) {
        if (many) await edit(emulator, "branch", { create: { id: `br-many-${number}`, name: `preview/${number}` } });
        const create = {
          id: `ep-many-${number}`,
          branch_id: many ? `br-many-${number}` : "br-main",
          type: "read_only",
        };
        await edit(emulator, "endpoint", { create });
      }
      const { page, errors } = await openPage(emulator, { viewport: { width, height: 800 } });
      const height = () => page.evaluate("document.documentElement.scrollHeight");
      expect(await height()).toBeLessThan(1200);
      expect(await page.locator(".compute:visible").count()).toBe(0);

      // An operation brings its compute up.
      await api(emulator, "POST", `${DEMO}/endpoints/ep-many-150/restart`);
      await compute(page, "ep-many-150").getByText("active → idle").waitFor();
      expect(await page.locator(".compute:visible").count()).toBe(1);

      const filter = page.getByLabel("Filter");
      await filter.fill("many-17");
      await page.getByText("11 of 201 computes").waitFor();
      expect(await page.locator(".compute:visible").count()).toBe(11);
      await filter.fill("br-main");
      await page.getByText(`${many ? 1 : 201} of 201 computes`).waitFor();
      await filter.fill("nowhere");
      await page.getByText("0 of 201 computes").waitFor();
      expect(await page.locator(".project:visible").count()).toBe(0);
      await filter.fill("");

      // By the keyboard: all branches, one of them open, and closed again.
      await page.getByRole("button", { name: "Show all" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Show fewer branches", expanded: true }).waitFor();
      const fold = page.getByRole("button", { name: many ? "preview/199 br-many-199" : "main br-main" });
      await fold.focus();
      await page.keyboard.press("Enter");
      await compute(page, "ep-many-199").waitFor();
      expect(await fold.getAttribute("aria-expanded")).toBe("true");
      await page.keyboard.press("Enter");
      await compute(page, "ep-many-199").waitFor({ state: "hidden" });
      expect(errors).toEqual([]);
    },
  );

  test("with 200 computes a change touches the row that it is about, and no other", async () => {
    const emulator = await start({ activationMs: 300 });
    for (let number = 0; number < 199; number++) {
      const create = { id: `ep-many-${number}`, branch_id: "br-main", type: "read_only" };
      await edit(emulator, "endpoint", { create });
    }
    const { page, errors } = await openPage(emulator);
    await until(
      () => page.locator(".compute").count(),
      (count) => count === 200,
    );
    await page.getByRole("button", { name: "main br-main" }).click();
    await page.evaluate(`window.touched = new Set(); window.observer = new MutationObserver((changes) => {
      for (const { target } of changes) touched.add((target.closest ?? (() => null)).call(target, "tr.compute")?.rank ?? target.nodeName);
    }); observer.observe(document.querySelector(".computes"), { subtree: true, childList: true, characterData: true, attributes: true })`);
    await edit(emulator, "endpoint", { id: "ep-many-77", set: { name: "changed" } });
    await compute(page, "ep-many-77").getByText("changed").waitFor();
    const touched = (await page.evaluate("[...touched]")) as string[]; // texts, as the script above makes them
    expect(touched).toEqual([expect.stringMatching(/ ep-many-77$/)]);

    // Then many at once, and how long the longest frame took: a figure for whoever looks, as it depends on the machine.
    await page.evaluate(`window.frames_ = []; { let last = performance.now(); observer.disconnect();
      const frame = (now) => { frames_.push(now - last); last = now; requestAnimationFrame(frame); }; requestAnimationFrame(frame); }`);
    for (let round = 0; round < 300; round++) {
      const change = { endpoint: { autoscaling_limit_max_cu: 2 + (Math.floor(round / 200) % 8) + 1 } };
      await api(emulator, "PATCH", `${DEMO}/endpoints/ep-many-${round % 199}`, change);
    }
    await page.waitForTimeout(1000);
    const frames = (await page.evaluate("frames_.sort((one, other) => one - other).map(Math.round)")) as number[]; // numbers
    const at = (part: number) => frames[Math.floor((frames.length - 1) * part)];
    const figure = { frames: frames.length, median: at(0.5), p99: at(0.99), longest: at(1), unit: "ms" };
    const folder = process.env["PULUMI_SVC_PICTURES"];
    if (folder !== undefined) writeFileSync(join(folder, "frames.json"), `${JSON.stringify(figure)}\n`);
    expect(await page.locator(".strip li").count()).toBeGreaterThan(0);
    expect(errors).toEqual([]);
  });
});
