/**
 * The first module that the engine's Node processes load if one of our commands started the engine. With `up --refresh`
 * the engine starts a provider process that it may never call, so that process never loads our provider.
 */
import { endWithEngine } from "./end";

endWithEngine(undefined, true);
