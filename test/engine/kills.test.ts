import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { api } from "../support/emulator";
import { descendants, isAlive, ROOT, type Run, type RunningProcess, WHOLE } from "../support/cli";
import { Gateway, type Moment } from "../support/Gateway";
import { random } from "../support/random";
import { Stack } from "../support/Stack";

/**
 * Kills processes at random points of commands, and recovers the stack as the README describes, following only the
 * messages. All randomness of a stack is from its seed; PULUMI_SVC_SEED repeats the stack of one seed, with the number
 * of kills in PULUMI_SVC_KILLS. Concurrent requests may then arrive in another order.
 */

const { PULUMI_SVC_SEED, PULUMI_SVC_KILLS } = process.env;
const FIRST_SEED = PULUMI_SVC_SEED === undefined ? Math.floor(Math.random() * 1e6) : Number(PULUMI_SVC_SEED);
const STACKS = WHOLE && PULUMI_SVC_SEED === undefined ? 10 : 1;
const KILLS = Number(PULUMI_SVC_KILLS ?? (WHOLE ? 10 : 3));
const LONGEST_ORPHANED_MS = 60_000;
const SEEDS = Array.from({ length: STACKS }, (_, index) => FIRST_SEED + index);

/** The approximate number of requests of a command that has everything to do. */
const REQUESTS: Record<string, number> = { up: 25, refresh: 5, destroy: 14 };

const SECRETS = ["canary-client-secret", "canary-smtp-password"];

/** The replica without a name at the service: it cannot be distinguished from another one. */
const NAMELESS = "nameless";
/** The computes in both versions of the program, and those in one version only. */
const COMPUTES: Record<string, string>[] = [
  {
    dev: "br-dev read_write 1",
    first: "br-main read_only 1",
    second: "br-main read_only 1",
    [NAMELESS]: "br-main read_only 2",
  },
  {
    dev: "br-dev read_write 2",
    first: "br-main read_only 1",
    test: "br-test read_write 1",
    [NAMELESS]: "br-main read_only 3",
  },
];
const nameOf = (resource: string): string => (resource === NAMELESS ? "" : resource);
const EMAIL = "someone@example.com";
/** Another name replaces the user. */
const USERS = ["Some One", "Some Two"];
const DOMAINS = [
  ["https://one.example.com", "https://two.example.com", "https://three.example.com"],
  ["https://one.example.com", "https://four.example.com"],
];
const HOSTS = ["smtp.example.com", "smtp.example.org"];

/** `adopt`: by the resource's name, the argument that a message has said to set. */
function program(version: number, adopt: ReadonlyMap<string, string>): string {
  const more = (name: string): string => (adopt.has(name) ? `, adopt: ${adopt.get(name)}` : "");
  const computes = Object.entries(COMPUTES[version] ?? {}).map(([name, text]) => {
    const [branchId, type, size] = text.split(" ");
    const named = nameOf(name) === "" ? "" : `, name: "${name}"`;
    return `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "${branchId}", type: "${type}", size: ${size}${named}${more(name)} });`;
  });
  const domains = DOMAINS[version]?.map(
    (domain) => `new svc.WhitelistDomain("${domain}", { projectId, domain: "${domain}"${more(domain)} });`,
  );
  return `
    ${computes.join("\n")}
    const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo"${more("auth")} });
    const projectId = auth.projectId;
    new svc.OAuthProvider("microsoft", { projectId, providerId: "microsoft", clientId: "client", clientSecret: "${SECRETS[0]}"${more("microsoft")} });
    ${domains?.join("\n")}
    new svc.AuthUser("user", { projectId, email: "${EMAIL}", name: "${USERS[version]}" });
    new svc.EmailServer("mail", { projectId, type: "standard", host: "${HOSTS[version]}", port: 587, username: "mailer",
      password: "${SECRETS[1]}", senderEmail: "noreply@example.com", senderName: "Example" });`;
}

