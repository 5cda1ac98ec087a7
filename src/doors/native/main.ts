/**
 * The program that the engine starts for the native plugin (plugin/pulumi-resource-svc): its last argument is the
 * engine's address, and it prints the port that it listens on.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { endWithEngine } from "../engine/end";
import { engineSession } from "../engine/session";
import { serve } from "./server";

const SCHEMA = join(__dirname, "..", "..", "..", "plugin", "schema.json");

endWithEngine(undefined, true);
void serve(engineSession(), () => readFileSync(SCHEMA, "utf8")).then((port) => process.stdout.write(`${port}\n`));
