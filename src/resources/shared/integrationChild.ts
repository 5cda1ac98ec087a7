import {
  behind,
  Gone,
  Granted,
  identityOf,
  mustBeKnown,
  NotFoundError,
  NotOursError,
  Refused,
  Unknown,
  type AuthIntegrationRecord,
  type OwnIntegration,
} from "../../client";
import type { Declaration } from "../../contract/declaration";
import { isSameName } from "../../contract/forms";
import { projectOf } from "../../contract/identifiers";
import type { SchemasOf } from "../../runtime/arguments";
import { define, type Methods } from "../../runtime/define";
import type { Call, Changes, Created, Finding, Lifecycle, Look, Observed, Stored } from "../../runtime/lifecycle";
import { obstacle, staysInTheWay } from "../../runtime/lookAhead";
import { integrationObject, isIntegrationOf } from "../../contract/claims";
import { adviceOnHiddenProject, withProjectAdvice } from "./hiddenProject";
import { omitUndefined } from "./omitUndefined";

/** The outputs about the integration that each of its children has. */
export interface IntegrationOutputs {
  readonly authProviderProjectId?: string;
}

interface ChildArguments {
  projectId: string;
  authProvider?: string;
}

/** A call of a child. Its changes are sent through `integration`: see `OwnIntegration`. */
export interface ChildCall<Outputs> extends Call<Outputs> {
  readonly integration: OwnIntegration;
}

/** The lifecycle of a child of an integration; `inIntegration` adds the outputs about the integration. */
export interface Child<Args extends object, Outputs extends object> extends Omit<
  Methods<Args, Outputs>,
  "replaceable" | "create" | "read" | "update" | "delete"
> {
  /** Whether these arguments differ from the stored ones only in what no request carries. */
  readonly isOfStateAlone?: (stored: Stored<Args, Outputs>, news: Partial<Args>) => boolean;
  create(call: ChildCall<Outputs>, args: Args): Promise<Created<Outputs>>;
  read(call: ChildCall<Outputs>, stored: Stored<Args, Outputs>): Promise<Observed<Args, Outputs> | Gone>;
  update(call: ChildCall<Outputs>, stored: Stored<Args, Outputs>, args: Args, changes: Changes<Args>): Promise<Outputs>;
  delete(call: ChildCall<Outputs>, stored: Stored<Args, Outputs>): Promise<Gone>;
}

/** Read and update of an object that cannot be read back and whose arguments all replace: the stored outputs stay. */
export const keepStored = <Args extends object, Outputs extends object>(
  argsOf: (id: string) => Observed<Args, Outputs>["args"],
  storedOutputs: (id: string, outs: Partial<Outputs & Args>) => Outputs,
): Pick<Child<Args, Outputs>, "read" | "update"> => ({
  read: async (_call, { id, outs }) => ({ args: argsOf(id), outputs: storedOutputs(id, outs), ready: true }),
  update: async (_call, { id, outs }) => storedOutputs(id, outs),
});

/**
 * Wraps those lifecycles. A child is gone when its integration is (two good lists), or when another integration is in
 * its place: an object of the same name in that one belongs to somebody else, and is neither changed nor deleted. The
 * child is called with the auth provider that it names.
 */
