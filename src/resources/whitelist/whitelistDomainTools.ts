import type { Tools } from "../shared/tools";

export const whitelistDomain: Tools = {};