/** The service's objects in the project, over raw HTTP: a duplicate appears twice. */
async function held({ service }: Stack): Promise<object> {
  const { projects } = await service.state();
  const project = projects.find(({ id }) => id === "prj-demo") as Record<string, Record<string, unknown>[]>;
  const mail = project["email_server"] as unknown as Record<string, unknown>;
  return {
    computes: project["endpoints"]
      ?.map(({ name, branch_id, type, autoscaling_limit_max_cu: size }) => [name, branch_id, type, size].join(" "))
      .sort(),
    integrations: project["integrations"]?.length,
    oauthProviders: project["oauth_providers"]?.map(({ id }) => id).sort(),
    domains: project["domains"]?.map(({ domain }) => domain).sort(),
    users: project["users"]?.map(({ email, name }) => [email, name].join(" ")),
    mail: mail["host"],
  };
}

/** Our objects. */
const NOTHING = { integrations: 0, oauthProviders: [], domains: [], users: [], mail: undefined };

/** Others' compute and replica, which exist in the project from the start. */
let others: string[];

const declared = (version: number): object => ({
  computes: [
    ...others,
    ...Object.entries(COMPUTES[version] ?? {}).map(([name, text]) => `${nameOf(name)} ${text}`),
  ].sort(),
  integrations: 1,
  // The first two come with an integration.
  oauthProviders: ["github", "google", "microsoft"],
  domains: [...(DOMAINS[version] ?? [])].sort(),
  users: [`${EMAIL} ${USERS[version]}`],
  mail: HOSTS[version],
});

/** The number of objects at the service beyond the expected ones. */
function surplus(held: object, expected: object): number {
  const count = (value: unknown): number =>
    Array.isArray(value) ? value.length : typeof value === "number" ? value : 0;
  return Object.entries(expected).reduce(
    (sum, [kind, value]) => sum + Math.max(0, count(Reflect.get(held, kind)) - count(value)),
    0,
  );
}

interface Figures {
  seed: number;
  cli: number;
  provider: number;
  commands: Record<string, number>;
  /** Objects that no state held: taken over with `adopt`, as a message said. */
  adopted: number;
  /** Users that no state held: removed by hand, as a message said. */
  users: number;
  /** Unnamed replicas that no state held: removed by hand, where the CLI named only the interrupted creation. */
  replicas: number;
  /** Other objects that existed at the service. */
  duplicates: number;
  /** After how many milliseconds each provider ended by itself after its CLI. */
  endedAfter: number[];
}
const figures: Figures[] = [];

/** Once it does something, it has a title (src/runtime/run/processList.ts). */
const isProvider = ({ command }: RunningProcess): boolean =>
  /dynamic-provider(\/\S*)? \S+:\d+$|^pulumi-svc \S+:\d+ /.test(command);

/** The remaining lifetime of a process, watched slightly longer than allowed. */
async function remainingMs(one: RunningProcess): Promise<number> {
  const began = performance.now();
  const passed = (): number => performance.now() - began;
  while (isAlive(one) && passed() <= LONGEST_ORPHANED_MS) await new Promise((resolve) => setTimeout(resolve, 50));
  return passed();
}

/** When a kill happens: at a request, before or after its execution, or some time after the first one. */
type Point = { readonly request: number; readonly moment: Moment } | { readonly ms: number };

/** One stack of the campaign. */
class Campaign {
  readonly figures: Figures;
  readonly #random: (below: number) => number;
  #version = 1;
  #deployed = false;
  /** For each provider whose CLI was killed, observed from the kill on: how long it lived after that. */
  readonly #orphaned: Promise<number>[] = [];
  readonly #log: string[] = [];
  /** The output of each command of this step. */
  #said: string[] = [];

