/** A plan: checks the inputs, compares them with the state, and reports both. */
import { Granted, Refused } from "../client";
import { type Properties, containsUnknown, isUnknown } from "../contract/hiddenKeys";
import { allowsUnlistedSizes, isRepair, maxSizeCu, resolveSettings } from "../contract/settings";
import { settingForm } from "../contract/forms";
import { isUrn, labelOf, nameInUrn, typeInUrn } from "../contract/identifiers";
import { doorOf } from "../contract/pointer";
import {
  checkArguments,
  problemText,
  sameJson,
  shownPath,
  specEntries,
  type ArgumentSpecs,
  type Comparison,
  type Problem,
} from "./arguments";
import { strayPath } from "./argumentPaths";
import type { Changes, Finding, Lifecycle, Limits, Look, Plan, Replacing, Stored } from "./lifecycle";
import { NOTHING, type Verdict } from "./lookAhead";
import { Progress } from "./progress";
import { isOfProtectionAlone, protectedReplacement, protectionOf } from "./protection";
import { type Compared, SecretValues } from "./references";
import { REPLACE_ON_CHANGES, type Compared as Replaced } from "./run/plans";
import { renamedWarning } from "./renamed";
import { excludeEachOther, mayDeleteFirst } from "./replacement";
import type {
  CheckRequest,
  CheckResult,
  DiffRequest,
  DiffResult,
  PlannedRequest,
  Repair,
  RepairRequest,
  Wrong,
} from "./requests";
import type { Hosted } from "./session";
import { compareWith, compareWithValues, storedFrom } from "./state";

/** For a problem that `svc:allowUnlistedSizes` would turn into a warning. */
const NEWER_VALUE_ADVICE = ". If the service supports it, set svc:allowUnlistedSizes to true";

/** Checks and normalises the inputs. Reports, once, what can be said before anything is compared. */
export async function check<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: CheckRequest,
): Promise<CheckResult> {
  const { session, readSetting } = hosted;
  const { urn = "", news } = request;
  // A creation leaves nothing to the service.
  const ignored = isNewIn(request) ? [] : request.ignored;
  const { args, known, problems: found, allowed } = checkNews(hosted, news, limitsOf(hosted, ignored));
  const { settings, problems: settingProblems } = resolveSettings(readSetting);
  if (settings !== undefined) session.meetOthers(settings);
  session.warnOfUnheard();
  const asDeclared: Checked<Args> = { args, known, allowed, authProvider: settings?.authProvider ?? "" };
  const { problems: declaredTwice, warnings } =
    urn === "" ? { problems: [], warnings: [] } : declare(hosted, { ...request, urn }, asDeclared);
  const problems: Wrong[] = [
    ...request.problems,
    ...[...found, ...declaredTwice].map(({ path, reason, unlisted }) => ({
      path,
      reason: unlisted === undefined ? reason : reason + NEWER_VALUE_ADVICE,
    })),
    ...settingProblems.map(ofWhole),
  ];
  warnings.forEach((text) => session.warn(urn, text));
  return { args, problems };
}

/**
 * What only a preview says of a resource that it declares: what the service shows that blocks its creation, or what the
 * creation would do (lookAhead.ts). Reports warnings, and returns what fails the plan.
 */
export async function planned<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn = "", news, declared, isNew, isSound }: PlannedRequest,
): Promise<readonly Wrong[]> {
  const { session, readSetting, resource } = hosted;
  const { kind } = resource;
  session.memory.claims.noteDeclared(kind, declared);
  if (isNew) session.memory.claims.noteCompared(kind, urn);
  const { args, known } = checkNews(hosted, news, limitsOf(hosted, []));
  const isReplacement = session.memory.claims.checked.get(urn)?.isReplacement === true;
  const mayLook = isNew && isSound;
  const replaced = isReplacement && isSound ? session.memory.plans.comparedWith(urn) : undefined;
  const ofReplacement =
    replaced === undefined ? NOTHING : await lookAtReplacement(hosted, { urn, news: args, known, replaced });
  if (urn !== "" && mayLook) {
    for (const { path, text } of valuesOf(hosted).missingIn(args))
      session.warn(urn, `${kind}${labelOf(urn)} needs "${path}", but ${text}. pulumi up fails without it`);
  }
  const { settings } = resolveSettings(readSetting);
  const { lookAhead } = resource;
  const ahead =
    mayLook && settings !== undefined && lookAhead ? await ask(hosted, { urn, known, news }, lookAhead) : NOTHING;
  const declaration = { args: known, label: labelOf(urn), isNew, isReplacement };
  const effects = urn === "" || ahead.hasLooked ? [] : (resource.createEffects?.(declaration) ?? []);
  [...ofReplacement.warnings, ...effects, ...ahead.warnings].forEach((text) => session.warn(urn, text));
  const settled = isNew ? await session.lookAhead.settle(kind) : [];
  return [...ofReplacement.failures, ...ahead.failures, ...settled].map(ofWhole);
}

