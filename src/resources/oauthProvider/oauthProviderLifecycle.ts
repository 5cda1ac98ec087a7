import { providerObject } from "../../contract/claims";
import {
  Gone,
  Granted,
  mustBeKnown,
  NOTHING_TO_DELETE,
  type Permission,
  Refused,
  requireGranted,
  type CreationRecovery,
  type Expected,
  type OAuthCredentials,
  type OAuthProviderRecord,
  type WaitOptions,
} from "../../client";
import type { SchemasOf } from "../../runtime/arguments";
import type { Call, Changes, Observed, Stored } from "../../runtime/lifecycle";
import { isIgnored, notSentBy } from "../../runtime/ignored";
import { effect, inTheWay, staysInTheWay } from "../../runtime/lookAhead";
import { expectedOf, mayBeOpen, unconfirmed } from "../../runtime/confirmed";
import { overwriteFindings, overwriteNote, overwritten, type Overwritten } from "../../runtime/overwritten";
import { oauthProviderId, presentId } from "../../contract/oauthProviderId";
import { isSameName } from "../../contract/forms";
import { isUnknown, type Properties } from "../../contract/hiddenKeys";
import { STAND_INS } from "../../contract/standIns";
import {
  declaration,
  KNOWN_OAUTH_PROVIDERS,
  type OAuthProviderOutputs,
  type OAuthProviderShape,
} from "./oauthProviderDeclaration";
import { boolean, line, orReference, text } from "../shared/argumentSchemas";
import { nearestName } from "../../helpers/given";
import { omitUndefined } from "../shared/omitUndefined";
import { resumed, sentAgain } from "../shared/resumed";
import { oauthProviderIdSchema, projectIdSchema, splitId } from "../shared/identifiers";
import { inIntegration, type ChildCall } from "../shared/integrationChild";
import { useExistingOrCreate } from "../shared/adoption";
import {
  adoptionNote,
  ALIAS_ADVICE,
  goneError,
  goneFinding,
  keptFinding,
  keptNote,
  possibleOwner,
  notListedAdvice,
} from "../shared/conflictMessages";
import { readable } from "../../helpers/masked";

type OAuthProviderOuts = OAuthProviderOutputs & Partial<OAuthProviderShape>;

const schemas: SchemasOf<OAuthProviderShape> = {
  projectId: projectIdSchema,
  providerId: oauthProviderIdSchema,
  clientId: line(),
  clientSecret: orReference(text),
  adopt: boolean,
  absent: boolean,
};

const CREDENTIALS = ["clientId", "clientSecret"] as const;
type CredentialName = (typeof CREDENTIALS)[number];
type Credentials = { [Name in CredentialName]?: OAuthProviderShape[Name] | undefined };

/** The output `type` of an absent provider. */
const NO_TYPE = "absent";

/** The parts of an id. */
function named(id: string): { projectId: string; providerId: string; isAbsent: boolean } {
  const present = presentId(id);
  const { projectId, rest: providerId } = splitId(present.id);
  return { projectId, providerId, isAbsent: present.isAbsent };
}

