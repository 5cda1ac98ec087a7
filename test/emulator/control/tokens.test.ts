import { createPublicKey, verify, type JsonWebKey } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Emulator } from "../../../src/emulator";
import {
  api,
  control,
  DEMO,
  demoState,
  ERROR_BODY,
  INTEGRATION,
  integrate,
  records,
  start,
  type Json,
} from "../../support/emulator";

const ANA = { email: "ana@example.com", name: "Ana" };

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "emulator-keys-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An emulator whose demo project has an integration and one user. */
async function prepared(options: Parameters<typeof start>[0] = {}) {
  const emulator = await start(options);
  const { body } = await integrate(emulator);
  const { project_id, auth_provider } = INTEGRATION;
  const user = await api(emulator, "POST", "/projects/auth/user", { project_id, auth_provider, ...ANA });
  return { emulator, userId: String(user.body.id), authId: String(body.auth_provider_project_id) };
}

const jwksUrlOf = async (emulator: Emulator, project = DEMO): Promise<string> => {
  const { body } = await api(emulator, "GET", `${project}/auth/integrations`);
  return String(records(body, "data")[0]?.jwks_url);
};

const signed = async (emulator: Emulator, body: Json = {}): Promise<string> => {
  const answer = await control(emulator.url, "POST", "/tokens", body);
  if (answer.status !== 201) throw new Error(`no token: ${answer.status} ${answer.text}`);
  return String(answer.body.token);
};

/** Like a verifier without any setting, with the keys that the address serves now. */
async function verifiedAt(url: string, token: string) {
  const { createRemoteJWKSet, jwtVerify } = await import("jose");
  return jwtVerify(token, createRemoteJWKSet(new URL(url)));
}

const verified = async (emulator: Emulator, token: string) => verifiedAt(await jwksUrlOf(emulator), token);

const keysAt = async (url: string): Promise<(JsonWebKey & { kid: string })[]> =>
  ((await (await fetch(url)).json()) as { keys: (JsonWebKey & { kid: string })[] }).keys;

/** The same without a library of tokens: the claims, or undefined if the signature is wrong. */
async function verifiedByHand(url: string, token: string): Promise<unknown> {
  const [header = "", payload = "", signature = ""] = token.split(".");
  const decoded = (part: string): Json => JSON.parse(Buffer.from(part, "base64url").toString()) as Json;
  const jwk = (await keysAt(url)).find(({ kid }) => kid === decoded(header).kid);
  if (jwk === undefined) return undefined;
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const proof = Buffer.from(signature, "base64url");
  const isRight = verify("sha256", Buffer.from(`${header}.${payload}`), { key, dsaEncoding: "ieee-p1363" }, proof);
  return isRight ? decoded(payload) : undefined;
}

test("a token verifies with the served key set, by jose's defaults and by node:crypto alone", async () => {
  const { emulator, userId, authId } = await prepared();
  const issuer = `${emulator.url}/auth/${authId}`;
  const token = await signed(emulator, { user: ANA.email });
  const before = Math.floor(Date.now() / 1000);
  const { payload, protectedHeader } = await verified(emulator, token);
  const claims = { iss: issuer, aud: authId, sub: userId, ...ANA, iat: expect.any(Number), exp: expect.any(Number) };
  expect(payload).toEqual(claims);
  expect(Number(payload.exp) - Number(payload.iat)).toBe(3600);
  expect(Math.abs(Number(payload.iat) - before)).toBeLessThan(60);
  expect(protectedHeader).toEqual({ alg: "RS256", typ: "JWT", kid: expect.stringMatching(/.+/) });
  expect(await verifiedByHand(await jwksUrlOf(emulator), token)).toEqual(claims);
});

test("the key set is public, its address the emulator's own, and it holds no private key", async () => {
  const { emulator, authId } = await prepared();
  const url = await jwksUrlOf(emulator);
  expect(url).toBe(`${emulator.url}/auth/${authId}/.well-known/jwks.json`);
  const keys = await keysAt(url);
  expect(keys).toEqual([
    { kty: "RSA", n: expect.any(String), e: "AQAB", kid: expect.any(String), alg: "RS256", use: "sig" },
  ]);
  for (const path of ["/auth/none/.well-known/jwks.json", "/auth//.well-known/jwks.json", `/auth/${authId}`]) {
    const response = await fetch(emulator.url + path);
    expect([path, response.status, await response.json()]).toEqual([path, 404, ERROR_BODY]);
  }
});

