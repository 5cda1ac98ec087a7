/**
 * `pulumi-svc/audit`: what a production stack should not contain. Each rule looks only at one resource, so that
 * `pulumi-svc doctor --audit` (a state) and a policy pack (a plan) apply the same rules.
 */
import { BlockList, isIP } from "node:net";
import { isSecret } from "../contract/engineSecrets";
import { datesIn, isExpired } from "../contract/expiry";
import { visible } from "../contract/hiddenKeys";
import { typeInUrn } from "../contract/identifiers";
import { isProviderType, KINDS, type Kind, kindOfEntry, kindOfType, settingKey, STACK_TYPE } from "../contract/pointer";
import { hasWildcard, redirectDomainIn, type RedirectDomain } from "../contract/redirectDomains";
import { isReference, referenceProblem } from "../contract/references";
import { mayBeSecret } from "../contract/secretNames";
import { standInsIn } from "../contract/standIns";
import { type Changed, changedSinceFirst, withoutTransfer } from "../contract/watched";
import { LARGEST_AUTOSCALING_CU } from "../helpers/computeSizes";
import { isObject } from "../helpers/given";

/** A resource of a state or of a plan. Types of other packages are ignored. */
export interface AuditedResource {
  /** The Pulumi type, such as `pulumi-nodejs:dynamic/svc:ComputeEndpoint`. */
  readonly type: string;
  readonly name: string;
  readonly urn: string;
  /** Its arguments, and its outputs if they are known. Secrets are marked as in the state, or in clear. */
  readonly props: Readonly<Record<string, unknown>>;
  /** Undefined if unknown. */
  readonly protect: boolean | undefined;
  /** A component: its outputs contain whatever the program set. @default false */
  readonly isComponent?: boolean;
  /** For an AuthIntegration: an AuthOwnershipTransfer of the stack has transferred its ownership, or may have. */
  readonly isTransferred?: boolean;
  /**
   * For an AuthIntegration: the OAuth providers that the service adds by default and that the stack does not declare.
   */
  readonly undeclaredOAuth?: readonly string[];
}

/** The limits that the user allows. A rule without its limit finds nothing. */
export interface AuditLimits {
  /** The largest size of a compute, in compute units (CU). */
  readonly maxSizeCu?: number;
}

export interface AuditRule {
  /** In kebab-case. It never changes, because policies and svc-drift.json refer to it. */
  readonly name: string;
  /** What it finds, in one sentence. */
  readonly description: string;
  /** What to do about it. */
  readonly remedy: string;
  /** The problem of the resource, without any secret; undefined if there is none. */
  find(resource: AuditedResource, limits: AuditLimits): string | undefined;
}

type Props = AuditedResource["props"];

/** For resources of these kinds. A resource without arguments is only read (`get`), and declared elsewhere. */
function ofKinds(
  kinds: readonly Kind[],
  find: (props: Props, kind: Kind, resource: AuditedResource, limits: AuditLimits) => string | undefined,
): AuditRule["find"] {
  return (resource, limits) => {
    const kind = kindOfEntry({ type: resource.type, custom: resource.isComponent !== true });
    const props = visible(resource.props);
    if (kind === undefined || !kinds.includes(kind) || Object.keys(props).length === 0) return undefined;
    return find(props, kind, resource, limits);
  };
}

/** For a value that a rule needs but that the state holds encrypted: an audit decrypts nothing. */
const unread = (argument: string): string => `"${argument}" is marked as a secret, so it could not be checked`;

const sharedOAuthKeys: AuditRule = {
  name: "shared-oauth-keys",
  description: "An OAuth provider uses the shared keys of the service.",
  remedy: 'Register an application of your own at the provider, and declare its "clientId" and "clientSecret".',
  find: ofKinds(["OAuthProvider"], ({ type, clientId, clientSecret, absent }) => {
    if (isSecret(type)) return unread("type");
    // The type is what the service shows; a plan has only the arguments.
    const isShared =
      typeof type === "string"
        ? type === "shared"
        : clientId === undefined && clientSecret === undefined && absent !== true;
    return isShared ? "uses the shared keys of the service" : undefined;
  }),
};

const sharedMailServer: AuditRule = {
  name: "shared-mail-server",
  description: "The shared mail server of the service sends the mail.",
  remedy: 'Declare a mail server of your own: type "standard", with its host, port, credentials and sender.',
  find: ofKinds(["EmailServer"], ({ type }) => {
    if (isSecret(type)) return unread("type");
    return type === "shared" ? "the shared mail server of the service sends the mail" : undefined;
  }),
};

