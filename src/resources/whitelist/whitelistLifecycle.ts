import type { Call } from "../../host/lifecycle";
import type { ArgumentSpecs } from "../../host/arguments";
import { whitelistDeclaration, type WhitelistOutputs, type WhitelistShape } from "./declaration";
import { list } from "../shared/schemas";
import { authProviderSchema, projectIdSchema } from "../shared/identifiers";
import { inIntegration } from "../shared/integrationChild";
import { originSchema } from "./origin";
import { add, deleteOrigins, domainObject, isOrigin, listClaim, listed } from "./whitelistDomainLifecycle";

type Shape = WhitelistShape;
type Outputs = Omit<WhitelistOutputs, "authProviderProjectId"> & Partial<Shape>;

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

/** The whole list of redirect domains (docs/design/api.md): one for each project, so its id is the project's. */
export const whitelist = inIntegration<Shape, Outputs>({
  kind: whitelistDeclaration.kind,
  args,
  deleteBeforeReplace: whitelistDeclaration.deleteBeforeReplace,

  declares: ({ projectId }) => listClaim(projectId, false),
  objects: (projectId, { domains: origins = [] }) => origins.map((origin) => domainObject(projectId, origin)),

  replacement: () => "its domains are removed from the whitelist, and the declared ones are added",
  remarks({ args: { projectId }, isNew }) {
    const list = `the whole list of redirect domains${projectId === undefined ? "" : ` of project ${projectId}`}`;
    const takesOver = `creating a Whitelist takes over ${list}: one that is on it and is not declared is removed`;
    return isNew ? [takesOver] : [];
  },

  async create(call, given) {
    const { projectId } = given;
    const outputs = { authProvider: call.authProvider };
    // What is not on the list yet is none of the state's.
    const removed = await bringAbout(call, given, (domains) => call.checkpoint(projectId, outputs, { domains }));
    tellRemoved(call, projectId, removed);
    return { id: projectId, outputs };
  },

  async read(call, { id: projectId, outs: { domains: declared = [] } }) {
    const { authProvider } = call;
    const shown = await listed(call, projectId);
    const missing = declared.find((origin) => !shown.has(origin));
    // One that is missing is gone when two lists lack it; the later one shows the rest too.
    if (missing !== undefined) await call.client.auth.domains(projectId).find(isOrigin(call, missing), call);
    const now = missing === undefined ? shown : await listed(call, projectId);
    const found = new Set(now.keys());
    // In the order of the program, so that a plan shows what came and what went.
    const known = declared.filter((origin) => found.delete(origin));
    const domains = [...known, ...[...found].sort()];
    return { args: { projectId, authProvider, domains }, outputs: { authProvider }, ready: true };
  },

  async update(call, { id: projectId, outs: { domains: before = [] } }, given) {
    const outputs = { authProvider: call.authProvider };
    // What was added is ours to remove, and what was there before still stands.
    const removed = await bringAbout(call, given, (present) =>
      call.checkpoint(projectId, outputs, { domains: [...new Set([...before, ...present])] }),
    );
    // The plan showed what the state knew of; somebody may have added more since.
    const unplanned = removed.filter((origin) => !before.includes(origin));
    tellRemoved(call, projectId, unplanned);
    return outputs;
  },

  async delete(call, { id: projectId, outs: { domains: origins = [] } }) {
    await deleteOrigins(call, projectId, origins);
  },
});

function sameSet(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((origin) => right.includes(origin));
}

/** First adds what is missing, then removes the rest. `keep` is called after each addition, with what stands then. */
async function bringAbout(
  call: Call<Outputs>,
  { projectId, domains: declared }: Shape,
  keep: (present: string[]) => void,
): Promise<string[]> {
  await Promise.all(declared.map((origin) => call.run.untilFree(domainObject(projectId, origin))));
  const known = await listed(call, projectId, performance.now());
  // A list that still shows what this run has deleted lags.
  const stands = (origin: string): boolean =>
    known.has(origin) && !call.run.wasDeleted(domainObject(projectId, origin));
  const present = declared.filter(stands);
  const missing = declared.filter((origin) => !present.includes(origin));
  // Declared here, so no other resource of the program removes it.
  for (const origin of declared) call.run.take(domainObject(projectId, origin));
  for (const [index, origin] of missing.entries()) {
    call.onProgress(`adding domain ${index + 1} of ${missing.length}`);
    await add(call, projectId, origin);
    present.push(origin);
    keep([...present]);
  }
  // A later list may show what the first one lacked.
  const now = missing.length > 0 ? await listed(call, projectId, performance.now()) : known;
  const surplus = [...now.keys()].filter((origin) => !declared.includes(origin));
  const objects = surplus.map((origin) => domainObject(projectId, origin));
  await call.run.whileLeaving(objects, true, () => deleteOrigins(call, projectId, surplus));
  return surplus.sort();
}

function tellRemoved(call: Call<Outputs>, projectId: string, removed: readonly string[]): void {
  if (removed.length === 0) return;
  call.note(`Whitelist ${projectId}: removed what the program does not list: ${removed.join(", ")}`);
}
