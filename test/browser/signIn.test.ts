import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { api, control, DEMO, INTEGRATION, integrate, start } from "../support/emulator";
import { newTab, violationsOf } from "../support/openPage";

jest.setTimeout(120_000);

const VERIFIER = "a-verifier-of-at-least-forty-three-characters-";
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");

/** An application with a link to the sign-in, and what the emulator has for it. */
async function prepared() {
  let link = "";
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><html lang="en"><title>Shop</title><a href="${link}">Sign in</a>`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const app = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
  const emulator = await start();
  const { body } = await integrate(emulator);
  const { project_id, auth_provider } = INTEGRATION;
  for (const name of ["Ada", "Grace <b>"]) {
    const create = { email: `${name.toLowerCase().slice(0, 3)}@example.com`, name };
    await control(emulator.url, "POST", "/edit", { kind: "user", project_id, create });
  }
  await api(emulator, "POST", `${DEMO}/auth/domains`, { domain: app, auth_provider });
  const client = String(body.auth_provider_project_id);
  const issuer = `${emulator.url}/auth/${client}`;
  const asked = {
    ...{ response_type: "code", client_id: client, redirect_uri: `${app}/callback`, state: "s-1" },
    ...{ code_challenge: CHALLENGE, code_challenge_method: "S256", scope: "openid" },
  };
  link = `${issuer}/authorize?${new URLSearchParams(asked)}`.replaceAll("&", "&amp;");
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { app, client, issuer, asked, close };
}

test.each([
  [390, "light"],
  [1440, "dark"],
] as const)("a person signs in as a user and comes back with a code: %i px, %s", async (width, colorScheme) => {
  const { app, client, issuer, asked, close } = await prepared();
  try {
    const { page, errors } = await newTab({ viewport: { width, height: 800 }, colorScheme });
    await page.goto(app);
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: /^Sign in to / }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    // By the keyboard: the second user.
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Grace <b>, gra@example.com");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${app}/callback?**`);
    const { searchParams } = new URL(page.url());
    expect(searchParams.get("state")).toBe("s-1");
    const given = { grant_type: "authorization_code", client_id: client, redirect_uri: asked.redirect_uri };
    const code = searchParams.get("code") ?? "";
    const form = new URLSearchParams({ ...given, code, code_verifier: VERIFIER });
    const response = await fetch(`${issuer}/token`, { method: "POST", body: form });
    const { id_token } = (await response.json()) as { id_token: string }; // a success has one
    const claims: unknown = JSON.parse(Buffer.from(id_token.split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ email: "gra@example.com", aud: client });
    expect(errors).toEqual([]);
  } finally {
    close();
  }
});

test("who does not sign in comes back with an error, and an address that is not allowed stays on a page that says so", async () => {
  const { app, issuer, asked, close } = await prepared();
  try {
    const { page } = await newTab();
    await page.goto(app);
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Do not sign in" }).click();
    await page.waitForURL(`${app}/callback?**`);
    expect(new URL(page.url()).searchParams.get("error")).toBe("access_denied");
    await page.goto(
      `${issuer}/authorize?${new URLSearchParams({ ...asked, redirect_uri: "https://evil.example.com" })}`,
    );
    await page.getByText('the redirect_uri "https://evil.example.com" does not lead to a redirect domain').waitFor();
    expect(page.url()).toContain(issuer);
    expect(await violationsOf(page)).toEqual([]);
  } finally {
    close();
  }
});
