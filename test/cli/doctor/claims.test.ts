/** Each line of the doctor about settings and keys, in every possible set-up. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Check } from "../../../src/cli/doctor/check";
import { serviceChecks } from "../../../src/cli/doctor/service";
import { storedProviders } from "../../../src/cli/doctor/stack";
import { StackState } from "../../../src/cli/stack/state";
import { closeAll, scripted, type Script } from "../../support/scriptedServer";

const WORKS = "canary-works";
/** A second key of the account of WORKS. */
const ALSO_WORKS = "canary-also-works";
const OF_ANOTHER_ACCOUNT = "canary-of-another-account";
const MAY_NOT_READ = "canary-may-not-read";
const REFUSED = "canary-refused";

const PROJECTS: Readonly<Record<string, readonly string[]>> = {
  [WORKS]: ["prj-one"],
  [ALSO_WORKS]: ["prj-one"],
  [OF_ANOTHER_ACCOUNT]: ["prj-two"],
};

const service: Script = ({ path, headers }) => {
  const key = headers.authorization?.replace("Bearer ", "") ?? "";
  const refusal = (status: number, code: string) => ({ status, json: { code, message: "no" } });
  if (key === MAY_NOT_READ) return refusal(403, "forbidden");
  const projects = PROJECTS[key];
  if (projects === undefined) return refusal(401, "unauthorized");
  const [, project = "", list] = /^\/projects\/([\w-]+)\/(\w+)/.exec(path) ?? [];
  if (!projects.includes(project)) return refusal(404, "not_found");
  return list === "branches"
    ? { json: { branches: [{ id: "br-main", name: "main", default: true }] } }
    : { json: { endpoints: [] } };
};

/** A provider of the state: what the last `up` stored, and the projects of its resources. */
interface Stored {
  readonly settings: Readonly<Record<string, string>>;
  readonly projects?: readonly string[];
}

interface SetUp {
  readonly config?: Readonly<Record<string, string>> | "unreadable";
  /** Those of `config` that are not encrypted. */
  readonly plain?: readonly string[];
  /** FOLDER stands for the folder of the program. */
  readonly env?: Readonly<Record<string, string>>;
  /** By name; omitted: there was no `up` yet. "unread": there is no stack, or its state cannot be read. */
  readonly stored?: Readonly<Record<string, Stored>> | "unread";
  readonly project?: string;
  readonly projectName?: string;
}

/** Nothing listens there. */
const NOBODY = "http://127.0.0.1:1/api/v2";
/** Instead of a project: its id is a secret. */
const HIDDEN = "hidden";

let baseUrl = "";
let folder = "";
/** Without settings and proxies of the machine. */
const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^SVC_|_proxy$/i.test(name)));
const before = { cwd: process.cwd(), env: process.env };

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "claims-")));
  writeFileSync(join(folder, "Pulumi.yaml"), "name: proj\nruntime: nodejs\n");
  mkdirSync(join(folder, "keys"));
  writeFileSync(join(folder, "keys", "works"), `${WORKS}\n`);
  writeFileSync(join(folder, "keys", "also"), `${ALSO_WORKS}\n`);
  writeFileSync(join(folder, "keys", "refused"), `${REFUSED}\n`);
  process.chdir(folder);
});
beforeEach(async () => {
  process.env = { ...clean };
  ({ baseUrl } = (await scripted(service)).server);
});
afterEach(closeAll);
afterAll(() => {
  process.env = before.env;
  process.chdir(before.cwd);
  rmSync(folder, { recursive: true });
});

const encrypted = (value: string): object => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  plaintext: JSON.stringify(value),
});

/** As the engine exports it, with its secrets in plain text. */
function stateOf(providers: Readonly<Record<string, Stored>>, common: object): StackState {
  const resources = Object.entries(providers).flatMap(([name, { settings, projects = ["prj-one"] }]) => {
    const urn = `urn:pulumi:dev::proj::pulumi:providers:pulumi-nodejs::${name}`;
    const inputs = Object.entries({ ...common, ...settings }).map(([key, value]: [string, string]) => [
      `svc:${key}`,
      key === "apiKey" ? encrypted(value) : value,
    ]);
    return [
      { type: "pulumi:providers:pulumi-nodejs", urn, id: "1", inputs: Object.fromEntries(inputs) as object },
      ...projects.map((projectId) => ({
        type: "pulumi-nodejs:dynamic/svc:ComputeEndpoint",
        urn: `urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::${name}-${projectId}`,
        provider: `${urn}::1`,
        outputs: { projectId: projectId === HIDDEN ? encrypted("prj-one") : projectId },
      })),
    ];
  });
  return new StackState(JSON.stringify({ deployment: { resources } }));
}

