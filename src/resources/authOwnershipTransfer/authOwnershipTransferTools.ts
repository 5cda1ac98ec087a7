import type { Tools } from "../shared/tools";

export const authOwnershipTransfer: Tools = {};
