/**
 * The settings used by commands that do not run the program: those that the last `pulumi up` stored, and the
 * environment.
 */
import { isDeepStrictEqual } from "node:util";
import { findKey, keyName, keySource, type KeySource, placeOf } from "../../contract/apiKey";
import { hostAndPort } from "../../contract/hostAndPort";
import { resolveSettings, type ReadSetting, type Settings } from "../../contract/settings";
import {
  type Answered,
  type Asking,
  forbiddenIn,
  isRefused,
  missingIn,
  OTHER_ACCOUNT,
  projectChecks,
  remedyOf,
  wordsOf,
} from "./asking";
import { failure, ok, skipped, warning, type Check } from "./check";
import type { StoredProvider } from "./stack";

const COMMANDS = "pulumi refresh, pulumi destroy and pulumi-svc drift";
const USERS = `${COMMANDS} use it`;

const STORE =
  "Run `pulumi up`: it stores the current settings. Until then, add --run-program to `pulumi refresh` and `pulumi destroy`.";
const STORE_FIRST = "Before you delete the old key, run `pulumi up`: it stores the current settings.";
const FIRST_CREDENTIALS = "First correct what the line `credentials` says.";
const STORE_NEW = "Configure a key that works, and run `pulumi up`: it stores the key.";
/** For settings that are also configured; the line `credentials` explains how. */
const SET_AGAIN = "Set it again, as the line `credentials` says. No `pulumi up` is needed.";
const SET_AND_STORE =
  "Set it again, as the line `credentials` says. Then run `pulumi up`: it stores the current settings.";
const STORE_OF_PROVIDER =
  "If the key was rotated, pass the new one to the provider and run `pulumi up`: it stores the key.";
const SET_THERE = "If the key was rotated, set the new one there. No `pulumi up` is needed.";
/** For a stored name that has no value here. */
const GIVE_VALUE =
  "Set it where these commands run. If another name is configured now, run `pulumi up`: it stores that name.";
const SET_MISSING =
  "Set what is missing in the environment of these commands, or configure it and run `pulumi up`, which stores it.";
const GIVE_MISSING =
  "Set what is missing in the environment of these commands, or pass it to the svc.Provider and run `pulumi up`, which stores it.";
const BY_NAME_IN_PROVIDER =
  "The state holds this key, encrypted. apiKeyEnv or apiKeyFile of the svc.Provider stores a name alone, and a rotation needs no `pulumi up`.";

/** Undefined if the settings are incomplete. */
interface Next {
  /** Undefined if they are incomplete. */
  readonly configured: Settings | undefined;
  readonly source: KeySource | undefined;
  /** The service did not respond at the configured address. */
  readonly isDown: boolean;
  /** The service refused the configured key. */
  readonly isBad: boolean;
}

/** Checks the engine's default provider. */
export async function storedKeyCheck(
  { read, projects }: StoredProvider,
  asking: Asking,
  { configured, source, isDown, isBad }: Next,
): Promise<Check> {
  const name = "stored key";
  const kept = keptIn(read);
  // With a refused key, no `up` can finish.
  const storing = isBad ? `${FIRST_CREDENTIALS} ${STORE}` : STORE;
  if ("problems" in kept) return incomplete(name, kept, configured === undefined ? SET_MISSING : storing);
  const { settings } = kept;
  const hasOtherKey = configured !== undefined && configured.apiKey !== settings.apiKey;
  const hasOtherAddress = configured !== undefined && configured.baseUrl !== settings.baseUrl;
  const address = hasOtherAddress ? ` and another address (${hostAndPort(settings.baseUrl)})` : "";
  const stored = storedWords(kept, configured && (hasOtherKey ? "other" : "same")) + address;
  if (isDown && !hasOtherAddress) return skipped(name, `${stored}; not tried, since the service does not answer`);

  const asked = await asking.ask(settings, projects);
  const message = `${stored}; ${verdictOn(settings, asked)}, and ${USERS}`;
  const isOther = hasOtherKey || hasOtherAddress;
  switch (resultOf(asked)) {
    case "untold":
      return skipped(name, message);
    case "trouble": {
      const remedy = remedyOf(asked.failed, settings.baseUrl);
      return failure(name, message, hasOtherAddress ? `${remedy} ${storing}` : remedy);
    }
    case "accepted":
      if (!isOther) return ok(name, message);
      return warning(name, message, isBad ? `${FIRST_CREDENTIALS} ${STORE_FIRST}` : STORE_FIRST);
    case "other account":
      return failure(name, message, isOther ? storing : OTHER_ACCOUNT);
    case "refused":
      return failure(name, message, isOther ? storing : remedyForRefused(kept, configured && source));
  }
}

