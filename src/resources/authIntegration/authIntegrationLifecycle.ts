import { ANY_AUTH_PROVIDER, integrationObject, withinIntegration } from "../../contract/claims";
import {
  Gone,
  Granted,
  mustBeKnown,
  Refused,
  Unknown,
  type AuthIntegrationRecord,
  type BranchRecord,
  type CreationRecovery,
} from "../../client";
import { isSameName } from "../../contract/forms";
import type { Call, Finding } from "../../runtime/lifecycle";
import { effect, inTheWay, obstacle } from "../../runtime/lookAhead";
import { expectedOf, unconfirmed } from "../../runtime/confirmed";
import { define } from "../../runtime/define";
import type { SchemasOf } from "../../runtime/arguments";
import { declaration, type AuthIntegrationOutputs, type AuthIntegrationShape } from "./authIntegrationDeclaration";
import { boolean, lineUpTo } from "../shared/argumentSchemas";
import { keyOutputs, storedKeys } from "../shared/keySet";
import { omitUndefined } from "../shared/omitUndefined";
import { withProjectAdvice } from "../shared/hiddenProject";
import { listBranches, missingBranch, namingBranches } from "../shared/branches";
import { splitId, authProviderSchema, branchIdSchema, projectIdSchema } from "../shared/identifiers";
import { deleteIfOurs } from "../shared/integrationChild";
import { useExistingOrCreate } from "../shared/adoption";
import { adoptionNote, ALIAS_ADVICE, goneError, createdAgo, possibleOwner } from "../shared/conflictMessages";

type AuthIntegrationOuts = AuthIntegrationOutputs & Partial<AuthIntegrationShape>;

/** The limit of Postgres. */
const identifier = lineUpTo(63);

const schemas: SchemasOf<AuthIntegrationShape> = {
  projectId: projectIdSchema,
  branchId: branchIdSchema,
  databaseName: identifier,
  roleName: identifier,
  authProvider: authProviderSchema,
  adopt: boolean,
  deletionProtection: boolean,
};

/** The service's default. */
const DEFAULT_ROLE = "svcdb_owner";

/** Where the service syncs users by default. Only a key set shows it (docs/design/api.md, Auth keys). */
const USERS_TABLE = { schemaName: "svc_auth", tableName: "users_sync" };

