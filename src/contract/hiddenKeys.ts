/** Properties as the engine hands them over: plain JSON. */
export type Properties = Record<string, unknown>;

/**
 * The keys that begin with `__`: no arguments, never displayed, never compared.
 * `__urn`, `__timeouts`, `__surplus`, `__replaceOnChanges` and `__preview` come with the inputs (a resource without them
 * works); `__args`, `__version`, `__unfinished` and `__sent` are in the outs only.
 */
export interface Hidden {
  /** See pointer.ts. */
  readonly __provider?: string;
  /** The resource's URN: where progress and warnings are shown. */
  readonly __urn?: string;
  /** `customTimeouts` of the resource, in seconds. */
  readonly __timeouts?: Timeouts;
  /** The names that the program gives and the resource does not have. `check` refuses them, so they are never stored. */
  readonly __surplus?: readonly string[];
  /** The option `replaceOnChanges` is given. Never stored. */
  readonly __replaceOnChanges?: boolean;
  /** The program runs for a preview, where `check` may ask the service (host/lookAhead.ts). Never stored either. */
  readonly __preview?: boolean;
  /** The names of the managed arguments: those that the program gives. */
  readonly __args?: readonly string[];
  /** The shape of the outs, counted per kind; see `Lifecycle.upgrade`. */
  readonly __version?: number;
  /** The last create or update (its value) was not finished. No words of the service: they may repeat a secret. */
  readonly __unfinished?: string;
  /** Beside `__unfinished`: the names of the arguments that it had sent. Older states lack it, and so do some kinds. */
  readonly __sent?: readonly string[];
}

/** `customTimeouts`, in seconds. */
export interface Timeouts {
  readonly create?: number;
  readonly update?: number;
  readonly delete?: number;
}

/** Arguments and outputs without the hidden keys; an absent value and `null` are the same. */
export function visible(properties: Properties): Properties {
  return Object.fromEntries(
    Object.entries(properties).filter(([key, value]) => !key.startsWith("__") && value !== undefined && value !== null),
  );
}

/** The hidden keys that are what they should be; a transformation may have put anything there. */
export function hidden(properties: Properties): Hidden {
  const { __provider, __urn, __timeouts, __surplus, __replaceOnChanges, __preview } = properties;
  const { __args, __version, __unfinished, __sent } = properties;
  return {
    ...(typeof __provider === "string" && { __provider }),
    ...(typeof __urn === "string" && { __urn }),
    ...(typeof __timeouts === "object" && __timeouts !== null && { __timeouts: timeouts(__timeouts) }),
    ...(Array.isArray(__surplus) && { __surplus: __surplus.filter((name) => typeof name === "string") }),
    ...(__replaceOnChanges === true && { __replaceOnChanges }),
    ...(__preview === true && { __preview }),
    ...(Array.isArray(__args) && { __args: __args.filter((name) => typeof name === "string") }),
    ...(typeof __version === "number" && { __version }),
    ...(typeof __unfinished === "string" && { __unfinished }),
    ...(Array.isArray(__sent) && { __sent: __sent.filter((name) => typeof name === "string") }),
  };
}

function timeouts(value: object): Timeouts {
  return Object.fromEntries(Object.entries(value).filter(([, seconds]) => typeof seconds === "number" && seconds > 0));
}

/** The hidden keys that belong to the inputs and are echoed everywhere: a refresh would lose them (docs/design/engine.md, Inputs and outputs). */
export function inputEcho({ __provider, __urn, __timeouts }: Hidden): Properties {
  return clean({ __provider, __urn, __timeouts });
}

/**
 * Plain JSON, and nothing else. An `undefined`, a Date, a Map or a BigInt in what a dynamic provider returns hangs the
 * engine, or fails it after the object was made (docs/design/engine.md, Errors).
 */
export function clean(properties: Properties): Properties {
  // The text comes from JSON.stringify of an object, so what comes back is an object.
  return JSON.parse(
    JSON.stringify(properties, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
  ) as Properties;
}
