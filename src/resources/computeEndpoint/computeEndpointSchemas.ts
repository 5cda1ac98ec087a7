import { z } from "zod";
import { type SchemasOf, UNLISTED } from "../../runtime/arguments";
import { settingForm } from "../../contract/forms";
import { COMPUTE_ID } from "../../contract/identifiers";
import { isReference } from "../../contract/references";
import { computeSizes, LARGEST_AUTOSCALING_CU, type ComputeSize } from "../../helpers/computeSizes";
import type { ComputeEndpointShape } from "./computeEndpointDeclaration";
import {
  boolean,
  eitherOr,
  line,
  lineUpTo,
  list,
  needs,
  object,
  orReference,
  string,
  triggersSchema,
  withoutPrototype,
} from "../shared/argumentSchemas";
import { branchIdSchema, projectIdSchema } from "../shared/identifiers";

const SIZES = "0.25, 0.5, 1 to 16, and the even numbers from 18 to 56";

const A_SIZE = "a number of compute units (CU), or {min, max}";

const isSize = (value: number): boolean => computeSizes.includes(value);
const notASize = ({ input }: { input?: unknown }) => `${String(input)} CU is not a size of the service (${SIZES})`;
/** No future list of sizes contains such a value. */
const NOT_POSITIVE = "must be more than 0 CU";

const sizeCu = z
  .number({ error: needs(A_SIZE, "number") })
  .positive({ error: NOT_POSITIVE, abort: true })
  .refine(isSize, { error: notASize, params: UNLISTED });

const limitCu = z
  .number({ error: needs("a number of compute units (CU)", "number") })
  .positive({ error: NOT_POSITIVE, abort: true })
  // Beyond the limit, only the message about the limit is shown.
  .refine((value) => isSize(value) || value > LARGEST_AUTOSCALING_CU, { error: notASize, params: UNLISTED })
  .refine((value) => value <= LARGEST_AUTOSCALING_CU, {
    error: ({ input }) =>
      `${String(input)} CU is too large to scale: autoscaling goes up to ${LARGEST_AUTOSCALING_CU} CU, larger sizes are fixed`,
    params: UNLISTED,
  });

const range = object({ min: limitCu, max: limitCu }, A_SIZE).refine(({ min, max }) => min <= max, {
  error: "min must not be larger than max",
  path: ["min"],
});

const size = eitherOr<ComputeSize>(range, sizeCu);

const A_TIMEOUT = "true, false or {afterSeconds}";

/** The service's own numbers, which other tools take: what they are here. */
function numbersOfService(value: unknown): string {
  if (value === -1 || value === "-1") return ". Never, which is -1 at the service, is scaleToZero: false";
  if (value === 0 || value === "0")
    return ". The default of the service, which is 0 there, is scaleToZero: true, or leaving it out";
  return "";
}

const scaleToZero = eitherOr<boolean | { afterSeconds: number }>(
  object(
    {
      afterSeconds: z
        .int({ error: needs("a whole number of seconds", "number") })
        .min(60, { error: ({ input }) => `must be at least 60 seconds${numbersOfService(input)}` })
        .max(604_800, { error: "must be at most 604800 seconds (a week)" }),
    },
    A_TIMEOUT,
  ),
  z.boolean({ error: ({ input }) => needs(A_TIMEOUT, "boolean")({ input }) + numbersOfService(input) }),
);

const notText = needs("a string (Postgres settings are sent as text)", "string");
const notSettings = needs("an object of Postgres settings, each a string", "object");

const TWICE = "is given twice: Postgres ignores upper and lower case in the names of settings";

const pgSettings = withoutPrototype("is not a Postgres setting").pipe(
  z
    .record(line(), orReference(z.string({ error: notText }), notText), {
      error: ({ code, input }) =>
        code === "invalid_key" ? "must have a name, without blanks around it and line breaks" : notSettings({ input }),
    })
    // No setting has such a name, and a reference is not allowed in place of the whole object.
    .refine((value) => !isReference(value), {
      error: "must be an object of Postgres settings: each can be a reference",
    })
    .superRefine((value, context) => {
      const names = Object.keys(value);
      const forms = names.map(settingForm);
      for (const [index, name] of names.entries())
        if (forms.indexOf(settingForm(name)) < index)
          context.addIssue({ code: "custom", path: [name], message: TWICE });
    }),
);

const libraries = object(
  {
    useDefaults: boolean.exactOptional(),
    enabledLibraries: list(line("the name of a library"), "names of libraries").exactOptional(),
  },
  "an object with useDefaults and enabledLibraries",
);

const settings = object(
  { pgSettings: pgSettings.exactOptional(), preloadLibraries: libraries.exactOptional() },
  "an object with pgSettings and preloadLibraries",
);

const TO_ADOPT = 'true, false or the id of a compute, which begins with "ep-"';

export const schemas: SchemasOf<ComputeEndpointShape> = {
  projectId: projectIdSchema,
  branchId: branchIdSchema,
  type: z.enum(["read_write", "read_only"], { error: 'must be "read_write" or "read_only"' }),
  name: lineUpTo(64),
  size,
  scaleToZero,
  poolerEnabled: boolean,
  poolerMode: z.enum(["transaction"], { error: 'must be "transaction"' }),
  disabled: boolean,
  passwordlessAccess: boolean,
  regionId: line(),
  provisioner: line(),
  settings,
  restartTriggers: triggersSchema,
  adopt: eitherOr<boolean | string>(
    string.regex(COMPUTE_ID, {
      error: ({ input }) => needs(TO_ADOPT, input === "true" || input === "false" ? "boolean" : "string")({ input }),
    }),
    z.boolean({ error: needs(TO_ADOPT, "boolean") }),
    (value) => typeof value === "string",
  ),
  deletionProtection: boolean,
};
