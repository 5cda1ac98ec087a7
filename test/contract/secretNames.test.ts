import fc from "fast-check";
import { holdsSecret, isSecretName, isSecretSetting, mayBeSecret } from "../../src/contract/secretNames";

// Put together, so that no scanner takes this file for one that leaks.
const PEM = (kind: string): string =>
  `-----BEGIN ${kind}-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END ${kind}-----\n`;
const JWT = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxIn0", "c2lnbmF0dXJl"].join(".");
const GITHUB = `ghp_${"a1".repeat(18)}`;

describe("the name of a secret", () => {
  it.each([
    "password",
    "Password",
    "SmtpPassword",
    "smtp-password",
    "smtp password",
    "dbpassword2",
    "PGPASSWORD",
    "passwd",
    "PULUMI_CONFIG_PASSPHRASE",
    "client_secret",
    "clientSecret",
    "client-secret",
    "CLIENTSECRET",
    "CLIENT_SECRET",
    "secretServerKey",
    "secret_id",
    "SECRET_KEY_BASE",
    "private_jwk",
    "app.token",
    "githubToken",
    "tokens",
    "api_key",
    "apiKey",
    "APIKEY",
    "API_KEYS",
    "api-key_2",
    "AccountKey",
    "SharedAccessKey",
    "aws_credentials",
    "db.creds",
    "connectionString",
    "dbpw",
    "SMTP_PASS",
    "smtppass",
    "authorization",
    "jwt",
    // Whoever has it can guess what was hashed with it (`anon.salt` of PostgreSQL Anonymizer).
    "salt",
    "password_hash",
    "token_old",
  ])("%s", (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(isSecretSetting(name)).toBe(true);
    expect(mayBeSecret(name, "a value")).toBe(true);
  });

  it.each([
    "",
    "name",
    "size.max",
    "clientId",
    "domain",
    "statement_timeout",
    "pubClientKey",
    "publicKey",
    "jwks_url",
    "passwordlessAccess",
    "bypass",
    "compass",
    "tokenizer",
    "monkey",
    "keyboard",
    // One of our kinds.
    "authKeys",
    // The place or the name of a secret: `PGPASSFILE` is a path.
    "pgpassfile",
    "PGPASSFILE",
    "apiKeyEnv",
    "apiKeyFile",
    "svc:apiKeyEnv",
    "PASSWORD_FILE",
    "secretName",
    "secret_arn",
    "token_url",
    "access_key_id",
    "tokenType",
    "tokenExpiresAt",
    "tokens_per_minute",
  ])("%s is none", (name) => {
    expect(isSecretName(name)).toBe(false);
    expect(mayBeSecret(name, "a value")).toBe(false);
  });
});

describe("the name of a secret setting", () => {
  it.each([
    "app.pw",
    "app.db_pwd",
    "app.PASSWD",
    "smtp.pass",
    "app.jwt",
    "app.settings.jwt_secret",
    "app.signing_key",
    "app.signingKey",
    "app.api-key",
    "app.encryption.key",
    "app.hmac_key",
    "app.cookie_key",
    "app.key",
    "app.salt",
    "anon.salt",
    "app.pepper",
    "app.bearer",
    "ldap.bindpw",
    "app.totp_seed",
    "app.otp_seed_2",
    "app.recovery_codes",
    "app.seed_phrase",
    "app.hash_key",
  ])("%s", (name) => {
    expect(isSecretSetting(name)).toBe(true);
    expect(mayBeSecret(name, "a value")).toBe(true);
  });

  it.each([
    "app.mode",
    "app.jwt_exp",
    "app.jwt_aud",
    "request.jwt.claims",
    "app.token_ttl",
    "app.tokenTtlSeconds",
    "app.pw_length",
    "app.bypass",
    "app.sort_key",
    "app.public_key",
    "app.settings.pwa",
    "app.key_id",
    "credcheck.password_min_length",
    "passwordcheck.min_length",
    "password_encryption",
    "search_path",
    "pgrst.jwt_role_claim_key",
    "app.kms_key",
    "app.dedup_key",
    "app.locale_key",
    "app.sort_keys",
    "app.password_hint",
    "app.password_regex",
    "app.password_hasher",
    "app.password_iterations",
    "app.token_scopes",
    "app.token_auth",
    "app.secret_manager",
    "app.secrets_backend",
    "credcheck.password_contain",
  ])("%s is none", (name) => {
    expect(isSecretSetting(name)).toBe(false);
    expect(mayBeSecret(name, "a value")).toBe(false);
  });
});

