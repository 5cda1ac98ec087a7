import { createHash } from "node:crypto";
import { api, control, DEMO, INTEGRATION, integrate, start, type Json } from "../support/emulator";

const APP = "https://app.example.com";
const BACK = `${APP}/callback?from=here`;
const ANA = { email: "ana@example.com", name: "Ana <b>" };
const VERIFIER = "a-verifier-of-at-least-forty-three-characters-";
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");

/** An emulator with an integration, a user, and the whitelist. */
async function prepared(options: Parameters<typeof start>[0] = {}, domains = [APP]) {
  const emulator = await start(options);
  const { body } = await integrate(emulator);
  const { project_id, auth_provider } = INTEGRATION;
  const { body: user } = await api(emulator, "POST", "/projects/auth/user", { project_id, auth_provider, ...ANA });
  for (const domain of domains) await api(emulator, "POST", `${DEMO}/auth/domains`, { domain, auth_provider });
  const client = String(body.auth_provider_project_id);
  const issuer = `${emulator.url}/auth/${client}`;
  const asked = {
    response_type: "code",
    client_id: client,
    redirect_uri: BACK,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
    scope: "openid email",
    state: "s&1",
    nonce: "n-1",
  };
  const page = (changes: Record<string, string | undefined> = {}): Promise<Response> =>
    fetch(`${issuer}/authorize?${form({ ...asked, ...changes })}`, { redirect: "manual" });
  const choose = (changes: Record<string, string | undefined> = {}, headers: Record<string, string> = {}) =>
    fetch(`${issuer}/authorize`, {
      method: "POST",
      body: form({ ...asked, user: String(user.id), ...changes }),
      redirect: "manual",
      headers,
    });
  const codeBy = async (changes: Record<string, string | undefined> = {}): Promise<string> =>
    redirected(await choose(changes)).get("code") ?? "";
  const redeem = async (changes: Record<string, string | undefined> = {}) => {
    const given = { grant_type: "authorization_code", client_id: client, redirect_uri: BACK, code_verifier: VERIFIER };
    const response = await fetch(`${issuer}/token`, { method: "POST", body: form({ ...given, ...changes }) });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Json };
  };
  return { emulator, userId: String(user.id), client, issuer, page, choose, codeBy, redeem };
}

const form = (of: Record<string, string | undefined>): URLSearchParams =>
  new URLSearchParams(Object.entries(of).filter((one): one is [string, string] => one[1] !== undefined));

function redirected(response: Response): URLSearchParams {
  expect(response.status).toBe(303);
  const target = new URL(response.headers.get("location") ?? "");
  expect(target.origin + target.pathname).toBe(`${APP}/callback`);
  expect(target.searchParams.get("from")).toBe("here");
  return target.searchParams;
}

test("an application's library signs a user in by discovery alone, and its token verifies", async () => {
  const { issuer, client, userId, choose } = await prepared();
  const openid = await import("openid-client");
  const config = await openid.discovery(new URL(issuer), client, undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
  });
  const verifier = openid.randomPKCECodeVerifier();
  const [state, nonce] = [openid.randomState(), openid.randomNonce()];
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: `${APP}/callback`,
    scope: "openid email",
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...{ state, nonce },
  });
  const page = await fetch(url);
  expect([page.status, page.headers.get("content-security-policy")]).toEqual([200, expect.stringMatching("'none'")]);
  const text = await page.text();
  expect(text).toContain("Ana &lt;b&gt;, ana@example.com");
  expect(text).toContain(`value="${userId}"`);
  // What the form of the page sends.
  const fields = Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
  const chosen = await choose(fields, { origin: new URL(issuer).origin });
  const back = new URL(chosen.headers.get("location") ?? "");
  const tokens = await openid.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
  });
  expect(tokens.claims()).toMatchObject({ sub: userId, email: ANA.email, aud: client, iss: issuer, nonce });
  const { createRemoteJWKSet, jwtVerify } = await import("jose");
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(tokens.access_token, keys, { issuer, audience: client });
  expect(payload).toMatchObject({ sub: userId, scope: "openid email" });
});

test.each([
  ["an origin that is not on the whitelist", "https://evil.example.com/callback"],
  ["an origin that begins like one of it", "https://app.example.com.evil.example/"],
  ["another port", "https://app.example.com:8443/callback"],
  ["another scheme", "http://app.example.com/callback"],
  ["user information in it", "https://app.example.com@evil.example/"],
  ["a fragment", "https://app.example.com/#a"],
  ["a script", "javascript:alert(1)"],
  ["no address", "callback"],
  ["nothing", undefined],
])("a redirect to %s is refused on the page, and never followed", async (_what, redirect_uri) => {
  const { page, choose } = await prepared();
  for (const response of [await page({ redirect_uri }), await choose({ redirect_uri })]) {
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
    const text = await response.text();
    expect(text).toContain(
      "does not lead to a redirect domain of project prj-demo. Its domains: https://app.example.com",
    );
    expect(text).not.toMatch(/<script|<a /);
  }
});

