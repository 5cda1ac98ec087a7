import * as pulumi from "@pulumi/pulumi";
import { componentType } from "../contract/componentNames";
import { isObject, objectProblems } from "../helpers/given";
import { ownerOf } from "../program/owner";
import { withInheritedAliases } from "../program/resourceOptions";
import { AuthIntegration } from "../resources/authIntegration/AuthIntegration";
import { declaration as emailServer } from "../resources/emailServer/emailServerDeclaration";
import { EmailServer, type EmailServerArgs } from "../resources/emailServer/EmailServer";
import {
  declaration as oauthProvider,
  type KnownOAuthProvider,
} from "../resources/oauthProvider/oauthProviderDeclaration";
import { OAuthProvider, type OAuthProviderArgs } from "../resources/oauthProvider/OAuthProvider";
import { Whitelist, type WhitelistArgs } from "../resources/whitelist/Whitelist";
import { WhitelistDomain } from "../resources/whitelist/WhitelistDomain";
import { redirectDomainsOf } from "./redirectDomains";
import { childOptions, flagProblems, refuse } from "./component";

const TYPE = componentType("ProjectAuth");

/** Removes these keys from each member of a union. */
type Without<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never;

/**
 * `"shared"`: with the keys of the service. `false`: users cannot sign in with it; one with the keys of the service is
 * deleted. Otherwise the arguments of `OAuthProvider`; here `adopt` is true by default, because a new integration has some
 * providers by default.
 */
export type ProjectAuthProvider = "shared" | false | Without<OAuthProviderArgs, "projectId" | "providerId">;

/** By the short name of the provider; editors offer the known ones. */
export type ProjectAuthProviders = { readonly [Name in KnownOAuthProvider]?: ProjectAuthProvider | undefined } & {
  readonly [providerId: string]: ProjectAuthProvider | undefined;
};

/** The arguments of `EmailServer` without the project. */
export type ProjectAuthEmail = Without<EmailServerArgs, "projectId">;

export interface ProjectAuthArgs {
  /** The project. Changing it replaces the integration and everything in it. */
  projectId: pulumi.Input<string>;
  /**
   * The production branch (`br-…`), whose database holds the synced users. Changing it replaces the integration and
   * everything in it.
   * @default the branch that the service flags as default
   */
  branchId?: pulumi.Input<string> | undefined;
  /**
   * The database on that branch which holds the synced users. Changing it replaces the integration and everything in
   * it.
   * @default "svcdb" (the service's)
   */
  databaseName?: pulumi.Input<string> | undefined;
  /**
   * The Postgres role that the integration uses there. Changing it replaces the integration and everything in it.
   * @default "svcdb_owner" (the service's)
   */
  roleName?: pulumi.Input<string> | undefined;
  /**
   * The auth provider's short name; the service supports one. Changing it replaces the integration and everything in
   * it.
   * @default the setting `svc:authProvider`
   */
  authProvider?: pulumi.Input<string> | undefined;
  /**
   * Takes over an integration that exists instead of failing. Changing it later has no effect.
   * @default false
   */
  adopt?: pulumi.Input<boolean> | undefined;
  /**
   * While it is on, the integration is neither deleted nor replaced, and the preview of `pulumi destroy` fails before
   * anything is deleted. With `--skip-preview`, after `pulumi state unprotect`, or if it is an Output, the objects in
   * the integration are deleted before the deletion of the integration is refused.
   * @default false
   */
  deletionProtection?: pulumi.Input<boolean> | undefined;
  /**
   * How users may sign in, by the short name of the provider. Existing providers are adopted automatically and
   * updated to match, even if their credentials were set by hand. With `adopt: false`, an existing provider is an
   * error.
   *
   * A new integration has google and github, with the keys of the service, even if they are not declared: give `false`
   * for those that users must not sign in with.
   */
  oauth?: ProjectAuthProviders | undefined;
  /**
   * Where users may be sent back to: http(s) origins. Each is a resource with the origin in its name, so they must be
   * plain strings; with `exclusiveDomains` they may be Outputs. One that should not stay for ever is
   * `{ origin, expiresOn }`, as in a `Whitelist`. A domain that is already on the list is taken over: if
   * you remove it from the program, it is removed from the list.
   */
  redirectDomains?: WhitelistArgs["domains"] | undefined;
  /**
   * `redirectDomains` is the whole list: a domain that is added by hand is drift, and `pulumi up --refresh` removes it.
   * Changing this, in either direction, keeps the declared domains on the list.
   * @default false
   */
  exclusiveDomains?: boolean | undefined;
  /** The server that sends the e-mails. If it is left out, it is not managed. */
  email?: ProjectAuthEmail | undefined;
}

