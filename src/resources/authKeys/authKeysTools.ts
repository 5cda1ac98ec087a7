import { keySources } from "../shared/keySet";
import type { Tools } from "../shared/tools";

export const authKeys: Tools = { list: "the service does not list key sets", envSources: keySources };