/** The doctor's output in a set-up. Without an address of its own, it uses that of the service. */
async function checksIn(setUp: SetUp): Promise<Check[]> {
  const { config = {}, plain = [], env = {}, stored = {}, project, projectName = "proj" } = setUp;
  const settings = config === "unreadable" ? undefined : Object.entries({ baseUrl, ...config });
  for (const [name, value] of Object.entries(env)) process.env[name] = value.replace("FOLDER", folder);
  const secret = (name: string): boolean => name === "apiKey" && !plain.includes(name);
  return serviceChecks(
    {
      configuration: settings && new Map(settings.map(([name, value]) => [name, { value, secret: secret(name) }])),
      providers: stored === "unread" ? undefined : storedProviders(folder, stateOf(stored, { baseUrl })),
      projectName,
    },
    project,
  );
}

/** One line a check, and its remedy below. */
const textOf = (checks: readonly Check[]): string =>
  checks
    .map(({ name, status, message, remedy }) => {
      const line = `${status.padEnd(7)} ${name}: ${message}`;
      return remedy === undefined ? line : `${line}\n        ${remedy}`;
    })
    .join("\n")
    .replaceAll(new URL(baseUrl).host, "HOST")
    .replaceAll(folder, "FOLDER");

const PAGE = join(__dirname, "claims.md");
const HEAD = `# What the doctor says

Each set-up of claims.test.ts, with the lines of settings and keys. HOST is the service, FOLDER that of the program.

<!-- Written by claims.test.ts, with WRITE_TABLE=1: read what changes as claims, which have to be true of their set-up. -->
`;
const sections: string[] = [];

const FILE = { apiKeyFile: "keys/works" };

