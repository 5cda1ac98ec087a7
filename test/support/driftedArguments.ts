import type { Kind } from "../../src/contract/pointer";
import { EACH_CASE } from "../kinds";

/** An argument of a kind, and a change of it at the service by somebody else. */
export interface DriftedArgument {
  readonly kind: Kind;
  readonly argument: string;
  /** In its own project, so that no other drift hides it. */
  readonly projectId: string;
  /** The name of the resource. */
  readonly name: string;
  /** Its declaration, as JavaScript. */
  readonly declaration: string;
  /** An edit of the emulator. `id`: of the object at the service. */
  readonly edit: (id: string) => Readonly<Record<string, unknown>>;
  /** The path of the property in the drift report; undefined if the object is deleted. */
  readonly path: string | undefined;
  readonly repair: "update" | "replace" | "create";
}

/** Arguments that cannot be changed at the service, or whose changes it does not show. */
const NEVER: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  AuthKeys: ["rotationTriggers"],
  AuthOwnershipTransfer: ["triggers"],
  AuthUser: ["email", "name"],
  ComputeEndpoint: ["restartTriggers", "deletionProtection"],
  AuthIntegration: ["roleName", "deletionProtection"],
  OAuthProvider: ["clientSecret"],
  WhitelistDomain: ["expiresOn"],
};
/** They identify the object: another value is another object. */
const IDENTITY = ["projectId", "authProvider", "providerId", "adopt"];

const SMTP = `type: "standard", host: "smtp.example.com", port: 587, username: "mailer", password: pulumi.secret("canary-table-password"), senderEmail: "auth@example.com", senderName: "Example"`;
const OWN = `providerId: "google", adopt: true, clientId: "own-id", clientSecret: pulumi.secret("canary-table-secret")`;
const SITES = `["https://a.example.com", "https://b.example.com"]`;

type Row = readonly [
  argument: string,
  args: string,
  edit: DriftedArgument["edit"],
  repair?: DriftedArgument["repair"],
  path?: string,
];

const compute =
  (set: object): DriftedArgument["edit"] =>
  (id) => ({ kind: "endpoint", id, set });
const mail = (set: object) => () => ({ kind: "email_server", set });
const google = (set: object) => () => ({ kind: "oauth_provider", id: "google", set });
const integration = (set: object) => () => ({ kind: "integration", set });

const ROWS: Readonly<Partial<Record<Kind, readonly Row[]>>> = {
  ComputeEndpoint: [
    ["branchId", "", compute({ branch_id: "br-other" })],
    ["type", `type: "read_only"`, compute({ type: "read_write" }), "replace"],
    ["name", `name: "reports"`, compute({ name: "theirs" })],
    ["size", "size: { min: 1, max: 4 }", compute({ autoscaling_limit_max_cu: 8 }), "update", "size.max"],
    [
      "scaleToZero",
      "scaleToZero: { afterSeconds: 900 }",
      compute({ suspend_timeout_seconds: 60 }),
      "update",
      "scaleToZero.afterSeconds",
    ],
    ["poolerEnabled", "poolerEnabled: true", compute({ pooler_enabled: false })],
    ["poolerMode", `poolerMode: "transaction"`, compute({ pooler_mode: "session" })],
    ["disabled", "disabled: false", compute({ disabled: true })],
    ["passwordlessAccess", "passwordlessAccess: false", compute({ passwordless_access: true })],
    ["regionId", `regionId: "aws-us-east-1"`, compute({ region_id: "aws-eu-west-1" }), "replace"],
    ["provisioner", `provisioner: "k8s-neonvm"`, compute({ provisioner: "k8s-pod" })],
    [
      "settings",
      `settings: { pgSettings: { work_mem: "64MB" } }`,
      compute({ settings: { pg_settings: { work_mem: "1MB" } } }),
      "update",
      "settings.pgSettings.work_mem",
    ],
  ],
  AuthIntegration: [
    ["branchId", `branchId: "br-main"`, integration({ branch_id: "br-other" }), "replace"],
    ["databaseName", `branchId: "br-main", databaseName: "svcdb"`, integration({ db_name: "theirs" }), "replace"],
  ],
  EmailServer: [
    ["type", SMTP, () => ({ kind: "email_server", delete: true })],
    ["host", SMTP, mail({ host: "theirs.example.com" })],
    ["port", SMTP, mail({ port: 25 })],
    ["username", SMTP, mail({ username: "theirs" })],
    ["password", SMTP, mail({ password: "canary-table-theirs" })],
    ["senderEmail", SMTP, mail({ sender_email: "theirs@example.com" })],
    ["senderName", SMTP, mail({ sender_name: "Theirs" })],
  ],
  OAuthProvider: [
    [
      "clientId",
      `providerId: "google", adopt: true`,
      google({ type: "standard", client_id: "theirs", client_secret: "canary-table-theirs" }),
      "replace",
    ],
    [
      "absent",
      `providerId: "google", absent: true, adopt: true`,
      () => ({ kind: "oauth_provider", create: { id: "google" } }),
      "replace",
    ],
    ["clientId", OWN, google({ type: "shared", client_id: null, client_secret: null })],
  ],
  Whitelist: [
    ["domains", `domains: ${SITES}`, () => ({ kind: "domain", create: { domain: "https://theirs.example.com" } })],
  ],
  WhitelistDomain: [
    [
      "domain",
      `domain: "https://a.example.com"`,
      () => ({ kind: "domain", id: "https://a.example.com", delete: true }),
      "create",
    ],
  ],
};

const declarationOf = (kind: Kind, name: string, projectId: string, args: string): string => {
  if (kind === "ComputeEndpoint")
    return `new svc.ComputeEndpoint("${name}", { projectId: "${projectId}", branchId: "br-dev", ${args} });`;
  if (kind === "AuthIntegration") return `new svc.AuthIntegration("${name}", { projectId: "${projectId}", ${args} });`;
  return `new svc.${kind}("${name}", { projectId: new svc.AuthIntegration("auth-${name}", { projectId: "${projectId}" }).projectId, ${args} });`;
};

/** A row for each argument that can drift, each in its own project. */
export const DRIFTED_ARGUMENTS: readonly DriftedArgument[] = Object.entries(ROWS).flatMap(([key, rows]) =>
  rows.map(([argument, args, edit, repair = "update", path = argument]) => {
    // The keys of the table above.
    const kind = key as Kind;
    const name = `${kind}-${argument}-${repair}`;
    const projectId = `prj-${name.toLowerCase()}`;
    return {
      ...{ kind, argument, projectId, name, edit, repair },
      declaration: declarationOf(kind, name, projectId, args),
      path: repair === "create" ? undefined : path,
    };
  }),
);

/** Arguments that neither a row nor a list above covers: empty if the table is complete. */
export const ARGUMENTS_WITHOUT_ROW: readonly string[] = EACH_CASE.flatMap(({ kind, arguments: all }) =>
  Object.keys(all)
    .filter((argument) => !IDENTITY.includes(argument) && !(NEVER[kind] ?? []).includes(argument))
    .filter((argument) => !DRIFTED_ARGUMENTS.some((row) => row.kind === kind && row.argument === argument))
    .map((argument) => `${kind}.${argument}`),
);
