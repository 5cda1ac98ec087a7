import type { Tools } from "../shared/tools";

export const authUser: Tools = { list: "the service does not list users" };
