import { z } from "zod";
import { type SchemasOf, UNLISTED } from "../../host/arguments";
import { isReference } from "../../contract/references";
import { computeSizes, LARGEST_AUTOSCALING_CU, type ComputeSize } from "../../helpers/computeSizes";
import type { ComputeEndpointShape } from "./declaration";
import {
  boolean,
  eitherOr,
  list,
  object,
  orReference,
  string,
  text,
  textUpTo,
  triggersSchema,
  withoutPrototype,
} from "../shared/schemas";
import { branchIdSchema, projectIdSchema } from "../shared/identifiers";

const SIZES = "0.25, 0.5, 1 to 16, and the even numbers from 18 to 56";

const NOT_A_COMPUTE_SIZE = "must be a number of compute units (CU), or {min, max}";

const isSize = (value: number): boolean => computeSizes.includes(value);
const notASize = ({ input }: { input?: unknown }) => `${String(input)} CU is not a size of the service (${SIZES})`;
/** No list of tomorrow has it. */
const NOT_POSITIVE = "must be more than 0 CU";

const sizeCu = z
  .number({ error: NOT_A_COMPUTE_SIZE })
  .positive({ error: NOT_POSITIVE, abort: true })
  .refine(isSize, { error: notASize, params: UNLISTED });

const limitCu = z
  .number({ error: "must be a number of compute units (CU)" })
  .positive({ error: NOT_POSITIVE, abort: true })
  // Beyond the limit there is one thing to say, not two.
  .refine((value) => isSize(value) || value > LARGEST_AUTOSCALING_CU, { error: notASize, params: UNLISTED })
  .refine((value) => value <= LARGEST_AUTOSCALING_CU, {
    error: ({ input }) =>
      `${String(input)} CU is too large to scale: autoscaling goes up to ${LARGEST_AUTOSCALING_CU} CU, larger sizes are fixed`,
    params: UNLISTED,
  });

const range = object({ min: limitCu, max: limitCu }, NOT_A_COMPUTE_SIZE).refine(({ min, max }) => min <= max, {
  error: "min must not be larger than max",
  path: ["min"],
});

const size = eitherOr<ComputeSize>((value) => (typeof value === "object" && value !== null ? range : sizeCu));

const NOT_A_TIMEOUT = "must be true, false or {afterSeconds}";

const scaleToZero = eitherOr<boolean | { afterSeconds: number }>((value) =>
  typeof value === "object" && value !== null
    ? object(
        {
          afterSeconds: z
            .int({ error: "must be a whole number of seconds" })
            .min(60, { error: "must be at least 60 seconds" })
            .max(604_800, { error: "must be at most 604800 seconds (a week)" }),
        },
        NOT_A_TIMEOUT,
      )
    : z.boolean({ error: NOT_A_TIMEOUT }),
);

const NOT_TEXT = "must be a string (Postgres settings are sent as text)";

const pgSettings = withoutPrototype("is not a Postgres setting").pipe(
  z
    .record(z.string().min(1), orReference(z.string({ error: NOT_TEXT }), NOT_TEXT), {
      error: ({ code }) =>
        code === "invalid_key" ? "must have a name" : "must be an object of Postgres settings, each a string",
    })
    // No setting has such a name, and what looks like a reference as a whole is one nowhere.
    .refine((value) => !isReference(value), {
      error: "must be an object of Postgres settings: each can be a reference",
    }),
);

const libraries = object(
  {
    useDefaults: boolean.exactOptional(),
    enabledLibraries: list(
      z.string({ error: "must be the name of a library" }),
      "must be a list of names of libraries",
    ).exactOptional(),
  },
  "must be an object with useDefaults and enabledLibraries",
);

const settings = object(
  { pgSettings: pgSettings.exactOptional(), preloadLibraries: libraries.exactOptional() },
  "must be an object with pgSettings and preloadLibraries",
);

const NOT_TO_ADOPT = { error: 'must be true, false or the id of a compute, which begins with "ep-"' };

export const schemas: SchemasOf<ComputeEndpointShape> = {
  projectId: projectIdSchema,
  branchId: branchIdSchema,
  type: z.enum(["read_write", "read_only"], { error: 'must be "read_write" or "read_only"' }),
  name: textUpTo(64),
  size,
  scaleToZero,
  poolerEnabled: boolean,
  poolerMode: z.enum(["transaction"], { error: 'must be "transaction"' }),
  disabled: boolean,
  passwordlessAccess: boolean,
  regionId: text,
  provisioner: text,
  settings,
  restartTriggers: triggersSchema,
  adopt: eitherOr<boolean | string>((value) =>
    typeof value === "string" ? string.regex(/^ep-[A-Za-z0-9._~-]+$/, NOT_TO_ADOPT) : z.boolean(NOT_TO_ADOPT),
  ),
  deletionProtection: boolean,
};
