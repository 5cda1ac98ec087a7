import { join } from "node:path";
import { EXIT, messageOf, UsageError } from "../lib/errors.mjs";
import { isInterrupted, onInterrupt } from "../lib/interrupt.mjs";
import { headline, say, stopwatch } from "../lib/log.mjs";
import { commandsByHand } from "../quickstart/byHand.mjs";
import { Emulator } from "../quickstart/emulator.mjs";
import { Sandbox } from "../quickstart/sandbox.mjs";
import { story } from "../quickstart/story.mjs";

/** @type {import("../run.mjs").TaskRun} */
export async function quickstart(toolchain, args) {
  const unknown = args.find((arg) => arg !== "--keep");
  if (unknown) throw new UsageError(`quickstart does not know "${unknown}".`);
  const keep = args.includes("--keep");
  const elapsed = stopwatch();
  const sandbox = new Sandbox(toolchain);
  // Registered before anything is started: on an interrupt it runs last, when the processes are gone.
  const forget = onInterrupt(() => sandbox.remove());
  /** @type {Emulator | undefined} */
  let emulator;
  let left = false;
  try {
    emulator = await startEmulator(toolchain, sandbox);
    const summary = await play(story(sandbox, emulator, keep));
    headline(`Done in ${elapsed()}`);
    for (const line of summary) say(`   ${line}`);
    if (keep) {
      left = true;
      sayHowToGoOn(sandbox, emulator);
    }
    return EXIT.good;
  } catch (error) {
    // A command that Ctrl-C ended is no finding.
    if (isInterrupted()) throw error;
    say(`\n${messageOf(error)}\nThe quickstart ended after ${elapsed()}; what it made is removed.`);
    return EXIT.failed;
  } finally {
    forget();
    if (left) emulator?.child.unref();
    else {
      await emulator?.stop();
      sandbox.remove();
    }
  }
}

/**
 * @param {import("../setup/setup.mjs").Toolchain} toolchain
 * @param {Sandbox} sandbox
 */
async function startEmulator(toolchain, sandbox) {
  headline("0. Start a local emulator of the service");
  say("   $ SVC_EMULATOR_API_KEY=… node dist/cli/main.js emulator --port 0");
  const emulator = await Emulator.start(toolchain, sandbox.apiKey, join(sandbox.folder, "emulator.log"));
  say(`   | listening on ${emulator.baseUrl}`);
  return emulator;
}

/**
 * @param {import("../quickstart/story.mjs").Scene[]} scenes
 * @returns {Promise<string[]>} a line for each
 */
async function play(scenes) {
  const summary = [];
  for (const [index, scene] of scenes.entries()) {
    headline(`${index + 1}. ${scene.title}`);
    const elapsed = stopwatch();
    try {
      const shown = await scene.play();
      say(`   -> ${shown} (${elapsed()})`);
      summary.push(`${index + 1}. ${shown} (${elapsed()})`);
    } catch (error) {
      throw new Error(`Step ${index + 1} "${scene.title}" went wrong: ${messageOf(error)}.`);
    }
  }
  return summary;
}

/**
 * @param {Sandbox} sandbox
 * @param {Emulator} emulator
 */
function sayHowToGoOn(sandbox, emulator) {
  const { goOn, end } = commandsByHand({
    envFile: sandbox.writeEnvFile(),
    stateUrl: new URL("state", emulator.control).href,
    pid: emulator.child.pid,
    folder: sandbox.folder,
  });
  headline("The emulator and the stack stay. To go on by hand, here in the clone:");
  for (const command of goOn) say(`   ${command}`);
  say("\n   To end it:");
  for (const command of end) say(`   ${command}`);
}