  private constructor(
    seed: number,
    readonly stack: Stack,
    readonly gateway: Gateway,
  ) {
    this.#random = random(seed);
    const orphans = { adopted: 0, users: 0, replicas: 0, duplicates: 0 };
    this.figures = { seed, cli: 0, provider: 0, commands: {}, ...orphans, endedAfter: [] };
    figures.push(this.figures);
  }

  static async start(seed: number): Promise<Campaign> {
    const stack = await Stack.create({ program: "" });
    const gateway = await Gateway.start(stack.service.emulator.baseUrl);
    await stack.config("svc:baseUrl", gateway.baseUrl);
    return new Campaign(seed, stack, gateway);
  }

  get kills(): number {
    return this.figures.cli + this.figures.provider;
  }

  /** The steps so far, for the message of a failure. */
  get log(): string {
    return this.#log.join("\n");
  }

  /** A command in which something is killed, the way back, in which it may be killed again, and what must hold then. */
  async step(): Promise<void> {
    const command = this.#deployed ? (["up", "up", "refresh", "destroy"][this.#random(4)] ?? "up") : "up";
    if (command === "up") {
      this.#version = 1 - this.#version;
      this.stack.program(program(this.#version, new Map()));
    }
    this.#said = [];
    await this.#comeThrough(command);
    this.#deployed = command !== "destroy";
    const expected = this.#deployed ? declared(this.#version) : { ...NOTHING, computes: others };
    const found = await held(this.stack);
    this.figures.duplicates += surplus(found, expected);
    expect(found).toMatchObject(expected);
    await this.#providersHaveEnded();
  }

  /** As the README says: according to the messages. */
  async #comeThrough(command: string): Promise<void> {
    const adopt = new Map<string, string>();
    let run = await this.#runAndKill(command);
    for (let tries = 1; run.code !== 0; tries++) {
      if (tries === 15) throw new Error("the messages do not lead back");
      const known = adopt.size;
      for (const [, name = "", value = ""] of run.text.matchAll(
        /Could not create \w+ \("([^"]+)"\): .* set "adopt: (true|'ep-[^']+')"/gi,
      ))
        adopt.set(name, value);
      const isLocked = run.text.includes("`pulumi cancel`");
      const isCutOff = run.text.includes("failed to load checkpoint: EOF");
      const userExists = /Could not create AuthUser .* A user with this "email" exists already/.test(run.text);
      if (isLocked) expect(await this.#run("cancel", "--yes")).toMatchObject({ code: 0 });
      if (isCutOff) this.#deleteEmptyAttributes();
      if (userExists) await this.#deleteUser();
      if (adopt.size > known) this.stack.program(program(this.#version, adopt));
      if (!isLocked && !isCutOff && !userExists && adopt.size === known && !run.killed)
        throw new Error("a message names no way out");
      // Drawn in any case: how many kills there are to be must not change what the seed says.
      const isKilledAgain = this.#random(2) === 0 && this.kills < KILLS;
      run = isKilledAgain ? await this.#runAndKill(command) : await this.#command(command);
    }
    this.figures.adopted += adopt.size;
    await this.#deleteSurplusReplicas();
    if (adopt.size > 0) this.stack.program(program(this.#version, new Map()));
    if (run.text.includes("--clear-pending-creates") || run.text.includes("pending operations")) {
      expect(await this.#run("refresh", "--yes", "--clear-pending-creates")).toMatchObject({ code: 0 });
    }
  }

  /** As docs/troubleshooting.md says. */
  #deleteEmptyAttributes(): void {
    const files = this.stack.stateFiles().filter((file) => file.endsWith(".attrs") && statSync(file).size === 0);
    expect(files).not.toEqual([]);
    for (const file of files) rmSync(file);
    this.#log.push(`-- deleted by hand: ${files.join(", ")}`);
  }

  /** As the message about the user says. */
  async #deleteUser(): Promise<void> {
    const { service } = this.stack;
    const { projects } = await service.state();
    const users = projects.flatMap((project) => project["users"] as Record<string, unknown>[]);
    const [user] = users.filter(({ email }) => email === EMAIL);
    const path = `/projects/prj-demo/auth/users/${String(user?.["id"])}`;
    expect((await api(service.emulator, "DELETE", path)).status).toBeLessThan(300);
    this.#log.push("-- the user was deleted by hand");
    this.figures.users++;
  }

  /** As docs/troubleshooting.md says about replicas without a name: at most one for each interrupted creation. */
  async #deleteSurplusReplicas(): Promise<void> {
    const { service } = this.stack;
    const known = (await this.stack.resources()).map(({ outputs }) => outputs["endpointId"]);
    const nameless = (await service.endpoints()).filter(({ type, name }) => type === "read_only" && name === undefined);
    const unknown = nameless.filter(({ id }) => !known.includes(id));
    const interrupted = this.#interruptions();
    this.figures.duplicates += Math.max(0, unknown.length - interrupted);
    if (unknown.length > interrupted)
      throw new Error(
        `duplicates: ${unknown.length} unnamed replicas in no state, ${interrupted} interrupted creations`,
      );
    for (const { id } of unknown) {
      const path = `/projects/prj-demo/endpoints/${String(id)}`;
      expect((await api(service.emulator, "DELETE", path)).status).toBeLessThan(300);
      this.#log.push(`-- the replica ${String(id)} was deleted by hand`);
      this.figures.replicas++;
    }
  }

  /** How many creations of the unnamed replica were interrupted in this step, by what the CLI says. */
  #interruptions(): number {
    const pending = new RegExp(`ComputeEndpoint::${NAMELESS}, interrupted while creating`, "g");
    const cutOff = new RegExp(
      `ComputeEndpoint ${NAMELESS} \\*\\*creating failed\\*\\* error: error reading from server`,
    );
    // The state keeps the creation of each killed CLI until the end of the step, and each later command lists them all.
    const byCli = Math.max(...this.#said.map((text) => text.match(pending)?.length ?? 0));
    return byCli + this.#said.filter((text) => cutOff.test(text)).length;
  }

  async #runAndKill(command: string): Promise<Run & { killed: boolean }> {
    const victim = this.#random(2) === 0 ? "cli" : "provider";
    const moment: Moment = this.#random(2) === 0 ? "before" : "after";
    const point: Point =
      this.#random(3) === 0
        ? { ms: this.#random(1_000) }
        : { request: 1 + this.#random(REQUESTS[command] ?? 1), moment };
    let killed = false;
    let timer: NodeJS.Timeout | undefined;
    const kill = (cli: number): void => {
      if (killed) return;
      const providers = descendants(cli).filter(isProvider);
      if (victim === "cli") this.#orphaned.push(...providers.map(remainingMs));
      for (const pid of victim === "cli" ? [cli] : providers.map((provider) => provider.pid)) {
        process.kill(pid, "SIGKILL");
        killed = true;
      }
    };
    this.gateway.count = 0;
    const run = await this.#command(command, ({ pid = Number.NaN }) => {
      this.gateway.at = (count, at) => {
        if ("ms" in point) timer ??= setTimeout(() => kill(pid), point.ms);
        else if (count === point.request && at === point.moment) kill(pid);
      };
    });
    clearTimeout(timer);
    this.gateway.at = () => undefined;
    this.#log.push(`-- ${victim} at ${JSON.stringify(point)}: ${killed ? "killed" : "not reached"}`);
    if (killed) {
      this.figures[victim]++;
      this.figures.commands[command] = (this.figures.commands[command] ?? 0) + 1;
    }
    return { ...run, killed };
  }

  async #command(
    command: string,
    onStart: (cli: { pid?: number | undefined }) => void = () => undefined,
  ): Promise<Run & { killed: boolean }> {
    const run = await this.stack.started(onStart, command, "--yes", "--skip-preview");
    this.#log.push(`-- pulumi ${command}: ${run.code}`, run.text);
    this.#said.push(run.text);
    return { ...run, killed: false };
  }

  async #run(...args: string[]): Promise<Run> {
    const run = await this.stack.run(...args);
    this.#log.push(`-- pulumi ${args.join(" ")}: ${run.code}`, run.text);
    return run;
  }

