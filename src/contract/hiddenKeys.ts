/** Properties as the engine hands them over: plain JSON. */
export type Properties = Record<string, unknown>;

/**
 * The hidden inputs: keys that begin with `__` are not arguments, never displayed and never compared. The program sends
 * them to the dynamic protocol; a resource without them works. The outs have the first three too, and those of `Marks`
 * (runtime/state.ts).
 */
export interface HiddenInputs {
  /** See pointer.ts. */
  readonly __provider?: string;
  /** The resource's URN, for progress lines and warnings. */
  readonly __urn?: string;
  /** `customTimeouts` of the resource, in seconds. */
  readonly __timeouts?: Timeouts;
  /** Property names in the program that the resource does not have. `check` refuses them, so they are never stored. */
  readonly __surplus?: readonly string[];
  /** The paths of the option `replaceOnChanges`, if the program sets it. Never stored. */
  readonly __replaceOnChanges?: readonly string[];
  /** The program sets the option `retainOnDelete`. Never stored. */
  readonly __retains?: boolean;
  /** The program's option `deleteBeforeReplace`, which has precedence over what the provider says. Never stored. */
  readonly __deletesFirst?: boolean;
  /** The paths of the option `ignoreChanges`. Never stored. */
  readonly __ignoreChanges?: readonly string[];
  /**
   * The program runs for a preview, so the service may be read (runtime/lookAhead.ts). A number: how many computes it
   * declares. Never stored.
   */
  readonly __preview?: true | number;
}

/** `customTimeouts`, in seconds. */
export interface Timeouts {
  readonly create?: number;
  readonly update?: number;
  readonly delete?: number;
  readonly read?: number;
}

/** Arguments and outputs without the hidden keys. `null` counts as absent. */
export function visible(properties: Properties): Properties {
  return Object.fromEntries(
    Object.entries(properties).filter(([key, value]) => !key.startsWith("__") && value !== undefined && value !== null),
  );
}

/** The valid hidden inputs; a transformation may have put anything there. */
export function hiddenInputs(properties: Properties): HiddenInputs {
  const { __provider, __urn, __timeouts, __surplus, __preview, __ignoreChanges } = properties;
  const { __replaceOnChanges, __retains, __deletesFirst } = properties;
  return {
    ...(typeof __provider === "string" && { __provider }),
    ...(typeof __urn === "string" && { __urn }),
    ...(typeof __timeouts === "object" && __timeouts !== null && { __timeouts: timeouts(__timeouts) }),
    ...(Array.isArray(__surplus) && { __surplus: namesIn(__surplus) }),
    ...(Array.isArray(__replaceOnChanges) && { __replaceOnChanges: namesIn(__replaceOnChanges) }),
    ...(__retains === true && { __retains }),
    ...(typeof __deletesFirst === "boolean" && { __deletesFirst }),
    ...(Array.isArray(__ignoreChanges) && { __ignoreChanges: namesIn(__ignoreChanges) }),
    ...((__preview === true || typeof __preview === "number") && { __preview }),
  };
}

/** The strings of a list that should hold names. */
export function namesIn(list: readonly unknown[]): string[] {
  return list.filter((name) => typeof name === "string");
}

function timeouts(value: object): Timeouts {
  return Object.fromEntries(Object.entries(value).filter(([, seconds]) => typeof seconds === "number" && seconds > 0));
}

/**
 * The hidden inputs that are stored with the inputs and with the outs: a refresh would lose them otherwise
 * (docs/design/engine.md, Inputs and outputs).
 */
export function storedInputs({ __provider, __urn, __timeouts }: HiddenInputs): Properties {
  return clean({ __provider, __urn, __timeouts });
}

/**
 * Converts to plain JSON. An `undefined`, a Date, a Map or a BigInt in the result of a dynamic provider hangs the
 * engine, or makes it fail after the object was created (docs/design/engine.md, Errors).
 */
export function clean(properties: Properties): Properties {
  // The text is JSON.stringify of an object, so it parses to an object.
  return JSON.parse(
    JSON.stringify(properties, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
  ) as Properties;
}

/** What the engine sends for an unknown value, at any depth (`@pulumi/pulumi` runtime/rpc). */
export const UNKNOWN_VALUE = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export function isUnknown(value: unknown): boolean {
  return value === UNKNOWN_VALUE;
}

/** At any depth. */
export function containsUnknown(value: unknown): boolean {
  if (isUnknown(value)) return true;
  if (Array.isArray(value)) return value.some(containsUnknown);
  if (typeof value === "object" && value !== null) return Object.values(value).some(containsUnknown);
  return false;
}
