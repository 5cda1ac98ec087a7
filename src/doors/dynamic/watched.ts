/**
 * What the Node processes of an engine load first that a command of ours has started: with `up --refresh` the engine starts a
 * provider process that it may never call, and so never has load a provider of ours.
 */
import { endWithEngine } from "./engineEnd";

endWithEngine(undefined, true);
