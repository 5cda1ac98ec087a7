import type { Tools } from "../shared/tools";

export const emailServer: Tools = { form: "type" };
