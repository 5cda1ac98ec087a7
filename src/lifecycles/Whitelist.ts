import type { WhitelistDomain } from "../client";
import type { Call, Declared, Lifecycle } from "../dynamic/lifecycle";
import type { ArgumentSpecs } from "../dynamic/shape";
import type { WhitelistOutputs, WhitelistShape } from "../resources/Whitelist";
import { withoutAbsent } from "./absent";
import { list } from "./argumentSchemas";
import { authProviderSchema, projectIdSchema } from "./identifiers";
import { creatingAtHome, homeOf, homeStands, homeWasReplaced } from "./integrationOf";
import { normalisedOrigin, originSchema } from "./origin";
import { anyOf } from "./others";
import { addOrigin, bothForms, deleteOrigins, domainObject, isListed, listedFor } from "./whitelistDomains";

type Shape = WhitelistShape;
type Outputs = WhitelistOutputs & Partial<Shape>;

/** A set: where two origins are the same, the second one names the first. */
const domains = list(originSchema, "must be a list of origins").superRefine((origins, context) => {
  for (const [index, origin] of origins.entries()) {
    const first = origins.indexOf(origin);
    if (first === index) continue;
    context.addIssue({ code: "custom", path: [index], message: `is the same origin as domains[${first}]` });
  }
});

const args: ArgumentSpecs<Shape> = {
  projectId: { schema: projectIdSchema, required: true, replaces: "container" },
  domains: { schema: domains, required: true, equal: sameSet },
  authProvider: { schema: authProviderSchema, replaces: true },
};

/** The whole list of redirect domains (service.md 2.5, 4.3): one for each project, so its id is the project's. */
export const whitelist: Lifecycle<Shape, Outputs> = {
  kind: "Whitelist",
  version: 1,
  args,
  // Two of them would take each other's domains away.
  deleteBeforeReplace: true,

  remarks,
  holds: (projectId, { domains: origins = [] }) => origins.map((origin) => domainObject(projectId, origin)),

  async create(call, given) {
    const { projectId, authProvider = call.authProvider } = given;
    const outputs = { authProvider, ...(await homeOf(call, projectId, authProvider)) };
    const keep = () => call.keep(projectId, outputs);
    const removed = await creatingAtHome(() => bringAbout(call, given, authProvider, keep));
    tellRemoved(call, projectId, removed);
    return { id: projectId, outputs };
  },

  async read(call, { id: projectId, outs }) {
    if (!(await homeStands(call, projectId, outs))) return undefined;
    const { authProvider = call.authProvider } = outs;
    const { domains: declared = [] } = outs;
    const shows = (all: readonly WhitelistDomain[]): boolean => declared.every((origin) => isListed(all, origin));
    const listed = await listedFor(call, projectId, authProvider, { shows });
    const found = new Set(listed.map(({ domain }) => normalisedOrigin(domain)));
    // In the order of the program, so that a plan shows what came and what went.
    const known = declared.filter((origin) => found.delete(origin));
    return {
      args: { projectId, authProvider, domains: [...known, ...[...found].sort()] },
      outputs: kept(outs, authProvider),
      ready: true,
    };
  },

  async update(call, { id: projectId, outs }, given) {
    const { authProvider = call.authProvider } = outs;
    const outputs = kept(outs, authProvider);
    const removed = await bringAbout(call, given, authProvider, () => call.keep(projectId, outputs, ["domains"]));
    // The plan showed what the state knew of; somebody may have added more since.
    tellRemoved(
      call,
      projectId,
      removed.filter((origin) => outs.domains?.includes(origin) !== true),
    );
    return outputs;
  },

  async delete(call, { id: projectId, outs }) {
    const { authProvider = call.authProvider, domains: origins = [] } = outs;
    if (origins.length === 0 || (await homeWasReplaced(call, projectId, outs))) return;
    await deleteOrigins(call, projectId, origins, authProvider);
  },
};

function sameSet(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((origin) => right.includes(origin));
}

function remarks({ args: { projectId }, isNew, others }: Declared<Shape>): string[] {
  const ofProject = projectId === undefined ? "" : ` of project ${projectId}`;
  return [
    ...(anyOf(others("WhitelistDomain"), projectId) ? [bothForms(projectId)] : []),
    ...(anyOf(others("Whitelist"), projectId)
      ? [`project ${projectId} has two Whitelists: each removes the domains of the other. Declare one`]
      : []),
    ...(isNew
      ? [
          `creating a Whitelist takes over the whole list of redirect domains${ofProject}: one that stands there and is not declared is removed`,
        ]
      : []),
  ];
}

/**
 * Brings the list to what is declared, whatever stands there: first adds what is missing, then removes the rest in one
 * call. `keep` is called after each addition. Tells what was removed.
 */
async function bringAbout(
  call: Call<Outputs>,
  { projectId, domains: declared }: Shape,
  authProvider: string,
  keep: () => void,
): Promise<string[]> {
  const { client, deadline } = call;
  let known: readonly WhitelistDomain[] = await listedFor(call, projectId, authProvider, { fresh: true });
  const missing = declared.filter((origin) => !isListed(known, origin));
  for (const [index, origin] of missing.entries()) {
    if (isListed(known, origin)) continue;
    call.progress(`adding domain ${index + 1} of ${missing.length}`);
    const later = await addOrigin(call, projectId, origin, authProvider, known);
    if (later === undefined) keep();
    else known = later;
  }
  const surplus = known.map(({ domain }) => domain).filter((domain) => !declared.includes(normalisedOrigin(domain)));
  await client.deleteDomains(projectId, surplus, authProvider, { deadline });
  return [...new Set(surplus.map(normalisedOrigin))].sort();
}

function tellRemoved(call: Call<Outputs>, projectId: string, removed: readonly string[]): void {
  if (removed.length === 0) return;
  call.note(`Whitelist ${projectId}: removed what the program does not list: ${removed.join(", ")}`);
}

function kept({ authProviderProjectId }: Partial<Outputs>, authProvider: string): Outputs {
  return { authProvider, ...withoutAbsent({ authProviderProjectId }) };
}
