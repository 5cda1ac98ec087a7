import { z } from "zod";

/** Values that only matter by their change. */
export const triggersSchema = z.array(z.unknown(), { error: "must be a list of values, any of them" });
