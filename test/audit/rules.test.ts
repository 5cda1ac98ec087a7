import fc from "fast-check";
import { type AuditedResource, type AuditLimits, auditRules, stateRules } from "../../src/audit/rules";
import { type Kind, KINDS, typeToken } from "../../src/contract/pointer";
import { STAND_INS } from "../../src/contract/standIns";
import { fromEnv, fromFile } from "../../src/program/secretReferences";
import { DECLARATIONS } from "../support/declarations";

const ALL = [...auditRules, ...stateRules];
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const MARK = "1b47061264138c4ac30d75fd1eb44270";
const encrypted = { [SIGNATURE]: MARK, ciphertext: "v1:canary" };
const PROVIDER = "pulumi:providers:pulumi-nodejs";

function resource(kind: Kind | typeof PROVIDER, props: object, protect: boolean | undefined = true): AuditedResource {
  const type = kind === PROVIDER ? kind : typeToken(kind);
  const given = kind === PROVIDER ? props : { projectId: "prj-demo", ...props };
  return { type, name: "one", urn: `urn:pulumi:dev::proj::${type}::one`, props: { ...given }, protect };
}

const compute = (props: object): AuditedResource => resource("ComputeEndpoint", props);
const oauth = (props: object): AuditedResource => resource("OAuthProvider", { providerId: "google", ...props });
const mail = (props: object): AuditedResource => resource("EmailServer", props);
const domain = (origin: unknown): AuditedResource => resource("WhitelistDomain", { domain: origin });
const domains = (...origins: unknown[]): AuditedResource => resource("Whitelist", { domains: origins });
const dated = (origin: unknown, expiresOn: unknown): AuditedResource =>
  resource("WhitelistDomain", { domain: origin, expiresOn });
const integration = (props: object): AuditedResource => resource("AuthIntegration", props);
const settings = (pgSettings: unknown): AuditedResource => compute({ settings: { pgSettings } });

function found(name: string, one: AuditedResource, limits: AuditLimits = { maxSizeCu: 8 }): string | undefined {
  const rule = ALL.find((each) => each.name === name);
  if (rule === undefined) throw new Error(`no rule ${name}`);
  return rule.find(one, limits);
}

const SHARED_KEYS = "uses the shared keys of the service";
const SHARED_MAIL = "the shared mail server of the service sends the mail";
const NEVER = "never scales to zero";
const NO_RESTART = `${NEVER}, and no "restartTriggers" restarts it for releases of the service`;
const notRead = (argument: string): string => `"${argument}" is marked as a secret, so it could not be checked`;
const onOwnMachine = (...origins: string[]): string =>
  `allows redirects to an origin on the user's own machine: ${origins.join(", ")}`;
const withoutTls = (...origins: string[]): string => `allows redirects to an origin without TLS: ${origins.join(", ")}`;
const withWildcard = (origin: string): string => `allows redirects to every origin that a wildcard matches: ${origin}`;
const expired = (what: string): string => `still allows redirects to ${what}`;
const kept = (path: string): string => `the state holds the value of ${path}`;
const marked = (path: string): string =>
  `the state holds ${path} as a secret: the value, or a reference inside pulumi.secret`;

const stack = (outputs: object): AuditedResource => {
  const type = "pulumi:pulumi:Stack";
  return {
    type,
    name: "proj-dev",
    urn: `urn:pulumi:dev::proj::${type}::proj-dev`,
    props: { ...outputs },
    protect: false,
  };
};
const exported = (kind: Kind, props: object): object => ({
  urn: `urn:pulumi:dev::proj::my:auth:Auth$${typeToken(kind)}::one`,
  id: "one",
  ...props,
});
const component = (outputs: object): AuditedResource => ({
  ...stack(outputs),
  type: "my:auth:Auth",
  isComponent: true,
});
const inClear = (...paths: string[]): string =>
  `the state holds the value of ${paths.map((path) => `"${path}"`).join(", ")} in plain text`;