/** What to do about a stored key that is refused, unless another one is configured. */
function remedyForRefused({ form, source }: Kept, configured: KeySource | undefined): string {
  if (configured === undefined) return form === "key" ? STORE_NEW : SET_THERE;
  return form !== "key" && isDeepStrictEqual(source, configured) ? SET_AGAIN : SET_AND_STORE;
}

/** Checks each `svc.Provider` of the program. Only the settings stored by the last `up` are visible. */
export async function explicitChecks(
  { name: provider, read }: StoredProvider,
  asking: Asking,
  projects: readonly string[],
): Promise<Check[]> {
  const name = `provider ${provider}`;
  const kept = keptIn(read);
  if ("problems" in kept) return [incomplete(name, kept, GIVE_MISSING)];
  const { form, settings } = kept;
  const asked = await asking.ask(settings, projects);
  const message = `${storedWords(kept, undefined)}; ${verdictOn(settings, asked)}, and ${USERS}`;
  const unasked = projects.filter((id) => !asked.answers.has(id)).map((id) => skipped(`project ${id}`, "not checked"));
  const ofProjects = projects.length > 0 ? projectChecks(asked.answers) : [];
  switch (resultOf(asked)) {
    case "untold":
      return [skipped(name, message)];
    case "accepted":
      return [ok(name, message, form === "key" ? BY_NAME_IN_PROVIDER : undefined), ...ofProjects];
    case "trouble":
      return [failure(name, message, remedyOf(asked.failed, settings.baseUrl)), ...unasked];
    case "other account":
      return [failure(name, message, OTHER_ACCOUNT), ...ofProjects];
    case "refused":
      return [failure(name, message, form === "key" ? STORE_OF_PROVIDER : SET_THERE), ...unasked];
  }
}

interface Kept {
  /** How the state holds the key: the key itself, the name of a variable or file, or nothing. */
  readonly form: "key" | "name" | "nothing";
  readonly source: KeySource;
  readonly settings: Settings;
}

interface Incomplete {
  readonly problems: readonly string[];
  /** The named variable or file has no key. */
  readonly lacksValue: boolean;
}

/** The settings in the state combined with the environment, as the provider process resolves them. */
function keptIn(read: ReadSetting): Kept | Incomplete {
  const { settings, problems } = resolveSettings(read);
  const source = keySource(read);
  const ofName = source?.isConfigured === true && source.form !== "apiKey";
  if (settings === undefined || source === undefined)
    return { problems, lacksValue: ofName && findKey(read).key === undefined };
  return { form: ofName ? "name" : source.isConfigured ? "key" : "nothing", source, settings };
}

/** `than`: whether it equals the configured key. Undefined if no key is configured. */
function storedWords({ form, source }: Kept, than: "same" | "other" | undefined): string {
  const stored = "the last pulumi up stored";
  const but = than === "other" ? " is not the configured one" : "";
  switch (form) {
    case "key":
      return `${stored} ${than === undefined ? "a key" : but === "" ? "the same key" : `a key that${but}`}`;
    case "name":
      return `${stored} no key, but the name of ${keyName(source)}${but === "" ? "" : `, whose key${but}`}`;
    case "nothing":
      return `${stored} no key, so the key in the environment (${placeOf(source)}) is used${but === "" ? "" : `, which${but}`}`;
  }
}

type Result = "accepted" | "refused" | "other account" | "trouble" | "untold";

function resultOf({ answers, failed, tells }: Answered): Result {
  if (failed !== undefined) return isRefused(failed) ? "refused" : "trouble";
  if (tells === "nothing") return "untold";
  return forbiddenIn(answers).length + missingIn(answers).length > 0 ? "other account" : "accepted";
}

function verdictOn({ baseUrl }: Settings, { answers, failed, tells }: Answered): string {
  const place = hostAndPort(baseUrl);
  if (isRefused(failed)) return `${place} refuses the key (401)`;
  if (failed !== undefined) return wordsOf(failed);
  if (tells === "nothing") return `without a project, it is not known whether ${place} accepts the key`;
  if (tells === "key") return `${place} does not refuse the key`;
  const [forbidden, missing] = [forbiddenIn(answers), missingIn(answers)];
  if (forbidden.length > 0) return `the key may not read ${forbidden.join(", ")} (403)`;
  if (missing.length > 0) return `the account of the key has no project ${missing.join(", ")}`;
  return `${place} accepts the key`;
}

function incomplete(name: string, { problems, lacksValue }: Incomplete, remedy: string): Check {
  const message = `with what the last pulumi up stored, ${COMMANDS} fail here: ${problems.join("; ")}`;
  return failure(name, message, lacksValue ? GIVE_VALUE : remedy);
}