/** An auth integration with the key set that it was created with (docs/design/api.md). */
export const authIntegration = define(declaration, schemas, {
  objects(id, { authProviderProjectId }) {
    const { projectId, rest } = splitId(id);
    return [integrationObject(projectId, rest, authProviderProjectId)];
  },

  replacement({ replaces, news, stored, deletesFirst }) {
    const order = deletesFirst ? "it is deleted and created again" : "the new one is created, and then it is deleted";
    const lost =
      order +
      ': all of its users and keys are lost. Its OAuth providers, redirect domains and mail settings are deleted with it: only those of resources that use its "projectId" output are created again';
    const elsewhere = (["projectId", "branchId", "databaseName"] as const).some(
      (name) => replaces.has(name) || (news[name] === undefined && stored.managed.has(name)),
    );
    return elsewhere
      ? lost + adoptionNote(news)
      : `${lost}${adoptionNote(news)}. The new one uses the same database: if the service keeps the old schema there (svc_auth by default), it refuses the new integration until you drop the schema`;
  },

  recreation: "the new integration has other keys, and the users of the old one are lost",

  async lookAhead(look) {
    const { args: known, givenNames, client, reading } = look;
    const { projectId, branchId, authProvider = look.authProvider } = known;
    if (givenNames.has("authProvider") && known.authProvider === undefined) return [];
    const existing = (await client.auth.integrations(projectId).list(reading)).find(isIntegration(authProvider));
    const planned =
      existing && look.planned(integrationObject(projectId, authProvider, existing.auth_provider_project_id));
    // What replaces an existing one of the program is asked before that is deleted.
    if (planned !== undefined) return [];
    if (existing !== undefined) {
      const refusal = refusalToAdopt(known, existing);
      return [refusal === undefined ? effect(takenOver(projectId, existing)) : inTheWay(refusal)];
    }
    if (givenNames.has("branchId") && branchId === undefined) return [];
    return branchFindings(projectId, branchId, await listBranches(look));
  },

  replaceable: {
    asks: "the branch exists and is the default one of the project",
    async ask({ client, reading, stored, news }) {
      const { projectId, rest } = splitId(stored.id);
      const { branchId } = news;
      const own = isIntegration(rest, stored.outs.authProviderProjectId);
      const found = await client.auth.integrations(projectId).find(own, reading);
      if (found instanceof Unknown) return found;
      // Then nothing is deleted.
      if (found instanceof Gone) return Granted.proven();
      const branches = await client.projects.branches(projectId, reading);
      // Where the old one is, the service has accepted one.
      if (branches === undefined && branchId !== undefined && branchId === found.branch_id) return Granted.proven();
      if (branches === undefined)
        return Unknown.because({
          question: `whether the service accepts an auth integration on ${branchId ?? "the default branch"}`,
          why: "it does not list branches, so the default one cannot be seen",
          waysOut: MOVE_ANYWAY,
        });
      const [refused] = branchFindings(projectId, branchId, branches);
      if (refused === undefined) return Granted.proven();
      return Refused.proven(new Error(`${refused.message}. ${MOVE_ANYWAY}`));
    },
  },

  async create(call, args) {
    const { projectId, authProvider = call.authProvider } = args;
    const id = `${projectId}/${authProvider}`;
    const made = await takeOverOrCreate(call, args, authProvider).catch(withProjectAdvice(call, projectId));
    // Stored before any other request: the server key cannot be read again.
    const known = { projectId, authProvider, ...made };
    call.checkpoint(id, known);
    const integration = await find(call, id, known);
    if (integration instanceof Gone) throw new Error("the service does not list it yet");
    return { id, outputs: await untilShown(call, id, { args, integration, known }) };
  },

  async read(call, { id, outs }) {
    const integration = await find(call, id, outs);
    if (integration instanceof Gone) return integration;
    const table = hasKeySet(outs) ? {} : USERS_TABLE;
    const outputs = { ...table, ...storedOutputs(id, outs), ...recordOutputs(integration) };
    return { args: toArguments(splitId(id).projectId, integration), outputs, ready: true };
  },

  async update(call, { id, outs }, args, { ignored }) {
    // Every argument replaces, so an update only completes a failed creation.
    const integration = await find(call, id, outs);
    if (integration instanceof Gone) throw goneError();
    const { projectId } = splitId(id);
    // No keys: the creation failed before it had any.
    const hasKeys = hasKeySet(outs);
    const keys = hasKeys ? {} : keyOutputs(await call.client.auth.createKeysOf(projectId, integration, call));
    const known = { ...storedOutputs(id, outs), ...keys, ...recordOutputs(integration) };
    if (!hasKeys) call.checkpoint(id, known);
    return untilShown(call, id, { args, integration, known, ignored });
  },

  async delete(call, { id, outs }) {
    const { projectId, rest: authProvider } = splitId(id);
    let isTold = false;
    // A preview cannot warn: the engine asks no provider before it deletes what the program no longer declares.
    const onSend = (): void => {
      const within = [authProvider, ANY_AUTH_PROVIDER].map((provider) => withinIntegration(projectId, provider));
      if (!isTold) call.note(deletionNote(id, outs, within.flatMap(call.run.namesInProgram)));
      isTold = true;
    };
    const matches = isIntegration(authProvider, outs.authProviderProjectId);
    const integration = call.client.auth.ownIntegration(
      projectId,
      isIntegration(authProvider),
      outs.authProviderProjectId,
    );
    const { isMeant } = integration;
    return deleteIfOurs(call, { what: `AuthIntegration ${id}`, outs, integration }, () =>
      call.client.auth
        .integrations(projectId)
        .delete(
          { id: authProvider, matches, thing: "the integration", onSend },
          { ...call, isMeant, mayGo: call.mayDelete },
        ),
    );
  },
});

const hasKeySet = ({ secretServerKey = "" }: Partial<AuthIntegrationOuts>): boolean => secretServerKey !== "";

/** What is deleted with an integration, as far as the state knows: the service lists neither users nor keys. */
function deletionNote(
  id: string,
  { branchId, databaseName }: Partial<AuthIntegrationOuts>,
  declaredInIt: readonly string[],
): string {
  const database = databaseName === undefined ? "" : `database ${databaseName} of `;
  const table = branchId === undefined ? "" : `. The table of synced users may stay in ${database}${branchId}`;
  const names = [...new Set(declaredInIt)].map((name) => `"${name}"`).join(", ");
  // With `--target` and a repair, the state keeps what left with it.
  const lost =
    names === ""
      ? ""
      : `. Of what this program declares, it takes ${names}: what this run does not create again, the next "pulumi up --refresh" does`;
  return `AuthIntegration ${id}: its deletion is sent now. It also deletes all of its users, keys, OAuth providers, redirect domains and mail settings, including those that this stack does not declare${table}${lost}`;
}