/** A way to sign in (docs/design/api.md). */
export const oauthProvider = inIntegration(declaration, schemas, {
  rules({ absent }, givenNames) {
    if (absent === true)
      return CREDENTIALS.filter((name) => givenNames.has(name)).map((path) => ({
        path,
        reason: 'must be left out with "absent: true"',
      }));
    const missing = ["clientId", "clientSecret"].filter((name) => !givenNames.has(name));
    const reason =
      'is missing: give both "clientId" and "clientSecret", or neither to use the shared keys of the service';
    return missing.length === 1 ? missing.map((path) => ({ path, reason })) : [];
  },
  objects(id) {
    const { projectId, providerId, isAbsent } = named(id);
    // Deleting it deletes nothing, so a replacement has nothing to wait for.
    return isAbsent ? [] : [providerObject(projectId, providerId)];
  },

  // Regardless of what the service shows: this resource manages no provider.
  mismatched: (id, { absent }) => (named(id).isAbsent && absent !== true && !isUnknown(absent) ? "absent" : undefined),

  createEffects: ({ args: { providerId, absent, adopt }, label, isNew, isReplacement }) =>
    isNew && !isReplacement && absent === true && adopt === true
      ? [
          `OAuthProvider${label}: the provider${providerId === undefined ? "" : ` ${providerId}`} is deleted${deletedIfShared}`,
        ]
      : [],
  createWarnings({ args: { providerId }, label, isNew }) {
    const meant = providerId === undefined || !isNew ? undefined : nearMiss(providerId);
    if (meant === undefined) return [];
    return [
      `OAuthProvider${label}: its "providerId" is not a known one. Did you mean "${meant}"? It is sent as it is, and the service refuses one that it does not have`,
    ];
  },
  replacement({ replaces, news, stored, deletesFirst }) {
    if (news.absent === true)
      return `users can no longer sign in with it: it is deleted${named(stored.id).isAbsent ? deletedIfShared : ""}`;
    if (named(stored.id).isAbsent) return `it is created, and users can sign in with it${adoptionNote(news)}`;
    if (!deletesFirst)
      return `the declared one is created, and then this one is deleted: users can no longer sign in with it${adoptionNote(news)}`;
    return (
      `it is deleted and created again${replaces.has("clientId") ? " with the shared keys of the service" : ""}: ` +
      `users cannot sign in with it meanwhile${adoptionNote(news)}`
    );
  },

  warnings({ stored, news, changes, label }) {
    const open = CREDENTIALS.filter((name) => Object.hasOwn(news, name) && mayBeOpen(stored, name));
    if (open.length === 0) return [];
    const why =
      stored.sent === undefined && stored.unfinished === "update"
        ? ", because the state does not say which of them it had sent"
        : "";
    return [resumed(`OAuthProvider ${stored.id}${label}`, stored, sentAgain(open, notSentBy(stored, changes), why))];
  },

  async lookAhead({ args: known, givenNames, client, reading, planned, leftBy }) {
    const { projectId, providerId } = known;
    // Whether the provider must exist, or may be deleted or taken over, is still unknown.
    const isOpen = (name: "absent" | "adopt"): boolean => givenNames.has(name) && known[name] === undefined;
    if (isOpen("absent") || isOpen("adopt")) return undefined;
    const left = providerId === undefined ? undefined : leftBy(providerObject(projectId, providerId));
    if (
      providerId === undefined ||
      (left === undefined && planned(providerObject(projectId, providerId)) !== undefined)
    )
      return [];
    const listed = await client.auth.oauthProviders(projectId).list(reading);
    const existing = listed.find(isProvider(providerId));
    if (known.absent === true) {
      if (existing === undefined) return [];
      const reason = refusalToDelete(known.adopt === true, existing);
      const what = `pulumi up deletes the OAuth provider ${providerId} of project ${projectId}, which has the shared keys of the service`;
      return [reason === undefined ? effect(`${what}: users can no longer sign in with it`) : inTheWay(reason)];
    }
    if (existing === undefined) return [];
    const hasCredentials = givenNames.has("clientId");
    const refusal = refusalToAdopt(known.adopt === true || left !== undefined, hasCredentials, existing);
    if (refusal !== undefined) return [inTheWay(refusal)];
    return [
      left === undefined
        ? effect(takenOver(projectId, existing, hasCredentials))
        : keptFinding(`OAuth provider ${providerId}`, left),
    ];
  },

  async lookAtUpdate({ args, client, reading }, { stored, changes, label }) {
    const { projectId, providerId, isAbsent } = named(stored.id);
    if (isAbsent) return [];
    const what = `the OAuth provider ${providerId}${label}`;
    const found = mustBeKnown(await client.auth.oauthProviders(projectId).find(isProvider(providerId), reading));
    if (found instanceof Gone) return [goneFinding(what)];
    const names = credentialsToSend(args, { stored, changes, provider: found });
    const refusal = refusalToUpdate(args, names, { stored, changes, provider: found });
    if (refusal !== undefined) return [staysInTheWay(refusal)];
    const alone = names
      .filter((name) => found.type !== "standard" && !changes.changed.has(name) && !mayBeOpen(stored, name))
      .map((name) => `"${name}"`);
    return alone.length === 0
      ? overwriteFindings(what, overwrittenBy(args, names, { stored, changes, provider: found }))
      : [
          effect(
            `pulumi up also sets ${alone.join(", ")} of ${what}: it has the shared keys of the service, and needs both`,
          ),
        ];
  },

  async create(call, args) {
    const { projectId, providerId } = args;
    if (args.absent === true) {
      await makeAbsent(call, args);
      return { id: idOf(args), outputs: { type: NO_TYPE } };
    }
    const { type } = await useExistingOrCreate(call, () => providerObject(projectId, providerId), {
      collection: call.client.auth.oauthProviders(projectId),
      matches: isProvider(providerId),
      useExisting: (provider) => adopt(call, args, provider),
      create: () => createNew(call, args),
      advice: notListedAdvice(`the OAuth provider ${providerId}`),
    });
    return { id: idOf(args), outputs: { type } };
  },

  async read(call, { id, managed, unfinished }) {
    const { projectId, providerId, isAbsent } = named(id);
    if (isAbsent) {
      // One list is enough: nothing is deleted because of it, and a later list shows what is missing here.
      const listed = (await call.client.auth.oauthProviders(projectId).list(call)).find(isProvider(providerId));
      const args = { projectId, providerId, absent: listed === undefined };
      return { args, outputs: { type: listed?.type ?? NO_TYPE }, ready: !unfinished || listed === undefined };
    }
    const provider = await find(call, id);
    if (provider instanceof Gone) return provider;
    return {
      args: { projectId, providerId: provider.id, ...observedCredentials(provider, managed) },
      outputs: { type: provider.type },
      // The service does not show which credentials were applied last.
      ready: !(unfinished && managed.has("clientSecret")),
    };
  },

  async update(call, stored, args, changes) {
    const { id, outs } = stored;
    // Only a creation deletes, as its plan says. A provider that exists again is drift, and leads to a replacement.
    if (named(id).isAbsent) return { type: outs.type ?? NO_TYPE };
    const current = await find(call, id, performance.now());
    if (current instanceof Gone) throw goneError();
    const about = { stored, changes, provider: current };
    const names = credentialsToSend(args, about);
    const refusal = refusalToUpdate(args, names, about);
    if (refusal !== undefined) throw new Error(`${refusal}. Nothing was sent`);
    if (names.length === 0 || args.clientId === undefined) return { type: current.type };
    const sent: Credentials = Object.fromEntries(names.map((name) => [name, args[name]]));
    const { type } = await setCredentials(call, args, { sent, before: current, stored, ignored: changes.ignored });
    const note = overwriteNote(`OAuthProvider ${id}`, overwrittenBy(args, names, about));
    if (note !== undefined) call.note(note);
    return { type };
  },

  async delete(call, { id }) {
    const { projectId, providerId, isAbsent } = named(id);
    // A provider that appeared meanwhile belongs to somebody else.
    if (isAbsent) return NOTHING_TO_DELETE;
    const providers = call.client.auth.oauthProviders(projectId);
    const matches = isProvider(providerId);
    const { isMeant } = call.integration;
    return providers.delete({ id: providerId, matches }, { ...call, isMeant, mayGo: call.mayDelete });
  },
});

