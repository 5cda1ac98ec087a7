import { NotFoundError, type AuthIntegration } from "../client";
import type { Call } from "../dynamic/lifecycle";

/** What everything that lives in an integration stores of it. */
export interface Home {
  /** The project at the auth provider that the object was made in. */
  readonly authProviderProjectId?: string;
}

type Reading = Pick<Call<never>, "client" | "deadline">;

/**
 * Whether what was made in an integration can still be there. Deleting an integration deletes all that lives in it
 * (design.md, "Decisions" 1), so an empty list, or one without the auth project that the object was made in, says that
 * it is gone. The list is shared: it costs one call for all children of a project.
 */
export async function homeStands(
  { client, deadline }: Reading,
  projectId: string,
  { authProviderProjectId }: Home,
): Promise<boolean> {
  // Outs that were written before the list showed the integration (lists lag) do not know their home.
  const shows = (integrations: readonly AuthIntegration[]): boolean =>
    integrations.some(
      ({ auth_provider_project_id }) =>
        authProviderProjectId === undefined || auth_provider_project_id === authProviderProjectId,
    );
  return shows(await client.listAuthIntegrations(projectId, { deadline, shows }));
}

/**
 * The home of what is created now; empty where the service does not list the integration. What names no auth provider
 * lives with that of the setting, or else in the only integration there is: other resources may name that one.
 */
export async function homeOf(
  { client, deadline, authProvider: setting }: Reading & Pick<Call<never>, "authProvider">,
  projectId: string,
  authProvider?: string,
): Promise<Home> {
  const list = (fresh: boolean) => client.listAuthIntegrations(projectId, { deadline, fresh });
  const named = (integrations: readonly AuthIntegration[]): AuthIntegration | undefined =>
    integrations.find(({ auth_provider }) => auth_provider === (authProvider ?? setting));
  const only = ([first, ...others]: readonly AuthIntegration[]): AuthIntegration | undefined =>
    authProvider === undefined && others.length === 0 ? first : undefined;
  let integration = named(await list(false));
  if (integration === undefined) {
    // A kept list may be older than the integration.
    const integrations = await list(true);
    integration = named(integrations) ?? only(integrations);
  }
  return integration === undefined ? {} : { authProviderProjectId: integration.auth_provider_project_id };
}

/** Creates something in an integration. Where none stands the service answers 404, which alone would not say why. */
export async function creatingAtHome<Result>(create: () => Promise<Result>): Promise<Result> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new Error(
      `${error.message}. Most likely the project has no auth integration yet: declare an AuthIntegration and pass its "projectId" output`,
      { cause: error },
    );
  }
}

/**
 * Whether another integration has taken the place of the one that the object was made in. What bears the object's name
 * there is another's, and not to be deleted. Where the list cannot tell, the deletion is sent: what is gone is no error.
 */
export async function homeWasReplaced(
  { client, deadline }: Reading,
  projectId: string,
  { authProviderProjectId }: Home,
): Promise<boolean> {
  if (authProviderProjectId === undefined) return false;
  try {
    const integrations = await client.listAuthIntegrations(projectId, { deadline });
    return (
      integrations.length > 0 &&
      !integrations.some(({ auth_provider_project_id }) => auth_provider_project_id === authProviderProjectId)
    );
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}