export function inIntegration<Args extends ChildArguments, Declared extends IntegrationOutputs>(
  declaration: Declaration<Args, Declared>,
  schemas: SchemasOf<Args>,
  child: Child<Args, Declared & Partial<Args>>,
): Lifecycle<Args, Declared & Partial<Args>> {
  type Outputs = Declared & Partial<Args>;
  const inner = (call: Call<Outputs>, args: object, integration: OwnIntegration): ChildCall<Outputs> => ({
    ...call,
    integration,
    authProvider: storedIntegration(args).authProvider ?? call.authProvider,
    checkpoint: (id, outputs, shown) => call.checkpoint(id, { ...outputs, ...outputsOf(integration) }, shown),
  });
  return define(declaration, schemas, {
    ...child,

    container: {
      name: "its integration",
      // A state without the id proves nothing.
      is: (object, id, { authProviderProjectId }) =>
        authProviderProjectId !== undefined &&
        isIntegrationOf(projectOf(id), undefined)(object) &&
        object.endsWith(` ${authProviderProjectId}`),
    },

    async lookAhead(look) {
      const { projectId, authProvider } = look.args;
      // It is still unknown which integration it belongs to.
      if (authProvider === undefined && look.givenNames.has("authProvider")) return undefined;
      const listed = await look.client.auth.integrations(projectId).list(look.reading);
      const isNamed = isIntegrationNamed(authProvider, look.authProvider);
      if (listed.some((item) => isNamed(item, listed)))
        return child.lookAhead?.({ ...look, authProvider: authProvider ?? look.authProvider });
      return missingIntegration(look, listed);
    },

    ...(child.lookAtUpdate !== undefined && {
      lookAtUpdate: async (look, plan) => {
        const { stored, changes } = plan;
        const isOfStateAlone = changes.changed.size === 0 || child.isOfStateAlone?.(stored, plan.news) === true;
        // Such an update sends nothing.
        if (isOfStateAlone && !stored.unfinished) return [];
        const integration = integrationOf(look, look.args.projectId, stored.outs);
        try {
          await integration.check(look.reading);
        } catch (error) {
          if (!(error instanceof NotOursError)) throw error;
          return [staysInTheWay(error.forPlan)];
        }
        if (integration.id !== undefined) return (await child.lookAtUpdate?.(look, plan)) ?? [];
        return missingIntegration(look, await look.client.auth.integrations(look.args.projectId).list(look.reading));
      },
    }),

    /** An object of the same name was accepted before, so the integration is all that may be missing. */
    replaceable: {
      asks: "its integration exists, and does not leave the project in this run",
      async ask({ stored, news, reading, isToBeReplaced, isDeclared, ...asking }) {
        const own = await integrationOf(asking, projectOf(stored.id), stored.outs).find(reading);
        if (own instanceof Unknown) return own;
        // Then nothing is deleted.
        if (own instanceof Gone) return Granted.proven();
        const { projectId = projectOf(stored.id), authProvider } = news;
        const found = await integrationOf(asking, projectId, { authProvider }).find(reading);
        if (found instanceof Unknown) return found;
        const which = authProvider === undefined ? "" : ` with ${authProvider}`;
        if (found instanceof Gone)
          return Refused.proven(new Error(`project ${projectId} has no auth integration${which}`));
        const isFound = isIntegrationOf(projectId, found.auth_provider);
        if (!isToBeReplaced((object) => object.startsWith(integrationObject(projectId, found.auth_provider))))
          return Granted.proven();
        return isDeclared(isFound) ? Granted.proven() : Refused.proven(new Error(leavesProject(projectId)));
      },
    },

    async create(call, args) {
      const integration = integrationOf(call, args.projectId, { authProvider: args.authProvider });
      const named = integrationObject(args.projectId, args.authProvider ?? call.authProvider);
      if (call.run.isToBeReplaced((object) => object.startsWith(named)))
        throw new Error(`${leavesProject(args.projectId)}. Nothing was sent`);
      try {
        const { id, outputs } = await child.create(inner(call, args, integration), args);
        // Nothing was sent if everything existed already.
        await integration.ensureKnown(call);
        // The response to a creation may name the integration itself.
        return { id, outputs: { ...outputsOf(integration), ...outputs } };
      } catch (thrown) {
        const error = behind(thrown);
        if (!(error instanceof NotFoundError)) throw thrown;
        const advice =
          (await adviceOnHiddenProject(call, args.projectId)) ??
          'Most likely the project has no auth integration yet: declare an AuthIntegration and pass its "projectId" output';
        throw new Error(`${error.message}. ${advice}`, { cause: error });
      }
    },

    async read(call, stored) {
      const integration = integrationOf(call, projectOf(stored.id), stored.outs);
      const found = mustBeKnown(await integration.find(call));
      if (found instanceof Gone) return found;
      const observed = await child.read(inner(call, stored.outs, integration), stored);
      if (observed instanceof Gone) return observed;
      // Adds the id of its integration to a child without one.
      const outputs = { ...observed.outputs, ...outputsOf({ id: found.auth_provider_project_id }) };
      return { ...observed, outputs };
    },

    async update(call, stored, args, changes) {
      const integration = integrationOf(call, projectOf(stored.id), stored.outs);
      const outputs = await child
        .update(inner(call, stored.outs, integration), stored, args, changes)
        .catch(withProjectAdvice(call, projectOf(stored.id)));
      noteUnproven(call, { what: `${declaration.kind} ${stored.id}`, outs: stored.outs, integration });
      return { ...outputs, ...outputsOf(integration) };
    },

    async delete(call, stored) {
      const integration = integrationOf(call, projectOf(stored.id), stored.outs);
      return deleteIfOurs(call, { what: `${declaration.kind} ${stored.id}`, outs: stored.outs, integration }, () =>
        child.delete(inner(call, stored.outs, integration), stored),
      );
    },
  });
}

