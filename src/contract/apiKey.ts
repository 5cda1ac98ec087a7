/**
 * Finds the API key: the key itself, the name of a variable, or the path of a file that holds it. The first place that
 * has one of these wins: an explicit Provider, the configuration, the environment (docs/secrets.md).
 */
import { isUnknown } from "./hiddenKeys";
import {
  isValueOfVariable,
  referenceName,
  referenceProblem,
  type Resolved,
  resolveReference,
  type SecretReference,
  variable,
} from "./references";

/** Settings in the namespace `svc`, and arguments of a Provider. */
export const KEY_FORMS = ["apiKey", "apiKeyEnv", "apiKeyFile"] as const;
export type KeyForm = (typeof KEY_FORMS)[number];

export interface KeySource {
  /**
   * True: in the stack's configuration or an explicit Provider. The provider's process cannot tell these apart; both
   * are stored with the stack. False: in the environment.
   */
  readonly isConfigured: boolean;
  readonly form: KeyForm;
  /** Undefined: the key itself is configured. */
  readonly reference: SecretReference | undefined;
}

export interface FoundKey {
  readonly apiKey: string;
  /**
   * Reads the key from its file again; undefined if the file holds no key. Undefined if the key is in no file: the
   * environment of a process does not change.
   */
  readonly renewKey: (() => string | undefined) | undefined;
}

type ReadForm = (form: KeyForm) => string | undefined;

/** The characters that an HTTP header can carry, without blanks. */
const HEADER_TEXT = /^[\x21-\x7e]+$/;

const VARIABLE = "SVC_API_KEY";
const FILE_VARIABLE = "SVC_API_KEY_FILE";

const NO_KEY =
  "no API key: name the variable or the file that holds it with `pulumi config set svc:apiKeyEnv` or svc:apiKeyFile, set it in the environment as SVC_API_KEY, " +
  "store it with `pulumi config set --secret svc:apiKey`, or give the name or the key to an explicit svc.Provider";

/** Undefined if no place has a key. */
export function keySource(read: ReadForm): KeySource | undefined {
  const [configured] = configuredForms(read);
  if (configured !== undefined) {
    const { form, text } = configured;
    return { isConfigured: true, form, reference: form === "apiKey" ? undefined : referenceOf(form, text) };
  }
  const isConfigured = false;
  if (givenText(variable(VARIABLE)) !== undefined)
    return { isConfigured, form: "apiKey", reference: { fromEnv: VARIABLE } };
  const file = givenText(variable(FILE_VARIABLE));
  return file === undefined ? undefined : { isConfigured, form: "apiKeyFile", reference: { fromFile: file } };
}

/** The key, or the problem with it. Neither, if a value is unknown (a preview). */
export function findKey(read: ReadForm): { key?: FoundKey; problem?: string } {
  // From a program without types. If this were skipped, the key of the environment would be used, perhaps of another
  // account.
  const odd = KEY_FORMS.find((form) => !["string", "undefined"].includes(typeof (read(form) ?? undefined)));
  if (odd !== undefined) return { problem: `svc:${odd} (or the ${odd} of an explicit svc.Provider) must be a string` };
  const configured = configuredForms(read);
  if (configured.some(({ text }) => isUnknown(text))) return {};
  if (configured.length > 1) {
    const names = configured.map(({ form }) => `svc:${form}`).join(" and ");
    return { problem: `${names} are set in the same place (the configuration, or one svc.Provider): keep one of them` };
  }
  // The result of an unset variable: `pulumi config set svc:apiKey "$UNSET"`.
  const blank = configured.length > 0 ? undefined : KEY_FORMS.find((form) => typeof read(form) === "string");
  if (blank !== undefined) {
    const place = placeOf({ isConfigured: true, form: blank });
    return {
      problem: `${place} is set, but has no value. Set it, or remove it with \`pulumi config rm svc:${blank}\``,
    };
  }
  const source = keySource(read);
  if (source === undefined) return { problem: NO_KEY };
  const { form, reference } = source;
  const problem = reference === undefined ? undefined : nameProblem(reference);
  if (problem !== undefined) return { problem: `${placeOf(source)} ${problem}` };

  const found = reference === undefined ? { value: configured[0]?.text ?? "" } : keyBehind(reference);
  if ("problem" in found) {
    return { problem: `no API key: ${keyName(source)} ${found.problem}; ${placeOf(source)} names it` };
  }
  if (!HEADER_TEXT.test(found.value)) {
    const what =
      reference === undefined || form === "apiKey"
        ? "svc:apiKey (or SVC_API_KEY)"
        : `${keyName(source)}, which ${placeOf(source)} names,`;
    return { problem: `${what} contains a space or a character that an HTTP header cannot carry` };
  }
  const renewKey = reference !== undefined && "fromFile" in reference ? () => renewed(reference) : undefined;
  return { key: { apiKey: found.value, renewKey } };
}

