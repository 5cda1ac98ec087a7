import { keySources } from "../shared/keySet";
import type { Tools } from "../shared/tools";

export const authKeys: Tools = { envSources: keySources };