const SET_UPS: Record<string, SetUp> = {
  "no key, before the first up": {},
  "no key, and no stack": { stored: "unread" },
  "the configuration cannot be read": { config: "unreadable" },
  "a key in the environment": { env: { SVC_API_KEY: WORKS }, stored: { default: { settings: {} } } },
  "a key in the environment, before the first up": { env: { SVC_API_KEY: WORKS } },
  "a key in the environment, which is refused": {
    env: { SVC_API_KEY: REFUSED },
    stored: { default: { settings: {} } },
  },
  "a key in the environment of the last up alone": { stored: { default: { settings: {} } } },
  "a key by name": {
    config: { apiKeyEnv: "PROD_KEY" },
    env: { PROD_KEY: WORKS },
    stored: { default: { settings: { apiKeyEnv: "PROD_KEY" } } },
  },
  "a key by name, which is refused": {
    config: { apiKeyEnv: "PROD_KEY" },
    env: { PROD_KEY: REFUSED },
    stored: { default: { settings: { apiKeyEnv: "PROD_KEY" } } },
  },
  "a key by name, which has no value": {
    config: { apiKeyEnv: "PROD_KEY" },
    stored: { default: { settings: { apiKeyEnv: "PROD_KEY" } } },
  },
  "another name than at the last up": {
    config: { apiKeyEnv: "PROD_KEY" },
    env: { PROD_KEY: WORKS, OLD_KEY: ALSO_WORKS },
    stored: { default: { settings: { apiKeyEnv: "OLD_KEY" } } },
  },
  "another name than at the last up, whose key is refused": {
    config: { apiKeyEnv: "PROD_KEY" },
    env: { PROD_KEY: WORKS, OLD_KEY: REFUSED },
    stored: { default: { settings: { apiKeyEnv: "OLD_KEY" } } },
  },
  "a key by file": { config: FILE, stored: { default: { settings: FILE } } },
  "a key by file of the environment": {
    env: { SVC_API_KEY_FILE: "FOLDER/keys/works" },
    stored: { default: { settings: {} } },
  },
  "a key by file, which is refused": {
    config: { apiKeyFile: "keys/refused" },
    stored: { default: { settings: { apiKeyFile: "keys/refused" } } },
  },
  "a stored key": { config: { apiKey: WORKS }, stored: { default: { settings: { apiKey: WORKS } } } },
  "a stored key, which is refused": {
    config: { apiKey: REFUSED },
    stored: { default: { settings: { apiKey: REFUSED } } },
  },
  "a stored key, in plain text": {
    config: { apiKey: WORKS },
    plain: ["apiKey"],
    stored: { default: { settings: { apiKey: WORKS } } },
  },
  "a stored key that was rotated: the old one still works": {
    config: { apiKey: WORKS },
    stored: { default: { settings: { apiKey: ALSO_WORKS } } },
  },
  "a stored key that was rotated: the old one is refused": {
    config: { apiKey: WORKS },
    stored: { default: { settings: { apiKey: REFUSED } } },
  },
  "a stored key that was rotated: the new one is refused": {
    config: { apiKey: REFUSED },
    stored: { default: { settings: { apiKey: WORKS } } },
  },
  "a stored key of another account": {
    config: { apiKey: WORKS },
    stored: { default: { settings: { apiKey: OF_ANOTHER_ACCOUNT } } },
  },
  "a stored key that may not read": {
    config: { apiKey: MAY_NOT_READ },
    stored: { default: { settings: { apiKey: MAY_NOT_READ } } },
  },
  "a key that is not configured any more": { stored: { default: { settings: { apiKey: WORKS } } } },
  "a key that is not configured any more, and is refused": { stored: { default: { settings: { apiKey: REFUSED } } } },
  "a stored key, where the next up takes one by name": {
    config: { apiKeyEnv: "PROD_KEY" },
    env: { PROD_KEY: WORKS },
    stored: { default: { settings: { apiKey: WORKS } } },
  },
  "a key of the environment, where the next up stores one": {
    config: { apiKey: WORKS },
    env: { SVC_API_KEY: ALSO_WORKS },
    stored: { default: { settings: {} } },
  },
  "another address than at the last up": {
    config: { apiKey: WORKS },
    stored: { default: { settings: { apiKey: WORKS, baseUrl: "http://127.0.0.1:1/api/v2" } } },
  },
  "two accounts by explicit providers": {
    stored: {
      one: { settings: { apiKey: WORKS } },
      two: { settings: { apiKey: OF_ANOTHER_ACCOUNT }, projects: ["prj-two"] },
    },
  },
  "two accounts by explicit providers, with a key that was rotated and one by a name": {
    env: { TWO: REFUSED },
    stored: {
      one: { settings: { apiKey: REFUSED } },
      two: { settings: { apiKeyEnv: "TWO" }, projects: ["prj-two"] },
    },
  },
  "explicit providers with nothing of their own": {
    env: { SVC_API_KEY: WORKS },
    stored: { one: { settings: {} }, two: { settings: { apiKey: WORKS }, projects: ["prj-two"] } },
  },
  "an explicit provider whose name has no value": { stored: { one: { settings: { apiKeyEnv: "ONE" } } } },
  "settings that nobody knows": {
    config: { apiKey: WORKS, strictplan: "true", colour: "canary", quiet: "true" },
    env: { SVC_OFFLINE_PLAN: "1" },
  },
  "settings of a project that is called svc": { config: { apiKey: WORKS, strictplan: "true" }, projectName: "svc" },
  "a stored key, and the service does not answer": {
    config: { apiKey: WORKS, baseUrl: NOBODY },
    stored: { default: { settings: { apiKey: ALSO_WORKS, baseUrl: NOBODY } } },
  },
  "a stored key, with projects that the state does not show": {
    config: { apiKey: WORKS },
    stored: { default: { settings: { apiKey: WORKS }, projects: [HIDDEN] } },
  },
  "a stored key that may not read, with projects that the state does not show": {
    config: { apiKey: MAY_NOT_READ },
    stored: { default: { settings: { apiKey: MAY_NOT_READ }, projects: [HIDDEN] } },
  },
  "two forms of a key": { config: { apiKey: WORKS, apiKeyEnv: "PROD_KEY" }, env: { PROD_KEY: WORKS } },
  "a blank key in the configuration, and one in the environment": {
    config: { apiKey: " " },
    plain: ["apiKey"],
    env: { SVC_API_KEY: WORKS },
  },
  "a key in the configuration and in the environment": { config: { apiKey: WORKS }, env: { SVC_API_KEY: REFUSED } },
  "a project that no resource has": {
    config: { apiKey: WORKS },
    project: "prj-none",
    stored: { default: { settings: { apiKey: WORKS } } },
  },
};

test.each(Object.entries(SET_UPS))("%s", async (name, setUp) => {
  const text = textOf(await checksIn(setUp));
  expect(text).not.toContain("canary");
  const section = `\n## ${name}\n\n\`\`\`text\n${text}\n\`\`\`\n`;
  sections.push(section);
  if (process.env["WRITE_TABLE"] === undefined) expect(readFileSync(PAGE, "utf8")).toContain(section);
});