interface UpdateOf {
  readonly stored: Stored<OAuthProviderShape, OAuthProviderOuts>;
  readonly changes: Changes<OAuthProviderShape>;
  /** As the service shows it before the update. */
  readonly provider: OAuthProviderRecord;
}

/**
 * Those that change, and those that an unfinished change had sent. What `ignoreChanges` leaves to the service is not
 * sent, except by a creation, which goes on. A shared provider has no credentials that could stay, and a secret goes with
 * its client id: that of the program does not fit to one that was set by hand.
 */
function credentialsToSend(
  args: Partial<OAuthProviderShape>,
  { stored, changes, provider }: UpdateOf,
): readonly CredentialName[] {
  const isLeft = (name: string): boolean => isIgnored(notSentBy(stored, changes), name);
  const wanted = CREDENTIALS.filter((name) => changes.changed.has(name) || (mayBeOpen(stored, name) && !isLeft(name)));
  if (wanted.length === 0) return wanted;
  if (provider.type !== "standard") return CREDENTIALS;
  const others = unconfirmed(declaration.args, { sent: args, shown: shownCredentials(provider) });
  return CREDENTIALS.filter((name) => wanted.includes(name) || (others.includes(name) && !isLeft(name)));
}

/**
 * Why an update does not send these credentials; undefined if it does. The previous one may have set some that the
 * program no longer has. And the client id says whether a provider has credentials of its own: where `ignoreChanges`
 * leaves that to the service, one that somebody has made shared stays shared.
 */