/**
 * What a plan says of a replacement that the engine has asked for: what it does, if only an option of the program knew of
 * it, and why it would lose what it deletes first.
 */
async function lookAtReplacement<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  {
    urn,
    news,
    known,
    replaced: { id, outs, isReplaced, deletesFirst },
  }: { urn: string; news: Properties; known: Partial<Args>; replaced: Replaced },
): Promise<Verdict> {
  const { resource } = hosted;
  const stored = storedFrom(resource, id, outs);
  const plan = planOf({ urn, stored, news, changes: compareWith(resource, stored, news), deletesFirst });
  const subject = `${resource.kind} ${id}${plan.label}`;
  const warnings = isReplaced
    ? []
    : [`${subject} is replaced, because the option "${REPLACE_ON_CHANGES}" asks for it: ${resource.replacement(plan)}`];
  if (!deletesFirst) return { ...NOTHING, warnings };
  const verdict = await ask(hosted, { urn, known, news }, async ({ client, reading, authProvider }) => {
    const permission = await mayDeleteFirst(resource, {
      ...asking(hosted),
      client,
      reading,
      authProvider,
      stored,
      news,
    });
    if (permission instanceof Granted) return [];
    const message = `${subject} is not replaced, because it would be deleted first and might not come back: ${permission.error.message}`;
    // An answer that is missing is asked for again right before the deletion.
    return [{ message, isObstacle: true, ...(permission instanceof Refused && { loses: true }) }];
  });
  return { ...verdict, warnings: [...warnings, ...verdict.warnings] };
}

/**
 * Once the engine has asked for the replacement of a resource: records it, and returns why it is not replaced, whatever
 * the service says.
 */
function declareReplacement<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, news, known, authProvider }: { urn: string; news: Properties; known: Partial<Args>; authProvider: string },
): Problem[] {
  const { resource, session } = hosted;
  const { memory } = session;
  const { isPreview = false, retains = false } = memory.claims.checked.get(urn) ?? {};
  const problems: string[] = [];
  // Checked here: the old object would be deleted before the creation could fail because a value is missing. A door that
  // does not know what the call is for fails the plan, too. The name in a malformed reference is not shown: it may be
  // the secret.
  if (!isPreview)
    for (const { path, text } of valuesOf(hosted).missingIn(known))
      problems.push(`the replacement needs "${path}", but ${text}. Nothing is deleted`);
  const replaced = memory.plans.comparedWith(urn);
  if (replaced === undefined) return problems.map((reason) => ({ path: "", reason }));
  const { id, outs, isReplaced, deletesFirst } = replaced;
  const stored = storedFrom(resource, id, outs);
  const subject = `${resource.kind} ${id}${labelOf(urn)}`;
  memory.plans.noteReplaced(urn);
  if (!isReplaced) {
    const { changed } = compareWith(resource, stored, news);
    const refusal = protectedReplacement(resource.args, { subject, because: changed, outs: stored.outs, news });
    if (refusal !== undefined) problems.push(refusal);
    warnOfStaying(hosted, { urn, id, objects: resource.objects(id, stored.outs) });
  }
  if (deletesFirst) {
    memory.plans.noteGuard(urn, (reading) => {
      const { client } = session.account(hosted.readSetting);
      return mayDeleteFirst(resource, { ...asking(hosted), client, reading, authProvider, stored, news });
    });
    // What is in a container leaves with it.
    const goesWith = memory.plans.isReplaced((object) => resource.container?.is(object, id, stored.outs) === true);
    if (retains && !goesWith && Reflect.get(known, "adopt") !== true)
      problems.push(
        `${subject} cannot be replaced: the option "retainOnDelete" keeps it at the service, which does not accept another one beside it. ` +
          "Leave the option out, or undo the change that replaces it",
      );
  }
  return problems.map((reason) => ({ path: "", reason }));
}

