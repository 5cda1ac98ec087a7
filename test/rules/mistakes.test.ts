/**
 * The table of docs/plan.md: the messages of a plan and an `up` for each mistake. This test writes it if WRITE_TABLE is
 * set, otherwise it compares.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/cli";
import { control, STANDARD_EMAIL } from "../support/emulator";
import { Stack, type Declared, type Kind, type Outcome, type Program } from "../support/rules/program";
import { AUTH_PROVIDER, world, type World } from "../support/rules/world";

const P = "prj-demo";
const PRIMARY = "ep-demo-main-10000001";
const DOMAIN = "https://app.example.com";
const SMTP = {
  host: "smtp.example.com",
  port: 587,
  username: "u",
  password: "p",
  senderEmail: "a@example.com",
  senderName: "A",
};
const REPLICA = { branch_id: "br-main", type: "read_only", name: "reports" };

const one = (kind: Kind, inputs: object, name = "a"): Declared => ({ kind, name, inputs: { projectId: P, ...inputs } });

interface Mistake {
  readonly what: string;
  readonly program: Program;
  /** What exists at the service. */
  readonly plant?: (given: World) => Promise<unknown>;
  /** Instead of the account of the service. */
  readonly account?: { readonly baseUrl?: string; readonly apiKey?: string | undefined };
  /** An up with this program came before, in what stood there then. */
  readonly before?: Program;
  readonly given?: (given: World) => Promise<unknown>;
  /** The plan's new messages about it; omitted: the same as before. */
  readonly now?: RegExp;
  /** The up succeeds: what the plan says is what it does. */
  readonly succeeds?: true;
  /** It cannot be seen before the creation. */
  readonly isSilent?: true;
  /** The service never answers as it should. All others have the time that a busy machine needs. */
  readonly isBroken?: true;
}

const fault =
  (spec: object) =>
  ({ url }: World) =>
    control(url, "POST", "/faults", { times: 0, ...spec });
const integration = (given: World) =>
  given.call("POST", "/projects/auth/create", { project_id: P, auth_provider: AUTH_PROVIDER, branch_id: "br-main" });
const withoutIntegration = (given: World) => given.call("DELETE", `/projects/${P}/auth/integration/${AUTH_PROVIDER}`);
const otherIntegration = async (given: World) => {
  await withoutIntegration(given);
  await integration(given);
};
const within = (path: string, body: object) => async (given: World) => {
  await integration(given);
  await given.call("POST", `/projects/${P}${path}`, body);
};
const replica = (given: World) => given.call("POST", `/projects/${P}/endpoints`, { endpoint: REPLICA });

const compute = (inputs: object): Program => [one("ComputeEndpoint", { branchId: "br-dev", ...inputs })];
const COMPUTE = compute({});
const domain = (inputs: object = {}): Program => [one("WhitelistDomain", { domain: DOMAIN, ...inputs })];

