import { join } from "node:path";
import { EXIT, messageOf, UsageError } from "../lib/errors.mjs";
import { endGroup } from "../lib/exec.mts";
import { interrupted } from "../lib/interrupt.mts";
import { say, stopwatch } from "../lib/log.mjs";
import { commandsByHand } from "../quickstart/byHand.mts";
import { Emulator } from "../quickstart/emulator.mts";
import { Sandbox } from "../quickstart/sandbox.mts";
import { story, type Scene } from "../quickstart/story.mts";

export async function quickstart(args: string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--keep");
  if (unknown) throw new UsageError(`quickstart does not know "${unknown}".`);
  const keep = args.includes("--keep");
  const elapsed = stopwatch();
  const sandbox = new Sandbox();
  let emulator: Emulator | undefined;
  let left = false;
  try {
    say("\n== 0. Start a local emulator of the service");
    say("   $ SVC_EMULATOR_API_KEY=… node dist/cli/main.js emulator --port 0");
    emulator = await Emulator.start(sandbox.apiKey, join(sandbox.folder, "emulator.log"));
    say(`   | listening on ${emulator.baseUrl}`);
    const scenes = await story(sandbox, emulator);
    const summary = await play(keep ? scenes.slice(0, -1) : scenes);
    say(`\n== Done in ${elapsed()}`);
    for (const line of summary) say(`   ${line}`);
    if (keep) sayHowToGoOn(sandbox, emulator);
    left = keep;
    return EXIT.good;
  } catch (error) {
    // A command that Ctrl-C ended is no finding.
    interrupted.throwIfAborted();
    say(`\n${messageOf(error)}\nThe quickstart ended after ${elapsed()}; what it made is removed.`);
    return EXIT.failed;
  } finally {
    if (left) emulator?.child.unref();
    else {
      if (emulator) await endGroup(emulator.child);
      sandbox.remove();
    }
  }
}

/** Answers with a line for each scene. */
async function play(scenes: Scene[]): Promise<string[]> {
  const summary = [];
  for (const [index, [title, scene]] of scenes.entries()) {
    say(`\n== ${index + 1}. ${title}`);
    const elapsed = stopwatch();
    try {
      const shown = `${await scene()} (${elapsed()})`;
      say(`   -> ${shown}`);
      summary.push(`${index + 1}. ${shown}`);
    } catch (error) {
      throw new Error(`Step ${index + 1} "${title}" failed: ${messageOf(error)}.`, { cause: error });
    }
  }
  return summary;
}

function sayHowToGoOn(sandbox: Sandbox, emulator: Emulator): void {
  const { goOn, end } = commandsByHand({
    envFile: sandbox.writeEnvFile(),
    stateUrl: new URL("state", emulator.control).href,
    pid: emulator.child.pid,
    folder: sandbox.folder,
  });
  say("\n== The emulator and the stack stay. To go on by hand, here in the clone:");
  for (const command of goOn) say(`   ${command}`);
  say("\n   To end it:");
  for (const command of end) say(`   ${command}`);
}
