import {
  type AuthIntegrationRecord,
  type Client,
  type EmailServerRecord,
  type EndpointRecord,
  type ListOptions,
  type OAuthProviderRecord,
  undefinedIfNotShown,
  type WhitelistDomainRecord,
} from "../client";
import { isSameName, nameForm } from "../contract/forms";
import type { Properties } from "../contract/hiddenKeys";
import type { Kind } from "../contract/pointer";
import { livesInside } from "./declarations";
import { domainForm } from "../contract/redirectDomains";
import { compareText } from "./output";

interface Found<Of extends Kind, Record> {
  readonly kind: Of;
  /** The Pulumi id of the resource for this object. */
  readonly id: string;
  /** For users, such as `read_write compute ep-1 on br-main, 1 CU`. */
  readonly describe: string;
  /** How a program adopts it: arguments such as `adopt: true`, or a sentence if no argument is needed. */
  readonly adopt: string;
  /** The arguments without which a program cannot adopt it. */
  readonly identity: Properties;
  /** For the name of an imported resource. Omitted: a project has only one of its kind. */
  readonly name?: string;
  /** The arguments that the service does not show and an import has to declare, and whether each is a secret. */
  readonly hidden?: ReadonlyMap<string, boolean>;
  readonly record: Record;
}

/** The record type of each kind that the service lists. */
interface Records {
  readonly ComputeEndpoint: EndpointRecord;
  readonly AuthIntegration: AuthIntegrationRecord;
  readonly OAuthProvider: OAuthProviderRecord;
  readonly WhitelistDomain: WhitelistDomainRecord;
  readonly EmailServer: EmailServerRecord;
}

/** An object at the service that a resource of this package can manage. */
export type ProjectObject = { [Of in keyof Records]: Found<Of, Records[Of]> }[keyof Records];

interface Listed {
  readonly client: Client;
  readonly projectId: string;
  /** The configured auth provider: objects of another one mention it. */
  readonly authProvider: string;
  readonly options: ListOptions;
}

/** Lists the objects of a kind with one request. */
type Listing<Of extends keyof Records> = (asked: Listed) => Promise<Found<Of, Records[Of]>[]>;

/**
 * Each kind in the order of output; for kinds that cannot be listed, the reason why `import` and `drift --unmanaged`
 * omit them.
 */
const LISTINGS: { readonly [Of in Kind]: Of extends keyof Records ? Listing<Of> : string } = {
  ComputeEndpoint: async ({ client, projectId, options }) =>
    (await client.computes.list(projectId, options)).map((record) => compute(projectId, record)).sort(byAge),
  AuthIntegration: async ({ client, projectId, options }) => {
    // The project has shown its computes: it has no auth.
    const all = await undefinedIfNotShown(() => client.auth.integrations(projectId).list(options));
    return (all ?? []).map((record) => integration(projectId, record)).sort(byAge);
  },
  OAuthProvider: async ({ client, projectId, options }) => {
    const all = await client.auth.oauthProviders(projectId).list(options);
    return all.map((record) => oauthProvider(projectId, record)).sort(byId);
  },
  WhitelistDomain: async ({ client, projectId, authProvider, options }) => {
    const all = await client.auth.domains(projectId).list(options);
    // The service may list one origin in several spellings and for several auth providers.
    const byOrigin = new Map(
      all.map((one) => [`${nameForm(one.auth_provider ?? authProvider)} ${domainForm(one.domain)}`, one]),
    );
    return [...byOrigin.values()].map((record) => domain(projectId, record, authProvider)).sort(byId);
  },
  EmailServer: async ({ client, projectId, options }) => {
    const server = await client.auth.emailServer(projectId, options);
    // Every integration starts with the service's shared email server.
    return server.type === "shared" ? [] : [emailServer(projectId, server)];
  },
  AuthKeys: "the service does not list key sets",
  AuthOwnershipTransfer: "a transfer is a URL to open, not an object",
  AuthUser: "the service does not list users",
  Whitelist: "its domains are listed one by one",
};

/**
 * Whether a new project has this object by default, and it is harmless. The shared OAuth providers of a new integration
 * are not harmless: users can sign in with them.
 * @param defaultBranch undefined if unknown: then no compute counts as default.
 */
export const isThereByItself = ({ kind, record }: ProjectObject, defaultBranch: string | undefined): boolean =>
  kind === "ComputeEndpoint" && record.type === "read_write" && isSameName(record.branch_id, defaultBranch ?? "");

/**
 * Everything that exists in a project, with one request for each list.
 * @param authProvider the configured one: objects of another one mention it
 * @throws NotFoundError if the project does not exist.
 */