/** Another auth project under the same name is another integration: the stored one and its keys are gone. */
const isIntegration =
  (authProvider: string, authProviderProjectId?: string) =>
  (item: AuthIntegrationRecord): boolean =>
    isSameName(item.auth_provider, authProvider) &&
    (authProviderProjectId === undefined || item.auth_provider_project_id === authProviderProjectId);

async function find(
  call: Call<AuthIntegrationOuts>,
  id: string,
  { authProviderProjectId }: Partial<AuthIntegrationOuts>,
): Promise<AuthIntegrationRecord | Gone> {
  const { projectId, rest: authProvider } = splitId(id);
  const integrations = call.client.auth.integrations(projectId);
  return mustBeKnown(await integrations.find(isIntegration(authProvider, authProviderProjectId), call));
}

/** The outputs, once the service shows the integration as declared. */
async function untilShown(
  call: Call<AuthIntegrationOuts>,
  id: string,
  {
    args,
    integration,
    known,
    ignored,
  }: {
    args: AuthIntegrationShape;
    integration: AuthIntegrationRecord;
    known: AuthIntegrationOuts;
    ignored?: readonly string[];
  },
): Promise<AuthIntegrationOuts> {
  const { projectId } = splitId(id);
  const outputsOf = (now: AuthIntegrationRecord): AuthIntegrationOuts => ({ ...known, ...recordOutputs(now) });
  const expected = expectedOf<AuthIntegrationRecord>(declaration.args, {
    sent: args,
    ignored,
    argumentsOf: (now) => toArguments(projectId, now),
    checkpoint: (shown, now) => call.checkpoint(id, outputsOf(now), shown),
  });
  return outputsOf(await call.client.auth.integrations(projectId).untilShown(integration, expected, call));
}

type CreatedIntegration = ReturnType<typeof keyOutputs> & { branchId: string; roleName?: string };

function takeOverOrCreate(
  call: Call<AuthIntegrationOuts>,
  args: AuthIntegrationShape,
  authProvider: string,
): Promise<CreatedIntegration> {
  const { projectId } = args;
  const objectOf = (item?: AuthIntegrationRecord) =>
    integrationObject(projectId, authProvider, item?.auth_provider_project_id);
  const isSame = isIntegration(authProvider);
  return useExistingOrCreate(call, objectOf, {
    collection: call.client.auth.integrations(projectId),
    matches: (item) => isSame(item) && !call.run.wasDeleted(objectOf(item)),
    useExisting: (item) => adopt(call, args, item),
    create: () => createNew(call, args, authProvider),
    advice:
      "But the service does not list an integration in this project. Lists can be out of date: run pulumi up again in a while. " +
      "If the message is the same then, the cause is most likely the database schema of a deleted integration. " +
      "Check the users in it, then drop the schema in the database (svc_auth by default), or choose another database",
  });
}

async function createNew(
  call: Call<AuthIntegrationOuts>,
  args: AuthIntegrationShape,
  authProvider: string,
): Promise<CreatedIntegration> {
  const { projectId, databaseName, roleName, branchId = await defaultBranchId(call, args.projectId) } = args;
  const id = `${projectId}/${authProvider}`;
  const isCandidate = isIntegration(authProvider);
  const sent = { branchId, databaseName };
  const recovery: CreationRecovery<AuthIntegrationRecord> = {
    isCandidate,
    isOurs: (item) =>
      isCandidate(item) &&
      unconfirmed(declaration.args, { sent, shown: toArguments(projectId, item), proof: true }).length === 0,
    describe: (item) =>
      `an auth integration on ${item.branch_id}, database ${item.db_name ?? "unknown"}${createdAgo(item.created_at)}`,
    advice: () => 'Set "adopt: true" to manage it here (if it matches the program), or delete it',
    onFound: (item) => {
      // Without keys at first: they were lost with the response, and creating new ones may fail.
      call.checkpoint(id, { ...storedOutputs(id, {}), ...recordOutputs(item) });
      call.note(
        `AuthIntegration ${id} was found after the response to its creation was lost: a new key set is created for it`,
      );
    },
  };
  const request = omitUndefined({
    auth_provider: authProvider,
    branch_id: branchId,
    database_name: databaseName,
    role_name: roleName,
  });
  try {
    const keys = await call.client.auth.createIntegration({ projectId, body: request, recovery }, call);
    return { branchId, roleName: roleName ?? DEFAULT_ROLE, ...keyOutputs(keys) };
  } catch (error) {
    throw await namingBranches(call, error, { projectId, branchId, mustBeDefault: true });
  }
}

