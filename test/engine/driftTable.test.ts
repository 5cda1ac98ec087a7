/**
 * The table of docs/drift.md: every argument that somebody can change at the service, and what the command does about it.
 * Written by this test where WRITE_TABLE is set, else compared.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { acceptSchema } from "../../src/cli/drift/accept/result";
import { compareText } from "../../src/cli/output";
import { KINDS, type Kind } from "../../src/contract/pointer";
import { KIND_CASES } from "../kinds";
import { DEMO, wholeIn } from "../kinds/KindCase";
import { ROOT } from "../support/cli";
import { STANDARD as emailServerStandard } from "../support/emailServers";
import { STANDARD as oauthStandard } from "../support/oauthProviders";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

/** A change that somebody makes at the service, of a resource of the program below. */
interface Row {
  readonly resource: keyof typeof NAMES;
  /** As a report names it. */
  readonly path: string;
  readonly what: string;
  /** Of the record, in the words of the service. */
  readonly set?: object;
  readonly change?: (stack: Stack) => Promise<unknown>;
  /** What the command says, where it leaves it to a person. */
  readonly left?: RegExp;
}

/** Of the program, and of somebody who changes the service by hand. */
const SECRETS = [emailServerStandard.password, oauthStandard.clientSecret, "canary-by-hand"];

const domain = (edit: object) => (stack: Stack) => stack.service.edit({ kind: "domain", ...edit });
const pgSettings = (settings: object): object => ({ settings: { pg_settings: settings } });

/**
 * All changes of a round stand at the service at once, and each of them differs from what the program began with. What
 * `--accept` leaves to a person is in the last one.
 */
const ROUNDS: readonly (readonly Row[])[] = [
  [
    { resource: "auth", path: "branchId", what: "another value", set: { branch_id: "br-test" } },
    { resource: "auth", path: "databaseName", what: "another value", set: { db_name: "other" } },
    {
      resource: "list",
      path: "domains",
      what: "one added, one removed",
      change: async (stack) => {
        await domain({ id: "https://a.example.com", delete: true })(stack);
        await domain({ create: { domain: "https://b.example.com" } })(stack);
      },
    },
    { resource: "email", path: "host", what: "another value", set: { host: "smtp.other.example.com" } },
    { resource: "email", path: "port", what: "another value", set: { port: 25 } },
    { resource: "email", path: "username", what: "another value", set: { username: "other" } },
    { resource: "email", path: "senderEmail", what: "another value", set: { sender_email: "other@example.com" } },
    { resource: "email", path: "senderName", what: "another value", set: { sender_name: "Other" } },
    { resource: "compute", path: "branchId", what: "another value", set: { branch_id: "br-test" } },
    { resource: "compute", path: "type", what: "another value", set: { type: "read_only" } },
    { resource: "compute", path: "name", what: "another value", set: { name: "other" } },
    {
      resource: "compute",
      path: "size",
      what: "a number for a range",
      set: { autoscaling_limit_min_cu: 8, autoscaling_limit_max_cu: 8 },
    },
    { resource: "compute", path: "scaleToZero", what: "`false` for a time", set: { suspend_timeout_seconds: -1 } },
    { resource: "compute", path: "poolerEnabled", what: "another value", set: { pooler_enabled: false } },
    { resource: "compute", path: "disabled", what: "another value", set: { disabled: true } },
    { resource: "compute", path: "passwordlessAccess", what: "another value", set: { passwordless_access: true } },
    { resource: "compute", path: "regionId", what: "another value", set: { region_id: "aws-eu-west-1" } },
    { resource: "compute", path: "provisioner", what: "another value", set: { provisioner: "k8s-pod" } },
    {
      resource: "compute",
      path: "settings.pgSettings.max_parallel_workers",
      what: "another value",
      set: {
        settings: {
          pg_settings: { max_parallel_workers: "8" },
          preload_libraries: { use_defaults: true, enabled_libraries: ["pg_cron", "timescaledb"] },
        },
      },
    },
    { resource: "compute", path: "settings.preloadLibraries.useDefaults", what: "another value" },
    { resource: "compute", path: "settings.preloadLibraries.enabledLibraries", what: "one added" },
    { resource: "replica", path: "size.max", what: "another value", set: { autoscaling_limit_max_cu: 8 } },
    {
      resource: "replica",
      path: "scaleToZero.afterSeconds",
      what: "another value",
      set: { suspend_timeout_seconds: 3000 },
    },
    { resource: "replica", path: "settings.pgSettings.work_mem", what: "removed", set: pgSettings({}) },
  ],
  [
    {
      resource: "list",
      path: "domains",
      what: "all removed",
      change: async (stack) => {
        for (const id of ["https://app.example.com", "https://b.example.com"])
          await domain({ id, delete: true })(stack);
      },
    },
    { resource: "email", path: "type", what: "the shared server for an own one", set: { type: "shared" } },
    {
      resource: "compute",
      path: "size",
      what: "a range for a number",
      set: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 4 },
    },
    { resource: "compute", path: "scaleToZero", what: "a time for `false`", set: { suspend_timeout_seconds: 120 } },
    { resource: "replica", path: "scaleToZero", what: "`true` for a time", set: { suspend_timeout_seconds: 0 } },
  ],
  [
    {
      resource: "compute",
      path: "poolerMode",
      what: "another value",
      set: { pooler_mode: "session" },
      left: /cannot be declared/,
    },
    {
      resource: "oauth",
      path: "clientId",
      what: "the shared keys of the service",
      set: { type: "shared", client_id: null, client_secret: null },
      left: /does not show/,
    },
    {
      resource: "email",
      path: "type",
      what: "an own server for the shared one",
      set: {
        type: "standard",
        host: "h.example.com",
        port: 25,
        username: "u",
        password: "canary-by-hand",
        sender_email: "a@example.com",
        sender_name: "A",
      },
      left: /password/,
    },
  ],
];