const redirectLocalhost: AuditRule = {
  name: "redirect-localhost",
  description: "Users may be redirected to an origin on their own machine.",
  remedy: "Remove the domain, or declare it in the stacks of development only.",
  find: redirects(({ isApp, host }) => !isApp && isOwnMachine(host), "an origin on the user's own machine"),
};

const redirectPlainHttp: AuditRule = {
  name: "redirect-plain-http",
  description:
    "Users may be redirected to an origin without TLS. Origins on their own machine belong to redirect-localhost.",
  remedy: "Serve the application with TLS, and declare the domain with https://.",
  find: redirects(({ scheme, host }) => scheme === "http" && !isOwnMachine(host), "an origin without TLS"),
};

const redirectWildcard: AuditRule = {
  name: "redirect-wildcard",
  description: "Users may be redirected to every origin that a domain with a wildcard matches.",
  remedy:
    "Declare each origin. Of preview deployments, use one domain of your own: anybody can have a host below a shared one.",
  find: redirects(hasWildcard, "every origin that a wildcard matches"),
};

function redirects(isWrong: (domain: RedirectDomain) => boolean, what: string): AuditRule["find"] {
  return ofKinds(["Whitelist", "WhitelistDomain"], (props, kind) => {
    const all = datesIn(kind, props).map(({ origin }) => origin);
    const wrong = all.flatMap(domainsIn).filter(isWrong).map(shownAddress);
    if (wrong.length > 0) return `allows redirects to ${what}: ${wrong.join(", ")}`;
    return all.some(isSecret) ? unread(kind === "Whitelist" ? "domains" : "domain") : undefined;
  });
}

