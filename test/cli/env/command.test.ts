/** The built command, with a Pulumi CLI that shows the state that a test wrote. What the real one shows: test/engine/env.test.ts. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asSecret } from "../../../src/cli/stack/state";
import { ROOT } from "../../support/cli";

const MAIN = join(ROOT, "dist", "cli", "main.js");
const SERVER_KEY = "ssk_canary_server";
const PASSWORD = "canary p@ssword";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "env-command-"));
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "work"));
  // Like the CLI: secrets in plain text only if they are requested.
  write("bin/pulumi", '#!/bin/sh\ncase "$*" in *--show-secrets*) cat ../shown.json;; *) cat ../masked.json;; esac\n');
  chmodSync(join(folder, "bin", "pulumi"), 0o755);
  // Node takes this for a terminal.
  write("terminal.cjs", "process.stdout.isTTY = true;\n");
  exported([COMPUTE, AUTH]);
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
const COMPUTE = resource("ComputeEndpoint", "api", { host: "ep-1.example.com" });
const AUTH = resource("AuthIntegration", "auth", {
  jwksUrl: "https://auth.example.com/jwks.json",
  pubClientKey: "pck_1",
  secretServerKey: asSecret(SERVER_KEY),
});

function resource(kind: string, name: string, outputs: object): object {
  const type = `pulumi-nodejs:dynamic/svc:${kind}`;
  return { urn: `urn:pulumi:dev::proj::${type}::${name}`, type, outputs };
}

function exported(resources: object[]): void {
  const text = JSON.stringify({ version: 3, deployment: { resources } });
  write("shown.json", text);
  write("masked.json", text.replace(/"plaintext":"(?:\\.|[^"])*"/g, '"ciphertext":"v1:abc"'));
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function env(
  args: readonly string[],
  { terminal = false, more = {} }: { terminal?: boolean; more?: object } = {},
): Ended {
  const preloaded = terminal ? ["--require", join(folder, "terminal.cjs")] : [];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...preloaded, MAIN, "env", ...args], {
    cwd: join(folder, "work"),
    env: { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, ...more },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}
const files = (): string[] => readdirSync(join(folder, "work"));
const read = (file: string): string => readFileSync(join(folder, "work", file), "utf8");
const modeOf = (file: string): number => statSync(join(folder, "work", file)).mode & 0o777;

const HOSTS = `API_CONNECTION_URI=postgresql://ROLE:PASSWORD@ep-1.example.com:5432/DATABASE?sslmode=require
API_HOST=ep-1.example.com
API_POOLED_CONNECTION_URI=postgresql://ROLE:PASSWORD@ep-1-pooler.example.com:5432/DATABASE?sslmode=require
API_POOLED_HOST=ep-1-pooler.example.com
`;
const KEYS = `AUTH_JWKS_URL=https://auth.example.com/jwks.json
AUTH_PUB_CLIENT_KEY=pck_1
`;
const PLACEHOLDERS =
  "pulumi-svc: the connection strings have placeholders, because no state holds the values: ROLE (--role), DATABASE (--database), PASSWORD (--password-env)\n";

test("standard output has the variables and nothing else, standard error what is left out", () => {
  const left = "pulumi-svc: left out, because --show-secrets is not given: auth.secretServerKey\n";
  const plain = { status: 0, stdout: HOSTS + KEYS, stderr: left + PLACEHOLDERS };
  expect(env([])).toEqual(plain);
  // Without secrets, a terminal is as good as a pipe.
  expect(env([], { terminal: true })).toEqual(plain);
});

test("--json is --format json: an object with the same values", () => {
  const json = env(["--json", "--map", "api.host=PGHOST"]);
  expect(json.status).toBe(0);
  expect(JSON.parse(json.stdout)).toMatchObject({ PGHOST: "ep-1.example.com", AUTH_PUB_CLIENT_KEY: "pck_1" });
  expect(env(["--format", "json", "--map", "api.host=PGHOST"])).toEqual(json);
  expect(env(["--format", "shell"]).stdout).toContain("export API_HOST='ep-1.example.com'\n");
});

test("role and database are in the connection strings, and then no note asks for them", () => {
  const { stdout, stderr } = env(["--role", "app", "--database", "main"]);
  expect(stdout).toContain("=postgresql://app:PASSWORD@ep-1.example.com:5432/main?sslmode=require\n");
  expect(stderr).toMatch(/placeholders, .*: PASSWORD \(--password-env\)\n$/);
});

test("secrets go to a pipe, with the password of the environment", () => {
  const args = ["--show-secrets", "--password-env", "DB_PASSWORD", "--role", "app", "--database", "main"];
  const { status, stdout, stderr } = env(args, { more: { DB_PASSWORD: PASSWORD } });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(
    "API_CONNECTION_URI=postgresql://app:canary%20p%40ssword@ep-1.example.com:5432/main?sslmode=require\n",
  );
  expect(stdout).toContain(`AUTH_SECRET_SERVER_KEY=${SERVER_KEY}\n`);
});

describe("--out", () => {
  test("writes a file that only its owner can read, whole, and nothing to standard output", () => {
    const { status, stdout, stderr } = env(["--show-secrets", "--out", ".env"], { terminal: true });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
    expect(stderr).toBe(`pulumi-svc: wrote 7 variables to .env\n${PLACEHOLDERS}`);
    expect(read(".env")).toBe(`${HOSTS}${KEYS}AUTH_SECRET_SERVER_KEY=${SERVER_KEY}\n`);
    expect([modeOf(".env"), files()]).toEqual([0o600, [".env"]]);
  });

  test("does not overwrite a file without --force; with it, the new file is private whatever the old one was", () => {
    write("work/.env", "MINE=1\n");
    chmodSync(join(folder, "work", ".env"), 0o644);
    expect(env(["--out", ".env"])).toEqual({
      status: 1,
      stdout: "",
      stderr: "pulumi-svc: .env cannot be written: it exists. --force overwrites it\n",
    });
    expect([read(".env"), modeOf(".env"), files()]).toEqual(["MINE=1\n", 0o644, [".env"]]);
    expect(env(["--out", ".env", "--force"])).toMatchObject({ status: 0 });
    expect([read(".env"), modeOf(".env"), files()]).toEqual([HOSTS + KEYS, 0o600, [".env"]]);
  });

  test.each([
    ["a link", () => symlinkSync(join(folder, "elsewhere"), join(folder, "work", ".env"))],
    ["a folder", () => mkdirSync(join(folder, "work", ".env"))],
  ])("writes nothing where %s stands, with --force either", (_what, make) => {
    make();
    for (const force of [[], ["--force"]]) {
      expect(env(["--out", ".env", ...force])).toEqual({
        status: 1,
        stdout: "",
        stderr: "pulumi-svc: .env cannot be written: it is a folder, a link or a device\n",
      });
    }
    expect([existsSync(join(folder, "elsewhere")), files()]).toEqual([false, [".env"]]);
  });

  test("says which file cannot be written, and leaves none behind", () => {
    expect(env(["--out", "nowhere/.env"])).toEqual({
      status: 1,
      stdout: "",
      stderr: "pulumi-svc: nowhere/.env cannot be written: ENOENT\n",
    });
    exported([resource("ComputeEndpoint", "api", { host: "ep-1 .example.com" })]);
    expect(env(["--out", ".env"])).toMatchObject({ status: 1, stdout: "" });
    expect(files()).toEqual([]);
  });
});

test.each([
  [["--show-secrets"], true, /^error: secrets are not written to a terminal\. Use --out, or a pipe/],
  [["--password-env", "DB_PASSWORD"], false, /^error: --password-env needs --show-secrets/],
  [["--force"], false, /^error: --force needs --out/],
  [["--map", "api.host"], false, /^error: .*It must be RESOURCE\.output=NAME/],
  [["--map", "api.host=1ST"], false, /^error: .*It must be RESOURCE\.output=NAME/],
  [["--map", "api=HOST"], false, /^error: .*It must be RESOURCE\.output=NAME/],
  [["--map", "api.host=A;B"], false, /^error: .*It must be RESOURCE\.output=NAME/],
  [["--role", ""], false, /^error: .*must not be empty/],
  [["--format", "yaml"], false, /^error: /],
  [["--json", "--format", "shell"], false, /^error: /],
])("wrong usage ends with 2, and nothing is asked: %j", (args, terminal, words) => {
  // The CLI would fail, and the state is not to be had.
  write("bin/pulumi", "#!/bin/sh\ntouch ../asked; exit 1\n");
  const { status, stdout, stderr } = env(args, { terminal, more: { DB_PASSWORD: PASSWORD } });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toMatch(words);
  expect(stderr).not.toContain("canary");
  expect(existsSync(join(folder, "asked"))).toBe(false);
});

describe("a failure ends with 1 and says why", () => {
  const failed = (args: readonly string[], more: object = {}): string => {
    const { status, stdout, stderr } = env(args, { more });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    return stderr;
  };

  test("where the stack cannot be read, in the words of the CLI", () => {
    write("bin/pulumi", "#!/bin/sh\necho 'error: no stack named dev found' >&2; exit 255\n");
    expect(failed([])).toBe("pulumi-svc: pulumi stack export failed: no stack named dev found\n");
  });

  test("where the stack holds nothing that an application needs", () => {
    exported([resource("EmailServer", "mail", { host: "smtp.example.com" })]);
    expect(failed(["--stack", "prod"])).toBe(
      "pulumi-svc: the stack prod holds no compute, auth integration or key set of pulumi-svc. Run pulumi up first, or name another stack with --stack\n",
    );
  });

  test("where all that it holds is left out", () => {
    exported([resource("AuthKeys", "keys", { jwksUrl: "", pubClientKey: "", secretServerKey: asSecret(SERVER_KEY) })]);
    expect(failed([])).toBe(
      [
        "there is nothing to write",
        "left out, because --show-secrets is not given: keys.secretServerKey",
        "left out, because the state has no value: keys.jwksUrl, keys.pubClientKey",
      ]
        .map((line) => `pulumi-svc: ${line}\n`)
        .join(""),
    );
  });

  test("where the password is not there", () => {
    const args = ["--show-secrets", "--password-env", "DB_PASSWORD"];
    for (const more of [{}, { DB_PASSWORD: "" }]) {
      expect(failed(args, more)).toBe(
        "pulumi-svc: the environment variable DB_PASSWORD of --password-env is not set\n",
      );
    }
  });

  test("where a name is unknown, and where two are the same, all problems at once", () => {
    expect(failed(["--map", "api.hots=A", "--map", "app.host=B"])).toMatch(/^(pulumi-svc: --map ap\S+=[AB]: .*\n){2}$/);
    exported([AUTH, resource("AuthKeys", "auth", { jwksUrl: "https://two.example.com" })]);
    expect(failed([])).toMatch(/^(pulumi-svc: AUTH_\w+ is the name of urn:\S+ and urn:\S+: set another name .*\n){2}$/);
  });

  test("where the format cannot hold a value, without the value", () => {
    exported([resource("ComputeEndpoint", "api", { host: "canary\n$(touch evil)" }), AUTH]);
    expect(failed([])).not.toContain("canary");
    expect(files()).toEqual([]);
    expect(env(["--json"]).status).toBe(0);
  });
});

test("what has no value is reported, unless the service need not show it or it is named with --map", () => {
  exported([COMPUTE, resource("AuthIntegration", "found", { jwksUrl: "https://a.example.com", pubClientKey: "" })]);
  const noted = (...args: string[]): string | undefined =>
    /the state has no value: (.*)/.exec(env(["--show-secrets", ...args]).stderr)?.[1];
  expect(noted()).toBe("found.pubClientKey, found.secretServerKey");
  expect(noted("--map", "found.tableName=USERS")).toBe("found.pubClientKey, found.secretServerKey, found.tableName");
});

describe("an integration whose keys or owner somebody has changed", () => {
  const changed = (name: string, outputs: object, first: object) =>
    resource("AuthIntegration", name, {
      jwksUrl: "https://auth.example.com/jwks.json",
      pubClientKey: "pck_1",
      ...outputs,
      __first: first,
    });
  const MOVED = { jwksUrl: "https://attacker.example/jwks.json?canary=1" };
  const WAS = { jwksUrl: "https://me:canary@auth.example.com/jwks.json" };
  const drift = (...entries: object[]): void => {
    write("work/Pulumi.yaml", "name: proj\nruntime: nodejs\n");
    write("work/svc-drift.json", JSON.stringify({ ignore: entries }));
  };
  const reason = "the auth provider has moved";
  const refused = (args: readonly string[] = []): string => {
    const { status, stdout, stderr } = env(args);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).not.toContain("canary");
    return stderr;
  };

  test("is not handed to an application, and nothing else either", () => {
    exported([COMPUTE, changed("auth", MOVED, WAS), changed("other", { ownedBy: "user" }, { ownedBy: "svc" })]);
    const said = refused();
    expect(said).toMatch(
      /^pulumi-svc: nothing was written, because somebody has changed what the application would trust\n/,
    );
    expect(said).toContain(
      "AuthIntegration auth: had its public keys at auth.example.com, and now has them at attacker.example\n",
    );
    expect(said).toContain('AuthIntegration other: was owned by "svc", and is now owned by "user"\n');
    refused(["--out", "app.env"]);
    expect(files()).not.toContain("app.env");
  });

  test.each([
    ["as a difference of drift", { resource: "auth", property: "jwksUrl", reason }],
    ["with the value that was found", { resource: "auth", property: "jwksUrl", found: MOVED.jwksUrl, reason }],
    ["as a finding of the audit", { rule: "keys-address-changed", resource: "auth", reason }],
    ["in every resource", { rule: "keys-address-changed", reason }],
  ])("is handed over once a person has accepted it %s", (_, entry) => {
    exported([COMPUTE, changed("auth", MOVED, WAS)]);
    drift(entry);
    expect(env([])).toMatchObject({ status: 0, stdout: expect.stringContaining(`AUTH_JWKS_URL=${MOVED.jwksUrl}`) });
  });

  test.each([
    ["of another value", { resource: "auth", property: "jwksUrl", found: "https://other.example/", reason }],
    ["of another resource", { resource: "other", property: "jwksUrl", reason }],
    ["of another property", { resource: "auth", property: "ownedBy", reason }],
    ["that has expired", { resource: "auth", property: "jwksUrl", reason, until: "2020-01-31" }],
    ["of another rule", { rule: "owner-changed", resource: "auth", reason }],
    ["for another rule of that resource", { rule: "not-protected", resource: "auth", reason }],
  ])("an entry %s accepts nothing", (_, entry) => {
    exported([COMPUTE, changed("auth", MOVED, WAS)]);
    drift(entry);
    refused();
  });

  test("is the integration of before if its transfer is declared, or another path has the same host", () => {
    const transfer = {
      ...resource("AuthOwnershipTransfer", "transfer", {}),
      id: "prj-1/auth/transfer",
    };
    const auth = { ...changed("auth", { ownedBy: "user" }, { ownedBy: "svc" }), id: "prj-1/auth" };
    exported([auth, transfer]);
    expect(env([]).status).toBe(0);
    exported([changed("auth", { jwksUrl: "https://auth.example.com/v2/jwks.json" }, WAS)]);
    expect(env([]).status).toBe(0);
  });
});
