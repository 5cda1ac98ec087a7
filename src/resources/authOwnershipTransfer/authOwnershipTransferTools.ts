import type { Tools } from "../shared/tools";

export const authOwnershipTransfer: Tools = { list: "a transfer is a URL to open, not an object" };