export async function listProjectObjects(
  client: Client,
  projectId: string,
  authProvider: string,
  options: ListOptions = {},
): Promise<ProjectObject[]> {
  const asked: Listed = { client, projectId, authProvider, options };
  const listed = async (matches: (kind: Kind) => boolean): Promise<ProjectObject[]> => {
    // The keys of this table are all kinds.
    const kinds = Object.keys(LISTINGS) as Kind[];
    const lists = kinds.filter(matches).flatMap((kind) => {
      const list = LISTINGS[kind];
      return typeof list === "string" ? [] : list(asked);
    });
    return (await Promise.all<ProjectObject[]>(lists)).flat();
  };
  // First and alone: it fails if the project does not exist. Not every project supports auth. One that has an
  // integration has the lists of what is in it: where one is not shown, nothing is known of it.
  const objects = await listed((kind) => kind === "ComputeEndpoint");
  objects.push(...(await listed((kind) => kind !== "ComputeEndpoint" && !livesInside(kind))));
  const hasIntegration = objects.some(({ kind }) => kind === "AuthIntegration");
  return hasIntegration ? [...objects, ...(await listed(livesInside))] : objects;
}

function compute(projectId: string, record: EndpointRecord): Found<"ComputeEndpoint", EndpointRecord> {
  const { id, type, branch_id, name, disabled } = record;
  const parts = [
    `${type} compute ${id} on ${branch_id}`,
    ...(name === undefined ? [] : [JSON.stringify(name)]),
    ...sizeText(record),
    ...(disabled === true ? ["disabled"] : []),
  ];
  return {
    kind: "ComputeEndpoint",
    id: `${projectId}/${id}`,
    describe: parts.join(", "),
    // A branch has only one primary, so no id is needed.
    adopt: type === "read_write" ? "adopt: true" : `adopt: ${JSON.stringify(id)}`,
    identity: { branchId: branch_id, type, adopt: type === "read_write" ? true : id },
    record,
  };
}

function sizeText({
  autoscaling_limit_min_cu: min,
  autoscaling_limit_max_cu: max,
}: Pick<EndpointRecord, "autoscaling_limit_min_cu" | "autoscaling_limit_max_cu">): string[] {
  if (min === undefined || max === undefined) return [];
  return [min === max ? `${max} CU` : `${min} to ${max} CU`];
}

function integration(
  projectId: string,
  record: AuthIntegrationRecord,
): Found<"AuthIntegration", AuthIntegrationRecord> {
  const { auth_provider, branch_id, db_name } = record;
  const database = db_name === undefined ? "" : `, database ${db_name}`;
  return {
    kind: "AuthIntegration",
    id: `${projectId}/${auth_provider}`,
    describe: `auth integration ${auth_provider} on ${branch_id}${database}`,
    adopt: "adopt: true",
    identity: { authProvider: auth_provider },
    record,
  };
}

function oauthProvider(projectId: string, record: OAuthProviderRecord): Found<"OAuthProvider", OAuthProviderRecord> {
  const isShared = record.type === "shared";
  return {
    kind: "OAuthProvider",
    id: `${projectId}/${record.id}`,
    describe: `OAuth provider ${record.id} with ${isShared ? "the service's shared keys" : "credentials of its own"}`,
    adopt: isShared ? "adopt: true" : "adopt: true, with its clientId and clientSecret",
    identity: { providerId: record.id },
    name: record.id,
    ...(!isShared && {
      hidden: new Map([
        ["clientId", false],
        ["clientSecret", true],
      ]),
    }),
    record,
  };
}

function domain(
  projectId: string,
  record: WhitelistDomainRecord,
  authProvider: string,
): Found<"WhitelistDomain", WhitelistDomainRecord> {
  const origin = domainForm(record.domain);
  const { auth_provider = authProvider } = record;
  const other = isSameName(auth_provider, authProvider) ? undefined : auth_provider;
  return {
    kind: "WhitelistDomain",
    id: `${projectId}/${origin}`,
    describe: `redirect domain ${origin}${other === undefined ? "" : ` of auth provider ${other}`}`,
    adopt: `adopt: true${other === undefined ? "" : `, authProvider: ${JSON.stringify(other)}`}`,
    identity: { domain: origin, authProvider: other },
    name: origin.replace(/^.*:\/\//, ""),
    record,
  };
}

function emailServer(projectId: string, record: EmailServerRecord): Found<"EmailServer", EmailServerRecord> {
  const host = record.host === undefined ? "" : ` ${record.host}`;
  return {
    kind: "EmailServer",
    id: projectId,
    describe: `e-mail server${host}`,
    adopt: "declaring it takes it over",
    identity: {},
    hidden: new Map([["password", true]]),
    record,
  };
}

/** Keeps its order when another object is created. */
function byAge(
  left: { id: string; record: { created_at?: string | undefined } },
  right: { id: string; record: { created_at?: string | undefined } },
): number {
  return compareText(left.record.created_at ?? "", right.record.created_at ?? "") || byId(left, right);
}

const byId = (left: { id: string }, right: { id: string }): number => compareText(left.id, right.id);
