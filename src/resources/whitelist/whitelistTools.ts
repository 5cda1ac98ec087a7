import type { Tools } from "../shared/tools";

export const whitelist: Tools = {};
