import { z } from "zod";
import { dynamicProvider } from "../../src/protocols/dynamic/provider";
import type { DynamicProvider } from "../../src/protocols/dynamic/types";
import type { LogLine } from "../../src/runtime/progress";
import type { Lifecycle } from "../../src/runtime/lifecycle";
import { Session } from "../../src/runtime/session";
import { GONE, grant } from "./proven";
import { unmarked } from "./engineMarks";

export interface ToyArgs {
  home: string;
  size?: { min: number; max: number } | number;
  label?: string;
  secret?: string;
  region?: string;
  adopt?: boolean;
}

export interface ToyOutputs {
  host: string;
  label?: string;
}

/** A lifecycle, of which each test replaces the part under test. */
export function toyLifecycle(changes: Partial<Lifecycle<ToyArgs, ToyOutputs>> = {}): Lifecycle<ToyArgs, ToyOutputs> {
  return {
    kind: "ComputeEndpoint",
    secretOutputs: [],
    staying: [],
    args: {
      home: { schema: z.string(), required: true, replaces: true, container: "AuthIntegration" },
      size: { schema: z.union([z.number(), z.strictObject({ min: z.number(), max: z.number() })]) },
      label: { schema: z.string().transform((text) => text.toLowerCase()) },
      secret: { schema: z.string().min(8, { error: "is too short" }) },
      region: { schema: z.string(), replaces: true, assumed: "here" },
      adopt: { schema: z.boolean(), createOnly: true },
    },
    objects: (id) => [`toy ${id}`],
    replacement: () => "it is made anew",
    replaceable: { asks: "it may", ask: async () => grant() },
    create: async () => ({ id: "toy-1", outputs: { host: "h" } }),
    read: async () => ({ args: {}, outputs: { host: "h" }, ready: true }),
    update: async () => ({ host: "h" }),
    delete: async () => GONE,
    ...changes,
  };
}

export const URN = "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::toy";

/** A hosted and configured toy, with its log. */
export function hosted(
  changes: Partial<Lifecycle<ToyArgs, ToyOutputs>> = {},
  more: Record<string, string> = {},
): { toy: DynamicProvider; log: LogLine[] } {
  const log: LogLine[] = [];
  const toy = dynamicProvider(toyLifecycle(changes), new Session((line) => log.push(line)));
  const settings: Record<string, string> = { "svc:apiKey": "key", "svc:baseUrl": "http://127.0.0.1:9/api/v2", ...more };
  const config = { get: (key: string) => settings[key], require: () => "" };
  void toy.configure({ config });
  return { toy, log };
}

/** The error as the SDK's process sees it; its state as the engine returns it. */
export async function thrownBy(work: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  const result = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(result instanceof Error)) throw new Error(`not an Error was thrown: ${typeof result}`);
  // Errors contain what the SDK looks for (id, properties, reasons) as plain properties.
  const error = result as Error & Record<string, unknown>;
  const { properties } = error;
  if (properties !== undefined) Object.defineProperty(error, "properties", { value: unmarked(Object(properties)) });
  return error;
}