describe("the form of a secret", () => {
  it.each([
    "postgres://u:p@h/db",
    "host=h postgresql://user:p%40ss@h:5432/db",
    "postgres://u:p/w?#@h/db",
    "postgres://u:123@h/db",
    "redis://:p@h",
    "redis://u:p:p@[::1]:80/",
    "https://TOKEN@host",
    "HTTPS://TOKEN:@host/repository.git",
    "git+https://TOKEN@host/repository.git",
    "postgres://h/db?user=u&password=p",
    "https://host/path?access_token=abc",
    "host=h user=u password = 'p w'",
    "host=h PASSWORD=p",
    "host=h password=1234",
    "Server=h;User Id=u;Pwd=p;",
    "pwd = 'p'",
    'PWD="p"',
    "AccountName=a;AccountKey=abc==",
    "ALTER ROLE app PASSWORD 'p'",
    '{"password":"p"}',
    '{\\"clientSecret\\":\\"p\\"}',
    "smtp:\n  password: p",
    "Authorization: Basic dTpw",
    PEM("PRIVATE KEY"),
    PEM("RSA PRIVATE KEY"),
    PEM("OPENSSH PRIVATE KEY"),
    PEM("PGP PRIVATE KEY BLOCK"),
    PEM("PRIVATE KEY").replaceAll("\n", "\\n"),
    JWT,
    `Bearer ${JWT}`,
    GITHUB,
    `token ${GITHUB}.`,
    ["https://hooks.slack.com/services", "T000/B000/a1b2c3d4e5f6g7h8"].join("/"),
    "https://fn.example.net/api/run?code=abcdefghijklmnop1==",
    "https://a.example.net/c?sv=1&sig=abcdefghij%2Bklmnop",
    "https://s3.example.com/x?X-Amz-Signature=abcdef0123456789",
    `${"sk"}_test_${"a1".repeat(12)}`,
    `${"whsec"}_${"a1".repeat(12)}`,
    `${"sk"}-${"a1".repeat(24)}`,
    `${"hf"}_${"aB".repeat(17)}`,
    `${"dop_v1"}_${"a1".repeat(32)}`,
    `${"shpat"}_${"a1".repeat(16)}`,
    "Bearer abcdefgh12345678",
    '{"kty":"RSA","n":"x","d":"abc"}',
    '{ "k": "abc", "kty": "oct" }',
  ])("%s", (text) => {
    expect(holdsSecret(text)).toBe(true);
    expect(mayBeSecret("name", text)).toBe(true);
  });

  it.each([
    "",
    "64MB",
    "scram-sha-256",
    "password",
    "postgres://u@h:5432/db",
    "postgres://h:5432/a@b",
    "https://h/a:b@c",
    "https://h:8443/@scope/name",
    "https://h?mail=a@b",
    "mailto:a@b",
    "ssh://git@host/repository",
    "postgres://u:@h/db",
    "host=h passfile=/run/secrets/pass sslkey=/run/key",
    "host=h password=",
    "password=''",
    '{"password":""}',
    "password=true",
    "credcheck.password_min_length=8",
    "app.token_ttl=3600",
    "password_encryption=scram-sha-256",
    "arn:aws:secretsmanager:eu-central-1:1:secret:prod/db-AbCdEf",
    "registry.example.com/vault-token:1.2",
    PEM("PUBLIC KEY"),
    PEM("RSA PUBLIC KEY"),
    PEM("CERTIFICATE"),
    "eyJhbGciOiJIUzI1NiJ9",
    "SELECT 1",
    "the bearer authentication_required",
    "https://h/?code=404&signature=none",
    "https://h/?design=abcdefghijklmnop1",
    '{"kty":"RSA","n":"x","e":"AQAB"}',
    "sk-learn-classification-models-of-today",
    "token: null",
    "authorization: none",
    "auth_token=disabled",
  ])("%s has none", (text) => {
    expect(holdsSecret(text)).toBe(false);
    expect(mayBeSecret("name", text)).toBe(false);
  });
});