/** By the name of a rule: resources with what it finds in each. */
const CASES: Record<string, readonly (readonly [AuditedResource, string | undefined])[]> = {
  "shared-oauth-keys": [
    [resource("OAuthProvider", { providerId: "github", absent: true }), undefined],
    [resource("OAuthProvider", { providerId: "github", absent: true, type: "absent" }), undefined],
    [oauth({}), SHARED_KEYS],
    [oauth({ type: "shared" }), SHARED_KEYS],
    // The service shows it, whatever is declared: somebody changed it, or a change did not finish.
    [oauth({ type: "shared", clientId: STAND_INS.sharedByHand, clientSecret: encrypted }), SHARED_KEYS],
    [oauth({ type: "standard", clientId: "own", clientSecret: encrypted }), undefined],
    // Somebody has given it credentials that are not declared.
    [oauth({ type: "standard" }), undefined],
    // A plan has the arguments alone.
    [oauth({ clientId: "own", clientSecret: fromEnv("GOOGLE_SECRET") }), undefined],
    // A type that a later version may add.
    [oauth({ type: "partner" }), undefined],
    [oauth({ type: 1, clientId: null }), SHARED_KEYS],
    [oauth({ type: encrypted }), notRead("type")],
    [mail({ type: "shared" }), undefined],
  ],
  "shared-mail-server": [
    [mail({ type: "shared" }), SHARED_MAIL],
    [mail({ type: "standard", host: "smtp.example.com" }), undefined],
    [mail({ type: encrypted }), notRead("type")],
    [mail({}), undefined],
    [oauth({ type: "shared" }), undefined],
  ],
  "redirect-localhost": [
    [domain("http://localhost:3000"), onOwnMachine("http://localhost:3000")],
    [domain("https://LOCALHOST."), onOwnMachine("https://localhost.")],
    [domain("http://app.localhost"), onOwnMachine("http://app.localhost")],
    [domain("http://127.1:80"), onOwnMachine("http://127.0.0.1")],
    [domain("http://[::1]:3000"), onOwnMachine("http://[::1]:3000")],
    [domain("http://0.0.0.0:3000"), onOwnMachine("http://0.0.0.0:3000")],
    [domain("http://[::]:3000"), onOwnMachine("http://[::]:3000")],
    [domain("http://[::ffff:127.0.0.1]:3000"), onOwnMachine("http://[::ffff:7f00:1]:3000")],
    [domain("http://[::FFFF:7F00:2]"), onOwnMachine("http://[::ffff:7f00:2]")],
    [domain("http://[::ffff:0.0.0.0]"), onOwnMachine("http://[::ffff:0:0]")],
    [domain("http://2130706433"), onOwnMachine("http://127.0.0.1")],
    [domain("http://0x7f.1."), onOwnMachine("http://127.0.0.1")],
    [domain("http://app.LOCALHOST.:3000"), onOwnMachine("http://app.localhost.:3000")],
    [
      domains("https://app.example.com", "http://localhost:1", "http://localhost:2"),
      onOwnMachine("http://localhost:1", "http://localhost:2"),
    ],
    [domain("https://app.example.com"), undefined],
    [domain("https://localhost.example.com"), undefined],
    [domain("https://mylocalhost"), undefined],
    [domain("https://[::ffff:10.0.0.1]"), undefined],
    [domain("https://127.0.0.1.example.com"), undefined],
    [domain("http://app.example.com"), undefined],
    [domains(), undefined],
    // Nothing but the origin is shown.
    [domain("http://somebody:canary@localhost/canary?canary#canary"), onOwnMachine("http://localhost")],
    [domain(encrypted), notRead("domain")],
    [resource("Whitelist", { domains: encrypted }), notRead("domains")],
    [domains("https://app.example.com", encrypted), notRead("domains")],
    [domains("http://localhost", encrypted), onOwnMachine("http://localhost")],
    [domains("localhost", 1, null, {}, "app://localhost"), undefined],
    [resource("Whitelist", {}), undefined],
  ],
  "redirect-plain-http": [
    [domain("http://app.example.com"), withoutTls("http://app.example.com")],
    [domains("https://a.example.com", "http://192.168.0.1:80"), withoutTls("http://192.168.0.1")],
    [domain("HTTP://App.Example.Com"), withoutTls("http://app.example.com")],
    [domain("https://app.example.com"), undefined],
    [domain("http://[::ffff:10.0.0.1]"), withoutTls("http://[::ffff:a00:1]")],
    // Found by the rule above.
    [domain("http://localhost:3000"), undefined],
    [domain("http://[::ffff:127.0.0.1]"), undefined],
    [domain("http://localhost:*"), undefined],
    [domain(encrypted), notRead("domain")],
    [domain("http://"), undefined],
    [domain(undefined), undefined],
  ],
  "redirect-wildcard": [
    [domain("https://*.vercel.app"), withWildcard("https://*.vercel.app")],
    [domain("https://app.%2A.example.com"), withWildcard("https://app.*.example.com")],
    [domain("http://*"), withWildcard("http://*")],
    [domain("https://*.example.com:*"), withWildcard("https://*.example.com:*")],
    [domain("https://app.example.com:*"), withWildcard("https://app.example.com:*")],
    [domain("exp://*"), withWildcard("exp://*")],
    [domains("https://a.example.com", "https://*.a.example.com"), withWildcard("https://*.a.example.com")],
    [domains({ origin: "https://*.b.example.com", expiresOn: "2999-01-31" }), withWildcard("https://*.b.example.com")],
    [domain("https://app.example.com"), undefined],
    [domain("myapp://callback"), undefined],
    [domain(encrypted), notRead("domain")],
  ],
  "redirect-expired": [
    [dated("https://a.example.com", "2020-01-31"), expired("https://a.example.com (expiresOn 2020-01-31)")],
    [dated("https://a.example.com", "2999-01-31"), undefined],
    [domain("https://a.example.com"), undefined],
    [
      domains(
        { origin: "https://b.example.com", expiresOn: "2020-02-29" },
        "https://c.example.com",
        { origin: "https://d.example.com", expiresOn: "2999-01-31" },
        { origin: "myapp://callback", expiresOn: "2021-01-01" },
      ),
      expired("https://b.example.com (expiresOn 2020-02-29), myapp://callback (expiresOn 2021-01-01)"),
    ],
    // Nothing but the origin is shown, and nothing of a secret.
    [dated("https://u:canary@a.test/canary", "2020-01-31"), expired("https://a.test (expiresOn 2020-01-31)")],
    [dated(encrypted, "2020-01-31"), expired("a domain (expiresOn 2020-01-31)")],
    [dated("https://a.example.com", encrypted), notRead("expiresOn")],
    [domains({ origin: "https://a.example.com", expiresOn: encrypted }), notRead("domains")],
    [resource("Whitelist", { domains: encrypted }), notRead("domains")],
    [domains(1, null, {}, [], { origin: 1, expiresOn: 2 }, { expiresOn: "2999-01-31" }), undefined],
    [resource("Whitelist", {}), undefined],
  ],
  "whitelist-not-exclusive": [
    [domain("https://app.example.com"), "is one domain of a list that others may add to"],
    [domains("https://app.example.com"), undefined],
    [resource("AuthIntegration", {}), undefined],
  ],
  "never-scales-to-zero": [
    [compute({ scaleToZero: false }), NEVER],
    // Not declared, but the service shows it.
    [compute({ suspendTimeoutSeconds: -1 }), NEVER],
    [compute({ size: 18, scaleToZero: true }), `${NEVER}, because it has a fixed size of 18 CU`],
    [compute({ size: { min: 18, max: 18 } }), `${NEVER}, because it has a fixed size of 18 CU`],
    [compute({ scaleToZero: encrypted }), notRead("scaleToZero")],
    [compute({ suspendTimeoutSeconds: encrypted }), notRead("suspendTimeoutSeconds")],
    [compute({ scaleToZero: true, suspendTimeoutSeconds: encrypted }), undefined],
    [compute({ scaleToZero: true, suspendTimeoutSeconds: 0 }), undefined],
    [compute({ scaleToZero: { afterSeconds: 60 } }), undefined],
    [compute({ size: 16 }), undefined],
    [compute({ size: { min: 1, max: 16 } }), undefined],
    [compute({ scaleToZero: false, disabled: true }), undefined],
    [compute({}), undefined],
    [compute({ scaleToZero: "no", size: "large", suspendTimeoutSeconds: "-1" }), undefined],
  ],
  "always-on-without-restart": [
    [compute({ scaleToZero: false }), NO_RESTART],
    [compute({ suspendTimeoutSeconds: -1 }), NO_RESTART],
    [compute({ size: 18 }), NO_RESTART],
    [compute({ scaleToZero: false, restartTriggers: ["2026-03-01"] }), undefined],
    [compute({ scaleToZero: false, restartTriggers: [] }), undefined],
    [compute({ scaleToZero: false, restartTriggers: encrypted }), undefined],
    [compute({ scaleToZero: false, disabled: true }), undefined],
    [compute({ scaleToZero: true, suspendTimeoutSeconds: 0 }), undefined],
    // Another rule says that it could not be checked.
    [compute({ scaleToZero: encrypted }), undefined],
    [compute({}), undefined],
  ],
  "size-over-limit": [
    [compute({ size: 9 }), "can have 9 CU, and the limit is 8 CU"],
    [compute({ size: { min: 1, max: 10 } }), "can have 10 CU, and the limit is 8 CU"],
    // Not declared, but the service shows it.
    [compute({ autoscalingLimitMinCu: 1, autoscalingLimitMaxCu: 16 }), "can have 16 CU, and the limit is 8 CU"],
    [compute({ size: encrypted }), notRead("size")],
    [compute({ size: { min: 1, max: encrypted } }), notRead("size.max")],
    [compute({ size: { min: 1, max: encrypted }, autoscalingLimitMaxCu: encrypted }), notRead("size.max")],
    [compute({ autoscalingLimitMaxCu: encrypted }), notRead("autoscalingLimitMaxCu")],
    [compute({ size: 8 }), undefined],
    [compute({ size: { min: 0.25, max: 8 } }), undefined],
    [compute({}), undefined],
    [compute({ size: "16" }), undefined],
    [compute({ size: null }), undefined],
  ],
  "secret-in-state": [
    [oauth({ clientId: "own", clientSecret: encrypted }), marked('"clientSecret"')],
    // An edited state, and a plan: there nothing is marked.
    [oauth({ clientId: "own", clientSecret: "canary" }), kept('"clientSecret"')],
    [oauth({ clientSecret: { [SIGNATURE]: MARK, plaintext: '"canary"' } }), marked('"clientSecret"')],
    [oauth({ clientSecret: { fromEnv: "GOOGLE_SECRET" } }), undefined],
    [mail({ type: "standard", password: encrypted }), marked('"password"')],
    [mail({ type: "standard", password: fromFile("secrets/smtp") }), undefined],
    [mail({ type: "shared" }), undefined],
    // No reference, though it looks like one.
    [mail({ password: { fromEnv: "canary with blanks" } }), kept('"password"')],
    [mail({ password: { fromEnv: "SMTP", value: "canary" } }), kept('"password"')],
    // The service shows none, and the program has none.
    [mail({ password: STAND_INS.notShown }), undefined],
    [mail({ password: "" }), undefined],
    [settings({ "app.token": encrypted }), marked('"settings.pgSettings["app.token"]"')],
    [settings({ "app.token": "canary" }), kept('"settings.pgSettings["app.token"]"')],
    [
      settings({ "app.token": encrypted, "app.password": "canary" }),
      `${kept('"settings.pgSettings["app.password"]"')}; ${marked('"settings.pgSettings["app.token"]"')}`,
    ],
    [
      settings({ "app.token": "canary", "app.password": "canary" }),
      kept('"settings.pgSettings["app.token"]", "settings.pgSettings["app.password"]"'),
    ],
    [settings({ work_mem: encrypted }), marked('"settings.pgSettings["work_mem"]"')],
    [settings(encrypted), marked('"settings.pgSettings"')],
    [compute({ settings: encrypted }), marked('"settings"')],
    [settings({ "app.pw": "canary" }), kept('"settings.pgSettings["app.pw"]"')],
    [settings({ "app.jwt": "canary" }), kept('"settings.pgSettings["app.jwt"]"')],
    // A password in the value, whatever the name.
    [settings({ "app.db": "postgres://u:canary@h/db" }), kept('"settings.pgSettings["app.db"]"')],
    [
      settings({ primary_conninfo: "host=h user=u password=canary" }),
      kept('"settings.pgSettings["primary_conninfo"]"'),
    ],
    [settings({ "app.db": "postgres://h:5432/db", "app.jwt_exp": "3600", "app.pw": fromEnv("APP_PW") }), undefined],
    [settings({ "app.token": fromEnv("APP_TOKEN"), work_mem: "64MB", "app.mode": "live" }), undefined],
    // Postgres' own.
    [settings({ password_encryption: "scram-sha-256" }), undefined],
    [settings({}), undefined],
    [settings([]), undefined],
    [compute({ settings: 1 }), undefined],
    [compute({}), undefined],
    // What a state has to hold.
    [resource("AuthIntegration", { secretServerKey: encrypted }), undefined],
    [resource("AuthUser", { name: encrypted }), undefined],
  ],
  "api-key-in-state": [
    [resource(PROVIDER, { "svc:apiKey": encrypted }), "the state holds the API key of this provider"],
    [resource(PROVIDER, { "svc:apiKey": "canary" }), "the state holds the API key of this provider"],
    [resource(PROVIDER, { "svc:apiKeyEnv": "SVC_KEY", "svc:baseUrl": "https://api.example.com" }), undefined],
    [resource(PROVIDER, { "svc:apiKey": "" }), undefined],
    [resource(PROVIDER, {}), undefined],
  ],
  "not-protected": [
    // There is nothing to delete.
    [{ ...resource("OAuthProvider", { absent: true }), protect: false }, undefined],
    [resource("AuthIntegration", {}, false), "is not protected"],
    [resource("ComputeEndpoint", {}, true), undefined],
    [resource("ComputeEndpoint", {}, undefined), undefined],
    [resource("AuthKeys", {}, false), undefined],
    [resource("AuthOwnershipTransfer", {}, false), undefined],
    [resource(PROVIDER, {}, false), undefined],
    // Only looked up.
    [{ ...resource("ComputeEndpoint", {}, false), props: { __provider: "…" } }, undefined],
    [{ ...resource("ComputeEndpoint", {}, false), type: "aws:s3/bucket:Bucket" }, undefined],
  ],
  "secret-in-clear": [
    [resource("AuthIntegration", { secretServerKey: "canary" }), inClear("secretServerKey")],
    [resource("AuthIntegration", { secretServerKey: encrypted, pubClientKey: "pck_1" }), undefined],
    [resource("AuthOwnershipTransfer", { url: "https://a.test/?code=1" }), inClear("url")],
    [oauth({ clientSecret: "canary" }), inClear("clientSecret")],
    [oauth({ clientSecret: fromEnv("GOOGLE_SECRET") }), undefined],
    [oauth({ clientSecret: STAND_INS.otherValue }), undefined],
    [mail({ password: "canary" }), inClear("password")],
    [mail({ password: encrypted }), undefined],
    [settings({ "app.token": "canary", work_mem: "4MB" }), inClear('settings.pgSettings["app.token"]')],
    [settings({ "app.token": encrypted, "app.token_ttl": "3600" }), undefined],
    [
      stack({ serverKey: "canary", nested: { urls: ["postgres://u:canary@h/db"] }, host: "a.test" }),
      inClear("serverKey", "nested.urls[0]"),
    ],
    [stack({ serverKey: encrypted, host: "a.test", token: fromEnv("TOKEN") }), undefined],
    // By the name that a program gives the address of a transfer.
    [
      stack({ transferUrl: "https://a.test/1", handover: { transfer_link: "https://a.test/2" } }),
      inClear("transferUrl", "handover.transfer_link"),
    ],
    [stack({ transferUrl: encrypted, transferred: "yes", url: "https://a.test/docs" }), undefined],
    // A resource that is exported as a whole: by its kind.
    [
      stack({
        all: [exported("AuthOwnershipTransfer", { url: "https://a.test/3" }), exported("AuthUser", { name: "canary" })],
        keys: exported("AuthKeys", { secretServerKey: encrypted, pubClientKey: "pck_1" }),
        mail: exported("EmailServer", { password: fromEnv("SMTP"), host: "h" }),
        api: exported("ComputeEndpoint", { settings: { pgSettings: { "app.token": "canary" } }, name: "api" }),
      }),
      inClear("all[0].url", "all[1].name", 'api.settings.pgSettings["app.token"]'),
    ],
    [component({ keys: { secretServerKey: "canary", pubClientKey: "pck_1" } }), inClear("keys.secretServerKey")],
    [component({ keys: { secretServerKey: encrypted } }), undefined],
    // A resource of another package.
    [{ ...component({ password: "canary" }), isComponent: false, type: "aws:rds/instance:Instance" }, undefined],
    // Guesses at what a digest is of need no key where it is in plain text.
    [oauth({ clientSecret: fromEnv("A"), __applied: { clientSecret: "scrypt$…" } }), inClear("__applied")],
    [oauth({ clientSecret: fromEnv("A"), __applied: encrypted }), undefined],
  ],
  "undeclared-shared-oauth": [
    [
      { ...integration({ projectId: "prj-1" }), undeclaredOAuth: ["github", "google"] },
      "github and google are not declared: the service adds them with its shared keys, so users can sign in with them unless somebody has deleted them",
    ],
    [
      { ...integration({ projectId: "prj-1" }), undeclaredOAuth: ["github"] },
      "github is not declared: the service adds it with its shared keys, so users can sign in with it unless somebody has deleted it",
    ],
    [{ ...integration({ projectId: "prj-1" }), undeclaredOAuth: [] }, undefined],
    [integration({ projectId: "prj-1" }), undefined],
  ],
  "owner-changed": [
    [integration({ ownedBy: "user", __first: { ownedBy: "svc" } }), 'was owned by "svc", and is now owned by "user"'],
    [{ ...integration({ ownedBy: "user", __first: { ownedBy: "svc" } }), isTransferred: true }, undefined],
    [
      { ...integration({ ownedBy: "eve", __first: { ownedBy: "svc" } }), isTransferred: true },
      'was owned by "svc", and is now owned by "eve"',
    ],
    // The service has always shown it.
    [integration({ ownedBy: "user" }), undefined],
    [integration({ ownedBy: "svc", __first: { jwksUrl: "https://a.test" } }), undefined],
    [resource("AuthKeys", { ownedBy: "user", __first: { ownedBy: "svc" } }), undefined],
  ],
  "keys-address-changed": [
    [
      integration({ jwksUrl: "https://me:canary@b.test/x", __first: { jwksUrl: "https://a.test/x?canary" } }),
      "had its public keys at a.test, and now has them at b.test",
    ],
    [
      integration({ jwksUrl: "canary", __first: { jwksUrl: "https://a.test" } }),
      "had its public keys at a.test, and now has them at an invalid address",
    ],
    [integration({ jwksUrl: "https://a.test/2", __first: { jwksUrl: "https://a.test/1" } }), undefined],
    [integration({ jwksUrl: "https://a.test" }), undefined],
    [integration({ jwksUrl: encrypted, __first: { jwksUrl: "https://a.test" } }), undefined],
  ],
};