test("where the emulator listens on every address, the key set and iss have the name that the client came by", async () => {
  const { emulator, authId } = await prepared({ host: "0.0.0.0" });
  const url = `http://localhost:${emulator.port}`;
  const target = { baseUrl: `${url}/api/v2` };
  const { body } = await api(target, "GET", `${DEMO}/auth/integrations`);
  expect(body.data).toMatchObject([{ jwks_url: `${url}/auth/${authId}/.well-known/jwks.json` }]);
  const keyless = await control(url, "POST", "/tokens", {});
  expect(keyless.status).toBe(401);
  const response = await fetch(`${url}/_emulator/tokens`, {
    method: "POST",
    headers: { authorization: "Bearer test-key" },
  });
  expect(await response.json()).toMatchObject({ claims: { iss: `${url}/auth/${authId}` } });
  expect((await keysAt(`${url}/auth/${authId}/.well-known/jwks.json`)).length).toBe(1);
});

test("an edit that sets the address of the key set wins, until it is taken back", async () => {
  const { emulator } = await prepared();
  const own = await jwksUrlOf(emulator);
  const edit = (jwks_url: string | null) =>
    control(emulator.url, "POST", "/edit", { kind: "integration", project_id: "prj-demo", set: { jwks_url } });
  await edit("https://elsewhere.example.com/jwks.json");
  expect(await jwksUrlOf(emulator)).toBe("https://elsewhere.example.com/jwks.json");
  expect(await demoState(emulator)).toMatchObject({
    integrations: [{ jwks_url: "https://elsewhere.example.com/jwks.json" }],
  });
  await edit(null);
  expect(await jwksUrlOf(emulator)).toBe(own);
  expect(await demoState(emulator)).toMatchObject({ integrations: [{ jwks_url: own }] });
});

test("claims are added, replaced and left out", async () => {
  const { emulator, userId } = await prepared();
  const claims = { role: "admin", email: "other@example.com", name: null, aud: ["a", "b"], exp: null };
  const { payload } = await verified(emulator, await signed(emulator, { user: userId, claims }));
  expect(payload).toEqual({
    ...{ iss: expect.any(String), iat: expect.any(Number), sub: userId },
    ...{ role: "admin", email: "other@example.com", aud: ["a", "b"] },
  });
});

test.each([0, -60, -31_536_000])("a token that is valid for %d seconds has expired", async (expires_in) => {
  const { emulator } = await prepared();
  const token = await signed(emulator, { expires_in });
  await expect(verified(emulator, token)).rejects.toMatchObject({ code: "ERR_JWT_EXPIRED" });
  const { iat, exp } = (await verifiedByHand(await jwksUrlOf(emulator), token)) as { iat: number; exp: number };
  expect(iat).toBeLessThan(exp);
});

test.each([
  ["wrong", "ERR_JWS_SIGNATURE_VERIFICATION_FAILED"],
  ["unknown_key", "ERR_JWKS_NO_MATCHING_KEY"],
  ["none", undefined],
])("a token with the signature %p is refused by a verifier", async (signature, code) => {
  const { emulator } = await prepared();
  const token = await signed(emulator, { signature });
  expect(token.split(".")).toHaveLength(3);
  await expect(verified(emulator, token)).rejects.toMatchObject(code === undefined ? {} : { code });
  expect(await verifiedByHand(await jwksUrlOf(emulator), token)).toBeUndefined();
  // The emulator signs the next one as before.
  await verified(emulator, await signed(emulator));
});

