import { domainObject } from "../../contract/claims";
import { Gone, mustBeKnown, spellingsOf } from "../../client";
import type { Call, Finding, Look } from "../../runtime/lifecycle";
import { isIgnored, notSentBy } from "../../runtime/ignored";
import { effect } from "../../runtime/lookAhead";
import { originIn } from "../../contract/expiry";
import { namesIn } from "../../contract/hiddenKeys";
import { domainForm } from "../../contract/redirectDomains";
import { whitelistDeclaration, type WhitelistOutputs, type WhitelistShape } from "./whitelistDeclaration";
import { domainWarnings, expiryWarnings } from "./origin";
import { whitelistSchemas } from "./whitelistSchemas";
import { listed } from "../../contract/untrusted";
import { inIntegration, type ChildCall } from "../shared/integrationChild";
import { resumed } from "../shared/resumed";
import { addDomain, deleteOrigins, isOrigin, listOrigins } from "./whitelistDomainLifecycle";

type WhitelistOuts = WhitelistOutputs & Partial<WhitelistShape>;

/** The whole list of redirect domains (docs/design/api.md). Each project has one, so its id is the project's. */
export const whitelist = inIntegration(whitelistDeclaration, whitelistSchemas, {
  objects: (projectId, { domains }) => originsIn(domains).map((origin) => domainObject(projectId, origin)),

  replacement: ({ deletesFirst }) =>
    deletesFirst
      ? "its domains are removed from the whitelist, and then the declared ones are added"
      : "the declared domains are added, and then its own are removed from its whitelist",
  createWarnings: ({ args: { domains }, label, isNew }) => [
    ...(isNew ? warningsOf(originsIn(domains), [], label) : []),
    ...elementsIn(domains).flatMap((one, index) =>
      typeof one === "string"
        ? []
        : expiryWarnings(one.expiresOn, `"domains[${index}].expiresOn" of the Whitelist${label}`),
    ),
  ],
  createEffects: ({ args: { projectId }, label, isNew }) =>
    isNew ? [takesOver(`creating the Whitelist${label}`, projectId)] : [],

  warnings({ stored: { id, outs, unfinished }, news: { domains }, changes, label }) {
    const goesOn =
      unfinished === "create"
        ? [takesOver(`creating the Whitelist${label} did not finish: this update`, id)]
        : unfinished === "update"
          ? [resumed(`Whitelist ${id}${label}`, { unfinished }, ["domains that others have added since stay"])]
          : [];
    if (!changes.changed.has("domains") || domains === undefined || areSameOrigins(outs.domains, domains))
      return goesOn;
    const [before, declared] = [originsIn(outs.domains), originsIn(domains)];
    // An added domain is named by its index: its value may be a secret of the program. A removed one is on the list,
    // which is public.
    const added = declared.flatMap((origin, index) => (before.includes(origin) ? [] : [`domains[${index}]`]));
    const removed = before.filter((origin) => !declared.includes(origin));
    return [
      ...goesOn,
      `Whitelist ${id}${label}: adds ${listedOrNone(added)}; removes ${listedOrNone(removed)}`,
      ...warningsOf(declared, before, label),
    ];
  },

  lookAhead: othersRemoved,

  async lookAtUpdate(look, { stored, changes, label }) {
    const { domains } = look.args;
    if (domains === undefined) return [];
    const { id, outs, unfinished } = stored;
    const before = originsIn(outs.domains);
    const shown = await listOrigins(look, id, look.reading);
    const isLeft = leftToList(domains, notSentBy(stored, changes));
    const again = originsIn(domains).filter((one) => before.includes(one) && !shown.has(one) && !isLeft(one));
    const others = unfinished === "create" ? ((await othersRemoved(look)) ?? []) : [];
    return again.length === 0
      ? others
      : [
          ...others,
          effect(`pulumi up adds to Whitelist ${id}${label} again what is missing there: ${again.sort().join(", ")}`),
        ];
  },
  isOfStateAlone: ({ outs }, { domains }) => domains !== undefined && areSameOrigins(outs.domains, domains),

  async create(call, args) {
    const { projectId } = args;
    const outputs = { authProvider: call.authProvider };
    // The state holds only what is on the list.
    const onAdded = (present: string[]): void =>
      call.checkpoint(projectId, outputs, { domains: elementsOf(present, args.domains) });
    const { removed } = await applyDomains(call, args, { onAdded, isPlanned: () => true });
    noteRemoved(call, projectId, removed);
    return { id: projectId, outputs };
  },

  async read(call, { id: projectId, outs: { domains: elements = [] } }) {
    const { authProvider } = call;
    const declared = originsIn(elements);
    const listed = await call.client.auth.domains(projectId).listUnlessGone(call);
    if (listed instanceof Gone) return listed;
    const shown = spellingsOf(listed, authProvider);
    const missing = declared.find((origin) => !shown.has(origin));
    // A missing domain is gone when two lists lack it; the later list shows the others too.
    if (missing !== undefined)
      mustBeKnown(await call.client.auth.domains(projectId).find(isOrigin(call, missing), call));
    const now = missing === undefined ? shown : await listOrigins(call, projectId, call);
    const found = new Set(now.keys());
    // In the program's order, so that a plan shows what was added and removed.
    const known = declared.filter((origin) => found.delete(origin));
    const domains = elementsOf([...known, ...[...found].sort()], elements);
    return { args: { projectId, authProvider, domains }, outputs: { authProvider }, ready: true };
  },

  async update(call, stored, args, changes) {
    const { id: projectId, outs, unfinished } = stored;
    const outputs = { authProvider: call.authProvider };
    // Only days differ, which no request carries.
    if (unfinished === false && changes.changed.has("domains") && areSameOrigins(outs.domains, args.domains))
      return outputs;
    const before = originsIn(outs.domains);
    const left = notSentBy(stored, changes);
    // The plan showed the domains in the state; others may have been added since. Only a creation takes over the list.
    const isPlanned = (origin: string): boolean =>
      !isIgnored(left, "domains") && (unfinished === "create" || before.includes(origin));
    const isLeft = leftToList(args.domains, left);
    // The added domains are managed from here on, and the earlier ones still exist.
    const onAdded = (present: string[]): void =>
      call.checkpoint(projectId, outputs, {
        domains: elementsOf([...new Set([...before, ...present])], [...args.domains, ...(outs.domains ?? [])]),
      });
    const { removed, kept } = await applyDomains(call, args, { onAdded, isPlanned, isLeft });
    const unlisted = removed.filter((origin) => !before.includes(origin));
    noteRemoved(call, projectId, unlisted);
    if (kept.length > 0) {
      const names = kept.join(", ");
      call.note(
        `Whitelist ${projectId}: domains were added outside this program after the last refresh and were not removed: ${names}. ` +
          "pulumi preview --refresh shows them, and pulumi up --refresh removes them",
      );
    }
    return outputs;
  },

  async delete(call, { id: projectId, outs: { domains } }) {
    return deleteOrigins(call, projectId, originsIn(domains));
  },
});

