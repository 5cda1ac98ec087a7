import type { JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";
import { z } from "zod";
import { isSecret, SECRET, SIGNATURE } from "../../contract/engineSecrets";
import { nameInUrn } from "../../contract/identifiers";
import type { ReadSetting } from "../../contract/settings";
import type { Pulumi } from "./pulumi";

const resource = z.object({
  urn: z.string(),
  type: z.string(),
  parent: z.string().optional(),
  /** False for a component, and for the stack itself. */
  custom: z.boolean().optional(),
  id: z.string().optional(),
  /** The reference to its provider: URN and id. */
  provider: z.string().optional(),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  outputs: z.record(z.string(), z.unknown()).nullish(),
  /** What a replacement has left: the new object stands, and the old one is still to be deleted. */
  delete: z.boolean().optional(),
  /** What a replacement has deleted, and whose successor could not be created. A refresh passes it over. */
  pendingReplacement: z.boolean().optional(),
  /** Left out where it is not protected. */
  protect: z.boolean().optional(),
  ignoreChanges: z.array(z.string()).nullish(),
  /** The calls that led to its declaration, the innermost first. A call at a place that is not known is an empty entry. */
  stackTrace: z.array(z.object({ sourcePosition: z.string().optional() })).nullish(),
});

/** A change that an update has begun. It stands there while that one runs, and after it was killed. */
const operation = z.object({ resource: z.object({ urn: z.string() }) });

const exported = z.object({
  deployment: z.object({
    resources: z.array(resource).nullish(),
    pending_operations: z.array(operation).nullish(),
  }),
});

export type StoredResource = z.infer<typeof resource>;

/** What `pulumi stack export` writes. */
export class StackState {
  readonly resources: readonly StoredResource[];
  /** The URNs of what an update has begun to change and has not ended. */
  readonly pending: readonly string[];
  readonly #byKey: ReadonlyMap<string, StoredResource>;

  /**
   * @param text as the CLI wrote it: two that are equal are one state.
   * @throws where the text is something else. It is not repeated: it may hold secrets.
   */
  constructor(readonly text: string) {
    const { success, data } = exported.safeParse(parsed(text));
    if (!success) throw new Error("it is not what pulumi stack export writes");
    this.resources = data.deployment.resources ?? [];
    this.pending = (data.deployment.pending_operations ?? []).map(({ resource: { urn } }) => urn);
    this.#byKey = new Map(this.resources.map((one) => [stateKey(one.urn, one), one]));
  }

  find(key: string): StoredResource | undefined {
    return this.#byKey.get(key);
  }

  /** The settings that the last `pulumi up` stored of a provider. They need a state with its secrets. */
  settingsOf(provider: string): ReadSetting {
    const inputs = this.find(provider)?.inputs ?? {};
    return (setting) => clearText(inputs[`svc:${setting}`]);
  }
}

/**
 * Asks the CLI. With secrets, they are in clear: in memory only.
 * @throws in the words of the CLI.
 */
export async function exportedState(pulumi: Pulumi, withSecrets: boolean): Promise<StackState> {
  const { ok, stdout, reason } = await pulumi(["stack", "export", ...(withSecrets ? ["--show-secrets"] : [])]);
  if (!ok) throw new Error(`pulumi stack export failed: ${reason}`);
  return new StackState(stdout);
}

/** What a text is as JSON; undefined where it is none. No error repeats the text: it may hold secrets. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One URN may have two states: that of a resource, and that of its predecessor, which is still to be deleted. */
export function stateKey(
  urn: string,
  state: { readonly id?: string | undefined; readonly delete?: boolean | undefined } | null | undefined,
): string {
  return `${urn}::${state?.id ?? ""}${state?.delete === true ? " (to be deleted)" : ""}`;
}

/** The name of a provider, by the reference to it: its URN and its id. */
export function providerName(reference: string): string {
  return nameInUrn(reference.slice(0, reference.lastIndexOf("::")));
}

/** As the engine takes it in a state or an import file: what it stores is encrypted. */
export function asSecret(value: unknown): object {
  return { [SIGNATURE]: SECRET, plaintext: JSON.stringify(value) };
}

/**
 * A value of a state that was exported with its secrets in clear, as a request to the engine holds it: secrets stay marked.
 */
export function asRequested(value: unknown): JavaScriptValue {
  if (Array.isArray(value)) return value.map(asRequested);
  // The rest of what JSON has.
  if (typeof value !== "object" || value === null) return value as JavaScriptValue;
  if (isSecret(value)) {
    const plaintext: unknown = Reflect.get(value, "plaintext");
    if (typeof plaintext !== "string") throw new Error("the state was exported without its secrets");
    return { [SIGNATURE]: SECRET, value: asRequested(JSON.parse(plaintext)) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asRequested(inner)]));
}

/** A text of a state that was exported with its secrets in clear: undefined where it is something else. */
export function clearText(value: unknown): string | undefined {
  if (!isSecret(value)) return typeof value === "string" ? value : undefined;
  // Marked as a secret, so an object.
  const { plaintext } = value as { plaintext?: unknown };
  const text: unknown = typeof plaintext === "string" ? JSON.parse(plaintext) : undefined;
  return typeof text === "string" ? text : undefined;
}