test("a token of one project does not verify with the key set of another", async () => {
  const { emulator } = await prepared();
  await control(emulator.url, "POST", "/projects", { id: "prj-two" });
  await integrate(emulator, { project_id: "prj-two", branch_id: "br-main-prj-two" });
  const token = await signed(emulator, { project_id: "prj-demo" });
  const other = await jwksUrlOf(emulator, "/projects/prj-two");
  await expect(verifiedAt(other, token)).rejects.toMatchObject({
    code: "ERR_JWKS_NO_MATCHING_KEY",
  });
  // Neither with its keys alone, whatever they are called.
  for (const { kid: _kid, ...jwk } of await keysAt(other)) {
    const [header, payload, signature = ""] = token.split(".");
    const key = createPublicKey({ key: jwk, format: "jwk" });
    expect(verify("sha256", Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"))).toBe(false);
  }
});

test("after a rotation new tokens have the new key, and old ones verify until theirs is dropped", async () => {
  const { emulator } = await prepared();
  const url = await jwksUrlOf(emulator);
  const old = await signed(emulator);
  const [first] = await keysAt(url);
  const rotated = await control(emulator.url, "POST", "/keys", { alg: "ES256" });
  expect([rotated.status, rotated.body]).toEqual([
    201,
    { kid: expect.any(String), alg: "ES256", created_at: expect.stringMatching(/Z$/) },
  ]);
  expect((await keysAt(url)).map(({ kid, kty }) => [kid, kty])).toEqual([
    [first?.kid, "RSA"],
    [rotated.body.kid, "EC"],
  ]);
  const recent = await signed(emulator);
  expect((await verified(emulator, recent)).protectedHeader).toMatchObject({ kid: rotated.body.kid, alg: "ES256" });
  expect(await verifiedByHand(url, recent)).toMatchObject(ANA);
  await verified(emulator, old);

  expect((await control(emulator.url, "DELETE", `/keys/${first?.kid}`)).status).toBe(204);
  await expect(verified(emulator, old)).rejects.toMatchObject({ code: "ERR_JWKS_NO_MATCHING_KEY" });
  await verified(emulator, recent);
  expect((await control(emulator.url, "DELETE", `/keys/${first?.kid}`)).status).toBe(404);

  // Without any key, the next use makes one.
  await control(emulator.url, "DELETE", `/keys/${String(rotated.body.kid)}`);
  await verified(emulator, await signed(emulator));
  expect((await keysAt(url)).map(({ kid }) => kid)).not.toContain(rotated.body.kid);
});

test("a hundred first uses at once make one key", async () => {
  const { emulator } = await prepared();
  const url = await jwksUrlOf(emulator);
  const tokens = await Promise.all(
    Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? signed(emulator) : keysAt(url).then(() => ""))),
  );
  expect(await keysAt(url)).toHaveLength(1);
  for (const token of tokens.filter((one) => one !== "")) expect(await verifiedByHand(url, token)).toMatchObject(ANA);
});