type Domains = WhitelistShape["domains"];

/** A report of drift has a text in place of a list with secrets, and an edited state may have anything in a list. */
const elementsIn = (domains: Domains = []): Domains => (Array.isArray(domains) ? domains : []);
const originsIn = (domains?: Domains): string[] => namesIn(elementsIn(domains).map(originIn)).map(domainForm);

/** These origins, each as the first element that has it: with its day, if it has one. */
const elementsOf = (origins: readonly string[], elements: Domains): Domains =>
  origins.map((origin) => elements.find((one) => originsIn([one]).includes(origin)) ?? origin);

/** Then nothing is sent: a day is stored in the state alone. */
function areSameOrigins(left: Domains | undefined, right: Domains): boolean {
  const [one, other] = [originsIn(left), originsIn(right)];
  return one.length === other.length && one.every((origin) => other.includes(origin));
}

/** Whether `ignoreChanges` names the place of an origin: what the engine hands over there, somebody may have removed. */
const leftToList =
  (domains: Domains, ignored: readonly string[]) =>
  (origin: string): boolean =>
    domains.some((one, index) => originsIn([one]).includes(origin) && isIgnored(ignored, "domains", String(index)));

const MOST_LISTED = 10;

const listedOrNone = (names: readonly string[]): string => (names.length === 0 ? "none" : listed(names, MOST_LISTED));

