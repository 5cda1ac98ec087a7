import type { Client } from "../../client";
import { serviceOf } from "../../contract/address";
import { isSameName, nameForm } from "../../contract/forms";
import { projectOf } from "../../contract/identifiers";
import { type ReadSetting, requestTrace } from "../../contract/settings";
import { Session } from "../../runtime/session";
import { refusalToDeclare } from "../declarable";
import type { ProjectObject } from "../../resources/tools";
import { gatherersOf, objectForm } from "../declarations";
import { listProjectObjects } from "../projectObjects";
import { compareText } from "../output";
import { fromProgram } from "../stack/configuration";
import type { RefreshedStack } from "./previewRefresh";
import type { Report } from "./report";

/** A project, and the settings to reach it. */
interface UnmanagedRequest {
  /** The service's address: another service may have a project with the same id. */
  readonly address: string;
  readonly client: Client;
  readonly projectId: string;
  readonly authProvider: string;
  readonly read: ReadSetting;
}

export interface UnmanagedOptions<Stack> {
  /** Whose lists are used, as far as they were read. @default a new one */
  readonly session?: Session;
  /** The settings of the refresh: the stored ones of each provider, otherwise the environment. */
  readonly settingsOf?: (stack: Stack, provider: string) => ReadSetting;
  /** Runs the look at one project. @default at once, and a failure is one of all */
  readonly each?: <Found>(projectId: string, look: () => Promise<Found>) => Promise<Found | undefined>;
}

/** The objects in the projects of these stacks that no stack contains. */
export async function unmanagedObjects<Stack extends RefreshedStack>(
  stacks: readonly Stack[],
  {
    session = new Session(() => undefined, { client: { trace: requestTrace() } }),
    settingsOf = ({ state }, provider) => fromProgram(process.cwd(), state.settingsOf(provider)),
    each = (_projectId, look) => look(),
  }: UnmanagedOptions<Stack> = {},
): Promise<Pick<Report, "unmanaged" | "byItself">> {
  const projects = new Map<string, UnmanagedRequest>();
  const declared = new Set<string>();
  for (const stack of stacks) {
    for (const { kind, id, provider, isHeld, authProvider } of stack.resources) {
      const read = settingsOf(stack, provider);
      const { client, settings } = session.account(read);
      const projectId = projectOf(id);
      const { baseUrl: address } = settings;
      const service = serviceOf(address);
      // Independent of the key: each project is listed once for each service.
      const key = JSON.stringify([service, nameForm(projectId)]);
      if (!projects.has(key))
        projects.set(key, { address, client, projectId, authProvider: settings.authProvider, read });
      if (!isHeld) continue;
      declared.add(`${service} ${objectForm(kind, id)}`);
      // One project may have domains of several auth providers.
      declared.add(`${service} ${objectForm(kind, id)} ${nameForm(authProvider ?? settings.authProvider)}`);
    }
  }
  const isDeclared = (address: string, object: ProjectObject): boolean => {
    const { kind, id, authProvider, sharesId } = object;
    const service = serviceOf(address);
    const ofProvider = sharesId === true && authProvider !== undefined ? ` ${nameForm(authProvider)}` : "";
    // A gatherer owns the whole list: what it does not declare is drift.
    const gatherers = gatherersOf(kind).map((one) => objectForm(one, projectOf(id)));
    return [objectForm(kind, id), ...gatherers].some((one) => declared.has(`${service} ${one}${ofProvider}`));
  };
  // The results of a refresh come in any order.
  const asked = [...projects.values()].toSorted(
    (left, right) => compareText(left.projectId, right.projectId) || compareText(left.address, right.address),
  );
  const found = await Promise.all(
    asked.map((project) => {
      const isAmbiguous = asked.some((other) => other !== project && other.projectId === project.projectId);
      const where = isAmbiguous ? `, at ${project.address}` : "";
      return each(project.projectId, () => undeclaredOf(project, isDeclared, where));
    }),
  );
  return {
    unmanaged: found.flatMap((one) => one?.unmanaged ?? []),
    byItself: found.flatMap((one) => one?.byItself ?? []),
  };
}

async function undeclaredOf(
  { address, client, projectId, authProvider, read }: UnmanagedRequest,
  isDeclared: (address: string, object: ProjectObject) => boolean,
  /** The project, if the object's id does not contain it. */
  where: string,
): Promise<Pick<Report, "unmanaged" | "byItself">> {
  const all = await listProjectObjects({ client, projectId, authProvider, options: {} });
  const objects = all.filter((object) => !isDeclared(address, object));
  const mayComeWithBranch = objects.some(({ comesWithBranch }) => comesWithBranch !== undefined);
  // Not every service lists branches. Without the default one, nothing counts as there by itself.
  const branches = mayComeWithBranch ? ((await client.projects.branches(projectId)) ?? []) : [];
  const defaultBranch = branches.find((branch) => branch.default === true)?.id ?? "";
  const isThereByItself = ({ comesWithBranch }: ProjectObject): boolean =>
    comesWithBranch !== undefined && isSameName(comesWithBranch, defaultBranch);
  const told = (isByItself: boolean) =>
    Promise.all(
      objects
        .filter((object) => isThereByItself(object) === isByItself)
        .map(async (object) => {
          const { kind, id, describe } = object;
          return {
            kind,
            id,
            describe: describe + where,
            adopt: (await refusalToDeclare(object, read)) ?? object.adopt,
          };
        }),
    );
  return { unmanaged: await told(false), byItself: await told(true) };
}
