import { type AuthIntegrationRecord, undefinedIfNotShown } from "../../client";
import { oauthProviderId, SHARED_FROM_THE_START } from "../../contract/oauthProviderId";
import { keySources } from "../shared/keySet";
import type { ContainerTools, ProjectObject } from "../shared/tools";

export const authIntegration: ContainerTools = {
  list: async ({ client, projectId, options }) => {
    // The project has shown its computes: it has no auth.
    const all = await undefinedIfNotShown(() => client.auth.integrations(projectId).list(options));
    return (all ?? []).map((record) => found(record, projectId));
  },
  contains: {
    noun: "integration",
    // An older state does not record it.
    isHome: ({ authProviderProjectId: own }, { authProviderProjectId: home }) => home === undefined || home === own,
    fromTheStart: (projectId) =>
      SHARED_FROM_THE_START.map((name) => ({ kind: "OAuthProvider", id: oauthProviderId(projectId, name), name })),
    notImported: (name) => [
      `"${name}": the service shows the keys of an integration only once, so the outputs secretServerKey and pubClientKey are empty. ` +
        "The keys in use stay valid. To get a key set for the stack, declare svc.AuthKeys, which creates a new one",
      "Neither file contains users and key sets, which the service does not list. They stay unchanged",
    ],
  },
  comment: ["Its keys cannot be read: secretServerKey and pubClientKey are empty."],
  envSources: keySources,
};

function found(
  { auth_provider, auth_provider_project_id, branch_id, db_name, created_at }: AuthIntegrationRecord,
  projectId: string,
): ProjectObject {
  const database = db_name === undefined ? "" : `, database ${db_name}`;
  return {
    kind: "AuthIntegration",
    id: `${projectId}/${auth_provider}`,
    describe: `auth integration ${auth_provider} on ${branch_id}${database}`,
    adopt: "adopt: true",
    identity: { authProvider: auth_provider },
    names: () => [],
    word: "auth",
    authProvider: auth_provider,
    ownId: auth_provider_project_id,
    createdAt: created_at,
  };
}
