import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { type Act, isWholeDestroy, type Shown } from "../../src/runtime/run/processList";
import { ROOT } from "../support/cli";

/** A process that does what it is told. */
const SCRIPT = `
const { Titles } = require(${JSON.stringify(join(ROOT, "dist", "runtime", "run", "processList.js"))});
const list = new Titles(process.argv[2]);
require("node:readline").createInterface({ input: process.stdin }).on("line", (act) => {
  if (act !== "") list.show(act);
  console.log(JSON.stringify(list.others() ?? null));
});`;

/** As long as the path of the SDK's script, in whose place the title is. */
const LONG = "node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js";

let folder: string;
const started: ChildProcess[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "l-"));
  writeFileSync(join(folder, "s.js"), SCRIPT);
});
afterEach(() => started.splice(0).forEach((child) => child.kill("SIGKILL")));
afterAll(() => rmSync(folder, { recursive: true }));

class Process {
  readonly #child: ChildProcess;
  readonly #lines: Interface;

  constructor(run: string, more = [LONG]) {
    const child = spawn(process.execPath, [join(folder, "s.js"), run, ...more], {
      argv0: "node",
      stdio: ["pipe", "pipe", "inherit"],
    });
    started.push(child);
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout });
  }

  get pid(): number {
    return this.#child.pid ?? Number.NaN;
  }

  /** Shows that it does this, if anything, and returns what the others show. */
  async shows(act: Act | "" = ""): Promise<Shown[] | null> {
    const answer = once(this.#lines, "line");
    this.#child.stdin?.write(`${act}\n`);
    return JSON.parse(String((await answer)[0])) as Shown[] | null;
  }

  async end(): Promise<void> {
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }
}

test.each([
  [["destroy", "--yes", "--run-program"], true],
  [["--cwd", "program", "down", "--stack", "up"], true],
  [["destroy", "--target", "urn"], false],
  [["destroy", "-turn"], false],
  [["destroy", "--exclude-protected"], false],
  [["up", "--stack", "destroy"], false],
  // What follows a flag may be its value: a folder or a stack of that name.
  [["--cwd", "destroy", "up"], false],
  [["--stack=dev", "-C", "destroy", "up"], false],
  [["--non-interactive", "up", "destroy"], false],
  [["--stack", "destroy", "up"], false],
  [["-Cprogram", "up", "destroy"], false],
  [["--non-interactive", "destroy"], true],
  [["--color=never", "destroy", "--yes"], true],
  [["preview"], false],
  [[], false],
])("pulumi %j deletes the whole stack: %s", (args, isWhole) => {
  expect(isWholeDestroy(args)).toBe(isWhole);
});

test("a process sees what the others of its run show, as long as they live", async () => {
  const run = `127.0.0.1:${process.pid}`;
  const [one, two, silent, other] = [new Process(run), new Process(run), new Process(run), new Process(`${run}1`)];
  expect(await silent.shows()).toEqual([]);
  expect(await other.shows("takes-over")).toEqual([]);
  expect(await one.shows("manages")).toEqual([]);
  expect(await two.shows("deletes")).toEqual([{ pid: one.pid, acts: ["manages"] }]);
  await one.shows("takes-over");
  expect(await two.shows("manages")).toEqual([{ pid: one.pid, acts: ["manages", "takes-over"] }]);
  expect(await one.shows("deletes")).toEqual([{ pid: two.pid, acts: ["manages", "deletes"] }]);
  expect(await silent.shows()).toHaveLength(2);
  await two.end();
  expect(await one.shows()).toEqual([]);
});

test("a process whose title does not fit cannot be seen by the others, so it does not know of them either", async () => {
  const run = "1:1";
  const short = new Process(run, []);
  expect(await short.shows()).toEqual([]);
  await short.shows("manages");
  await short.shows("takes-over");
  expect(await short.shows("deletes")).toBeNull();
});