  async #providersHaveEnded(): Promise<void> {
    for (const ms of await Promise.all(this.#orphaned.splice(0))) {
      expect(ms).toBeLessThanOrEqual(LONGEST_ORPHANED_MS);
      this.figures.endedAfter.push(ms);
    }
  }
}

afterAll(() => {
  const sum = (of: (one: Figures) => number): number => figures.reduce((total, one) => total + of(one), 0);
  const lines = figures.map(
    ({ seed, cli, provider, commands: { up = 0, refresh = 0, destroy = 0 }, adopted, users, replicas, duplicates }) =>
      `| ${[seed, cli, provider, up, refresh, destroy, adopted, users, replicas, duplicates].join(" | ")} |`,
  );
  const ended = figures.flatMap(({ endedAfter }) => endedAfter);
  const slowest = (Math.max(0, ...ended) / 1_000).toFixed(1);
  const text = `# Kills

${sum(({ cli, provider }) => cli + provider)} kills in ${figures.length} stacks. Objects that no state held: ${sum(({ adopted }) => adopted)} taken over with "adopt" as a message said,
${sum(({ users }) => users)} users removed as the message said, ${sum(({ replicas }) => replicas)} unnamed replicas removed by hand where the CLI named only the interrupted
creation. Beyond these, duplicates and orphans that nothing names: ${sum(({ duplicates }) => duplicates)}.
Provider processes that ended by themselves after their CLI: ${ended.length}, the slowest after ${slowest} s.

| Seed | CLI killed | Provider killed | in up | in refresh | in destroy | Taken over | Users removed | Replicas removed | Duplicates |
| ---- | ---------- | --------------- | ----- | ---------- | ---------- | ---------- | ------------- | ---------------- | ---------- |
${lines.join("\n")}
`;
  mkdirSync(join(ROOT, "test-results"), { recursive: true });
  writeFileSync(join(ROOT, "test-results/kills.md"), text);
  process.stdout.write(`\n${text}\n`);
});