test("claims.md has these set-ups and no others", () => {
  const page = HEAD + sections.join("");
  if (process.env["WRITE_TABLE"] === undefined) expect(readFileSync(PAGE, "utf8")).toBe(page);
  else writeFileSync(PAGE, page);
});

/** The sources of a key, with the service's response to it. */
const KEYS = [undefined, WORKS, ALSO_WORKS, REFUSED] as const;
const FORMS = ["apiKey", "apiKeyEnv", "apiKeyFile", "environment"] as const;
const FILES: Readonly<Record<string, string>> = { [WORKS]: "works", [ALSO_WORKS]: "also", [REFUSED]: "refused" };

/** What a place holds where its form is this one: the variable belongs to the place. */
function given(form: (typeof FORMS)[number], key: string | undefined, variable: string) {
  if (key === undefined)
    return form === "apiKeyEnv" ? { settings: { apiKeyEnv: variable }, env: {} } : { settings: {}, env: {} };
  if (form === "environment") return { settings: {}, env: { SVC_API_KEY: key } };
  if (form === "apiKeyEnv") return { settings: { apiKeyEnv: variable }, env: { [variable]: key } };
  return { settings: { [form]: form === "apiKey" ? key : `keys/${FILES[key] ?? ""}` }, env: {} };
}

/** The truth of each set-up, counted without the code of the doctor: which key refresh, destroy and drift use, and from where. */
const COMBINATIONS = FORMS.flatMap((form) =>
  KEYS.flatMap((key) =>
    FORMS.flatMap((storedForm) =>
      KEYS.flatMap((storedKey) =>
        ["default", "shop"].map((provider) => ({ form, key, storedForm, storedKey, provider })),
      ),
    ),
  ),
);

test("of every pair of a configured and a stored key, the line of the stored one is true", async () => {
  expect(COMBINATIONS).toHaveLength(512);
  for (const { form, key, storedForm, storedKey, provider } of COMBINATIONS) {
    const [next, last] = [given(form, key, "NEXT_KEY"), given(storedForm, storedKey, "LAST_KEY")];
    process.env = { ...clean };
    const env = { ...last.env, ...next.env };
    const checks = await checksIn({ config: next.settings, env, stored: { [provider]: { settings: last.settings } } });
    // The key of a command that does not run the program: from the state, else from the environment.
    const holds =
      storedForm === "environment" || (storedKey === undefined && storedForm !== "apiKeyEnv") ? "nothing" : storedForm;
    const used = holds === "nothing" ? env["SVC_API_KEY"] : storedKey;
    const name = provider === "default" ? "stored key" : "provider shop";
    const lines = checks.filter((check) => check.name === name);
    const what = JSON.stringify({ form, key, storedForm, storedKey, provider, lines });
    expect([what, lines.length]).toEqual([what, 1]);
    const [{ status, message, remedy = "" } = { status: "", message: "" }] = lines;
    const expected =
      used === undefined || used === REFUSED
        ? "failure"
        : provider === "default" && key !== undefined && key !== used
          ? "warning"
          : "ok";
    expect([what, status]).toEqual([what, expected]);
    expect([what, message.includes("(401)")]).toEqual([what, used === REFUSED]);
    expect([what, message.includes("no API key")]).toEqual([what, used === undefined]);
    if (used !== undefined) {
      const words = {
        nothing: /stored no key, so the key in the environment \(SVC_API_KEY\)/,
        apiKey: /stored (a|the same) key/,
        apiKeyEnv: /stored no key, but the name of LAST_KEY/,
        apiKeyFile: /stored no key, but the name of the file/,
      };
      for (const [each, pattern] of Object.entries(words))
        expect([what, each, pattern.test(message)]).toEqual([what, each, each === holds]);
      if (provider === "default") {
        expect([what, message.includes("not the configured one")]).toEqual([what, key !== undefined && key !== used]);
        expect([what, message.includes("the same key")]).toEqual([what, holds === "apiKey" && key === used]);
      }
    }
    // An `up` changes nothing if the state holds no key and will hold none.
    if (used === REFUSED && holds !== "apiKey" && key === undefined)
      expect([what, remedy]).toEqual([what, expect.stringMatching(/No `pulumi up` is needed/)]);
    if (used === REFUSED && holds === "apiKey")
      expect([what, remedy]).toEqual([what, expect.stringMatching(/run `pulumi up`/i)]);
  }
}, 120_000);