const MISTAKES: readonly Mistake[] = [
  { what: "No API key", program: COMPUTE, account: { apiKey: undefined } },
  { what: "No base URL", program: COMPUTE, account: { baseUrl: "" } },
  { what: "A base URL without `/v2`", program: COMPUTE, account: { baseUrl: "https://api.example.com" } },
  { what: "`http://` to another host", program: COMPUTE, account: { baseUrl: "http://api.example.com/v2" } },
  {
    what: "A wrong key",
    program: COMPUTE,
    account: { apiKey: "wrong" },
    now: /error: .*refused a request of this plan.*401/,
  },
  {
    what: "A key without the right to read",
    program: COMPUTE,
    plant: fault({ status: 403, body: { code: "forbidden", message: "not for this key" } }),
    now: /error: .*refused a request of this plan.*403/,
  },
  {
    what: "A port where nothing listens",
    program: COMPUTE,
    account: { baseUrl: "http://127.0.0.1:9/v2" },
    isBroken: true,
    now: /could not be queried.*ECONNREFUSED/,
  },
  {
    what: "Something else answers, such as a login page",
    program: COMPUTE,
    plant: fault({ status: 200, body: "<html>log in</html>", contentType: "text/html" }),
    now: /could not be queried.*the response is a web page/,
  },
  {
    what: "The service fails (503)",
    program: COMPUTE,
    plant: fault({ status: 503 }),
    isBroken: true,
    now: /could not be queried.*the service failed/,
  },
  { what: "A size that is not on offer", program: compute({ size: 17.5 }) },
  { what: "`{ min: 4, max: 1 }`", program: compute({ size: { min: 4, max: 1 } }) },
  { what: "A size of the configuration, which is a string", program: compute({ size: { min: "0.25", max: 2 } }) },
  { what: "A rest after less than 60 seconds", program: compute({ scaleToZero: { afterSeconds: 5 } }) },
  { what: "The name of a branch instead of its id", program: compute({ branchId: "main" }) },
  { what: "A misspelt argument", program: compute({ sise: 1 }) },
  { what: "A read replica with `adopt: true`", program: compute({ type: "read_only", adopt: true }) },
  {
    what: "`clientId` without `clientSecret`",
    program: [one("OAuthProvider", { providerId: "google", clientId: "x" })],
  },
  {
    what: "An e-mail server without a host",
    program: [one("EmailServer", { type: "standard", ...SMTP, host: undefined })],
  },
  { what: "A redirect domain with a path", program: domain({ domain: `${DOMAIN}/login` }) },
  {
    what: "A redirect domain with a wildcard",
    plant: integration,
    program: domain({ domain: "https://*.example.com" }),
    succeeds: true,
  },
  { what: "The same domain twice", program: [one("Whitelist", { domains: [DOMAIN, `${DOMAIN}:443`] })] },
  { what: "A text that is not an e-mail address", program: [one("AuthUser", { email: "nobody" })] },
  {
    what: "Two primary computes on one branch",
    program: [...COMPUTE, one("ComputeEndpoint", { branchId: "br-dev" }, "b")],
  },
  {
    what: "A `WhitelistDomain` beside a `Whitelist`",
    plant: integration,
    program: [one("Whitelist", { domains: [DOMAIN] }), ...domain().map((declared) => ({ ...declared, name: "b" }))],
  },
  {
    what: "A project that is not there",
    program: compute({ projectId: "prj-other" }),
    now: /warning: project prj-other does not exist/,
  },
  {
    what: "An integration in a project that is not there",
    program: [one("AuthIntegration", { projectId: "prj-other", branchId: "br-main" })],
    now: /warning: project prj-other does not exist/,
  },
  {
    what: "A branch that is not there",
    program: compute({ branchId: "br-prod" }),
    now: /warning: project prj-demo has no branch br-prod/,
  },
  {
    what: "A branch that has a primary",
    program: compute({ branchId: "br-main" }),
    now: /the branch already has a primary compute/,
  },
  {
    what: "A read replica of this name",
    program: compute({ branchId: "br-main", type: "read_only", name: "reports" }),
    plant: replica,
    now: /the branch already has a read replica of this name/,
  },
  {
    what: "`adopt` with the id of no compute",
    program: compute({ adopt: "ep-none" }),
    now: /names a compute that is not in this project/,
  },
  {
    what: "`adopt` with a compute of the other type",
    program: compute({ type: "read_only", adopt: PRIMARY }),
    now: /a type cannot be changed/,
  },
  {
    what: "`adopt` to a branch that has a primary",
    program: compute({ branchId: "br-dev", adopt: PRIMARY }),
    plant: (given) =>
      given.call("POST", `/projects/${P}/endpoints`, { endpoint: { branch_id: "br-dev", type: "read_write" } }),
    now: /br-dev already has a primary compute/,
  },
  {
    what: "`adopt` of a primary that is under way",
    program: compute({ branchId: "br-main", adopt: true }),
    plant: (given) => given.edit(P, { kind: "endpoint", id: PRIMARY, set: { current_state: "init" } }),
    now: /is not ready: it is "init"/,
    succeeds: true,
  },
  {
    what: "A compute under another name, without `aliases`",
    before: COMPUTE,
    program: [one("ComputeEndpoint", { branchId: "br-dev" }, "renamed")],
    now: /add an alias/,
  },
  {
    what: "An integration that exists",
    program: [one("AuthIntegration", {})],
    plant: integration,
    now: /an auth integration exists on br-main/,
  },
  {
    what: "`adopt` of an integration that differs",
    program: [one("AuthIntegration", { databaseName: "other", adopt: true })],
    plant: integration,
    now: /which cannot be changed/,
  },
  {
    what: "An integration on a branch that is not the default one",
    program: [one("AuthIntegration", { branchId: "br-dev" })],
    now: /br-dev is not flagged as the default branch/,
  },
  {
    what: "An integration that moves to a branch that is not the default one",
    before: [one("AuthIntegration", {})],
    program: [one("AuthIntegration", { branchId: "br-dev" })],
    now: /is not replaced, because it would be deleted first and might not come back: br-dev is not flagged/,
  },
  { what: "A domain without an integration", program: domain(), now: /has no auth integration/ },
  {
    what: "The wrong auth provider",
    program: domain({ authProvider: "other" }),
    plant: integration,
    now: /has no auth integration with other/,
  },
  {
    what: "A domain that is listed already",
    program: domain(),
    plant: within("/auth/domains", { domain: DOMAIN, auth_provider: AUTH_PROVIDER }),
    now: /is on the whitelist already/,
  },
  {
    what: "A shared OAuth provider that the integration brought",
    program: [one("OAuthProvider", { providerId: "google" })],
    plant: integration,
    now: /exists already, with the shared keys/,
  },
  {
    what: "`adopt` of an OAuth provider that has credentials, without any",
    program: [one("OAuthProvider", { providerId: "microsoft", adopt: true })],
    plant: within("/auth/oauth_providers", { id: "microsoft", client_id: "x", client_secret: "y" }),
    now: /the service cannot remove them/,
  },
  {
    what: "A `Whitelist` in place of a longer list",
    program: [one("Whitelist", { domains: [DOMAIN] })],
    plant: within("/auth/domains", { domain: "https://old.example.com", auth_provider: AUTH_PROVIDER }),
    now: /that this Whitelist does not declare: https:\/\/old\.example\.com/,
    succeeds: true,
  },
  {
    what: "A changed compute that is gone",
    before: COMPUTE,
    program: compute({ size: 2 }),
    plant: async (given) => {
      const made = (await given.computes(P)).find(({ branch_id }) => branch_id === "br-dev");
      await given.edit(P, { kind: "endpoint", id: made?.["id"], delete: true });
    },
    now: /will fail here: compute ep-\S+ \("a"\) no longer exists/,
  },
  {
    what: "A move to a branch that is not there",
    before: COMPUTE,
    program: compute({ branchId: "br-prod" }),
    now: /project prj-demo has no branch br-prod/,
  },
  {
    what: "A move to a branch that has a primary",
    before: COMPUTE,
    program: compute({ branchId: "br-main" }),
    now: /unless the same run removes this first: br-main already has a primary/,
  },
  {
    what: "A move to the branch of a compute that is taken out of the program",
    before: [...COMPUTE, one("ComputeEndpoint", { branchId: "br-test" }, "b")],
    program: compute({ branchId: "br-test" }),
    now: /unless the same run removes this first: br-test already has a primary/,
  },
  { what: "A change to a size that is not on offer", before: COMPUTE, program: compute({ size: 17.5 }) },
  {
    what: "Other credentials for an OAuth provider that is gone",
    given: integration,
    before: [one("OAuthProvider", { providerId: "microsoft", clientId: "x", clientSecret: "y" })],
    program: [one("OAuthProvider", { providerId: "microsoft", clientId: "z", clientSecret: "y" })],
    plant: (given) => given.call("DELETE", `/projects/${P}/auth/oauth_providers/microsoft`),
    now: /will fail here: the OAuth provider microsoft \("a"\) no longer exists/,
  },
  {
    what: "A changed `Whitelist` whose integration is gone",
    given: integration,
    before: [one("Whitelist", { domains: [DOMAIN] })],
    program: [one("Whitelist", { domains: ["https://new.example.com"] })],
    plant: withoutIntegration,
    now: /will fail here: the auth integration of this resource .* no longer exists\./,
  },
  {
    what: "A changed `Whitelist` in somebody else's integration",
    given: integration,
    before: [one("Whitelist", { domains: [DOMAIN] })],
    program: [one("Whitelist", { domains: ["https://new.example.com"] })],
    plant: otherIntegration,
    now: /will fail here: the auth integration of this resource .* another one has replaced it/,
  },
  {
    what: "A changed e-mail server in somebody else's integration",
    given: integration,
    before: [one("EmailServer", { type: "shared" })],
    program: [one("EmailServer", { type: "standard", ...SMTP })],
    plant: otherIntegration,
    now: /will fail here: the auth integration of this resource .* another one has replaced it/,
  },
  {
    what: "An e-mail server in place of another one",
    program: [one("EmailServer", { type: "standard", ...SMTP, host: "smtp.new.example" })],
    plant: async (given) => {
      await integration(given);
      await given.edit(P, { kind: "email_server", set: STANDARD_EMAIL });
    },
    now: /overwrites the e-mail server/,
    succeeds: true,
  },
  {
    what: "A user who exists (users cannot be listed)",
    isSilent: true,
    program: [one("AuthUser", { email: "a@example.com" })],
    plant: async (given) => {
      await integration(given);
      await given.call("POST", "/projects/auth/user", {
        project_id: P,
        auth_provider: AUTH_PROVIDER,
        email: "a@example.com",
      });
    },
  },
  {
    what: "What only the service knows, such as a quota",
    isSilent: true,
    program: COMPUTE,
    plant: fault({ method: "POST", status: 422, body: { code: "quota", message: "too many computes" } }),
  },
];