/** Why each other argument cannot drift. */
const NO_DRIFT: { readonly [K in Kind]: Readonly<Record<string, string>> } = {
  AuthIntegration: { projectId: "id", authProvider: "id", roleName: "not shown", adopt: "creation" },
  AuthKeys: { projectId: "id", authProvider: "id", rotationTriggers: "not sent" },
  AuthOwnershipTransfer: { projectId: "id", authProvider: "id", triggers: "not sent" },
  AuthUser: { projectId: "id", authProvider: "id", email: "not listed", name: "not listed" },
  ComputeEndpoint: { projectId: "id", restartTriggers: "not sent", adopt: "creation" },
  EmailServer: { projectId: "id", password: "not shown" },
  OAuthProvider: { projectId: "id", providerId: "id", clientSecret: "not shown", adopt: "creation" },
  Whitelist: { projectId: "id", authProvider: "id" },
  WhitelistDomain: { projectId: "id", authProvider: "id", domain: "id", adopt: "creation" },
};

/** The kinds that the program declares with all their arguments; a replica beside them has fewer. */
const NAMES = {
  auth: "AuthIntegration",
  oauth: "OAuthProvider",
  list: "Whitelist",
  email: "EmailServer",
  compute: "ComputeEndpoint",
  replica: "ComputeEndpoint",
} as const satisfies Record<string, Kind>;

const REPLICA = {
  projectId: DEMO.projectId,
  branchId: DEMO.main,
  type: "read_only",
  name: "replica",
  size: { min: 1, max: 2 },
  scaleToZero: { afterSeconds: 600 },
  settings: { pgSettings: { work_mem: "64MB" } },
};

const program = (): string =>
  Object.entries(NAMES)
    .map(([name, kind]) => {
      const args = name === "replica" ? REPLICA : wholeIn(KIND_CASES[kind], DEMO);
      const options = KIND_CASES[kind].inIntegration ? "{ dependsOn: auth }" : "{}";
      const start = name === "auth" ? "const auth = " : "";
      return `${start}new svc.${kind}("${name}", ${inspect(args, { depth: 9 })}, ${options});`;
    })
    .join("\n");

const RECORDS = {
  AuthIntegration: "integration",
  OAuthProvider: "oauth_provider",
  EmailServer: "email_server",
  ComputeEndpoint: "endpoint",
  Whitelist: "domain",
} as const;

