import { NotFoundError, orGone, type AuthIntegrationRecord } from "../client";
import type { Call, Lifecycle, Observed } from "../dynamic/lifecycle";
import { withoutAbsent } from "./absent";

/** What everything that lives in an integration stores of it. */
export interface Home {
  /** The project at the auth provider that the object was made in. */
  readonly authProviderProjectId?: string;
}

/**
 * A lifecycle of what lives in an integration, which deletes it when it is deleted. `Inner` are the outputs less those
 * of the integration, which the wrapper adds and keeps.
 */
export interface Child<Args extends object, Inner extends object> extends Omit<
  Lifecycle<Args, Inner & Home>,
  "create" | "read" | "update"
> {
  /** Of the integration that the object lives in; undefined: that of the settings, or else the only one there is. */
  readonly homeProvider: (args: { readonly authProvider?: string | undefined }) => string | undefined;
  create(call: Call<Inner>, args: Args): Promise<{ id: string; outputs: Inner }>;
  read(call: Call<Inner>, ...stored: ReadParameters<Args, Inner>): Promise<Observed<Args, Inner> | undefined>;
  update(call: Call<Inner>, ...update: UpdateParameters<Args, Inner>): Promise<Inner>;
}
type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest] ? Rest : never;
type ReadParameters<Args extends object, Inner extends object> = Tail<
  Parameters<Lifecycle<Args, Inner & Home>["read"]>
>;
type UpdateParameters<Args extends object, Inner extends object> = Tail<
  Parameters<Lifecycle<Args, Inner & Home>["update"]>
>;

/**
 * The one wrapper around those lifecycles. The object is gone when its integration is (two good lists), or when another
 * one stands in its place; what bears its name there is another's, and is not deleted.
 */
export function inIntegration<Args extends object & { projectId: string; authProvider?: string }, Inner extends object>(
  child: Child<Args, Inner>,
): Lifecycle<Args, Inner & Home> {
  const projectOf = (id: string): string => id.split("/", 1)[0] ?? id;
  const withHome = (call: Call<Inner & Home>, home: Home): Call<Inner> => ({
    ...call,
    keep: (id, outputs, shown) => call.keep(id, { ...outputs, ...home }, shown),
  });
  return {
    ...child,

    async create(call, args) {
      // Asked before, so that nothing can fail once the object is there.
      const home = toHome(await findHome(call, args.projectId, child.homeProvider(args) ?? undefined));
      try {
        const { id, outputs } = await child.create(withHome(call, home), args);
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
      const home = homeIn(stored.outs);
      const projectId = projectOf(stored.id);
      const isIt = (item: AuthIntegrationRecord): boolean =>
        item.auth_provider_project_id === home.authProviderProjectId;
      const integration =
        home.authProviderProjectId === undefined
          ? await findHome(call, projectId, child.homeProvider(stored.outs))
          : await call.client.auth.integrations(projectId).find(isIt, call);
      if (integration === undefined) return undefined;
      const observed = await child.read(withHome(call, home), stored);
      // What was made while the list lagged learns here where it lives.
      return observed && { ...observed, outputs: { ...observed.outputs, ...toHome(integration) } };
    },

    async update(call, stored, args, changes) {
      const home = homeIn(stored.outs);
      return { ...(await child.update(withHome(call, home), stored, args, changes)), ...home };
    },

    async delete(call, stored) {
      const { authProviderProjectId } = homeIn(stored.outs);
      const isThere = child.objects(stored.id, stored.outs).length > 0;
      if (isThere && (await wasReplaced(call, projectOf(stored.id), authProviderProjectId))) {
        call.note(
          `${child.kind} ${stored.id}: another auth integration stands in its place, and nothing there was deleted`,
        );
        return;
      }
      await child.delete(call, stored);
    },
  };
}

/** Outs are those of the child and of its home. */
const homeIn = (outs: object): Home =>
  withoutAbsent({ authProviderProjectId: (outs as { authProviderProjectId?: string }).authProviderProjectId });

const toHome = (integration: AuthIntegrationRecord | undefined): Home =>
  integration === undefined ? {} : { authProviderProjectId: integration.auth_provider_project_id };

/** What names no auth provider lives with that of the setting, or else in the only integration there is. */
async function findHome(
  call: Pick<Call<never>, "client" | "deadline" | "onProgress" | "authProvider">,
  projectId: string,
  authProvider: string | undefined,
): Promise<AuthIntegrationRecord | undefined> {
  const integrations = call.client.auth.integrations(projectId);
  const isNamed = ({ auth_provider }: AuthIntegrationRecord): boolean =>
    auth_provider === (authProvider ?? call.authProvider);
  const listed = await integrations.list(call);
  const [only, ...others] = listed;
  if (authProvider === undefined && only !== undefined && others.length === 0) return only;
  return listed.find(isNamed) ?? integrations.find(isNamed, call);
}

/** Where the list cannot tell, the deletion is sent: what is gone is no error. */
export async function wasReplaced(
  call: Pick<Call<never>, "client" | "deadline" | "onProgress">,
  projectId: string,
  authProviderProjectId: string | undefined,
): Promise<boolean> {
  if (authProviderProjectId === undefined) return false;
  const integrations = call.client.auth.integrations(projectId);
  const replaced = await orGone(async () => {
    const own = await integrations.find(({ auth_provider_project_id: id }) => id === authProviderProjectId, call);
    return own === undefined && (await integrations.list(call)).length > 0;
  });
  return replaced === true;
}
