import type { Declaration } from "../../contract/declaration";

/** What the whole whitelist of a project is declared with (docs/design/api.md, Redirect domains). */
export interface WhitelistShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the whitelist. */
  projectId: string;
  /**
   * All redirect domains: http(s) origins such as `https://app.example.com`, without path, query, fragment and
   * credentials, or addresses of apps such as `myapp://callback`. The order of the list makes no difference, nor do
   * upper and lower case, a default port and a trailing slash of an origin.
   */
  domains: string[];
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the whitelist.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
}

export interface WhitelistOutputs {
  /** The project at the auth provider that the list belongs to. */
  authProviderProjectId?: string;
  /** The auth provider's short name, even if the argument is left out. */
  authProvider: string;
}

/** The domains are a set. */
const sameSet = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((origin) => right.includes(origin));

export const whitelistDeclaration: Declaration<WhitelistShape, WhitelistOutputs> = {
  kind: "Whitelist",
  // Two of them would remove each other's domains.
  deleteBeforeReplace: true,
  args: {
    projectId: { required: true, replaces: "container" },
    domains: { required: true, equal: sameSet },
    authProvider: { replaces: true },
  },
  outputs: {
    authProviderProjectId: { identity: true },
    authProvider: {},
  },
};

/** What a redirect domain is declared with (docs/design/api.md, Redirect domains). Changing anything but `adopt` replaces it. */
export interface WhitelistDomainShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the domain. */
  projectId: string;
  /**
   * An http(s) origin such as `https://app.example.com`, without path, query, fragment and credentials: upper and lower
   * case, a default port and a trailing slash make no difference. Or the address of an app such as `myapp://callback`.
   * Changing this replaces the domain.
   */
  domain: string;
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the domain.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
  /**
   * Takes over a domain that is on the whitelist already instead of failing. Changing this later has no effect.
   * @default false
   */
  adopt?: boolean;
}

export interface WhitelistDomainOutputs {
  /** The project at the auth provider that it was added in. */
  authProviderProjectId?: string;
  /** The auth provider's short name, even if the argument is left out. */
  authProvider: string;
}

export const whitelistDomainDeclaration: Declaration<WhitelistDomainShape, WhitelistDomainOutputs> = {
  kind: "WhitelistDomain",
  // The service accepts a domain only once.
  deleteBeforeReplace: true,
  args: {
    projectId: { required: true, replaces: "container" },
    domain: { required: true, replaces: true },
    authProvider: { replaces: true },
    adopt: { createOnly: true },
  },
  outputs: {
    authProviderProjectId: { identity: true },
    authProvider: {},
  },
};