/** Of more than an origin, which a plan refuses, the origin counts: the rest may contain a password. */
function domainsIn(value: unknown): RedirectDomain[] {
  if (typeof value !== "string") return [];
  const domain = redirectDomainIn(value.replace(/^(https?:\/\/)(?:[^/?#]*@)?([^/?#]*).*$/is, "$1$2"));
  return domain === undefined ? [] : [domain];
}

/** Of an app's address without its path. */
const shownAddress = ({ form, scheme, host, isApp }: RedirectDomain): string => (isApp ? `${scheme}://${host}` : form);

const redirectExpired: AuditRule = {
  name: "redirect-expired",
  description: "The day of a redirect domain (`expiresOn`) has come, and it is still declared.",
  remedy: "Remove the domain from the program, or declare a later day, and run `pulumi up`.",
  find: ofKinds(["Whitelist", "WhitelistDomain"], (props, kind) => {
    const all = datesIn(kind, props);
    const expired = all.flatMap(({ origin, expiresOn }) => {
      if (typeof expiresOn !== "string" || !isExpired(expiresOn)) return [];
      const [domain] = domainsIn(origin);
      return `${domain === undefined ? "a domain" : shownAddress(domain)} (expiresOn ${expiresOn})`;
    });
    if (expired.length > 0) return `still allows redirects to ${expired.join(", ")}`;
    const isUnread = all.some(({ expiresOn }) => isSecret(expiresOn));
    return isUnread ? unread(kind === "Whitelist" ? "domains" : "expiresOn") : undefined;
  }),
};

/** A BlockList also matches the IPv6 form of an IPv4 address (`::ffff:127.0.0.1`). */
const ownAddresses = new BlockList();
ownAddresses.addSubnet("127.0.0.0", 8);
ownAddresses.addAddress("0.0.0.0");
ownAddresses.addAddress("::1", "ipv6");
ownAddresses.addAddress("::", "ipv6");

/**
 * `hostname`: in the notation of `URL`. Wider than `isLoopback` of the contract, which says where an API key may be
 * sent.
 */
function isOwnMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, "");
  const version = isIP(host);
  if (version !== 0) return ownAddresses.check(host, version === 6 ? "ipv6" : "ipv4");
  return host === "localhost" || host.endsWith(".localhost");
}

const whitelistNotExclusive: AuditRule = {
  name: "whitelist-not-exclusive",
  description: "A redirect domain is declared by itself, so domains that others add are not drift.",
  remedy: "Declare one Whitelist with all domains (in a ProjectAuth: exclusiveDomains: true).",
  find: ofKinds(["WhitelistDomain"], () => "is one domain of a list that others may add to"),
};

const neverScalesToZero: AuditRule = {
  name: "never-scales-to-zero",
  description: "A compute runs, and is paid for, also while nobody uses it.",
  remedy: `Declare scaleToZero: true, or { afterSeconds }. A fixed size above ${LARGEST_AUTOSCALING_CU} CU never scales to zero.`,
  find: ofKinds(["ComputeEndpoint"], (props) => {
    if (isAlwaysOn(props)) {
      const fixed = fixedCu(props);
      return `${NEVER_SCALES}${fixed === undefined ? "" : `, because it has a fixed size of ${fixed} CU`}`;
    }
    const { scaleToZero, suspendTimeoutSeconds, disabled } = props;
    if (disabled === true) return undefined;
    if (isSecret(scaleToZero)) return unread("scaleToZero");
    return scaleToZero === undefined && isSecret(suspendTimeoutSeconds) ? unread("suspendTimeoutSeconds") : undefined;
  }),
};

const NEVER_SCALES = "never scales to zero";

function isAlwaysOn(props: Props): boolean {
  const { scaleToZero, suspendTimeoutSeconds, disabled } = props;
  // A disabled compute is suspended, and no query starts it.
  if (disabled === true) return false;
  if (fixedCu(props) !== undefined || scaleToZero === false) return true;
  // Not declared: the value that the service shows.
  return scaleToZero === undefined && suspendTimeoutSeconds === NEVER;
}

/** Its size, if that is too large to scale. */
function fixedCu({ size, autoscalingLimitMaxCu }: Props): number | undefined {
  const largest = largestCu(size) ?? largestCu(autoscalingLimitMaxCu);
  return largest !== undefined && largest > LARGEST_AUTOSCALING_CU ? largest : undefined;
}

/** The service's value for a compute that never suspends (docs/design/api.md, Computes). */
const NEVER = -1;

const alwaysOnWithoutRestart: AuditRule = {
  name: "always-on-without-restart",
  description:
    "A compute never scales to zero and declares no restartTriggers. It may need a restart by hand to receive releases of the service.",
  remedy:
    "Declare restartTriggers with the date of the last intended restart, and change the date to restart it (docs/recipes.md).",
  find: ofKinds(["ComputeEndpoint"], (props) =>
    isAlwaysOn(props) && props["restartTriggers"] === undefined
      ? `${NEVER_SCALES}, and no "restartTriggers" restarts it for releases of the service`
      : undefined,
  ),
};

const sizeOverLimit: AuditRule = {
  name: "size-over-limit",
  description: "A compute can be larger than the given limit. Without a limit, the rule finds nothing.",
  remedy: "Declare a smaller size, or raise the limit.",
  find: ofKinds(["ComputeEndpoint"], ({ size, autoscalingLimitMaxCu }, _kind, _resource, { maxSizeCu }) => {
    if (maxSizeCu === undefined) return undefined;
    if (isSecret(size)) return unread("size");
    if (isObject(size) && isSecret(size["max"])) return unread("size.max");
    if (size === undefined && isSecret(autoscalingLimitMaxCu)) return unread("autoscalingLimitMaxCu");
    const largest = largestCu(size) ?? largestCu(autoscalingLimitMaxCu);
    return largest !== undefined && largest > maxSizeCu
      ? `can have ${largest} CU, and the limit is ${maxSizeCu} CU`
      : undefined;
  }),
};

function largestCu(size: unknown): number | undefined {
  const largest: unknown = isObject(size) ? size["max"] : size;
  return typeof largest === "number" ? largest : undefined;
}

/** The secret arguments of each kind that may be references. */
const SECRET_ARGUMENTS: { readonly [K in Kind]?: string } = { OAuthProvider: "clientSecret", EmailServer: "password" };

const secretInState: AuditRule = {
  name: "secret-in-state",
  description: "The state holds a secret that could be a reference.",
  remedy:
    'Pass svc.fromEnv("NAME") or svc.fromFile("path") as the argument itself, not inside an Output. Then change the secret: older checkpoints hold the old one.',
  find: ofKinds(["OAuthProvider", "EmailServer", "ComputeEndpoint"], (props, kind) => {
    const argument = SECRET_ARGUMENTS[kind];
    const places = argument === undefined ? secretSettings(props) : keptAt(argument, props[argument]);
    const named = (those: readonly KeptSecret[]): string => those.map(({ path }) => `"${path}"`).join(", ");
    const [marked, clear] = [
      places.filter(({ value }) => isSecret(value)),
      places.filter(({ value }) => !isSecret(value)),
    ];
    const found = [
      ...(clear.length > 0 ? [`the state holds the value of ${named(clear)}`] : []),
      // Nothing is decrypted, so its form is unknown.
      ...(marked.length > 0
        ? [`the state holds ${named(marked)} as a secret: the value, or a reference inside pulumi.secret`]
        : []),
    ];
    return found.length === 0 ? undefined : found.join("; ");
  }),
};

/** A secret in the state, in clear or marked. */
interface KeptSecret {
  readonly path: string;
  readonly value: unknown;
}

const keptAt = (path: string, value: unknown): KeptSecret[] => (isKept(value) ? [{ path, value }] : []);

/** Secret by mark, name or form. */
function secretSettings({ settings }: Props): KeptSecret[] {
  if (isSecret(settings)) return [{ path: "settings", value: settings }];
  const pgSettings: unknown = isObject(settings) ? settings["pgSettings"] : undefined;
  if (isSecret(pgSettings)) return [{ path: "settings.pgSettings", value: pgSettings }];
  return Object.entries(isObject(pgSettings) ? pgSettings : {}).flatMap(([name, value]) =>
    isSecret(value) || mayBeSecret(name, value) ? keptAt(`settings.pgSettings["${name}"]`, value) : [],
  );
}

/**
 * The secret arguments and outputs of each kind, and the digests of references. A state from an earlier version, or an
 * edited state, may contain them in clear.
 */
const SECRET_VALUES: { readonly [K in Kind]?: readonly string[] } = {
  AuthIntegration: ["secretServerKey"],
  AuthKeys: ["secretServerKey"],
  AuthOwnershipTransfer: ["url"],
  AuthUser: ["name"],
  EmailServer: ["password"],
  OAuthProvider: ["clientSecret"],
};

const secretInClear: AuditRule = {
  name: "secret-in-clear",
  description: "The state holds a secret in plain text: in a resource, or as an output of the stack or of a component.",
  remedy:
    "Run `pulumi refresh`, which encrypts the secrets of resources. Wrap an output in pulumi.secret(…), and run `pulumi up`. Then change the secret: older checkpoints and backups hold it in plain text.",
  find: ({ type, props, isComponent = false }) => {
    const kind = kindOfType(type);
    const ofKind = kind === undefined ? [] : secretsOfKind(kind, props);
    const places = type === STACK_TYPE || isComponent ? namedSecrets(props) : ofKind;
    const clear = places.filter(({ value }) => !isSecret(value)).map(({ path }) => `"${path}"`);
    return clear.length === 0 ? undefined : `the state holds the value of ${clear.join(", ")} in plain text`;
  },
};

const secretsOfKind = (kind: Kind, props: Props): KeptSecret[] => [
  ...[...(SECRET_VALUES[kind] ?? []), "__applied"].flatMap((name) => keptAt(name, props[name])),
  ...(kind === "ComputeEndpoint" ? secretSettings(props) : []),
];

/** The usual names of a transfer's address: its form does not identify it. */
const TRANSFER = /transfer.*(?:url|uri|link|address)$/i;

/**
 * Values that may be secret by name or form, at any depth, and the secrets of resources that a program exports as a
 * whole.
 */
function namedSecrets(value: unknown, path = "", name = ""): KeptSecret[] {
  if (isSecret(value) || isReference(value)) return [];
  if (Array.isArray(value)) return value.flatMap((one, index) => namedSecrets(one, `${path}[${index}]`, name));
  if (!isObject(value)) {
    const isOne = mayBeSecret(name, value) || (typeof value === "string" && TRANSFER.test(name));
    return isOne ? keptAt(path, value) : [];
  }
  const at = (key: string): string => (path === "" ? key : `${path}.${key}`);
  const kind = kindOfExported(value);
  if (kind !== undefined) return secretsOfKind(kind, value).map((one) => ({ ...one, path: at(one.path) }));
  return Object.entries(value).flatMap(([key, one]) => namedSecrets(one, at(key), key));
}

/** An exported resource is an object with its properties and URN. */
function kindOfExported({ urn }: Props): Kind | undefined {
  return typeof urn === "string" ? kindOfType(typeInUrn(urn)) : undefined;
}

/** Whether the secret itself is stored, not a reference or a placeholder. */
function isKept(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  if (isReference(value)) return referenceProblem(value) !== undefined;
  return standInsIn(value).length === 0;
}

const apiKeyInState: AuditRule = {
  name: "api-key-in-state",
  description: "The settings of a provider in the state contain the API key.",
  remedy:
    "Replace the key by svc:apiKeyEnv or svc:apiKeyFile in the configuration (apiKeyEnv or apiKeyFile of an svc.Provider), and run `pulumi up`. Then rotate the key: older checkpoints hold it.",
  find: ({ type, props }) =>
    isProviderType(type) && isKept(props[settingKey(type, "apiKey")])
      ? "the state holds the API key of this provider"
      : undefined,
};

/** Deleting one of these changes nothing at the service, and its keys are rotated by replacing it. */
const DELETES_NOTHING: readonly Kind[] = ["AuthKeys", "AuthOwnershipTransfer"];

const notProtected: AuditRule = {
  name: "not-protected",
  description: "A change of the program alone can delete or replace a resource.",
  remedy: "Set the option `protect: true` on the resource, or on its component.",
  find: ofKinds(
    KINDS.filter((kind) => !DELETES_NOTHING.includes(kind)),
    // A provider that is declared absent has nothing to delete.
    ({ absent }, _kind, { protect }) => (protect === false && absent !== true ? "is not protected" : undefined),
  ),
};

const undeclaredSharedOAuth: AuditRule = {
  name: "undeclared-shared-oauth",
  description:
    "The stack does not declare the OAuth providers that the service adds to a new integration with its shared keys.",
  remedy:
    "Declare each: with credentials of your own, or absent (`github: false` in the oauth of a ProjectAuth, `absent: true` of an OAuthProvider). `pulumi-svc drift --unmanaged` shows which exist.",
  find: ofKinds(["AuthIntegration"], (_props, _kind, { undeclaredOAuth = [] }) => {
    if (undeclaredOAuth.length === 0) return undefined;
    const [are, them] = undeclaredOAuth.length === 1 ? ["is", "it"] : ["are", "them"];
    return `${undeclaredOAuth.join(" and ")} ${are} not declared: the service adds ${them} with its shared keys, so users can sign in with ${them} unless somebody has deleted ${them}`;
  }),
};

const ownerChanged: AuditRule = {
  name: "owner-changed",
  description: "An auth integration has changed its owner, and the stack declares no AuthOwnershipTransfer.",
  remedy:
    "Find out who transferred it: the owner reads and changes all users. Accept it in svc-drift.json if that was you.",
  find: changed(
    "ownedBy",
    ({ first, now }) => `was owned by ${JSON.stringify(first)}, and is now owned by ${JSON.stringify(now)}`,
  ),
};

const keysAddressChanged: AuditRule = {
  name: "keys-address-changed",
  description: "The address of the public keys of an auth integration has moved to another host.",
  remedy:
    "Do not deploy it to applications before you know why (`pulumi-svc env` refuses it): they trust every token that is signed with these keys. Accept it in svc-drift.json if the auth provider has moved.",
  find: changed(
    "jwksUrl",
    ({ first, now }) => `had its public keys at ${hostIn(first)}, and now has them at ${hostIn(now)}`,
  ),
};

function changed(output: string, says: (change: Changed) => string): AuditRule["find"] {
  return ofKinds(["AuthIntegration"], (_props, kind, { props, isTransferred = false }) => {
    const change = withoutTransfer(changedSinceFirst(kind, props), isTransferred).find(({ name }) => name === output);
    return change && says(change);
  });
}

/** An address may contain a password. */
const hostIn = (address: string): string => (URL.canParse(address) ? new URL(address).host : "an invalid address");

export const auditRules: readonly AuditRule[] = [
  sharedOAuthKeys,
  sharedMailServer,
  redirectLocalhost,
  redirectPlainHttp,
  redirectWildcard,
  redirectExpired,
  whitelistNotExclusive,
  neverScalesToZero,
  alwaysOnWithoutRestart,
  sizeOverLimit,
  secretInState,
  apiKeyInState,
  notProtected,
];

/** By output of an AuthIntegration: what applications rely on, and somebody has changed. */
export const trustRules = { ownedBy: ownerChanged, jwksUrl: keysAddressChanged } as const;

/** For states only: a plan contains secrets in clear, and not the results of a refresh. */
export const stateRules: readonly AuditRule[] = [secretInClear, undeclaredSharedOAuth, ...Object.values(trustRules)];
