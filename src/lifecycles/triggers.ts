import { z } from "zod";
import { list } from "./argumentSchemas";

/** Values that only matter by their change. */
export const triggersSchema = list(z.unknown(), "must be a list of values, any of them");