function refusalToUpdate(
  { clientId }: Partial<OAuthProviderShape>,
  names: readonly CredentialName[],
  { stored, changes, provider: { id, type } }: UpdateOf,
): string | undefined {
  if (names.length === 0) return undefined;
  if (clientId === undefined)
    return type === "shared"
      ? undefined
      : `the OAuth provider ${id} has credentials of its own, which the previous update may have set. The program declares none now, and the service cannot remove them. Run pulumi up --refresh, whose plan replaces the provider, or declare "clientId" and "clientSecret"`;
  if (type === "standard" || !isIgnored(notSentBy(stored, changes), "clientId")) return undefined;
  return `"clientId" is in ignoreChanges, and the OAuth provider ${id} has the type ${type}, without a client id of its own: "clientSecret" cannot be set alone. Remove "clientId" from ignoreChanges to set both`;
}

/** What the service shows of a provider's own credentials. The secret is never compared. */
const shownCredentials = ({ type, client_id }: OAuthProviderRecord): Pick<Credentials, "clientId"> =>
  type === "standard" ? omitUndefined({ clientId: readable(client_id) }) : {};

/** What an update that sends these credentials overwrites. */
function overwrittenBy(
  args: Partial<OAuthProviderShape>,
  names: readonly CredentialName[],
  { stored, changes: { changed }, provider }: UpdateOf,
): Overwritten {
  const shown = shownCredentials(provider);
  const sent = Object.fromEntries(names.flatMap((name) => (Object.hasOwn(shown, name) ? [[name, args[name]]] : [])));
  return overwritten(declaration.args, { sent, changed, stored: stored.outs, shown });
}

/**
 * The known name that an unknown one is like, in a few letters or without an addition. The service may have it all the
 * same (`microsoft-entra`), so it is sent.
 */
const nearMiss = (providerId: string): string | undefined =>
  (KNOWN_OAUTH_PROVIDERS as readonly string[]).includes(providerId)
    ? undefined
    : nearestName(providerId, KNOWN_OAUTH_PROVIDERS);

const idOf = ({ projectId, providerId, absent }: OAuthProviderShape): string =>
  oauthProviderId(projectId, providerId, absent);

const isProvider =
  (providerId: string) =>
  ({ id }: OAuthProviderRecord): boolean =>
    isSameName(id, providerId);

async function createNew(call: ChildCall<OAuthProviderOuts>, args: OAuthProviderShape): Promise<OAuthProviderRecord> {
  const { projectId, providerId } = args;
  const isCandidate = isProvider(providerId);
  const type = args.clientId === undefined ? "shared" : "standard";
  const recovery: CreationRecovery<OAuthProviderRecord> = {
    isCandidate,
    isOursIfAccepted: (provider) => isCandidate(provider) && provider.type === type,
    // The service does not show whose credentials a provider has, so one with credentials is never proven to be ours.
    isOurs: (provider) => isCandidate(provider) && type === "shared" && provider.type === type,
    describe: (provider) => `the OAuth provider ${provider.id} with the type ${provider.type}`,
    advice: () => 'Set "adopt: true" to manage it here',
    onFound: () => call.note(`OAuthProvider ${idOf(args)} was found after the response to its creation was lost`),
  };
  return call.client.auth.oauthProviders(projectId).create(
    {
      body: { id: providerId, ...credentials(call, args) },
      similarityKey: providerId,
      recovery,
      expected: expectedOfCredentials(call, args, {}),
    },
    call,
  );
}

interface Exchanged {
  /** What the provider was before. */
  readonly before?: OAuthProviderRecord;
  /** For an update: its credentials are those that are known to be applied. */
  readonly stored?: Stored<OAuthProviderShape, OAuthProviderOuts>;
  readonly ignored?: readonly string[];
}