/** Warnings about the domains that were not declared before. */
const warningsOf = (declared: readonly string[], before: readonly string[], label: string): string[] =>
  declared.flatMap((domain, index) =>
    before.includes(domain) ? [] : domainWarnings(domain, `"domains[${index}]" of the Whitelist${label}`),
  );

/** What the creation removes. Its plan says of the domains of other resources of the program what becomes of them. */
async function othersRemoved(look: Look<WhitelistShape>): Promise<readonly Finding[] | undefined> {
  const { projectId, domains } = look.args;
  if (domains === undefined) return undefined;
  const declared = originsIn(domains);
  const shown = await listOrigins(look, projectId, look.reading);
  const removed = [...shown.keys()].filter((origin) => !declared.includes(origin));
  const others = removed.filter((origin) => look.planned(domainObject(projectId, origin)) === undefined).sort();
  if (others.length === 0) return [];
  return [
    effect(
      `pulumi up removes domains of project ${projectId} that this Whitelist does not declare: ${others.join(", ")}`,
    ),
  ];
}

function takesOver(what: string, projectId: string | undefined): string {
  const list = `the whole list of redirect domains${projectId === undefined ? "" : ` of project ${projectId}`}`;
  return `${what} takes over ${list}: domains that are not declared are removed`;
}

/**
 * First adds the missing origins, unless `ignoreChanges` leaves them to the service (`isLeft`), then removes the rest, as
 * far as the plan showed them. `onAdded` is called after each addition, with the declared origins that exist then.
 */
async function applyDomains(
  call: ChildCall<WhitelistOuts>,
  { projectId, domains }: WhitelistShape,
  {
    onAdded,
    isPlanned,
    isLeft = () => false,
  }: {
    onAdded: (present: string[]) => void;
    isPlanned: (origin: string) => boolean;
    isLeft?: (origin: string) => boolean;
  },
): Promise<{ removed: string[]; kept: string[] }> {
  const declared = originsIn(domains);
  await Promise.all(declared.map((origin) => call.run.waitUntilFree(domainObject(projectId, origin))));
  const known = await listOrigins(call, projectId, { ...call, since: performance.now() });
  // A list that still shows what this run has deleted is out of date.
  const exists = (origin: string): boolean =>
    known.has(origin) && !call.run.wasDeleted(domainObject(projectId, origin));
  const present = declared.filter(exists);
  const missing = declared.filter((origin) => !present.includes(origin) && !isLeft(origin));
  // Declared here, so no other resource of the program removes it.
  for (const origin of declared) call.run.takeOver(domainObject(projectId, origin));
  for (const [index, origin] of missing.entries()) {
    call.onProgress(`adding domain ${index + 1} of ${missing.length}`);
    call.sending(["domains"]);
    await addDomain(call, projectId, origin);
    present.push(origin);
    onAdded([...present]);
  }
  // A later list may show more than the first one.
  const now = missing.length > 0 ? await listOrigins(call, projectId, { ...call, since: performance.now() }) : known;
  const surplus = [...now.keys()].filter((origin) => !declared.includes(origin)).sort();
  const removed = surplus.filter(isPlanned);
  if (removed.length > 0) call.sending(["domains"]);
  const objects = removed.map((origin) => domainObject(projectId, origin));
  await call.run.whileReleasing(objects, true, () => deleteOrigins(call, projectId, removed));
  return { removed, kept: surplus.filter((origin) => !isPlanned(origin)) };
}

function noteRemoved(call: Call<WhitelistOuts>, projectId: string, removed: readonly string[]): void {
  if (removed.length === 0) return;
  call.note(`Whitelist ${projectId}: removed domains that the program does not list: ${removed.join(", ")}`);
}