/** What the run knows, for `mayDeleteFirst`. */
export const asking = <Args extends object, Outputs extends object>({
  session: { memory },
}: Hosted<Args, Outputs>): Pick<Replacing<Args, Outputs>, "isToBeReplaced" | "isDeclared"> => ({
  isToBeReplaced: (matches) => memory.plans.isToBeReplaced(matches),
  isDeclared: (matches) => memory.claims.isDeclared(matches),
});

const limitsOf = <Args extends object, Outputs extends object>(
  { readSetting }: Hosted<Args, Outputs>,
  ignored: readonly string[],
): Limits => ({ maxSizeCu: maxSizeCu(readSetting), ignored });

const authProviderOf = <Args extends object, Outputs extends object>({ readSetting }: Hosted<Args, Outputs>): string =>
  resolveSettings(readSetting).settings?.authProvider ?? "";

const ofWhole = (reason: string): Wrong => ({ path: "", reason });

/** The result of checking the inputs alone. */
interface Checked<Args> {
  readonly args: Properties;
  /** The known, well-formed arguments. */
  readonly known: Partial<Args>;
  /** Problems that only `svc:allowUnlistedSizes` permits. */
  readonly allowed: readonly Problem[];
  readonly authProvider: string;
}

function checkNews<Args extends object, Outputs extends object>(
  { resource, readSetting }: Hosted<Args, Outputs>,
  news: Properties,
  limits: Limits,
): Omit<Checked<Args>, "authProvider"> & { problems: Problem[] } {
  const { args, problems: found } = checkArguments(resource.kind, resource.args, news);
  const allows = allowsUnlistedSizes(readSetting);
  const isAllowed = ({ unlisted = false }: Problem): boolean => unlisted && allows;
  const bad = new Set(found.filter((problem) => !isAllowed(problem)).map(({ path }) => path.split(/[.[]/)[0]));
  const good = Object.entries(args).filter(([name, value]) => !bad.has(name) && !containsUnknown(value));
  // Each of these arguments has passed its own schema.
  const known = Object.fromEntries(good) as Partial<Args>;
  found.push(...(resource.rules?.(known, new Set(Object.keys(news)), limits) ?? []));
  const problems = found.filter((problem) => !isAllowed(problem));
  return { args, known, problems, allowed: found.filter(isAllowed) };
}

/** The arguments of a change, which have passed `check`. @throws all their problems at once. */
export function checkedArgs<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  news: Properties,
): Args {
  const { args, problems } = checkNews(hosted, news, { maxSizeCu: undefined, ignored: [] });
  if (problems.length > 0) throw new Error(problems.map(problemText).join("; "));
  // Just checked, argument by argument.
  return args as Args;
}

const isNewIn = ({ olds }: Pick<CheckRequest, "olds">): boolean => Object.keys(olds).length === 0;

