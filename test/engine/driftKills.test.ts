import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { descendants, isAlive, ROOT, type Run, type RunningProcess, WHOLE } from "../support/cli";
import { Gateway, type Moment } from "../support/Gateway";
import { random } from "../support/random";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";
import { leftIn } from "../support/temporary";

/**
 * Rule 8 of docs/design/rules.md: interrupts the commands that inspect a stack, and those that respond to drift, at
 * random requests and writes. The result is compared with the service over raw HTTP. All randomness is from the seed;
 * PULUMI_SVC_SEED repeats one, with the number of interruptions in PULUMI_SVC_KILLS.
 */

const { PULUMI_SVC_SEED, PULUMI_SVC_KILLS } = process.env;
const SEED = PULUMI_SVC_SEED === undefined ? Math.floor(Math.random() * 1e6) : Number(PULUMI_SVC_SEED);
const CUTS = Number(PULUMI_SVC_KILLS ?? (WHOLE ? 100 : 3));
const LONGEST_ORPHANED_MS = 60_000;
/** Including everything that follows: on a busy machine it takes 20 s. */
const LONGEST_CUT_MS = 90_000;
const MAIN = join(ROOT, "dist", "cli", "main.js");

const COMMANDS = {
  drift: ["drift", "--unmanaged"],
  accept: ["drift", "--accept", "--force"],
  repair: ["drift", "--repair", "--yes"],
  ignore: ["drift", "--ignore", "api", "--reason", "the test"],
  import: ["import", "--project", "prj-demo", "--out", "import.json", "--program", "imported.js", "--force"],
} as const;
type Command = keyof typeof COMMANDS;
// The keys of the table above. What changes most is cut off most.
const DRAWN: readonly Command[] = ["drift", "accept", "repair", "repair", "repair", "ignore", "import"];

/**
 * SIGKILL hits one process or both, as from the kernel; a terminal signals all its processes; EPIPE is a closed reader.
 */
