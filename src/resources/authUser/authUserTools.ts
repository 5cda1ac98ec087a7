import type { Tools } from "../shared/tools";

export const authUser: Tools = {};