/**
 * Until the service shows a change, the state keeps the credentials that were `applied` before: the service does not
 * show which ones a provider has. A response equal to the record of `before` may be out of date, so the lists decide.
 * For any other response they prove nothing: they show no secret, and may not show the client id.
 */
function expectedOfCredentials(
  call: Call<OAuthProviderOuts>,
  args: OAuthProviderShape,
  { before, stored, ignored = [] }: Exchanged,
): Expected<OAuthProviderRecord> {
  const { clientId, clientSecret } = stored?.outs ?? {};
  const keep = ({ type }: OAuthProviderRecord, shown: Properties = {}): void =>
    call.checkpoint(idOf(args), { type }, { clientId, clientSecret, ...shown });
  const shown = expectedOf<OAuthProviderRecord>(declaration.args, {
    sent: args,
    stored,
    ignored,
    argumentsOf: shownCredentials,
    checkpoint: (found, provider) => keep(provider, found),
  });
  /** A list may lack what the response has shown. */
  const seen = (now: OAuthProviderRecord, response: OAuthProviderRecord): OAuthProviderRecord => ({
    ...now,
    client_id: now.client_id ?? response.client_id,
  });
  return {
    onAccepted: (provider) => keep(provider),
    differing: (now, response) =>
      args.clientId !== undefined && now.type !== "standard"
        ? ["clientId"]
        : shown.differing(seen(now, response), response),
    onOther: (now, names, response) => shown.onOther(seen(now, response), names),
    mayBeOld: ({ type, client_id }) =>
      type === before?.type && readable(client_id) === (readable(before.client_id) ?? clientId),
  };
}

async function setCredentials(
  call: ChildCall<OAuthProviderOuts>,
  args: OAuthProviderShape,
  { sent, ...known }: Exchanged & { readonly sent: Credentials },
): Promise<OAuthProviderRecord> {
  const { projectId, providerId } = args;
  const body = credentials(call, sent);
  call.sending(CREDENTIALS.filter((name) => sent[name] !== undefined));
  const expected = expectedOfCredentials(call, args, known);
  return call.client.auth.oauthProviders(projectId).update({ id: providerId, body, expected }, call);
}

const credentials = (call: Call<OAuthProviderOuts>, { clientId, clientSecret }: Credentials): OAuthCredentials =>
  omitUndefined({
    client_id: clientId,
    client_secret: clientSecret === undefined ? undefined : call.resolve(clientSecret),
  });

async function find(call: Call<OAuthProviderOuts>, id: string, since?: number): Promise<OAuthProviderRecord | Gone> {
  const { projectId, providerId } = named(id);
  return mustBeKnown(await call.client.auth.oauthProviders(projectId).find(isProvider(providerId), { ...call, since }));
}

/**
 * Deletes the provider, as the plan said. A new integration may list its first providers late, so two lists are read.
 */
async function makeAbsent(call: ChildCall<OAuthProviderOuts>, args: OAuthProviderShape): Promise<void> {
  const { projectId, providerId } = args;
  const object = providerObject(projectId, providerId);
  // What this run has deleted may be there again, if its integration was replaced.
  await call.run.waitUntilFree(object);
  const existing = await find(call, idOf(args), performance.now());
  if (existing instanceof Gone) return;
  const mayDelete = (found: readonly OAuthProviderRecord[]): Permission => {
    const [refusal] = found.flatMap((one) => refusalToDelete(args.adopt === true, one) ?? []);
    return refusal === undefined ? Granted.proven() : Refused.proven(new Error(refusal));
  };
  requireGranted(mayDelete([existing]));
  call.run.takeOver(object);
  const providers = call.client.auth.oauthProviders(projectId);
  // Somebody may have created another one with its name while this waited for its turn, or since the last attempt
  // deleted it.
  let listed: readonly OAuthProviderRecord[] = [];
  const isMeant = async (options: WaitOptions): Promise<Permission> => {
    const ofIntegration = await call.integration.isMeant(options);
    listed = await providers.list({ ...options, since: performance.now() });
    return ofIntegration;
  };
  const mayGo = (): Permission => mayDelete(listed.filter(isProvider(providerId)));
  await providers.delete({ id: providerId }, { ...call, isMeant, mayGo });
  call.note(`OAuth provider ${providerId} of project ${projectId}, with the shared keys of the service, was deleted`);
}