/** Keys cannot be read back, so a new set is created; older ones stay valid. The role cannot be read back either. */
async function adopt(
  call: Call<AuthIntegrationOuts>,
  args: AuthIntegrationShape,
  existing: AuthIntegrationRecord,
): Promise<CreatedIntegration> {
  const { projectId } = args;
  const { auth_provider: authProvider, branch_id: branchId, auth_provider_project_id } = existing;
  const refusal = refusalToAdopt(args, existing);
  if (refusal !== undefined) throw new Error(refusal);
  call.run.takeOver(integrationObject(projectId, authProvider, auth_provider_project_id));
  const keys = await call.client.auth.createKeysOf(projectId, existing, call);
  return { branchId, ...keyOutputs(keys) };
}

/** What a creation does with an existing integration, for the plan. */
const takenOver = (projectId: string, { branch_id: branchId, created_at }: AuthIntegrationRecord): string =>
  `pulumi up takes over the auth integration of project ${projectId}, which exists on ${branchId}${createdAgo(created_at)}: ` +
  "a new key set is created, older keys stay valid, and destroying deletes it with all of its users, unless retainOnDelete is set";

/** Why an existing integration is not taken over; undefined if it is. */
function refusalToAdopt(
  args: Partial<AuthIntegrationShape> & Pick<AuthIntegrationShape, "projectId">,
  existing: AuthIntegrationRecord,
): string | undefined {
  const { branch_id: branchId, created_at } = existing;
  const what = `an auth integration exists on ${branchId}${createdAgo(created_at)}`;
  const differing = unconfirmed(declaration.args, { sent: args, shown: toArguments(args.projectId, existing) });
  const named = differing.map((name) => `"${name}"`).join(" and ");
  if (args.adopt !== true) {
    const likeness = differing.length > 0 ? `; it differs from the program in ${named}` : "";
    return `${what}${likeness}.${possibleOwner(created_at)} Set "adopt: true" to manage it here (a new key set is created, older keys stay valid), or delete it first${ALIAS_ADVICE}`;
  }
  if (differing.length === 0) return undefined;
  return `${what}. It differs from the program in ${named}, which cannot be changed. Declare the existing values, or delete it first`;
}

/** The plan's findings about the branch of an integration to be created, from the list of branches. */
function branchFindings(
  projectId: string,
  branchId: string | undefined,
  branches: readonly BranchRecord[] | undefined,
): Finding[] {
  if (branchId === undefined) {
    const missing = defaultBranch(branches);
    return typeof missing === "string" ? [obstacle(missing)] : [];
  }
  const missing = missingBranch(projectId, branchId, branches);
  if (missing !== undefined) return [obstacle(missing)];
  const defaults = (branches ?? []).filter((branch) => branch.default === true);
  const [production] = defaults;
  if (production === undefined || defaults.some(({ id }) => isSameName(id, branchId))) return [];
  // Not every service refuses this, so it is not an obstacle.
  return [
    effect(
      `${branchId} is not flagged as the default branch of the project, which is ${production.id}: the service may refuse an auth integration there`,
    ),
  ];
}

/** The users of the deleted integration are lost, so a replacement does not begin if the new one may be refused. */
const MOVE_ANYWAY =
  "To move it anyway, which loses its users, remove it from the program, run pulumi up, and add it again";

function storedOutputs(id: string, outs: Partial<AuthIntegrationOuts>) {
  const { projectId, rest: authProvider } = splitId(id);
  return { ...storedKeys(outs), projectId, authProvider, ...omitUndefined({ roleName: outs.roleName }) };
}

/** The arguments as the service shows them. The role cannot be read back. */
const toArguments = (projectId: string, item: AuthIntegrationRecord) => ({
  projectId,
  authProvider: item.auth_provider,
  branchId: item.branch_id,
  ...omitUndefined({ databaseName: item.db_name }),
});

function recordOutputs(integration: AuthIntegrationRecord) {
  return {
    authProviderProjectId: integration.auth_provider_project_id,
    branchId: integration.branch_id,
    ...omitUndefined({
      databaseName: integration.db_name,
      jwksUrl: integration.jwks_url,
      ownedBy: integration.owned_by,
      createdAt: integration.created_at,
    }),
  };
}

async function defaultBranchId(call: Call<AuthIntegrationOuts>, projectId: string): Promise<string> {
  const branch = defaultBranch(await call.client.projects.branches(projectId, call));
  if (typeof branch === "string") throw new Error(branch);
  return branch.id;
}

/** The branch that is used if none is given, or why there is none. */
function defaultBranch(branches: readonly BranchRecord[] | undefined): BranchRecord | string {
  if (branches === undefined)
    return 'this service does not list branches, so the default one cannot be looked up. Give "branchId"';
  const branch = branches.find((candidate) => candidate.default === true);
  return branch ?? 'no branch of the project is flagged as default. Give "branchId"';
}