async function changedByHand(stack: Stack, round: readonly Row[]): Promise<void> {
  for (const { resource, set, change } of round) {
    await change?.(stack);
    if (set === undefined) continue;
    const kind = NAMES[resource];
    // Of the others there is one.
    const id =
      kind === "ComputeEndpoint" || kind === "OAuthProvider"
        ? (await stack.resource(resource)).id.split("/")[1]
        : undefined;
    await stack.service.edit({ kind: RECORDS[kind], id, set });
  }
}

const keyOf = ({ resource, path }: { readonly resource: string; readonly path: string }): string =>
  `${resource} ${path}`;

/** What `--accept` does about each change: each round is accepted, and then a plan is empty. */
async function accepted(stack: Stack): Promise<Map<Row, string>> {
  const cells = new Map<Row, string>();
  for (const round of ROUNDS) {
    await changedByHand(stack, round);
    const ended = await svc(stack, ["drift", "--accept", "--force", "--json"]);
    const result = acceptSchema.parse(JSON.parse(ended.stdout));
    const acceptedKeys = result.accepted.map(({ name, path }) => keyOf({ resource: name, path }));
    const reasons = new Map(result.left.map(({ name, path, reason }) => [`${name} ${path}`, reason]));
    for (const row of round) {
      const reason = reasons.get(keyOf(row));
      cells.set(row, reason === undefined ? "edited" : `told: ${reason}`);
      if (row.left === undefined) expect(acceptedKeys).toContain(keyOf(row));
      else expect([keyOf(row), reason]).toEqual([keyOf(row), expect.stringMatching(row.left)]);
    }
    const isAll = round.every(({ left }) => left === undefined);
    expect(ended.code).toBe(isAll ? 0 : 7);
    if (!isAll) continue;
    expect(result.left).toEqual([]);
    expect(await stack.drift()).toMatchObject({ code: 0 });
    await stack.service.clearRequests();
    expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([]);
  }
  return cells;
}

/** The columns of the table: what each way does about a change. */
const WAYS: Readonly<Record<string, (stack: Stack) => Promise<Map<Row, string>>>> = { "`drift --accept`": accepted };

const columns = new Map<string, Map<Row, string>>();

test("every argument of every kind drifts in a row of the table, or cannot drift", () => {
  const drifting = (kind: Kind): string[] =>
    ROUNDS.flat()
      .filter(({ resource }) => NAMES[resource] === kind)
      .map(({ path }) => path.split(".")[0] ?? path);
  for (const kind of KINDS) {
    const all = [...drifting(kind), ...Object.keys(NO_DRIFT[kind])];
    expect([...new Set(all)].toSorted()).toEqual(Object.keys(KIND_CASES[kind].arguments).toSorted());
  }
});

test.each(Object.entries(WAYS))("%s: each change ends as the table says", async (way, run) => {
  const stack = await Stack.create({ program: program() });
  expect(await stack.up()).toMatchObject({ code: 0 });
  columns.set(way, await run(stack));
  expect(await stack.leaks([...SECRETS, stack.service.emulator.apiKey])).toEqual([]);
  await stack.close();
});

const PAGE = join(ROOT, "docs", "drift.md");
const TABLE = /(?<=<!-- Written by test\/engine\/driftTable\.test\.ts.*-->\n)[^]*?(?=<!-- end of the table -->)/;

const cellsOf = (table: string): string[][] =>
  table
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\| *-/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

test("docs/drift.md has the table", () => {
  const head = ["Resource", "Argument", "Changed by hand to", ...columns.keys()];
  const rows = ROUNDS.flat().map((row) => [
    `\`${NAMES[row.resource]}\``,
    `\`${row.path}\``,
    row.what,
    ...[...columns.values()].map((cells) => cells.get(row) ?? "not tried"),
  ]);
  const sorted = rows.toSorted((left, right) => compareText(left.join(), right.join()));
  const text = [head, head.map(() => "---"), ...sorted].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  const page = readFileSync(PAGE, "utf8");
  if (process.env["WRITE_TABLE"] !== undefined)
    writeFileSync(
      PAGE,
      page.replace(TABLE, () => `\n${text}\n\n`),
    );
  else expect(cellsOf(TABLE.exec(page)?.[0] ?? "")).toEqual([head, ...sorted]);
});
