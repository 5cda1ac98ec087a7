import { z } from "zod";

const resource = z.object({
  urn: z.string(),
  id: z.string().optional(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  /** What a replacement has left: the new object stands, and the old one is still to be deleted. */
  delete: z.boolean().optional(),
  /** What a replacement has deleted, and whose successor could not be created. A refresh passes it over. */
  pendingReplacement: z.boolean().optional(),
  ignoreChanges: z.array(z.string()).optional(),
});

const exported = z.object({ deployment: z.object({ resources: z.array(resource).default([]) }) });

type StoredResource = z.infer<typeof resource>;

/** What `pulumi stack export` tells of a resource, and nothing else does. */
export class StackState {
  readonly #byKey: ReadonlyMap<string, StoredResource>;

  constructor(state: unknown) {
    const { deployment } = exported.parse(state);
    this.#byKey = new Map(deployment.resources.map((one) => [stateKey(one.urn, one), one]));
  }

  find(key: string): StoredResource | undefined {
    return this.#byKey.get(key);
  }
}

/** One URN may have two states: that of a resource, and that of its predecessor, which is still to be deleted. */
export function stateKey(
  urn: string,
  state: { readonly id?: string | undefined; readonly delete?: boolean | undefined } | null | undefined,
): string {
  return `${urn}::${state?.id ?? ""}${state?.delete === true ? " (to be deleted)" : ""}`;
}