/**
 * The problem with a variable's name or a file's path, to follow the setting's name. The text is never shown: it may be
 * the key.
 */
function nameProblem(reference: SecretReference): string | undefined {
  const problem = referenceProblem(reference)?.replace(/^from(Env|File) /, "");
  if (problem !== undefined || !("fromEnv" in reference) || !isValueOfVariable(reference.fromEnv)) return problem;
  return "must be the name of an environment variable, not its value";
}

/** The problem with a form of the key that a program gives, without its text; undefined if there is none. */
export function givenProblem(form: KeyForm, given: unknown): string | undefined {
  // The next place may have the key of another account.
  if (given === undefined || given === null || (typeof given === "string" && given.trim() === ""))
    return `${form}: is given, but has no value. Set it, or leave it out to use the key of the stack`;
  if (typeof given !== "string") return `${form}: must be a string`;
  const problem = form === "apiKey" ? undefined : nameProblem(referenceOf(form, given));
  return problem === undefined ? undefined : `${form}: ${problem}`;
}

const referenceOf = (form: Exclude<KeyForm, "apiKey">, text: string): SecretReference =>
  form === "apiKeyEnv" ? { fromEnv: text } : { fromFile: text };

/** `PROD_KEY`, `the file keys/prod`. A name that may be the key itself is not shown. */
export function keyName({ reference }: KeySource): string {
  if (reference === undefined) return "svc:apiKey";
  const isShown = nameProblem(reference) === undefined;
  if ("fromEnv" in reference)
    return isShown && /^[A-Z0-9_]{1,64}$/.test(reference.fromEnv) ? reference.fromEnv : "the variable";
  return isShown && /[/\\.]/.test(reference.fromFile) ? referenceName(reference) : "the file";
}

/** The setting that holds the key or its name, for messages. */
export function placeOf({ isConfigured, form }: Pick<KeySource, "isConfigured" | "form">): string {
  if (isConfigured) return `svc:${form} (or the ${form} of an explicit svc.Provider)`;
  return form === "apiKey" ? VARIABLE : FILE_VARIABLE;
}

function configuredForms(read: ReadForm): { form: KeyForm; text: string }[] {
  return KEY_FORMS.flatMap((form) => {
    const text = givenText(read(form));
    return text === undefined ? [] : [{ form, text }];
  });
}

/** Trimmed: files and pipes leave a line end after a key. */
function keyBehind(reference: SecretReference): Resolved {
  const found = resolveReference(reference);
  if ("problem" in found) return found;
  const value = givenText(found.value);
  return value === undefined ? { problem: "is empty" } : { value };
}

function renewed(reference: SecretReference): string | undefined {
  const found = keyBehind(reference);
  return "value" in found && HEADER_TEXT.test(found.value) ? found.value : undefined;
}

/** A setting without surrounding blanks; undefined if nothing is left. */
export function givenText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