/** Records what a resource of the program declares. Returns what is reported about the declaration alone. */
function declare<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, olds, news, isPreview, ignored, replacing, retains, deletesFirst }: CheckRequest & { readonly urn: string },
  { args, known, allowed, authProvider }: Checked<Args>,
): { problems: Problem[]; warnings: readonly string[] } {
  const { resource, session } = hosted;
  const isNew = isNewIn({ olds });
  // For a replacement the engine calls `check` a second time, without the old inputs.
  const earlier = session.memory.claims.checked.get(urn);
  const isReplacement = isNew && earlier !== undefined && Object.keys(earlier.oldInputs).length > 0;
  session.memory.claims.checked.set(urn, {
    retains: retains === true,
    deletesFirst,
    oldInputs: isReplacement ? earlier.oldInputs : olds,
    isReplacement,
    isPreview: isPreview === true,
    ignored,
    newInputs: isNew && isPreview !== true ? known : earlier?.newInputs,
  });
  const claims = resource.declares?.(known, authProvider, new Set(Object.keys(args))) ?? [];
  // An unknown URN names no resource.
  const others = isUrn(urn) ? session.memory.claims.declare(urn, claims) : [];
  const problems = others.map(({ urn: other, what }) => ({
    path: "",
    reason: `"${nameInUrn(other)}" of this program declares ${what} too. Declare it once`,
  }));
  // In the middle of a migration a state has both.
  const ofOtherDoor = isUrn(urn) && !isRepair() ? session.memory.claims.ofOtherDoor(urn) : undefined;
  if (ofOtherDoor !== undefined) problems.push({ path: "", reason: twoDoors(urn, ofOtherDoor) });
  if (isReplacement) problems.push(...declareReplacement(hosted, { urn, news: args, known, authProvider }));
  const heldAs = isNew && !isReplacement ? session.memory.claims.refreshedAs(claims) : undefined;
  const renamed = heldAs === undefined ? undefined : renamedWarning(urn, heldAs);
  if (renamed !== undefined) session.warn(urn, renamed);
  if (!sameJson(olds, news)) {
    for (const problem of allowed)
      session.warn(urn, `${problemText(problem)}; it is sent, because svc:allowUnlistedSizes is set`);
  }
  warnOfStrayPaths(hosted, urn, "ignoreChanges", ignored);
  warnOfStrayPaths(hosted, urn, "replaceOnChanges", replacing);
  const own = { args: known, label: labelOf(urn), isNew, isReplacement };
  const blanks = valuesOf(hosted)
    .blanksIn(known, olds)
    .map(({ path, text }) => `"${path}" of ${resource.kind}${own.label}: ${text}`);
  return { problems, warnings: [...(resource.createWarnings?.(own) ?? []), ...blanks] };
}

/** A misspelled path has no effect, and the engine does not say so. The paths of a repair are those of a state. */
function warnOfStrayPaths<Args extends object, Outputs extends object>(
  { resource, session }: Hosted<Args, Outputs>,
  urn: string,
  option: "ignoreChanges" | "replaceOnChanges",
  paths: readonly string[],
): void {
  for (const path of isRepair() ? [] : paths) {
    const advice = strayPath(resource.args, path);
    if (advice === undefined) continue;
    const what = `"${option}" of ${resource.kind}${labelOf(urn)} names "${shownPath(path)}"`;
    session.warn(urn, `${what}, which is no argument and no part of one, so it has no effect. ${advice}`);
  }
}

/** A resource that is not the program's only way to this package (docs/native.md). */
function twoDoors(urn: string, other: string): string {
  const [own, others] = [urn, other].map((one) => `${doorOf(typeInUrn(one))} resource (${typeInUrn(one)})`);
  return (
    `it is a ${own}, and "${nameInUrn(other)}" of this program is a ${others}, but a program uses one kind of them. ` +
    "Declare all with the classes of pulumi-svc, or all with the native plugin; an alias with the other type keeps an object (docs/native.md)"
  );
}

/** What the service shows that blocks a creation or an update (lookAhead.ts). */
async function ask<Args extends object, Outputs extends object>(
  { resource, session, readSetting }: Hosted<Args, Outputs>,
  { urn, known, news }: { urn: string; known: Partial<Args>; news: Properties },
  question: (look: Look<Args>) => Promise<readonly Finding[] | undefined>,
): Promise<Verdict> {
  const projectId: unknown = Reflect.get(known, "projectId");
  if (typeof projectId !== "string") return NOTHING;
  const account = session.account(readSetting);
  const { client, settings } = account;
  client.learnSecrets(news);
  const values = new SecretValues(resource.args, (secret) => client.learnSecrets({ secret }));
  const progress = new Progress(session.log, urn, settings.quiet);
  const about = {
    args: { ...values.withValues(known), projectId },
    givenNames: new Set(Object.keys(news)),
    authProvider: settings.authProvider,
    client,
    planned: (object: string) => session.memory.plans.planned(object),
    isDeclared: (matches: (object: string) => boolean) => session.memory.claims.isDeclared(matches),
    leftBy: (object: string) => session.memory.plans.leftBy(object, urn),
  };
  const look = (asking: Pick<Look<Args>, "reading" | "isComplete">) => question({ ...about, ...asking });
  const asked = {
    kind: resource.kind,
    name: nameInUrn(urn),
    projectId,
    onProgress: (text: string) => progress.show(text),
  };
  try {
    return await session.lookAhead.ask({ ...account, ...asked, look });
  } finally {
    progress.end();
  }
}

