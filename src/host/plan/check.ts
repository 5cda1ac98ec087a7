/** The check of a resource's inputs, and what the resource declares by them. */
import { isUrn, labelOf, nameInUrn, typeInUrn } from "../../contract/identifiers";
import { doorOf } from "../../contract/pointer";
import { isRepair, resolveSettings } from "../../contract/settings";
import { strayPath } from "../argumentPaths";
import { problemText, sameJson, shownPath, type Problem } from "../arguments";
import { renamedWarning } from "../renamed";
import type { CheckRequest, CheckResult, Wrong } from "../requests";
import type { Hosted } from "../session";
import { type Checked, limitsOf, checkNews, ofWhole, valuesOf } from "./checkNews";
import { declareReplacement } from "./replacements";

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

const isNewIn = ({ olds }: Pick<CheckRequest, "olds">): boolean => Object.keys(olds).length === 0;

type OfProgram = CheckRequest & { readonly urn: string };

/** Records what a resource of the program declares. Returns what is reported about the declaration alone. */
function declare<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: OfProgram,
  checked: Checked<Args>,
): { problems: Problem[]; warnings: readonly string[] } {
  const { resource, session } = hosted;
  const { claims } = session.memory;
  const { urn } = request;
  const { args, known, authProvider } = checked;
  const { isNew, isReplacement } = note(hosted, request, checked);
  const own = resource.declares?.(known, authProvider, new Set(Object.keys(args))) ?? [];
  // An unknown URN names no resource.
  const others = isUrn(urn) ? claims.declare(urn, own) : [];
  const problems = others.map(({ urn: other, what }) => ({
    path: "",
    reason: `"${nameInUrn(other)}" of this program declares ${what} too. Declare it once`,
  }));
  // In the middle of a migration a state has both.
  const ofOtherDoor = isUrn(urn) && !isRepair() ? claims.ofOtherDoor(urn) : undefined;
  if (ofOtherDoor !== undefined) problems.push({ path: "", reason: twoDoors(urn, ofOtherDoor) });
  if (isReplacement) problems.push(...declareReplacement(hosted, { urn, news: args, known, authProvider }));
  const heldAs = isNew && !isReplacement ? claims.refreshedAs(own) : undefined;
  const renamed = heldAs === undefined ? undefined : renamedWarning(urn, heldAs);
  if (renamed !== undefined) session.warn(urn, renamed);
  return { problems, warnings: warningsOf(hosted, request, { ...checked, isNew, isReplacement }) };
}

/** Notes in the memory of the run what the engine calls `check` for. */
function note<Args extends object, Outputs extends object>(
  { session: { memory } }: Hosted<Args, Outputs>,
  { urn, olds, isPreview, ignored, retains, deletesFirst }: OfProgram,
  { known }: Checked<Args>,
): { isNew: boolean; isReplacement: boolean } {
  const { checked } = memory.claims;
  const isNew = isNewIn({ olds });
  // For a replacement the engine calls `check` a second time, without the old inputs.
  const earlier = checked.get(urn);
  const isReplacement = isNew && earlier !== undefined && Object.keys(earlier.oldInputs).length > 0;
  checked.set(urn, {
    retains: retains === true,
    deletesFirst,
    oldInputs: isReplacement ? earlier.oldInputs : olds,
    isReplacement,
    isPreview: isPreview === true,
    ignored,
    newInputs: isNew && isPreview !== true ? known : earlier?.newInputs,
  });
  return { isNew, isReplacement };
}

function warningsOf<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, olds, news, ignored, replacing }: OfProgram,
  { known, allowed, isNew, isReplacement }: Checked<Args> & { isNew: boolean; isReplacement: boolean },
): string[] {
  const { resource, session } = hosted;
  if (!sameJson(olds, news)) {
    for (const problem of allowed)
      session.warn(urn, `${problemText(problem)}; it is sent, because svc:allowUnlistedSizes is set`);
  }
  warnOfStrayPaths(hosted, urn, "ignoreChanges", ignored);
  warnOfStrayPaths(hosted, urn, "replaceOnChanges", replacing);
  const label = labelOf(urn);
  const blanks = valuesOf(hosted)
    .blanksIn(known, olds)
    .map(({ path, text }) => `"${path}" of ${resource.kind}${label}: ${text}`);
  return [...(resource.createWarnings?.({ args: known, label, isNew, isReplacement }) ?? []), ...blanks];
}

/** A misspelled path has no effect, and the engine does not say so. The paths of a repair are those of a state. */
export function warnOfStrayPaths<Args extends object, Outputs extends object>(
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
