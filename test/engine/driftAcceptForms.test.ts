import { inspect } from "node:util";
import { acceptSchema } from "../../src/cli/drift/accept/result";
import type { Kind } from "../../src/contract/pointer";
import { KIND_CASES } from "../kinds";
import { DEMO, wholeIn } from "../kinds/KindCase";
import { STANDARD as emailServerStandard } from "../support/emailServers";
import { STANDARD as oauthStandard } from "../support/oauthProviders";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

/** A change at the service to a resource of the program below. */
interface Row {
  readonly resource: keyof typeof NAMES;
  /** The name in a report. */
  readonly path: string;
  /** A field of the record, in the service's spelling. */
  readonly set?: object;
  readonly change?: (stack: Stack) => Promise<unknown>;
  /** The reason that the command gives if it leaves the edit to a person. */
  readonly left?: RegExp;
}

/** The secrets of the program, and of the changes at the service. */
const SECRETS = [emailServerStandard.password, oauthStandard.clientSecret, "canary-by-hand"];

const domain = (edit: object) => (stack: Stack) => stack.service.edit({ kind: "domain", ...edit });
const pgSettings = (settings: object): object => ({ settings: { pg_settings: settings } });

/**
 * All changes of a round exist at the service together, and each differs from the program's initial value. The last one
 * contains what `--accept` leaves to the user.
 */
const ROUNDS: readonly (readonly Row[])[] = [
  [
    { resource: "auth", path: "branchId", set: { branch_id: "br-test" } },
    { resource: "auth", path: "databaseName", set: { db_name: "other" } },
    {
      resource: "list",
      path: "domains",
      change: async (stack) => {
        await domain({ id: "https://a.example.com", delete: true })(stack);
        await domain({ create: { domain: "https://b.example.com" } })(stack);
      },
    },
    { resource: "email", path: "host", set: { host: "smtp.other.example.com" } },
    { resource: "email", path: "port", set: { port: 25 } },
    { resource: "email", path: "username", set: { username: "other" } },
    { resource: "email", path: "senderEmail", set: { sender_email: "other@example.com" } },
    { resource: "email", path: "senderName", set: { sender_name: "Other" } },
    { resource: "compute", path: "branchId", set: { branch_id: "br-test" } },
    { resource: "compute", path: "type", set: { type: "read_only" } },
    { resource: "compute", path: "name", set: { name: "other" } },
    {
      resource: "compute",
      path: "size",
      set: { autoscaling_limit_min_cu: 8, autoscaling_limit_max_cu: 8 },
    },
    { resource: "compute", path: "scaleToZero", set: { suspend_timeout_seconds: -1 } },
    { resource: "compute", path: "poolerEnabled", set: { pooler_enabled: false } },
    { resource: "compute", path: "disabled", set: { disabled: true } },
    { resource: "compute", path: "passwordlessAccess", set: { passwordless_access: true } },
    { resource: "compute", path: "regionId", set: { region_id: "aws-eu-west-1" } },
    { resource: "compute", path: "provisioner", set: { provisioner: "k8s-pod" } },
    {
      resource: "compute",
      path: "settings.pgSettings.max_parallel_workers",
      set: {
        settings: {
          pg_settings: { max_parallel_workers: "8" },
          preload_libraries: { use_defaults: true, enabled_libraries: ["pg_cron", "timescaledb"] },
        },
      },
    },
    { resource: "compute", path: "settings.preloadLibraries.useDefaults" },
    { resource: "compute", path: "settings.preloadLibraries.enabledLibraries" },
    { resource: "replica", path: "size.max", set: { autoscaling_limit_max_cu: 8 } },
    {
      resource: "replica",
      path: "scaleToZero.afterSeconds",
      set: { suspend_timeout_seconds: 3000 },
    },
    { resource: "replica", path: "settings.pgSettings.work_mem", set: pgSettings({}) },
  ],
  [
    {
      resource: "list",
      path: "domains",
      change: async (stack) => {
        for (const id of ["https://app.example.com", "https://b.example.com"])
          await domain({ id, delete: true })(stack);
      },
    },
    { resource: "email", path: "type", set: { type: "shared" } },
    {
      resource: "compute",
      path: "size",
      set: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 4 },
    },
    { resource: "compute", path: "scaleToZero", set: { suspend_timeout_seconds: 120 } },
    { resource: "replica", path: "scaleToZero", set: { suspend_timeout_seconds: 0 } },
  ],
  [
    {
      resource: "compute",
      path: "poolerMode",
      set: { pooler_mode: "session" },
      left: /cannot be declared/,
    },
    {
      resource: "oauth",
      path: "clientId",
      set: { type: "shared", client_id: null, client_secret: null },
      left: /does not show/,
    },
    {
      resource: "email",
      path: "type",
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

/** The kinds that the program declares with all arguments; a replica beside them has fewer. */
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
    // There is only one of the others.
    const id =
      kind === "ComputeEndpoint" || kind === "OAuthProvider"
        ? (await stack.resource(resource)).id.split("/")[1]
        : undefined;
    await stack.service.edit({ kind: RECORDS[kind], id, set });
  }
}

async function expectAccepted(stack: Stack, round: readonly Row[]): Promise<void> {
  await changedByHand(stack, round);
  const ended = await svc(stack, ["drift", "--accept", "--force", "--json"]);
  const result = acceptSchema.parse(JSON.parse(ended.stdout));
  const accepted = result.accepted.map(({ name, path }) => `${name} ${path}`);
  const reasons = new Map(result.left.map(({ name, path, reason }) => [`${name} ${path}`, reason]));
  for (const { resource, path, left } of round) {
    if (left === undefined) expect(accepted).toContain(`${resource} ${path}`);
    else expect(reasons.get(`${resource} ${path}`)).toMatch(left);
  }
  if (round.some(({ left }) => left !== undefined)) {
    expect(ended.code).toBe(7);
    return;
  }
  expect([ended.code, result.left]).toEqual([0, []]);
  await stack.service.clearRequests();
  expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
}

test("each form of an argument is accepted or told, and what is accepted is no change any more", async () => {
  const stack = await Stack.create({ program: program() });
  expect(await stack.up()).toMatchObject({ code: 0 });
  for (const round of ROUNDS) await expectAccepted(stack, round);
  expect(await stack.leaks([...SECRETS, stack.service.emulator.apiKey])).toEqual([]);
});