/** So short that there is no waiting. */
const CLIENT = { throttledMs: 100, lagMs: 20 };
const BROKEN = { ...CLIENT, readDeadlineMs: 250 };
const NOBODY = { account: {} };

/** The messages of each command, line by line. */
interface Row {
  readonly what: string;
  readonly before: readonly string[];
  readonly now: readonly string[];
  /** None: it succeeds. */
  readonly up: readonly string[];
}

async function rowOf(mistake: Mistake): Promise<Row> {
  const { what, program, plant, account = NOBODY.account, before = [], isBroken } = mistake;
  const given = await world();
  const stack = new Stack(
    { baseUrl: given.baseUrl, apiKey: given.apiKey, ...account },
    isBroken === true ? BROKEN : CLIENT,
  );
  await mistake.given?.(given);
  if (before.length > 0) expect((await stack.up(before, { seed: 1, preview: "none" })).errors).toEqual([]);
  await plant?.(given);
  const course = { seed: 1, jitterMs: 0, looks: true } as const;
  process.env["SVC_OFFLINE_PLAN"] = "1";
  const offline = said(await stack.preview(program, course));
  delete process.env["SVC_OFFLINE_PLAN"];
  const now = said(await stack.preview(program, course));
  const { errors, steps } = await stack.up(program, { ...course, preview: "none" });
  return { what, before: offline, now, up: errors.length > 0 ? said({ errors, steps, log: [] }) : [] };
}

