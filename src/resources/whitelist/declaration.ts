import type { Declaration } from "../../contract/declaration";

/** What the whole whitelist of a project is declared with (docs/design/api.md, Redirect domains). */
export interface WhitelistShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the whitelist. */
  projectId: string;
  /**
   * All redirect domains: http(s) origins such as `https://app.example.com`, without path, query, fragment and
   * credentials. Their order, case, a default port and a trailing slash make no difference.
   */
  domains: string[];
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the whitelist.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
}

export interface WhitelistOutputs {
  /** The project at the auth provider whose list it is. */
  authProviderProjectId?: string;
  /** The auth provider's short name, also where it is left out. */
  authProvider: string;
}

export const whitelistDeclaration: Declaration<WhitelistShape, WhitelistOutputs> = {
  kind: "Whitelist",
  args: { projectId: "plain", domains: "plain", authProvider: "plain" },
  outputs: { authProviderProjectId: "plain", authProvider: "plain" },
  // Two of them would take each other's domains away.
  deleteBeforeReplace: true,
};

/** What a redirect domain is declared with (docs/design/api.md, Redirect domains). Changing anything but `adopt` replaces it. */
export interface WhitelistDomainShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the domain. */
  projectId: string;
  /**
   * An http(s) origin such as `https://app.example.com`, without path, query, fragment and credentials. Case, a default
   * port and a trailing slash make no difference. Changing this replaces the domain.
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
  /** The auth provider's short name, also where it is left out. */
  authProvider: string;
}

export const whitelistDomainDeclaration: Declaration<WhitelistDomainShape, WhitelistDomainOutputs> = {
  kind: "WhitelistDomain",
  args: { projectId: "plain", domain: "plain", authProvider: "plain", adopt: "plain" },
  outputs: { authProviderProjectId: "plain", authProvider: "plain" },
  onlyIfGiven: ["adopt"],
  // The service takes a domain once.
  deleteBeforeReplace: true,
};