const leavesProject = (projectId: string): string =>
  `the integration of project ${projectId} is replaced in this run, and what is created in the old one would be deleted with it. ` +
  'Pass the "projectId" output of the AuthIntegration, and run pulumi up again';

function storedIntegration(outs: object) {
  return outs as { authProvider?: string } & IntegrationOutputs;
}

const outputsOf = ({ id }: Pick<OwnIntegration, "id">): IntegrationOutputs =>
  omitUndefined({ authProviderProjectId: id });

/**
 * The integration of a child: by the id in its state, else by its auth provider, that of the setting, or the only one
 * of the project.
 */
function integrationOf(
  call: Pick<Call<never>, "client" | "authProvider">,
  projectId: string,
  outs: object,
): OwnIntegration {
  const { authProvider, authProviderProjectId } = storedIntegration(outs);
  const isNamed = isIntegrationNamed(authProvider, call.authProvider);
  return call.client.auth.ownIntegration(
    projectId,
    (item, listed) => authProviderProjectId !== undefined || isNamed(item, listed),
    authProviderProjectId,
  );
}

/** From the list: the named integration, else the only one, else that of the setting. */
const isIntegrationNamed =
  (authProvider: string | undefined, ofSetting: string) =>
  (item: AuthIntegrationRecord, listed: readonly AuthIntegrationRecord[] | undefined): boolean =>
    (authProvider === undefined && listed?.length === 1) || isSameName(item.auth_provider, authProvider ?? ofSetting);

/** The finding that the integration is missing, unless a resource of the program declares it. */
function missingIntegration(
  { args: { projectId, authProvider }, isDeclared }: Look<ChildArguments>,
  listed: readonly AuthIntegrationRecord[],
): Finding[] {
  if (isDeclared(isIntegrationOf(projectId, authProvider))) return [];
  const which = authProvider === undefined ? "" : ` with ${authProvider}`;
  const others = listed.length === 0 ? "" : ` (it has one with ${listed.map((one) => one.auth_provider).join(", ")})`;
  const missing =
    `project ${projectId} has no auth integration${which}${others}, and this program has not declared one before this resource. ` +
    'Declare an AuthIntegration and pass its "projectId" output';
  return [obstacle(missing)];
}

/** What a state holds of an integration or its child. */
interface Held {
  /** For messages: its kind and id. */
  readonly what: string;
  readonly outs: object;
  readonly integration: OwnIntegration;
}

/** Runs a deletion. If the integration is gone, so is the object, and what replaced it stays. */
export async function deleteIfOurs(call: Call<never>, held: Held, work: () => Promise<Gone>): Promise<Gone> {
  try {
    const gone = await work();
    noteUnproven(call, held);
    return gone;
  } catch (error) {
    if (!(error instanceof NotOursError)) throw error;
    const { instead, proof } = error;
    if (instead !== undefined)
      call.note(
        `${held.what}: its auth integration was replaced by another one (${identityOf(instead)}); nothing in that one was deleted`,
      );
    return proof;
  }
}

/** For a state without the id of the integration. */
function noteUnproven(call: Call<never>, { what, outs, integration: { id } }: Held): void {
  if (storedIntegration(outs).authProviderProjectId !== undefined || id === undefined) return;
  call.note(`${what}: its state does not name its auth integration; the one with the same name was used (${id})`);
}
