import { ConflictError } from "../client";
import type { Call, Lifecycle } from "../dynamic/lifecycle";
import type { ArgumentSpecs } from "../dynamic/shape";
import type { AuthUserOutputs, AuthUserShape } from "../resources/AuthUser";
import { withoutAbsent } from "./absent";
import { email, textUpTo } from "./argumentSchemas";
import { OR_ALIAS } from "./conflictWords";
import { authProviderSchema, projectIdSchema, splitId } from "./identifiers";
import { creatingAtHome, homeOf, homeStands } from "./integrationOf";

type Shape = AuthUserShape;
type Outputs = AuthUserOutputs & Partial<Shape>;

const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: "container" },
  email: { schema: email, required: true, replaces: true, unreadable: true },
  name: { schema: textUpTo(255), replaces: true },
  authProvider: { schema: authProviderSchema, replaces: true },
};

/** A user of an integration (service.md 4.1), who cannot be read back. */
export const authUser: Lifecycle<Shape, Outputs> = {
  kind: "AuthUser",
  version: 1,
  args,
  // The service takes an address once.
  deleteBeforeReplace: true,

  warnings: ({ stored, replaces }) =>
    replaces.size === 0 ? [] : [`AuthUser ${stored.id} is deleted and made again: the new user has another id`],

  async create(call, given) {
    const { projectId, authProvider = call.authProvider, email, name } = given;
    // Asked before, so that nothing can fail once the user is there.
    const home = await homeOf(call, projectId, authProvider);
    const { id: userId } = await creatingAtHome(() =>
      createNew(call, projectId, withoutAbsent({ auth_provider: authProvider, email, name })),
    );
    return { id: `${projectId}/${userId}`, outputs: { projectId, authProvider, userId, ...home } };
  },

  async read(call, { id, outs }) {
    const { projectId } = splitId(id);
    if (!(await homeStands(call, projectId, outs))) return undefined;
    return { args: { projectId }, outputs: kept(id, outs), ready: true };
  },

  // Every argument replaces: there is nothing to send.
  update: async (_call, { id, outs }) => kept(id, outs),

  async delete({ client, deadline }, { id }) {
    const { projectId, rest: userId } = splitId(id);
    await client.deleteAuthUser(projectId, userId, { deadline });
  },
};

async function createNew(
  { client, deadline, progress }: Call<Outputs>,
  projectId: string,
  request: { auth_provider: string; email: string; name?: string },
): Promise<{ id: string }> {
  try {
    return await client.createAuthUser(projectId, request, { deadline, onProgress: progress });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw new Error(
      `${error.message}. A user with this "email" stands already; an interrupted pulumi up may have made it. Users can neither be listed nor taken over: ` +
        `find the user in the table of the synced users (svc_auth.users_sync), and delete it or choose another address${OR_ALIAS}`,
      { cause: error },
    );
  }
}

/** With what nothing shows, also where the program leaves it out: what comes back unchanged must not replace the user. */
function kept(id: string, { authProvider, authProviderProjectId, email, name }: Partial<Outputs>): Outputs {
  const { projectId, rest: userId } = splitId(id);
  return { projectId, userId, ...withoutAbsent({ authProvider, authProviderProjectId, email, name }) };
}
