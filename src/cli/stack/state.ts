import type { JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";
import { z } from "zod";
import { isSecret, SECRET, SIGNATURE } from "../../contract/engineSecrets";
import { nameInUrn } from "../../contract/identifiers";
import { PROVIDER_TYPE, settingKey } from "../../contract/pointer";
import type { ReadSetting } from "../../contract/settings";
import type { Pulumi } from "./pulumi";

const resource = z.object({
  urn: z.string(),
  type: z.string(),
  parent: z.string().optional(),
  /** False for components and for the stack itself. */
  custom: z.boolean().optional(),
  id: z.string().optional(),
  /** The reference to its provider: URN and id. */
  provider: z.string().optional(),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  outputs: z.record(z.string(), z.unknown()).nullish(),
  /** The old object of a replacement, which is still to be deleted after the new one was created. */
  delete: z.boolean().optional(),
  /** The old object is deleted, and the new one could not be created. A refresh skips it. */
  pendingReplacement: z.boolean().optional(),
  /** The program only looks it up (`get`). */
  external: z.boolean().optional(),
  /** Absent if it is not protected. */
  protect: z.boolean().optional(),
  ignoreChanges: z.array(z.string()).nullish(),
  /** The calls that led to its declaration, the innermost first. An unknown position is an empty entry. */
  stackTrace: z.array(z.object({ sourcePosition: z.string().optional() })).nullish(),
});

/** A change that an update has begun. It is recorded while the update runs, and remains if the update is killed. */
const operation = z.object({ type: z.string().optional(), resource: z.object({ urn: z.string() }) });

const exported = z.object({
  version: z.number().optional(),
  deployment: z.object({
    resources: z.array(resource).nullish(),
    pending_operations: z.array(operation).nullish(),
  }),
});

/** Changes of an object that an entry of the state has, whether they ended or not. */
const HELD: ReadonlySet<string> = new Set(["updating", "deleting", "reading"]);

export type StoredResource = z.infer<typeof resource>;

/** Not what a replacement has deleted, or left over. */
export const isCurrent = (one: Pick<StoredResource, "delete" | "pendingReplacement">): boolean =>
  one.delete !== true && one.pendingReplacement !== true;

/** The output of `pulumi stack export`. */
export class StackState {
  /** The version of the state's form. */
  readonly version: number | undefined;
  readonly resources: readonly StoredResource[];
  /** The URNs of changes that an update has begun and not finished. */
  readonly pending: readonly string[];
  /** Those of them whose object may exist although no entry of the state has its id. */
  readonly creating: readonly string[];
  readonly #byKey: ReadonlyMap<string, StoredResource>;

  /**
   * @param text the CLI's output, which is equal for equal states
   * @throws if the text is something else. The text is not repeated, because it may contain secrets.
   */
  constructor(readonly text: string) {
    const { success, data } = exported.safeParse(parsed(text));
    if (!success) throw new Error("it is not what pulumi stack export writes");
    this.version = data.version;
    this.resources = data.deployment.resources ?? [];
    const operations = data.deployment.pending_operations ?? [];
    this.pending = operations.map(({ resource: { urn } }) => urn);
    this.creating = operations.filter(({ type }) => !HELD.has(type ?? "")).map(({ resource: { urn } }) => urn);
    this.#byKey = new Map(this.resources.map((one) => [stateKey(one.urn, one), one]));
  }

  find(key: string): StoredResource | undefined {
    return this.#byKey.get(key);
  }

  /** The settings that the last `pulumi up` stored for a provider. They require a state with decrypted secrets. */
  settingsOf(provider: string): ReadSetting {
    const { type = PROVIDER_TYPE, inputs } = this.find(provider) ?? {};
    return (setting) => {
      const value = inputs?.[settingKey(type, setting)];
      // As a native plugin has them.
      return typeof value === "number" || typeof value === "boolean" ? String(value) : clearText(value);
    };
  }
}

/**
 * Exports the state with the CLI. Decrypted secrets stay in memory.
 * @throws the CLI's message.
 */
export async function exportedState(pulumi: Pulumi, withSecrets: boolean): Promise<StackState> {
  const { ok, stdout, reason } = await pulumi(["stack", "export", ...(withSecrets ? ["--show-secrets"] : [])]);
  if (!ok) throw new Error(`pulumi stack export failed: ${reason}`);
  return new StackState(stdout);
}

/** Parses JSON; undefined if invalid. An error could repeat the text, which may contain secrets. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A URN may have two entries: the resource, and the old object that is still to be deleted. */
export function stateKey(
  urn: string,
  state: { readonly id?: string | undefined; readonly delete?: boolean | undefined } | null | undefined,
): string {
  return `${urn}::${state?.id ?? ""}${state?.delete === true ? " (to be deleted)" : ""}`;
}

/** The provider's name from a reference (URN and id). */
export function providerName(reference: string): string {
  return nameInUrn(reference.slice(0, reference.lastIndexOf("::")));
}

/** The form of a secret that the engine accepts in a state or an import file. The engine encrypts it. */
export function asSecret(value: unknown): object {
  return { [SIGNATURE]: SECRET, plaintext: JSON.stringify(value) };
}

/** Converts a value of a decrypted state to the form for a request to the engine. Secrets stay marked. */
export function asRequested(value: unknown): JavaScriptValue {
  if (Array.isArray(value)) return value.map(asRequested);
  // The remaining JSON types.
  if (typeof value !== "object" || value === null) return value as JavaScriptValue;
  if (isSecret(value)) {
    const plaintext: unknown = Reflect.get(value, "plaintext");
    if (typeof plaintext !== "string") throw new Error("the state was exported without its secrets");
    return { [SIGNATURE]: SECRET, value: asRequested(JSON.parse(plaintext)) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asRequested(inner)]));
}

/** A string of a decrypted state; undefined for anything else. */
export function clearText(value: unknown): string | undefined {
  if (!isSecret(value)) return typeof value === "string" ? value : undefined;
  // Marked as a secret, so an object.
  const { plaintext } = value as { plaintext?: unknown };
  const text: unknown = typeof plaintext === "string" ? JSON.parse(plaintext) : undefined;
  return typeof text === "string" ? text : undefined;
}