/** Compares the program's inputs with the state. A plan reports the differences. */
export async function diff<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, stateUrn, id, outs, news, ignored }: DiffRequest,
): Promise<DiffResult> {
  const { resource, session } = hosted;
  if (urn !== undefined && ignored !== undefined) session.memory.claims.noteIgnored(urn, ignored);
  const stored = storedFrom(resource, id, outs);
  // A refresh compares too, but runs no program: nothing was checked, so nothing is reported or recorded.
  const checked = urn === undefined ? undefined : session.memory.claims.checked.get(urn);
  const oldInputs = checked?.oldInputs;
  const values = valuesOf(hosted);
  // For a door that did not know the paths in `check`.
  if (urn !== undefined && oldInputs !== undefined) warnOfStrayPaths(hosted, urn, "ignoreChanges", ignored ?? []);
  const byValue = oldInputs && (await compareWithValues(hosted, stored, { urn, outs, news, values }));
  const compared = byValue?.changes ?? compareWith(resource, stored, news);
  const livesIn = (object: string): boolean => resource.container?.is(object, stored.id, stored.outs) === true;
  // A resource that the engine knows to depend on it was replaced before it was asked.
  const goesWith =
    oldInputs !== undefined && compared.replaces.size === 0 && session.memory.plans.isReplaced(livesIn)
      ? resource.container?.name
      : undefined;
  const changes = goesWith === undefined ? compared : replacedWithContainer(resource.args, compared);
  const deletesFirst = checked?.deletesFirst ?? excludeEachOther(resource, stored, news, authProviderOf(hosted));
  if (urn !== undefined && oldInputs !== undefined) {
    const plan = planOf({ urn, stored, news, changes, deletesFirst });
    session.memory.plans.noteComparedWith(urn, { id, outs, isReplaced: plan.replaces.size > 0, deletesFirst });
    const subject = `${resource.kind} ${id}${labelOf(urn)}`;
    const remarks = [...(byValue?.compared.remarks ?? []), ...missing(values, news, byValue)];
    const ofValues = remarks.map(({ path, text }) => `"${path}" of ${subject}: ${text}`);
    const ofPlan =
      goesWith === undefined
        ? planMessages(resource, plan, news)
        : [`${subject} is replaced, because ${goesWith} is replaced: it is deleted with it and created again`];
    for (const text of [...ofPlan, ...ofValues]) session.warn(urn, text);
    const because = [...changes.replaces].filter((name) => !isUnknown(news[name]));
    const refusal = protectedReplacement(resource.args, { subject, because, outs: stored.outs, news });
    if (refusal !== undefined) throw new Error(refusal);
    if (isUrn(urn)) {
      holdObjects(hosted, { urn, stateUrn, plan });
      const isReplaced = plan.replaces.size > 0;
      session.memory.plans.noteStaying(urn, (object) => !isReplaced && livesIn(object));
      if (isReplaced) warnOfStaying(hosted, { urn, id, objects: resource.objects(id, stored.outs) });
    }
    if (checked?.isPreview === true) await lookAtUpdate(hosted, { urn, plan, news });
  }
  const isSame = isUnchanged(changes);
  const inInputs = oldInputs === undefined || !sameJson(oldInputs, news);
  return {
    changes: stored.unfinished !== false ? "outs" : isSame ? "none" : inInputs ? "inputs" : "outs",
    names: [...changes.changed, ...changes.added, ...changes.dropped],
    replaces: [...changes.replaces],
    deleteBeforeReplace: deletesFirst,
  };
}

/** The argument that names the container counts as the one that replaces. */
function replacedWithContainer<Args extends object>(
  specs: ArgumentSpecs<Args>,
  changes: Comparison<Args>,
): Comparison<Args> {
  const naming = specEntries(specs).flatMap(([name, { container }]) => (container === undefined ? [] : [name]));
  return {
    ...changes,
    changed: new Set([...changes.changed, ...naming]),
    replaces: new Set([...changes.replaces, ...naming]),
  };
}