describe("what may be a secret", () => {
  it.each([
    undefined,
    null,
    "",
    "  ",
    true,
    false,
    "on",
    "OFF",
    "yes",
    "no",
    "true",
    "False",
    "default",
    "none",
    "NULL",
    "enabled",
    "disabled",
    0,
    3600,
    "3600",
  ])("is not %p, whatever its name", (value) => {
    expect(mayBeSecret("app.password", value)).toBe(false);
  });

  it.each(["8", "-1", "0.5", "64kB", "512 MB", "86400s", "2592000s", "30min", "1d"])("is not %s either", (value) => {
    expect(mayBeSecret("app.password", value)).toBe(false);
  });

  it.each(["x", "123456", 123456, "12345678901", "12345678901s", "64 quarts", "on!", ["x"], { a: "x" }])(
    "is %p under such a name",
    (value) => {
      expect(mayBeSecret("app.password", value)).toBe(true);
      expect(mayBeSecret("app.mode", value)).toBe(false);
    },
  );

  it("is no public key, by name and form", () => {
    expect(mayBeSecret("app.public_key", PEM("PUBLIC KEY"))).toBe(false);
    expect(mayBeSecret("app.public_key", PEM("PRIVATE KEY"))).toBe(true);
  });
});

describe("any value", () => {
  /** Pieces of what the expressions match, so that many of them begin to match. */
  const pieces = fc.constantFrom(
    ..."a|A|1|_|-|.| |\t|\n|=|:|:\"|@|/|//|://|https://|https://a:|\\|'|\"|a=|a: |password|password '|Password|secret".split(
      "|",
    ),
    ..."eyJ|eyJabcdefgh.|-----BEGIN |PRIVATE KEY|SG.aaaaaaaaaaaaaaaa|key|_key|_key_|pub_|public_a_|group_|_at|_id|é|\uD800".split(
      "|",
    ),
  );
  const text = fc.array(pieces, { maxLength: 12 }).map((all) => all.join(""));

  it("is judged without an error, also of JavaScript without types", () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.anything()), fc.oneof(text, fc.anything({ withBigInt: true })), (name, value) => {
        // As a program without types calls it.
        const [asName, asText] = [name as string, value as string];
        expect(typeof isSecretName(asName)).toBe("boolean");
        expect(typeof isSecretSetting(asName)).toBe("boolean");
        expect(typeof holdsSecret(asText)).toBe("boolean");
        expect(typeof mayBeSecret(asName, value)).toBe("boolean");
      }),
      { numRuns: 2000 },
    );
    expect(mayBeSecret("password", Object.create(null))).toBe(true);
    expect(mayBeSecret("password", Symbol("a"))).toBe(true);
  });

  it("of 64 kB is judged in time, whatever it repeats", () => {
    const size = 64 * 1024;
    const long = (piece: string): string => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
    fc.assert(
      fc.property(text, fc.array(pieces, { minLength: 1, maxLength: 3 }), text, (head, repeated, tail) => {
        const value = head + long(repeated.join("")) + tail;
        const start = process.cpuUsage();
        mayBeSecret(value, "x");
        isSecretName(value);
        holdsSecret(value);
        const { user, system } = process.cpuUsage(start);
        // Quadratic growth would take minutes. A slow machine and the garbage collector need some of this time.
        expect((user + system) / 1000).toBeLessThan(1500);
      }),
      { numRuns: 300 },
    );
  });

  it("is found behind and in front of much text", () => {
    const much = "word ".repeat(20_000);
    for (const secret of ["Pwd=p", "https://TOKEN@host", PEM("PRIVATE KEY"), JWT, `${"x".repeat(70_000)}_password=p`]) {
      expect(holdsSecret(`${much}${secret} ${much}`)).toBe(true);
      expect(holdsSecret(much)).toBe(false);
    }
  });
});
