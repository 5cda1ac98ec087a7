import { NotFoundError, undefinedIfGone, type AuthIntegrationRecord } from "../../client";
import type { Call, Changes, Created, Lifecycle, Observed, Stored } from "../../host/lifecycle";
import { omitUndefined } from "./omitUndefined";

/** What everything that lives in an integration stores of it. */
export interface Home {
  readonly authProviderProjectId?: string;
}

/** A lifecycle of what lives in an integration. `Inner` are the outputs less those of the integration. */
export interface Child<Args extends object, Inner extends object> extends Omit<
  Lifecycle<Args, Inner & Home>,
  "create" | "read" | "update"
> {
  create(call: Call<Inner>, args: Args): Promise<Created<Inner>>;
  read(call: Call<Inner>, stored: Stored<Args, Inner & Home>): Promise<Observed<Args, Inner> | undefined>;
  update(call: Call<Inner>, stored: Stored<Args, Inner & Home>, args: Args, changes: Changes<Args>): Promise<Inner>;
}

/** Of what nothing shows again, and whose every argument replaces: it stays as it is stored. */
export const asStored = <Args extends object, Inner extends object>(
  argsOf: (id: string) => Observed<Args, Inner>["args"],
  kept: (id: string, outs: Partial<Inner & Home & Args>) => Inner,
): Pick<Child<Args, Inner>, "read" | "update"> => ({
  read: async (_call, { id, outs }) => ({ args: argsOf(id), outputs: kept(id, outs), ready: true }),
  update: async (_call, { id, outs }) => kept(id, outs),
});

/**
 * The one wrapper around those lifecycles. The object is gone when its integration is (two good lists), or when another
 * one stands in its place; what bears its name there is another's, and is not deleted. The child is called with the auth
 * provider that it names.
 */
export function inIntegration<Args extends object & { projectId: string; authProvider?: string }, Inner extends object>(
  child: Child<Args, Inner>,
): Lifecycle<Args, Inner & Home> {
  const projectOf = (id: string): string => id.split("/", 1)[0] ?? id;
  const inner = (call: Call<Inner & Home>, args: object, home = partsOf(args).home): Call<Inner> => ({
    ...call,
    authProvider: partsOf(args).authProvider ?? call.authProvider,
    checkpoint: (id, outputs, shown) => call.checkpoint(id, { ...outputs, ...home }, shown),
  });
  return {
    ...child,

    async create(call, args) {
      // Before, so that nothing can fail once the object is there.
      const home = toHome(await findHome(call, args.projectId, args.authProvider));
      try {
        const { id, outputs } = await child.create(inner(call, args, home), args);
        return { id, outputs: { ...outputs, ...home } };
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
        throw new Error(
          `${error.message}. Most likely the project has no auth integration yet: declare an AuthIntegration and pass its "projectId" output`,
          { cause: error },
        );
      }
    },

    async read(call, stored) {
      const { home, authProvider } = partsOf(stored.outs);
      const projectId = projectOf(stored.id);
      const integration =
        home.authProviderProjectId === undefined
          ? await findHome(call, projectId, authProvider)
          : await call.client.auth.integrations(projectId).find(isAt(home.authProviderProjectId), call);
      if (integration === undefined) return undefined;
      const observed = await child.read(inner(call, stored.outs), stored);
      // What was made while the list lagged learns here where it lives.
      return observed && { ...observed, outputs: { ...observed.outputs, ...toHome(integration) } };
    },

    async update(call, stored, args, changes) {
      const outputs = await child.update(inner(call, stored.outs), stored, args, changes);
      return { ...outputs, ...partsOf(stored.outs).home };
    },

    async delete(call, stored) {
      const { authProviderProjectId } = partsOf(stored.outs).home;
      const isThere = child.objects(stored.id, stored.outs).length > 0;
      if (!isThere || !(await wasReplaced(call, projectOf(stored.id), authProviderProjectId)))
        return child.delete(inner(call, stored.outs), stored);
      call.note(`${child.kind} ${stored.id}: another auth integration is in its place, and nothing there was deleted`);
    },
  };
}

const isAt =
  (authProviderProjectId: string) =>
  ({ auth_provider_project_id }: AuthIntegrationRecord): boolean =>
    auth_provider_project_id === authProviderProjectId;

function partsOf(outs: object): { authProvider: string | undefined; home: Home } {
  const { authProvider, authProviderProjectId } = outs as { authProvider?: string } & Home;
  return { authProvider, home: omitUndefined({ authProviderProjectId }) };
}

const toHome = (integration: AuthIntegrationRecord | undefined): Home =>
  omitUndefined({ authProviderProjectId: integration?.auth_provider_project_id });

/** What names no auth provider lives with that of the setting, or else in the only integration there is. */
async function findHome(
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

/** Where the list cannot tell, the deletion is sent: what is gone is no error. */
export async function wasReplaced(
  call: Call<never>,
  projectId: string,
  authProviderProjectId: string | undefined,
): Promise<boolean> {
  if (authProviderProjectId === undefined) return false;
  const integrations = call.client.auth.integrations(projectId);
  const replaced = await undefinedIfGone(async () => {
    const own = await integrations.find(isAt(authProviderProjectId), call);
    return own === undefined && (await integrations.list(call)).length > 0;
  });
  return replaced === true;
}
