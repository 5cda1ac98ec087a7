import { claim, domainObject, listClaim } from "../../contract/claims";
import type { Declaration } from "../../contract/declaration";
import { expiresOnIn, originIn } from "../../contract/expiry";
import { nameForm } from "../../contract/forms";
import { domainForm } from "../../contract/redirectDomains";

/** What the whole whitelist of a project is declared with (docs/design/api.md, Redirect domains). */
export interface WhitelistShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the whitelist. */
  projectId: string;
  /**
   * All redirect domains: http(s) origins such as `https://app.example.com`, without path, query, fragment and
   * credentials, or addresses of apps such as `myapp://callback`. The order of the list makes no difference, nor do
   * upper and lower case, Unicode or `xn--`, a default port and a trailing slash of an origin. `*` in a host or in place
   * of a port stands for any.
   *
   * A domain that should not stay for ever is `{ origin, expiresOn }`: from that day on (UTC, as `2027-01-31`) each plan
   * warns, and `pulumi-svc drift` and `pulumi-svc doctor --audit` report it. It stays on the list until it is removed
   * here. The service does not store the day: changing it sends nothing.
   */
  domains: (string | DatedDomain)[];
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the whitelist.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
}

/** A redirect domain in the list of a `Whitelist`, with the day from which on it should not be there any more. */
export interface DatedDomain {
  /** As a plain text of the list: an http(s) origin, or the address of an app. */
  origin: string;
  /**
   * The day (UTC) from which on the domain is reported, as `2027-01-31`. It stays on the whitelist until it is removed
   * from the program. The service does not store it: changing this sends nothing.
   */
  expiresOn: string;
}

export interface WhitelistOutputs {
  /** The project at the auth provider that the list belongs to. */
  authProviderProjectId?: string;
  /** The auth provider's short name, even if the argument is left out. */
  authProvider: string;
}

/** The domains are a set, each with its day. */
function domainsForm(domains: WhitelistShape["domains"]): unknown {
  // A report of drift has a text in place of a list with secrets, and an edited state may have anything in a list.
  if (!Array.isArray(domains)) return domains;
  return domains.map((one) => JSON.stringify([domainForm(String(originIn(one))), expiresOnIn(one)])).sort();
}

export const whitelistDeclaration: Declaration<WhitelistShape, WhitelistOutputs> = {
  kind: "Whitelist",
  id: { parts: ["projectId"], form: "<project id>", example: "prj-demo" },
  claims: ({ projectId }) => listClaim(projectId, false),
  args: {
    projectId: { required: true, replaces: true, container: "AuthIntegration", form: nameForm },
    domains: { required: true, form: domainsForm },
    authProvider: { replaces: true, form: nameForm },
  },
  outputs: {
    authProviderProjectId: { identity: true },
    authProvider: {},
  },
};

/** What a redirect domain is declared with (docs/design/api.md, Redirect domains). Changing its project, domain or auth provider replaces it. */
export interface WhitelistDomainShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the domain. */
  projectId: string;
  /**
   * An http(s) origin such as `https://app.example.com`, without path, query, fragment and credentials: upper and lower
   * case, Unicode or `xn--`, a default port and a trailing slash make no difference, and `*` in the host or in place of
   * the port stands for any. Or the address of an app such as `myapp://callback`. Changing this replaces the domain.
   */
  domain: string;
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the domain.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
  /**
   * The day (UTC) from which on the domain should not be on the whitelist any more, as `2027-01-31`. From that day on
   * each plan warns, and `pulumi-svc drift` and `pulumi-svc doctor --audit` report it. Nothing is removed by itself:
   * remove the resource from the program. The service does not store it: changing this sends nothing.
   */
  expiresOn?: string;
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
  id: {
    parts: ["projectId", "domain"],
    last: /./,
    form: "<project id>/<origin>",
    example: "prj-demo/https://app.example.com",
  },
  claims: ({ projectId, domain }) => [
    ...listClaim(projectId, true),
    ...claim('the redirect domain with the same "projectId" and "domain"', domainObject, projectId, domain),
  ],
  args: {
    projectId: { required: true, replaces: true, container: "AuthIntegration", form: nameForm },
    domain: { required: true, replaces: true, form: domainForm },
    authProvider: { replaces: true, form: nameForm },
    expiresOn: { local: true },
    adopt: { createOnly: true },
  },
  outputs: {
    authProviderProjectId: { identity: true },
    authProvider: {},
  },
};