/**
 * The managed auth of a project in one block: the integration and everything in it. The integration is created first.
 * If it is replaced, everything in it is created again, except its users.
 *
 * The children are named after the component: the integration `<name>`, a provider `<name>-<provider id>`, a redirect
 * domain `<name>-<origin>` (normalised: `auth-https://app.example.com`), the exclusive list `<name>-domains`, the
 * e-mail server `<name>-email`. These names stay the same; if one ever changes, an alias is added. `customTimeouts` of
 * the component apply to each of its children.
 *
 * The program of examples/oauth declares one.
 *
 * @example
 * ```ts
 * new svc.ProjectAuth("auth", {
 *   projectId: "prj-demo",
 *   oauth: { google: "shared" },
 *   redirectDomains: ["https://app.example.com"],
 * });
 * ```
 */
export class ProjectAuth extends pulumi.ComponentResource {
  /** The integration, with the key set that it was created with. */
  readonly integration: AuthIntegration;
  /** By the short name of the provider, as in `oauth`. */
  readonly oauthProviders: { readonly [providerId: string]: OAuthProvider };
  /** The redirect domains by their normalised origin; empty with `exclusiveDomains`. */
  readonly whitelistDomains: { readonly [origin: string]: WhitelistDomain };
  /** The whole list, with `exclusiveDomains`. */
  readonly whitelist: Whitelist | undefined;
  /** With `email`. */
  readonly emailServer: EmailServer | undefined;

  constructor(name: string, args: ProjectAuthArgs, opts?: pulumi.ComponentResourceOptions) {
    const domains = redirectDomainsOf(args);
    refuse(ownerOf("ProjectAuth", name), opts, [...argumentProblems(args), ...domains.problems]);
    super(TYPE, name, {}, withInheritedAliases(name, TYPE, opts ?? {}));
    const {
      projectId,
      branchId,
      databaseName,
      roleName,
      authProvider,
      adopt,
      deletionProtection,
      oauth = {},
      email,
    } = args;
    const child = childOptions(this, opts);
    this.integration = new AuthIntegration(
      name,
      { projectId, branchId, databaseName, roleName, authProvider, adopt, deletionProtection },
      child,
    );
    // An echo of the argument, unknown only while the integration is replaced; its children are replaced then as well.
    const home = { projectId: this.integration.projectId };

    // A program without types may give `undefined`, which counts as not given.
    const offered = Object.keys(oauth).filter((providerId) => oauth[providerId] !== undefined);
    this.oauthProviders = mapped(offered, (providerId) => {
      const declared = oauth[providerId] ?? "shared";
      const provider = declared === "shared" ? {} : declared === false ? { absent: true } : declared;
      return new OAuthProvider(
        `${name}-${providerId}`,
        { ...provider, adopt: provider.adopt ?? true, ...home, providerId },
        child,
      );
    });

    this.whitelistDomains = Object.fromEntries(
      domains.each.map((one) => [
        one.domain,
        // Taking over a domain overwrites nothing, and the exclusive list may hold it until now.
        new WhitelistDomain(`${name}-${one.domain}`, { ...home, ...one, authProvider, adopt: true }, child),
      ]),
    );
    this.whitelist =
      domains.all && new Whitelist(`${name}-domains`, { ...home, domains: domains.all, authProvider }, child);

    this.emailServer = email && new EmailServer(`${name}-email`, { ...email, ...home }, child);

    const { integration, oauthProviders, whitelistDomains, whitelist, emailServer } = this;
    this.registerOutputs({ integration, oauthProviders, whitelistDomains, whitelist, emailServer });
  }
}

function mapped<Value>(names: readonly string[], make: (name: string) => Value): { [name: string]: Value } {
  return Object.fromEntries(names.map((name) => [name, make(name)]));
}

const ARGS = [
  "projectId",
  "branchId",
  "databaseName",
  "roleName",
  "authProvider",
  "adopt",
  "deletionProtection",
  "oauth",
  "redirectDomains",
  "exclusiveDomains",
  "email",
] as const satisfies readonly (keyof ProjectAuthArgs)[];

const PROVIDER_ARGS = Object.keys(oauthProvider.args).filter((name) => !["projectId", "providerId"].includes(name));
const EMAIL_ARGS = Object.keys(emailServer.args).filter((name) => name !== "projectId");

function argumentProblems(args: unknown): string[] {
  const problems = objectProblems(args, "", { known: ARGS, required: ["projectId"] });
  if (!isObject(args)) return problems;
  const { oauth, email } = args;
  if (oauth !== undefined) {
    // The keys are provider names, which the resource checks.
    const providers = isObject(oauth) ? oauth : {};
    problems.push(...objectProblems(oauth, "oauth", { known: Object.keys(providers) }));
    for (const [id, provider] of Object.entries(providers)) {
      if (provider === "shared" || provider === false || provider === undefined) continue;
      if (typeof provider === "string" || provider === true)
        problems.push(`oauth.${id}: must be "shared", false or an object`);
      else problems.push(...objectProblems(provider, `oauth.${id}`, { known: PROVIDER_ARGS }));
    }
  }
  if (email !== undefined) problems.push(...objectProblems(email, "email", { known: EMAIL_ARGS }));
  return [...problems, ...flagProblems(args, "exclusiveDomains")];
}