test("each rule has a name that stays, a description, a remedy, and cases here that it finds and that it does not", () => {
  expect(ALL.map(({ name }) => name)).toEqual(Object.keys(CASES));
  for (const { name, description, remedy } of ALL) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)+$/);
    for (const sentences of [description, remedy]) expect(sentences).toMatch(/^[A-Z].+\.$/);
    const words = (CASES[name] ?? []).map(([, expected]) => expected);
    expect(words).toEqual(expect.arrayContaining([undefined, expect.any(String)]));
  }
});

describe.each(Object.entries(CASES))("%s", (name, cases) => {
  test.each(cases.map(([one, expected]) => [JSON.stringify([one.type, one.props, one.protect]), expected, one]))(
    "%s: %s",
    (_title, expected, one) => {
      expect(found(name, one)).toBe(expected);
    },
  );
});

test("without a limit, no size is too large", () => {
  expect(found("size-over-limit", compute({ size: 56 }), {})).toBeUndefined();
  expect(found("size-over-limit", compute({ size: encrypted }), {})).toBeUndefined();
});

test("every secret argument of every kind is looked for in the state", () => {
  const secrets = DECLARATIONS.flatMap(({ kind, args }) =>
    Object.entries(args).flatMap(([argument, { secret }]) => (secret === true ? [[kind, argument] as const] : [])),
  );
  expect(secrets.length).toBeGreaterThan(1);
  for (const [kind, argument] of secrets)
    expect(found("secret-in-state", resource(kind, { [argument]: encrypted }))).toBe(marked(`"${argument}"`));
});