test.each(SEEDS)("a stack comes back from each kill, seed %d", async (seed) => {
  const campaign = await Campaign.start(seed);
  const { stack, gateway } = campaign;
  const { service } = stack;
  // The objects of others.
  const replica = { branch_id: "br-main", type: "read_only", name: "colleague", autoscaling_limit_max_cu: 4 };
  await api(service.emulator, "POST", "/projects/prj-demo/endpoints", { endpoint: replica });
  await service.addProject({ id: "prj-other", branches: [{ id: "br-other" }] });
  const integration = { project_id: "prj-other", branch_id: "br-other", auth_provider: "supported_provider" };
  await api(service.emulator, "POST", "/projects/auth/create", integration);
  const before = await service.state();
  others = ((await held(stack)) as { computes: string[] }).computes;
  expect(others).toHaveLength(2);
  try {
    while (campaign.kills < KILLS) await campaign.step();
    expect(campaign.kills).toBeGreaterThanOrEqual(KILLS);
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
    const keys = [...gateway.answers.matchAll(/"secret_server_key":"([^"]+)"/g)].map(([, key = ""]) => key);
    expect(await stack.leaks([...SECRETS, ...keys])).toEqual([]);
    await stack.finish(before);
  } catch (error) {
    process.stderr.write(
      `${campaign.log}\n\nReplay: PULUMI_SVC_SEED=${seed} PULUMI_SVC_KILLS=${KILLS} npm run test:kills\n`,
    );
    throw error;
  } finally {
    gateway.close();
  }
});
