/**
 * The program that the engine starts for the native plugin (plugin/pulumi-resource-svc): its last argument is the
 * engine's address, and it prints the port that it listens on.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { endWithEngine } from "../engine/end";
import { serve } from "./server";

const SCHEMA = join(__dirname, "..", "..", "..", "plugin", "schema.json");

endWithEngine(undefined, true);
void serve(async () => {
  const [{ NativeProvider }, { engineSession }] = await Promise.all([
    import("./nativeProvider.js"),
    import("../engine/session.js"),
  ]);
  return new NativeProvider(engineSession(), () => readFileSync(SCHEMA, "utf8"));
}).then((port) => process.stdout.write(`${port}\n`));