test("the data file keeps the keys for its owner alone; no log and no state shows a private one", async () => {
  const data = join(folder, "state.json");
  const { emulator } = await prepared({ data });
  await control(emulator.url, "POST", "/keys", { alg: "ES256" });
  const token = await signed(emulator);
  const shown = await Promise.all(["/state", "/requests", "/faults"].map((path) => control(emulator.url, "GET", path)));
  const edited = { kind: "integration", project_id: "prj-demo", set: { owned_by: "svc" } };
  shown.push(await control(emulator.url, "POST", "/edit", edited));
  await emulator.close();

  const text = readFileSync(data, "utf8");
  const privates = [...text.matchAll(/"(?:d|p|q|dp|dq|qi)":"([^"]{20,})"/g)].map(([, value = ""]) => value);
  expect(privates).toHaveLength(7);
  expect(statSync(data).mode & 0o777).toBe(0o600);
  for (const answer of shown) {
    expect(answer.status).toBe(200);
    for (const value of privates) expect(answer.text).not.toContain(value);
  }
  expect(shown[0]?.text).toMatch(/"private_jwk":"sha256:/);

  const again = await start({ data });
  expect(await verifiedByHand(await jwksUrlOf(again), token)).toMatchObject(ANA);
  expect(await jwksUrlOf(again)).toMatch(again.url);
});

test("a new integration has keys of its own, also after a reset", async () => {
  const { emulator } = await prepared();
  const url = await jwksUrlOf(emulator);
  const token = await signed(emulator);
  await api(emulator, "DELETE", `${DEMO}/auth/integration/supported_provider`);
  expect((await fetch(url)).status).toBe(404);
  await integrate(emulator);
  await expect(verified(emulator, token)).rejects.toMatchObject({ code: "ERR_JWKS_NO_MATCHING_KEY" });
  emulator.reset();
  expect((await control(emulator.url, "POST", "/tokens", {})).text).toContain("no project has an auth integration");
});

describe("what cannot be signed is refused with a message", () => {
  test.each([
    ["an unknown user", { user: "nobody@example.com" }, 404, /user not found/],
    ["an unknown project", { project_id: "prj-none" }, 404, /project not found/],
    ["a project without an integration", { project_id: "prj-bare" }, 404, /no auth integration/],
    ["several users", { project_id: "prj-demo" }, 400, /several users: give the id of one/],
    ["another field", { users: "ana" }, 400, /users/],
    ["claims that are a list", { claims: [] }, 400, /claims/],
    ["a lifetime that is no number", { expires_in: "1h" }, 400, /expires_in/],
    ["a lifetime without end", { expires_in: 1e12 }, 400, /expires_in/],
    ["an unknown signature", { signature: "bad" }, 400, /signature/],
    ["a user that is no text", { user: { id: 1 } }, 400, /user/],
  ])("%s", async (_what, body, status, words) => {
    const { emulator } = await prepared();
    await control(emulator.url, "POST", "/projects", { id: "prj-bare" });
    const second = { kind: "user", project_id: "prj-demo", create: { email: "bo@example.com" } };
    await control(emulator.url, "POST", "/edit", second);
    const answer = await control(emulator.url, "POST", "/tokens", body);
    expect([answer.status, answer.body]).toEqual([status, { ...ERROR_BODY, message: expect.stringMatching(words) }]);
  });

  test.each(["valid", "none"])("a moment that no number holds (signature %s)", async (signature) => {
    const { emulator } = await prepared();
    // By hand: JSON.stringify cannot write such a number.
    const body = `{"signature": "${signature}", "claims": {"exp": 1e999}}`;
    const answer = await fetch(`${emulator.url}/_emulator/tokens`, { method: "POST", body });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { ...ERROR_BODY, message: expect.stringContaining("claims: a number is too large") },
    ]);
  });

  test("an integration without users, and two integrations", async () => {
    const emulator = await start();
    await integrate(emulator);
    expect((await control(emulator.url, "POST", "/tokens")).text).toMatch(/project prj-demo has no user/);
    await control(emulator.url, "POST", "/projects", { id: "prj-two" });
    await integrate(emulator, { project_id: "prj-two", branch_id: "br-main-prj-two" });
    for (const path of ["/tokens", "/keys"])
      expect((await control(emulator.url, "POST", path)).text).toMatch(/give a project_id/);
  });

  test("a body of megabytes, also one of unsaid length", async () => {
    const { emulator } = await prepared();
    const body = JSON.stringify({ claims: { huge: "x".repeat(2_000_000) } });
    for (const sent of [body, new Blob([body]).stream()]) {
      const request = { method: "POST", body: sent, duplex: "half" as const };
      const response = await fetch(`${emulator.url}/_emulator/tokens`, request);
      expect([response.status, await response.json()]).toEqual([413, ERROR_BODY]);
    }
    await verified(emulator, await signed(emulator));
  });

  test("a web page", async () => {
    const { emulator } = await prepared();
    for (const path of ["tokens", "keys"]) {
      const headers = { origin: "https://page.example.com" };
      const response = await fetch(`${emulator.url}/_emulator/${path}`, { method: "POST", headers });
      expect(response.status).toBe(403);
    }
  });
});

test("names of any letters, and claims that a prototype has, are signed as they are", async () => {
  const { emulator } = await prepared();
  const name = '"><script>alert(1)</script>\u202e\u0000 Zoë 🦊';
  await control(emulator.url, "POST", "/edit", { kind: "user", project_id: "prj-demo", set: { name } });
  const claims = JSON.parse('{"__proto__": {"admin": true}, "constructor": "x", "toString": 1}') as Json;
  const { payload } = await verified(emulator, await signed(emulator, { claims }));
  expect(payload).toMatchObject({ name, constructor: "x", toString: 1 });
  expect(Object.hasOwn({}, "admin")).toBe(false);
  expect(({} as Json).admin).toBeUndefined();
});
