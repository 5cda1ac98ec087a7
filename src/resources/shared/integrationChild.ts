import { NotFoundError, undefinedIfGone, type AuthIntegrationRecord } from "../../client";
import type { Call, Changes, Created, Lifecycle, Observed, Stored } from "../../host/lifecycle";
import { omitUndefined } from "./omitUndefined";

/** The outputs about the integration that each of its children has. */
export interface IntegrationOutputs {
  readonly authProviderProjectId?: string;
}

/** The lifecycle of a child of an integration. `Inner` are the outputs without those about the integration. */
export interface Child<Args extends object, Inner extends object> extends Omit<
  Lifecycle<Args, Inner & IntegrationOutputs>,
  "create" | "read" | "update"
> {
  create(call: Call<Inner>, args: Args): Promise<Created<Inner>>;
  read(call: Call<Inner>, stored: Stored<Args, Inner & IntegrationOutputs>): Promise<Observed<Args, Inner> | undefined>;
  update(
    call: Call<Inner>,
    stored: Stored<Args, Inner & IntegrationOutputs>,
    args: Args,
    changes: Changes<Args>,
  ): Promise<Inner>;
}

/** Read and update of an object that cannot be read back and whose every argument replaces: the stored outputs stay. */
export const keepStored = <Args extends object, Inner extends object>(
  argsOf: (id: string) => Observed<Args, Inner>["args"],
  storedOutputs: (id: string, outs: Partial<Inner & IntegrationOutputs & Args>) => Inner,
): Pick<Child<Args, Inner>, "read" | "update"> => ({
  read: async (_call, { id, outs }) => ({ args: argsOf(id), outputs: storedOutputs(id, outs), ready: true }),
  update: async (_call, { id, outs }) => storedOutputs(id, outs),
});

/**
 * The wrapper around those lifecycles. The child is gone when its integration is (two good lists), or when another one is in
 * its place; an object of the same name in that one belongs to somebody else and is not deleted. The child is called with
 * the auth provider that it names.
 */
export function inIntegration<Args extends object & { projectId: string; authProvider?: string }, Inner extends object>(
  child: Child<Args, Inner>,
): Lifecycle<Args, Inner & IntegrationOutputs> {
  const projectOf = (id: string): string => id.split("/", 1)[0] ?? id;
  const inner = (
    call: Call<Inner & IntegrationOutputs>,
    args: object,
    integration = storedIntegration(args).integration,
  ): Call<Inner> => ({
    ...call,
    authProvider: storedIntegration(args).authProvider ?? call.authProvider,
    checkpoint: (id, outputs, shown) => call.checkpoint(id, { ...outputs, ...integration }, shown),
  });
  return {
    ...child,

    async create(call, args) {
      // Read before the creation, so that nothing can fail after it.
      const integration = toIntegrationOutputs(await findIntegration(call, args.projectId, args.authProvider));
      try {
        const { id, outputs } = await child.create(inner(call, args, integration), args);
        return { id, outputs: { ...outputs, ...integration } };
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
        throw new Error(
          `${error.message}. Most likely the project has no auth integration yet: declare an AuthIntegration and pass its "projectId" output`,
          { cause: error },
        );
      }
    },

    async read(call, stored) {
      const { integration: known, authProvider } = storedIntegration(stored.outs);
      const projectId = projectOf(stored.id);
      const integration =
        known.authProviderProjectId === undefined
          ? await findIntegration(call, projectId, authProvider)
          : await call.client.auth.integrations(projectId).find(hasAuthProject(known.authProviderProjectId), call);
      if (integration === undefined) return undefined;
      const observed = await child.read(inner(call, stored.outs), stored);
      // A child that was created while the list lagged gets its integration here.
      return observed && { ...observed, outputs: { ...observed.outputs, ...toIntegrationOutputs(integration) } };
    },

    async update(call, stored, args, changes) {
      const outputs = await child.update(inner(call, stored.outs), stored, args, changes);
      return { ...outputs, ...storedIntegration(stored.outs).integration };
    },

    async delete(call, stored) {
      const { authProviderProjectId } = storedIntegration(stored.outs).integration;
      const managesObject = child.objects(stored.id, stored.outs).length > 0;
      if (!managesObject || !(await isIntegrationReplaced(call, projectOf(stored.id), authProviderProjectId)))
        return child.delete(inner(call, stored.outs), stored);
      call.note(`${child.kind} ${stored.id}: another auth integration is in its place, and nothing there was deleted`);
    },
  };
}

const hasAuthProject =
  (authProviderProjectId: string) =>
  ({ auth_provider_project_id }: AuthIntegrationRecord): boolean =>
    auth_provider_project_id === authProviderProjectId;

function storedIntegration(outs: object): { authProvider: string | undefined; integration: IntegrationOutputs } {
  const { authProvider, authProviderProjectId } = outs as { authProvider?: string } & IntegrationOutputs;
  return { authProvider, integration: omitUndefined({ authProviderProjectId }) };
}

const toIntegrationOutputs = (integration: AuthIntegrationRecord | undefined): IntegrationOutputs =>
  omitUndefined({ authProviderProjectId: integration?.auth_provider_project_id });

/** The integration of a child: without an auth provider of its own, that of the setting, or the only one of the project. */
async function findIntegration(
  call: Call<never>,
  projectId: string,
  authProvider: string | undefined,
): Promise<AuthIntegrationRecord | undefined> {
  const integrations = call.client.auth.integrations(projectId);
  const isNamed = ({ auth_provider }: AuthIntegrationRecord): boolean =>
    auth_provider === (authProvider ?? call.authProvider);
  const listed = await integrations.list(call);
  if (authProvider === undefined && listed.length === 1) return listed[0];
  return listed.find(isNamed) ?? integrations.find(isNamed, call);
}

/** False where the list cannot tell: the deletion is sent then, and a missing object is no error. */
export async function isIntegrationReplaced(
  call: Call<never>,
  projectId: string,
  authProviderProjectId: string | undefined,
): Promise<boolean> {
  if (authProviderProjectId === undefined) return false;
  const integrations = call.client.auth.integrations(projectId);
  const replaced = await undefinedIfGone(async () => {
    const own = await integrations.find(hasAuthProject(authProviderProjectId), call);
    return own === undefined && (await integrations.list(call)).length > 0;
  });
  return replaced === true;
}