const CUTTERS = ["SIGKILL", "SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "EPIPE"] as const;
type Cutter = (typeof CUTTERS)[number];

const DOMAINS = ["https://first.example.com", "https://second.example.com"];
const programOf = (size: number): string => `
const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: { min: 0.5, max: ${size} } });
const first = new svc.WhitelistDomain("first", { projectId: auth.projectId, domain: "${DOMAINS[0]}" });
new svc.WhitelistDomain("second", { projectId: auth.projectId, domain: "${DOMAINS[1]}" }, { dependsOn: [first] });`;

const isCli = ({ command }: RunningProcess): boolean => /^(\S*\/)?pulumi (up|refresh|preview|stack)\b/.test(command);
/** The CLI's language host: it checks for its engine every few minutes, and holds nothing. */
const isLanguageHost = ({ command }: RunningProcess): boolean => /pulumi-language-nodejs/.test(command);

/**
 * At a request, before or after its execution; at a write of the state; at a write into the program's folder; after a
 * time.
 */
type Point =
  | { readonly request: number; readonly moment: Moment }
  | { readonly stateWrite: number }
  | { readonly fileWrite: 1 }
  | { readonly ms: number };

class Campaign {
  cuts = 0;
  lies = 0;
  readonly by: Record<string, number> = {};
  readonly log: string[] = [];
  #size = 2;
  readonly #random = random(SEED);

  private constructor(
    readonly stack: Stack,
    readonly gateway: Gateway,
  ) {}

  static async start(): Promise<Campaign> {
    const stack = await Stack.create({ program: programOf(2) });
    const gateway = await Gateway.start(stack.service.emulator.baseUrl);
    await stack.config("svc:baseUrl", gateway.baseUrl);
    const campaign = new Campaign(stack, gateway);
    expect(await stack.up()).toMatchObject({ code: 0 });
    return campaign;
  }

  writeFigures(): string {
    const rows = Object.entries(this.by).map(([what, count]) => `| ${what} | ${count} |`);
    const title = `# Commands that were cut off\n\n${this.cuts} cuts, ${this.lies} lies.\n`;
    const text = `${title}\n| Command and how | Cuts |\n| --- | --- |\n${rows.toSorted().join("\n")}\n`;
    mkdirSync(join(ROOT, "test-results"), { recursive: true });
    writeFileSync(join(ROOT, "test-results/driftKills.md"), text);
    return text;
  }

  /** Something is changed by hand, a command is cut off, and what must hold is looked at. */
  async step(): Promise<void> {
    const command = DRAWN[this.#random(DRAWN.length)] ?? "repair";
    const cutter = CUTTERS[this.#random(CUTTERS.length)] ?? "SIGKILL";
    const victim = this.#random(3);
    const point = this.#point(command);
    const isDeleted = this.#random(2) === 0;
    await this.#changeByHand(isDeleted);
    const isCut = await this.#cut(command, cutter, victim, point);
    this.log.push(
      `-- ${command}, ${cutter} of ${victim} at ${JSON.stringify(point)}: ${isCut ? "cut" : "not reached"}`,
    );
    if (isCut) {
      this.cuts++;
      this.by[`${command} ${cutter}`] = (this.by[`${command} ${cutter}`] ?? 0) + 1;
    }
    this.#filesAreWhole();
    await this.#tellsTruth();
    if (this.#random(2) === 0) await this.#repairAgain();
    await this.#comeBack();
  }

  #point(command: Command): Point {
    const kind = this.#random(4);
    const [request, write, ms] = [1 + this.#random(9), 1 + this.#random(7), this.#random(6_000)];
    const moment: Moment = this.#random(2) === 0 ? "before" : "after";
    if (command === "repair" && kind < 2) return { stateWrite: write };
    if (["accept", "ignore", "import"].includes(command) && kind < 2) return { fileWrite: 1 };
    return kind === 3 ? { ms } : { request, moment };
  }

  async #changeByHand(isDeleted: boolean): Promise<void> {
    const { service } = this.stack;
    const id = (await this.stack.resource("api")).id.split("/")[1];
    await service.edit({ kind: "endpoint", id, set: { autoscaling_limit_max_cu: 10 - this.#size } });
    if (isDeleted) await service.edit({ kind: "domain", id: DOMAINS[0], delete: true });
  }

  async #cut(command: Command, cutter: Cutter, victim: number, point: Point): Promise<boolean> {
    const { stack, gateway } = this;
    gateway.count = 0;
    const folder = join(stack.folder, "program");
    const [stateFile = ""] = stack.stateFiles().filter((file) => file.endsWith("stacks/proj/dev.json"));
    const stamp = (): string => `${statSync(stateFile, { throwIfNoEntry: false })?.mtimeMs}`;
    const files = (): string =>
      readdirSync(folder)
        .map((name) => `${name} ${statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs}`)
        .join();
    const { apiKey } = stack.service.emulator;
    const env = { ...stack.env, ...(command === "import" && { SVC_BASE_URL: gateway.baseUrl, SVC_API_KEY: apiKey }) };
    const child = spawn(process.execPath, [MAIN, ...COMMANDS[command]], { cwd: folder, env, detached: true });
    const pid = child.pid ?? Number.NaN;
    child.stdout.resume();
    let said = "";
    child.stderr.on("data", (chunk) => (said += String(chunk)));
    let isEnded = false;
    const ended = new Promise<number | string>((resolve) =>
      child.on("exit", (code, signal) => {
        isEnded = true;
        resolve(code ?? signal ?? "");
      }),
    );
    const seen = new Map<number, RunningProcess>();
    let isCut = false;
    const cut = (): void => {
      if (isCut || isEnded) return;
      isCut = true;
      const started = descendants(pid);
      for (const one of started) seen.set(one.pid, one);
      this.#strike(child, cutter, victim, started);
    };
    gateway.at = (count, moment) => {
      if ("request" in point && count === point.request && moment === point.moment) cut();
    };
    const timer = "ms" in point ? setTimeout(cut, point.ms) : undefined;
    let [lastState, lastFiles, writes] = [stamp(), files(), 0];
    const watch = setInterval(() => {
      if ("stateWrite" in point && stamp() !== lastState) {
        lastState = stamp();
        writes++;
        if (writes === point.stateWrite) cut();
      }
      if ("fileWrite" in point && files() !== lastFiles) {
        lastFiles = files();
        cut();
      }
    }, 1);
    const look = setInterval(() => {
      for (const one of descendants(pid)) seen.set(one.pid, one);
    }, 500);
    const code = await ended;
    clearTimeout(timer);
    clearInterval(watch);
    clearInterval(look);
    gateway.at = () => undefined;
    this.log.push(`-- ended with ${code}`, said);
    await this.#haveEnded([...seen.values()]);
    return isCut;
  }

  #strike(child: ChildProcess, cutter: Cutter, victim: number, started: readonly RunningProcess[]): void {
    const pid = child.pid ?? Number.NaN;
    const send = (to: number, signal: NodeJS.Signals): void => {
      try {
        process.kill(to, signal);
      } catch {
        // It has ended in the meantime.
      }
    };
    if (cutter === "EPIPE") {
      child.stdout?.destroy();
      child.stderr?.destroy();
    } else if (cutter === "SIGKILL") {
      if (victim !== 0) for (const cli of started.filter(isCli)) send(cli.pid, cutter);
      if (victim !== 1) send(pid, cutter);
    } else send(-pid, cutter);
  }

  /** No process outlives its engine. */
  async #haveEnded(all: readonly RunningProcess[]): Promise<void> {
    const own = all.filter((one) => !isLanguageHost(one));
    for (const end = Date.now() + LONGEST_ORPHANED_MS; own.some(isAlive) && Date.now() < end;)
      await new Promise((resolve) => setTimeout(resolve, 50));
    for (const one of all.filter(isLanguageHost).filter(isAlive)) process.kill(one.pid, "SIGKILL");
    expect(own.filter(isAlive)).toEqual([]);
  }

  #read = (file: string): string | undefined => {
    const path = join(this.stack.folder, "program", file);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  };

  #filesAreWhole(): void {
    const whole = [2, 8].map(
      (size) => `const pulumi = require("@pulumi/pulumi");\nconst svc = require("pulumi-svc");\n${programOf(size)}\n`,
    );
    expect(whole).toContain(this.#read("index.js"));
    for (const file of ["svc-drift.json", "import.json"]) JSON.parse(this.#read(file) ?? "{}");
    expect(this.#read("imported.js") ?? "").not.toMatch(/[^\n]$/);
    expect(leftIn(join(this.stack.folder, "home"))).toEqual([]);
    const drafts = readdirSync(join(this.stack.folder, "program")).filter((name) => name.endsWith(".tmp"));
    if (drafts.length > 0) this.log.push(`-- drafts: ${drafts.join()}`);
    for (const file of ["svc-drift.json", "import.json", "imported.js", ...drafts])
      rmSync(join(this.stack.folder, "program", file), { force: true });
  }

  async #differing(size: number): Promise<string[]> {
    const id = (await this.stack.resources()).find(({ urn }) => urn.endsWith("::api"))?.id.split("/")[1];
    const endpoint = (await this.stack.service.endpoints()).find((one) => one["id"] === id);
    const { domains } = (await this.stack.service.list("/projects/prj-demo/auth/domains")) as {
      domains: { domain: string }[];
    };
    const held = domains.map(({ domain }) => domain);
    return [
      ...(endpoint?.["autoscaling_limit_max_cu"] === size ? [] : ["api"]),
      ...(held.includes(DOMAINS[0] ?? "") ? [] : ["first"]),
      ...(held.includes(DOMAINS[1] ?? "") ? [] : ["second"]),
    ];
  }

  /** Told against what was deployed before. */
  async #tellsTruth(): Promise<void> {
    const { code, stdout, stderr } = await svc(this.stack, ["drift", "--json"]);
    this.log.push(`-- drift: ${code}`, stderr);
    const differing = await this.#differing(this.#size);
    if (code === 11) {
      expect(stderr).toMatch(
        /is running, or was interrupted: .*pulumi cancel(, then pulumi up --refresh|.* then the same pulumi-svc drift --repair)/,
      );
      return;
    }
    const { drift } = JSON.parse(stdout) as { drift: { name: string }[] };
    const told = drift.map(({ name }) => name).toSorted();
    if (told.join() !== differing.join()) this.lies++;
    expect([code, told]).toEqual([differing.length > 0 ? 7 : 0, differing]);
  }

  /** The same repair finishes one that was cut off, and deploys nothing else. */
  async #repairAgain(): Promise<void> {
    if (!(await this.stack.exported()).includes("interrupted-repair")) return;
    const repair = () => svc(this.stack, COMMANDS.repair);
    let again = await repair();
    if (again.code === 11) {
      await this.stack.run("cancel", "--yes");
      if (again.stderr.includes("--clear-pending-creates"))
        expect(await this.stack.run("refresh", "--clear-pending-creates", "--preview-only")).toMatchObject({ code: 0 });
      again = await repair();
    }
    if (again.code === 11 && again.stderr.includes("--clear-pending-creates")) {
      expect(await this.stack.run("refresh", "--clear-pending-creates", "--preview-only")).toMatchObject({ code: 0 });
      again = await repair();
    }
    this.log.push(`-- repair again: ${again.code}`, again.stderr);
    this.by["repair resumed"] = (this.by["repair resumed"] ?? 0) + 1;
    expect(again).toMatchObject({ code: 0 });
    expect(await this.#differing(this.#size)).toEqual([]);
  }

  async #comeBack(): Promise<void> {
    let run: Run = await this.stack.up("--refresh");
    if (run.text.includes("pulumi cancel")) {
      expect(await this.stack.run("cancel", "--yes")).toMatchObject({ code: 0 });
      run = await this.stack.up("--refresh");
    }
    this.log.push(`-- up --refresh: ${run.code}`, run.text);
    // The creation of a killed command has reached the service: the message says what to do.
    if (/Could not create WhitelistDomain .* set "adopt: true"/i.test(run.text)) {
      this.stack.program(programOf(this.#declared()).replace(/(first.example.com")/, "$1, adopt: true"));
      run = await this.stack.up("--refresh");
      this.log.push(`-- with adopt: ${run.code}`, run.text);
      this.stack.program(programOf(this.#declared()));
    }
    expect(run).toMatchObject({ code: 0 });
    // As the message of drift says: until then it reports them, where an up --refresh need not warn.
    if ((await this.stack.exported()).includes('"pending_operations"'))
      expect(await this.stack.refresh("--clear-pending-creates")).toMatchObject({ code: 0 });
    this.#size = this.#declared();
    expect(await this.#differing(this.#size)).toEqual([]);
    expect(/interrupted-repair|"pending_operations":.{200}/.exec(await this.stack.exported())?.[0]).toBeUndefined();
  }

  /** In the program, which `--accept` may have edited. */
  #declared(): number {
    return Number(/max: (\d+)/.exec(this.#read("index.js") ?? "")?.[1]);
  }
}

jest.setTimeout(LONGEST_CUT_MS * CUTS);

test(`whatever cuts a command off, drift tells the truth or fails, and up --refresh leads back, seed ${SEED}`, async () => {
  const campaign = await Campaign.start();
  const { stack, gateway } = campaign;
  try {
    while (campaign.cuts < CUTS) {
      await campaign.step();
      // A campaign that is ended early leaves what it has.
      campaign.writeFigures();
    }
    expect(await stack.leaks([stack.service.emulator.apiKey])).toEqual([]);
  } catch (error) {
    const replay = `Replay: PULUMI_SVC_SEED=${SEED} PULUMI_SVC_KILLS=${CUTS} npm run test:kills`;
    process.stderr.write(`${campaign.log.slice(-40).join("\n")}\n\n${replay}\n`);
    throw error;
  } finally {
    gateway.close();
    process.stdout.write(`\n${campaign.writeFigures()}\n`);
  }
});
