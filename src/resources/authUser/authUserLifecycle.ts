import { addressObject } from "../../contract/claims";
import { ConflictError, EXISTING_USER } from "../../client";
import { nameForm } from "../../contract/forms";
import type { SchemasOf } from "../../runtime/arguments";
import { staysInTheWay } from "../../runtime/lookAhead";
import type { Left } from "../../runtime/run/plans";
import { declaration, type AuthUserOutputs, type AuthUserShape } from "./authUserDeclaration";
import { email, lineUpTo } from "../shared/argumentSchemas";
import { omitUndefined } from "../shared/omitUndefined";
import { authProviderSchema, projectIdSchema, splitId } from "../shared/identifiers";
import { keepStored, inIntegration, type ChildCall } from "../shared/integrationChild";
import { ALIAS_ADVICE, keptFinding, keptNote, possibleOwner } from "../shared/conflictMessages";

type AuthUserOuts = AuthUserOutputs & Partial<AuthUserShape>;

const schemas: SchemasOf<AuthUserShape> = {
  projectId: projectIdSchema,
  email,
  name: lineUpTo(255),
  authProvider: authProviderSchema,
};

function userObject(id: string): string {
  const { projectId, rest: userId } = splitId(id);
  return `auth user ${nameForm(projectId)}/${userId}`;
}
/** A user of an integration (docs/design/api.md). Users cannot be read back. */
export const authUser = inIntegration(declaration, schemas, {
  objects: (id, { email }) => [
    userObject(id),
    ...(email === undefined ? [] : [addressObject(splitId(id).projectId, email)]),
  ],

  replacement: ({ deletesFirst }) =>
    deletesFirst
      ? "the user is deleted and created again, with another id"
      : "the new user, with another id, is created, and then the old one is deleted",
  recreation: "the new user has another id",

  async lookAhead({ args: { projectId, email, name }, authProvider, leftBy }) {
    const left = email === undefined ? undefined : leftBy(addressObject(projectId, email));
    if (left === undefined) return [];
    return [
      isSameUser(left, { auth_provider: authProvider, name })
        ? keptFinding(userObject(left.id), left)
        : staysInTheWay(stillHas(left)),
    ];
  },

  async create(call, { projectId, email, name }) {
    const { authProvider } = call;
    const request = omitUndefined({ auth_provider: authProvider, email, name });
    const { id: userId } = await createOrKeep(call, projectId, request);
    return { id: `${projectId}/${userId}`, outputs: { projectId, authProvider, userId } };
  },

  ...keepStored<AuthUserShape, AuthUserOuts>((id) => ({ projectId: splitId(id).projectId }), storedOutputs),

  async delete(call, { id }) {
    const { projectId, rest: userId } = splitId(id);
    return call.client.auth.deleteUser(projectId, userId, { ...call, mayGo: call.mayDelete });
  },
});

interface UserRequest {
  readonly auth_provider: string;
  readonly email: string;
  readonly name?: string | undefined;
}

/** Whether the user of another resource is the one that is declared: no request changes a user. */
const isSameUser = ({ outs }: Left, { auth_provider, name }: Omit<UserRequest, "email">): boolean =>
  outs["authProvider"] === auth_provider && (name === undefined || outs["name"] === name);

const stillHas = ({ name }: Left): string =>
  `the user with this "email" is the old one of "${name}" of this program, which is replaced, and deletes it at the end of the run. ` +
  'It differs in "name" or "authProvider". First run pulumi up without this resource, then with it';

async function createOrKeep(
  call: ChildCall<AuthUserOuts>,
  projectId: string,
  request: UserRequest,
): Promise<{ id: string }> {
  const { run } = call;
  const address = addressObject(projectId, request.email);
  for (;;) {
    const left = run.leftBy(address);
    const kept = left && (await keep(call, request, left));
    if (kept !== undefined) return kept;
    const existedBefore = !run.wasDeleted(address);
    try {
      return await call.client.auth.createUser(projectId, request, call);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      if (left === undefined && (await run.leftSoon(address)) !== undefined) continue;
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

/** Takes over the user that another resource of the program leaves; undefined if it is gone with its integration. */
async function keep(
  call: ChildCall<AuthUserOuts>,
  request: UserRequest,
  left: Left,
): Promise<{ id: string } | undefined> {
  await call.integration.ensureKnown(call);
  const { projectId, rest: id } = splitId(left.id);
  if (call.integration.id !== left.outs["authProviderProjectId"]) return undefined;
  if (!isSameUser(left, request)) throw new Error(stillHas(left));
  for (const object of [userObject(left.id), addressObject(projectId, request.email)]) call.run.takeOver(object);
  call.note(keptNote(userObject(left.id), left));
  return { id };
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