const deletedIfShared =
  " if it has the shared keys of the service, and the update fails if it has credentials of its own";

/**
 * Why an existing provider is not deleted; undefined if it is. Credentials cannot be read back, so somebody would lose
 * theirs.
 */
function refusalToDelete(isAdopted: boolean, { id, type }: OAuthProviderRecord): string | undefined {
  if (type !== "shared")
    return `the OAuth provider ${id} is declared absent, and exists with the type ${type}: somebody has set it up. It is not deleted. Delete it at the service, or declare it`;
  if (isAdopted) return undefined;
  return `the OAuth provider ${id} is declared absent, and exists, with the shared keys of the service. Set "adopt: true" to have it deleted, or delete it first`;
}

async function adopt(
  call: ChildCall<OAuthProviderOuts>,
  args: OAuthProviderShape,
  existing: OAuthProviderRecord,
): Promise<OAuthProviderRecord> {
  const object = providerObject(args.projectId, args.providerId);
  const left = args.adopt === true ? undefined : await call.run.leftSoon(object);
  const refusal = refusalToAdopt(args.adopt === true || left !== undefined, args.clientId !== undefined, existing);
  if (refusal !== undefined) throw new Error(refusal);
  call.run.takeOver(object);
  if (left !== undefined) call.note(keptNote(`OAuth provider ${existing.id}`, left));
  if (args.clientId !== undefined) {
    const provider = await setCredentials(call, args, { sent: args, before: existing });
    if (existing.type !== "shared") {
      call.note(`OAuthProvider ${existing.id} had credentials of its own; those of the program replaced them`);
    }
    return provider;
  }
  return existing;
}

/** What a creation does to an existing provider, for the plan. */
function takenOver(projectId: string, { id, type }: OAuthProviderRecord, hasCredentials: boolean): string {
  const [whose, lost] =
    type === "shared"
      ? ["with the shared keys of the service", ""]
      : [`with the type ${type}`, ", and the credentials that it has cannot be restored"];
  const effects = [
    ...(hasCredentials ? [`it gets the credentials of the program${lost}`] : []),
    "destroying deletes it, unless retainOnDelete is set",
  ];
  return `pulumi up takes over the OAuth provider ${id} of project ${projectId}, which exists ${whose}: ${effects.join("; ")}`;
}

/** Why an existing provider is not taken over; undefined if it is. */
function refusalToAdopt(
  isAdopted: boolean,
  hasCredentials: boolean,
  { id, type }: OAuthProviderRecord,
): string | undefined {
  const whose = type === "shared" ? "with the shared keys of the service" : `with the type ${type}`;
  const what = `the OAuth provider ${id} exists already, ${whose}`;
  if (!isAdopted)
    return `${what}. A new integration has some shared ones by default.${possibleOwner()} Set "adopt: true" to manage it here, or delete it first${ALIAS_ADVICE}`;
  if (hasCredentials || type === "shared") return undefined;
  return `${what}, but the program declares no credentials, and the service cannot remove them. Declare "clientId" and "clientSecret", or delete the provider first to use the shared keys`;
}

/**
 * A change by hand from own credentials to shared keys, or back, has no value to show, so a text is shown
 * (contract/standIns.ts).
 */
function observedCredentials(
  { type, client_id, client_secret }: OAuthProviderRecord,
  managed: Stored<OAuthProviderShape, OAuthProviderOuts>["managed"],
): Observed<OAuthProviderShape, OAuthProviderOuts>["args"] {
  const clientId = readable(client_id);
  if (managed.has("clientId")) {
    if (type === "shared") return { clientId: STAND_INS.sharedByHand };
    return omitUndefined({ clientId, clientSecret: readable(client_secret) });
  }
  // A provider that is only looked up is not declared to be shared.
  if (managed.size === 0) return omitUndefined({ clientId });
  // Shared, as declared: any credentials shown are the service's own.
  if (type === "shared") return {};
  return { clientId: clientId ?? STAND_INS.standardByHand };
}