test("a domain that leaves the whitelist is refused from then on; that of an app is allowed as it stands", async () => {
  const app = "myapp://callback";
  const { page, emulator } = await prepared({ appDomains: true }, [APP, app]);
  expect((await page({ redirect_uri: app })).status).toBe(200);
  expect((await page({ redirect_uri: `${app}/other` })).status).toBe(400);
  expect((await page()).status).toBe(200);
  const { auth_provider } = INTEGRATION;
  await api(emulator, "DELETE", `${DEMO}/auth/domains`, { auth_provider, domains: [{ domain: APP }] });
  expect((await page()).status).toBe(400);
});

test("what is wrong with a request reaches the application, with its state", async () => {
  const { page, choose, issuer } = await prepared();
  const problems: readonly [Record<string, string | undefined>, string][] = [
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ response_type: undefined }, "unsupported_response_type"],
    [{ code_challenge: undefined }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge: "short" }, "invalid_request"],
    [{ prompt: "none" }, "login_required"],
  ];
  for (const [changes, error] of problems) {
    const back = redirected(await page(changes));
    expect(Object.fromEntries(back)).toMatchObject({ error, state: "s&1", iss: issuer, error_description: /./ });
    expect(back.get("code")).toBeNull();
  }
  expect(redirected(await choose({ decision: "deny" })).get("error")).toBe("access_denied");
  expect((await page({ client_id: "other" })).status).toBe(400);
});

test("a code counts once, for what it was issued for, and for a minute", async () => {
  const { codeBy, redeem, emulator, userId } = await prepared();
  const code = await codeBy();
  const first = await redeem({ code });
  expect(first).toMatchObject({ status: 200, body: { token_type: "Bearer", expires_in: 3600, scope: "openid email" } });
  expect(first.headers.get("cache-control")).toBe("no-store");
  const invalid = { status: 400, body: { error: "invalid_grant" } };
  expect(await redeem({ code })).toMatchObject(invalid);
  for (const changes of [
    { code_verifier: `${VERIFIER}x` },
    { code_verifier: undefined },
    { redirect_uri: APP },
    { client_id: "other" },
    { code: "made-up" },
  ]) {
    const fresh = await codeBy();
    expect(await redeem({ code: fresh, ...changes })).toMatchObject(invalid);
    // Whoever guesses has used it up.
    if (!("code" in changes)) expect(await redeem({ code: fresh })).toMatchObject(invalid);
  }
  expect(await redeem({ grant_type: "password" })).toMatchObject({ body: { error: "unsupported_grant_type" } });
  const old = await codeBy();
  const clock = jest.spyOn(Date, "now").mockReturnValue(Date.now() + 61_000);
  expect(await redeem({ code: old })).toMatchObject(invalid);
  clock.mockRestore();
  const unscoped = await redeem({ code: await codeBy({ scope: "email" }) });
  expect(unscoped.body).not.toHaveProperty("id_token");
  const ofGone = await codeBy();
  await control(emulator.url, "POST", "/edit", { kind: "user", project_id: "prj-demo", id: userId, delete: true });
  expect(await redeem({ code: ofGone })).toMatchObject(invalid);
});

test("another page signs nobody in, and an unknown user gets the page again", async () => {
  const { choose } = await prepared();
  expect((await choose({}, { origin: "https://evil.example.com" })).status).toBe(401);
  const again = await choose({ user: "nobody@example.com" });
  expect([again.status, await again.text()]).toEqual([400, expect.stringContaining("no such user")]);
  expect(redirected(await choose({ user: ANA.email.toUpperCase() })).get("code")).toMatch(/^[\w-]{32}$/);
});

test("on an address that other machines reach, the page names no user and asks for the key", async () => {
  const { page, choose, emulator } = await prepared({ host: "0.0.0.0", apiKey: "own-key" });
  const text = await (await page()).text();
  expect(text).not.toContain(ANA.email);
  expect(text).toContain('name="api_key"');
  const refused = await choose({ user: ANA.email, api_key: "wrong" });
  expect([refused.status, refused.headers.get("location")]).toEqual([400, null]);
  expect(await refused.text()).not.toMatch(/own-key|wrong/);
  expect((await choose({ user: ANA.email })).status).toBe(400);
  expect(redirected(await choose({ user: ANA.email, api_key: emulator.apiKey })).get("code")).not.toBeNull();
});