/** Warns of the resources of the program that are lost with an object: they were compared before, and are to stay. */
export function warnOfStaying<Args extends object, Outputs extends object>(
  { resource, session }: Hosted<Args, Outputs>,
  { urn, id, objects }: { urn: string; id: string; objects: readonly string[] },
): void {
  const isPreview = session.memory.claims.checked.get(urn)?.isPreview === true;
  for (const other of session.memory.plans.stayingIn(objects, isPreview))
    session.warn(
      urn,
      `"${nameInUrn(other)}" of this program is in ${resource.kind} ${id} and is deleted with it, but was compared before and is not created again. ` +
        `Pass it an output of ${resource.kind}${labelOf(urn)}. If it is lost already, pulumi up --refresh creates it again`,
    );
}

const isUnchanged = ({ changed, dropped, added }: Changes<never>): boolean =>
  changed.size + dropped.size + added.size === 0;

/**
 * What only a preview says of an update, for a door that does not know in `diff` that it is one.
 * @throws if a strict plan fails.
 */
export async function plannedUpdate<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, id, outs, news }: DiffRequest & { readonly urn: string },
): Promise<void> {
  const stored = storedFrom(hosted.resource, id, outs);
  const { changes } = await compareWithValues(hosted, stored, { urn, outs, news, values: valuesOf(hosted) });
  await lookAtUpdate(hosted, { urn, plan: planOf({ urn, stored, news, changes, deletesFirst: false }), news });
}

/** Warns of what blocks an update at the service. @throws if a strict plan fails. */
async function lookAtUpdate<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, plan, news }: { urn: string; plan: Plan<Args, Outputs>; news: Properties },
): Promise<void> {
  const { resource, session } = hosted;
  const { lookAtUpdate: look } = resource;
  const { stored, changes, replaces, news: known } = plan;
  session.memory.claims.noteCompared(resource.kind, urn);
  // Turning a protection on or off sends nothing.
  const isSent = !isUnchanged(changes) && !isOfProtectionAlone(resource.args, changes);
  const isUpdate = replaces.size === 0 && (stored.unfinished !== false || isSent);
  const ahead = isUpdate && look ? await ask(hosted, { urn, known, news }, (about) => look(about, plan)) : NOTHING;
  ahead.warnings.forEach((text) => session.warn(urn, text));
  const failures = [...ahead.failures, ...(await session.lookAhead.settle(resource.kind))];
  if (failures.length > 0) throw new Error(failures.join("; "));
}

/** A plan's messages about references without a value. One that `ignoreChanges` names is not sent. */
function missing(
  values: SecretValues,
  news: Properties,
  found: { needed: ReadonlySet<string>; compared: Compared } | undefined,
) {
  return values.missingIn(news).flatMap(({ path, argument, text: what }) => {
    if (found?.compared.ignored.has(settingForm(path)) === true) return [];
    const isNeeded = found?.needed.has(argument) === true;
    const text = `could not be compared: ${what}`;
    return [{ path, text: isNeeded ? `${text}. pulumi up fails without it` : text }];
  });
}

const valuesOf = <Args extends object, Outputs extends object>({ resource }: Hosted<Args, Outputs>): SecretValues =>
  // Nothing is sent to the service, so no message can repeat a value.
  new SecretValues(resource.args, () => undefined);

/**
 * Records which objects a resource of the program has in its state and continues to manage.
 * @throws when another resource has one of them, too.
 */
function holdObjects<Args extends object, Outputs extends object>(
  { resource, session: { memory } }: Hosted<Args, Outputs>,
  { urn, stateUrn, plan }: { urn: string; stateUrn: string | undefined; plan: Plan<Args, Outputs> },
): void {
  const { stored, news, replaces, deletesFirst } = plan;
  const { id, outs } = stored;
  // The types are those of the arguments and outputs; an unknown argument counts with its stored value.
  const known = { ...outs, ...news } as Partial<Outputs & Args>;
  // A resource that is to be replaced no longer manages its object: the replacement may take it over.
  const objects = replaces.size > 0 ? [] : resource.objects(id, known);
  memory.plans.notePlanned(resource.objects(id, outs), {
    urn,
    news,
    changed: plan.changes.changed,
    replaces,
    deletesFirst,
  });
  // The state may have an older URN, left by an alias.
  memory.ownership.setStored(urn, objects, stateUrn);
  const other = objects.map((object) => memory.ownership.otherOwner(object, urn)).find((owner) => owner !== undefined);
  if (other === undefined) return;
  throw new Error(
    `${resource.kind} ${id} is managed by both "${nameInUrn(urn)}" and "${nameInUrn(other)}", which would undo each other's changes. ` +
      `Remove one of them from the program: pulumi up plans its deletion, but does not delete the object`,
  );
}

