/** What a resource declares at the service, as both the program and its provider name it. Every program loads this file. */
import { domainForm } from "./redirectDomains";
import { addressForm, nameForm } from "./forms";
import type { Kind } from "./pointer";

/** An object that a resource declares. `shared`: several resources may declare it, unless one declares it alone. */
export interface Claim {
  readonly object: string;
  /** For messages: what both declare, by the names of arguments, since a value may be a secret. */
  readonly what: string;
  readonly shared?: boolean;
}

/** In place of the auth provider of the settings, which the program's process does not know. */
export const ANY_AUTH_PROVIDER = "*";

/** The claim of an object; none while a part of its name is unknown. */
export function claim(
  what: string,
  objectOf: (...parts: string[]) => string,
  ...parts: readonly (string | undefined)[]
): Claim[] {
  const known = parts.filter((part) => part !== undefined);
  return known.length < parts.length ? [] : [{ object: objectOf(...known), what }];
}

/**
 * The memory's name for an integration, with its project at the auth provider: another integration may have the same
 * name later.
 */
export const integrationObject = (projectId: string, authProvider: string, authProviderProjectId = ""): string =>
  `auth integration ${nameForm(projectId)}/${nameForm(authProvider)} ${authProviderProjectId}`;

/** Whether an object is an integration of this project; without a provider, any. */
export const isIntegrationOf =
  (projectId: string, authProvider: string | undefined) =>
  (object: string): boolean =>
    authProvider === undefined
      ? object.startsWith(`auth integration ${nameForm(projectId)}/`)
      : object === integrationObject(projectId, authProvider);

/** What a program says of what it declares in an integration, whose deletion takes it along. */
export const withinIntegration = (projectId: string, authProvider: string): string =>
  `within ${integrationObject(projectId, authProvider)}`;

/** For each kind that contains objects: the same, by the value of the argument that names the container. */
const WITHIN = { AuthIntegration: withinIntegration } satisfies Partial<
  Record<Kind, (id: string, authProvider: string) => string>
>;

/** A kind whose objects contain others: what is in one is deleted with it. */
export type Container = keyof typeof WITHIN;

export const withinContainer = (kind: Container, id: string, authProvider: string): string =>
  WITHIN[kind](id, authProvider);

export const domainObject = (projectId: string, origin: string): string =>
  `redirect domain ${nameForm(projectId)}/${domainForm(origin)}`;

/**
 * A `Whitelist` declares the whole list of a project; several `WhitelistDomain`s share it, unless there is a
 * `Whitelist`.
 */
export function listClaim(projectId: string | undefined, shared: boolean): Claim[] {
  const what = 'the redirect domains of the same "projectId" (a Whitelist removes every domain that it does not list)';
  return claim(what, (project) => `redirect domains ${nameForm(project)}`, projectId).map((one) => ({
    ...one,
    shared,
  }));
}

export const computeObject = (endpointId: string): string => `compute ${endpointId}`;
export const primaryObject = (projectId: string, branchId: string) =>
  `primary compute of ${nameForm(projectId)}/${nameForm(branchId)}`;
/** What a resource declares that names the object to take over. */
export const adopted = (object: string): string => `adopted ${object}`;
export const adoptedObject = (endpointId: string): string => adopted(computeObject(endpointId));

export const serverObject = (projectId: string): string => `e-mail server ${nameForm(projectId)}`;

export const providerObject = (projectId: string, id: string): string =>
  `OAuth provider ${nameForm(projectId)}/${nameForm(id)}`;

/** An address, which only one user can have: free again once this run has deleted that user. */
export const addressObject = (projectId: string, email: string): string =>
  `auth address ${nameForm(projectId)} ${addressForm(email)}`;
