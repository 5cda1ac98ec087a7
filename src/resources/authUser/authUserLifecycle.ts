import { ConflictError, EXISTING_USER } from "../../client";
import type { SchemasOf } from "../../host/arguments";
import { declaration, type AuthUserOutputs, type AuthUserShape } from "./authUserDeclaration";
import { email, textUpTo } from "../shared/argumentSchemas";
import { omitUndefined } from "../shared/omitUndefined";
import { authProviderSchema, claim, projectIdSchema, splitId } from "../shared/identifiers";
import { keepStored, inIntegration, type ChildCall } from "../shared/integrationChild";
import { ALIAS_ADVICE, possibleOwner } from "../shared/conflictMessages";

type AuthUserOuts = AuthUserOutputs & Partial<AuthUserShape>;

const schemas: SchemasOf<AuthUserShape> = {
  projectId: projectIdSchema,
  email,
  name: textUpTo(255),
  authProvider: authProviderSchema,
};

const userObject = (id: string): string => `auth user ${id}`;
/** The memory's name for an address, which only one user can have: free again once this run has deleted that user. */
const addressObject = (projectId: string, email: string): string => `auth address ${projectId} ${email.toLowerCase()}`;

/** A user of an integration (docs/design/api.md). Users cannot be read back. */
export const authUser = inIntegration(declaration, schemas, {
  declares: ({ projectId, email }) =>
    claim('an auth user with the same "projectId" and "email"', addressObject, projectId, email),
  objects: (id, { email }) => [
    userObject(id),
    ...(email === undefined ? [] : [addressObject(splitId(id).projectId, email)]),
  ],

  replacement: () => "the user is deleted and created again, with another id",
  recreation: "the new user has another id",

  async create(call, { projectId, email, name }) {
    const { authProvider } = call;
    const request = omitUndefined({ auth_provider: authProvider, email, name });
    const { id: userId } = await createNew(call, projectId, request);
    return { id: `${projectId}/${userId}`, outputs: { projectId, authProvider, userId } };
  },

  ...keepStored<AuthUserShape, AuthUserOuts>((id) => ({ projectId: splitId(id).projectId }), storedOutputs),

  async delete(call, { id }) {
    const { projectId, rest: userId } = splitId(id);
    return call.client.auth.deleteUser(projectId, userId, { ...call, mayGo: call.mayDelete });
  },
});

async function createNew(
  call: ChildCall<AuthUserOuts>,
  projectId: string,
  request: { auth_provider: string; email: string; name?: string },
): Promise<{ id: string }> {
  const { run } = call;
  const address = addressObject(projectId, request.email);
  for (;;) {
    const existedBefore = !run.wasDeleted(address);
    try {
      return await call.client.auth.createUser(projectId, request, call);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      // This run may have deleted the user with this address meanwhile, may be deleting it, or may begin to a moment
      // later.
      if ((existedBefore && run.wasDeleted(address)) || (await run.leavesSoon(address))) {
        await run.waitUntilFree(address, 'another user with this "email" was still being deleted');
        continue;
      }
      throw new Error(
        `${error.message}. A user with this "email" exists already.${possibleOwner()} Users can neither be listed nor taken over: ` +
          `${EXISTING_USER}${ALIAS_ADVICE}`,
        { cause: error },
      );
    }
  }
}

/**
 * Includes what the service does not show and what the program no longer gives: giving the same value again must not
 * replace the user.
 */
function storedOutputs(id: string, { authProvider, email, name }: Partial<AuthUserOuts>): AuthUserOuts {
  const { projectId, rest: userId } = splitId(id);
  // A user that is only looked up has none of these three.
  return { projectId, userId, ...omitUndefined({ authProvider, email, name }) } as AuthUserOuts;
}