/** A command's messages, without parts that differ between runs and without the prefix of each failure. */
function said({ errors, log }: Outcome): string[] {
  const warnings = log.filter(({ severity, ephemeral }) => severity === "warning" && !ephemeral);
  const all = [...errors.map((text) => `error: ${text}`), ...warnings.map(({ message }) => `warning: ${message}`)];
  return all.map((text) =>
    text
      .replace(/^error: (Could not (create|update) \w+( \S+)? \("\w+"\)|\w): /, "error: ")
      .replace(/, created [^.;,]* ago|, created just now/g, "")
      .replace(/, request [\w-]+/g, "")
      .replace(/127\.0\.0\.1:\d+/g, "api.example.com")
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…")
      .replace(/\bep-(?!demo|none)[\w-]+/g, "ep-…"),
  );
}

const LONGEST = 150;

/** A cell: the beginning of the messages, as code, because they contain Markdown characters. */
function cell(lines: readonly string[]): string {
  const text = lines.join(" ");
  const short = text.length > LONGEST ? `${text.slice(0, text.lastIndexOf(" ", LONGEST))} …` : text;
  return `\`${short.replace(/`/g, "'").replace(/\|/g, "\\|")}\``;
}

/** The messages that a plan adds when it asks the service; the others are in the adjacent cell. */
function nowCell({ before, now }: Row): string {
  const more = now.filter((line) => !before.includes(line));
  if (more.length === 0) return "the same";
  return before.some((line) => now.includes(line)) ? `also ${cell(more)}` : cell(more);
}

const PAGE = join(ROOT, "docs", "plan.md");
const TABLE = /(?<=<!-- Written by test\/rules\/mistakes\.test\.ts.*-->\n)[^]*?(?=<!-- end of the table -->)/;

const WRITTEN =
  "the table of docs/plan.md; written anew by WRITE_TABLE=1 npm run test:rules -- test/rules/mistakes.test.ts && npm run format";

const cellsOf = (table: string): string[][] =>
  table
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\| *-/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((part) => part.trim()),
    );

const rows: Row[] = [];

test.each(MISTAKES.map((mistake) => [mistake.what, mistake] as const))("%s", async (_what, mistake) => {
  const row = await rowOf(mistake);
  rows.push(row);
  if (mistake.now === undefined) {
    // But for what a creation may do to what stands there: a plan that has looked knows.
    expect(row.before).toEqual(expect.arrayContaining([...row.now]));
    expect(row.before.filter((line) => !row.now.includes(line)).join("\n")).not.toMatch(/^error/m);
  } else {
    expect(row.before.join("\n")).not.toMatch(mistake.now);
    expect(row.now.join("\n")).toMatch(mistake.now);
  }
  // A plan stays silent only where the service has nothing to look at.
  expect(row.now.length > 0 || mistake.isSilent === true).toBe(true);
  expect(row.up.length).toBe(mistake.succeeds === true ? 0 : 1);
});

test("the table of docs/plan.md has 40 mistakes at least, with the words of the plan and of the up", () => {
  expect(rows.length).toBeGreaterThanOrEqual(40);
  const head = ["Mistake", "The plan without looking", "The plan", "`pulumi up`"];
  const table = rows.map((row) => [
    row.what,
    row.before.length === 0 ? "nothing" : cell(row.before),
    nowCell(row),
    row.up.length === 0 ? "succeeds" : cell(row.up),
  ]);
  const text = [head, head.map(() => "---"), ...table].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  const page = readFileSync(PAGE, "utf8");
  if (process.env["WRITE_TABLE"] !== undefined)
    writeFileSync(
      PAGE,
      page.replace(TABLE, () => `\n${text}\n\n`),
    );
  else expect({ [WRITTEN]: cellsOf(TABLE.exec(page)?.[0] ?? "") }).toEqual({ [WRITTEN]: [head, ...table] });
});