test("whatever a state holds, no rule fails, and none repeats a secret", () => {
  const names = [...new Set(DECLARATIONS.flatMap(({ args, outputs }) => Object.keys({ ...args, ...outputs })))];
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(encrypted, fromEnv("NAME"), { fromFile: 1 }, "canary", -1, 99, { max: 99 }, "http://localhost"),
    fc.array(fc.constantFrom<unknown>("http://canary@localhost", "canary", encrypted, null)),
    fc.record({ pgSettings: fc.dictionary(fc.string(), fc.constantFrom<unknown>("canary", encrypted, fromEnv("A"))) }),
  );
  const props = fc.dictionary(fc.constantFrom(...names, "svc:apiKey"), value);
  fc.assert(
    fc.property(fc.constantFrom(...KINDS, PROVIDER), props, (kind, given) => {
      for (const rule of auditRules) {
        const words = rule.find(resource(kind, given, false), { maxSizeCu: 1 });
        expect(words ?? "").not.toMatch(/canary|v1:/);
      }
    }),
  );
});

test("secret-in-clear knows each secret argument and output of every kind", () => {
  for (const { kind, args, outputs } of DECLARATIONS) {
    for (const [name, rules] of Object.entries({ ...args, ...outputs }) as [string, { secret?: true }][]) {
      const said = found("secret-in-clear", resource(kind, { [name]: "canary" }));
      expect([kind, name, said]).toEqual([kind, name, rules.secret === true ? inClear(name) : undefined]);
    }
  }
});