/** What a plan would do and report after a refresh. Sends nothing. */
export function repair<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, id, outs, news }: RepairRequest,
): Repair {
  const { resource } = hosted;
  if (outs === undefined) {
    // The inputs in the state have passed `check`.
    const declared = { args: news as Partial<Args>, label: labelOf(urn), isNew: true, isReplacement: false };
    const { kind, recreation } = resource;
    const again = recreation === undefined ? [] : [`${kind} ${id}${declared.label} is created again: ${recreation}`];
    const said = [...(resource.createEffects?.(declared) ?? []), ...(resource.createWarnings?.(declared) ?? [])];
    return { action: "create", restarts: false, messages: [...again, ...said] };
  }
  const stored = storedFrom(resource, id, outs);
  // Only the program knows an option: the engine's plan of the repair shows what it does.
  const deletesFirst = excludeEachOther(resource, stored, news, authProviderOf(hosted));
  const plan = planOf({ urn, stored, news, changes: compareWith(resource, stored, news), deletesFirst });
  const messages = planMessages(resource, plan, news);
  const isReplacement = plan.replaces.size > 0;
  // As a plan of the program, whose `check` says it.
  messages.push(
    ...(resource.createWarnings?.({ args: plan.news, label: plan.label, isNew: isReplacement, isReplacement }) ?? []),
  );
  if (isReplacement) {
    const guard = protectionOf(resource.args, news);
    if (guard !== undefined)
      messages.push(`pulumi up refuses that: "${guard}" of ${resource.kind} ${id}${plan.label} is on`);
    return { action: "replace", restarts: false, messages };
  }
  return { action: "update", restarts: resource.restarts?.(plan) ?? false, messages };
}

function planOf<Args, Outputs>(about: {
  urn: string | undefined;
  stored: Stored<Args, Outputs>;
  news: Properties;
  changes: Comparison<Args>;
  deletesFirst: boolean;
}): Plan<Args, Outputs> {
  const { urn, stored, news, changes, deletesFirst } = about;
  const known = Object.entries(news).filter(([, value]) => !containsUnknown(value));
  return {
    stored,
    label: labelOf(urn),
    // The program's arguments have passed `check`.
    news: Object.fromEntries(known) as Partial<Args>,
    changes,
    replaces: changes.replaces,
    deletesFirst,
  };
}

/** The plan's messages about one resource. */
function planMessages<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  plan: Plan<Args, Outputs>,
  news: Properties,
): string[] {
  const { stored, label, changes, replaces } = plan;
  const subject = `${resource.kind} ${stored.id}${label}`;
  const isOpen = (name: string): boolean => containsUnknown(news[name]);
  const certain = [...replaces].filter((name) => !isOpen(name));
  const open = specEntries(resource.args).filter(
    ([name, { replaces, container }]) =>
      (replaces ?? container) !== undefined && changes.changed.has(name) && isOpen(name),
  );
  const messages: string[] = [];
  if (certain.length > 0) {
    const change = certain.length === 1 ? "changes" : "change";
    messages.push(`${subject} is replaced, because ${quoted(certain)} ${change}: ${resource.replacement(plan)}`);
  } else if (open.length > 0) {
    const [names, are] = [open.map(([name]) => name), open.length === 1 ? "is" : "are"];
    messages.push(`${subject} may be replaced when ${quoted(names)} ${are} known: ${resource.replacement(plan)}`);
  }
  // A replacement is created from the program alone, so a dropped argument needs no warning.
  if (replaces.size > 0) return messages;
  const guard = protectionOf(resource.args, stored.outs);
  if (guard !== undefined && protectionOf(resource.args, { ...stored.outs, [guard]: undefined, ...news }) === undefined)
    messages.push(`"${guard}" of ${subject} is turned off: it can be deleted and replaced from then on`);
  messages.push(...(resource.warnings?.(plan) ?? []));
  for (const name of changes.dropped) {
    const { unreadable, local, protects } = resource.args[name];
    if (protects === true) continue;
    const what = `"${name}" of ${subject} is no longer managed`;
    const isShown = unreadable !== true && local !== true;
    messages.push(isShown ? `${what}: the value is unchanged, and drift is no longer detected` : what);
  }
  return messages;
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");
