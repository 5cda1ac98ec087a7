import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EACH_CASE } from "../kinds";
import { SECRETS } from "../kinds/KindCase";
import { ROOT, type Run, WHOLE } from "../support/cli";
import { CampaignColleague } from "../support/campaignColleague";
import { control } from "../support/emulator";
import { type Fault, FAULTS, program, ROUTES, type Step } from "../support/faultCampaign";
import type { LoggedRequest } from "../support/service";
import { Stack } from "../support/Stack";

const MOST_TRIES = 6;
/** Routes that issue a key set or a transfer URL. Each meets a fault that acts once. */
const ISSUING = ["POST /projects/auth/create", "POST /projects/auth/keys", "POST /projects/auth/transfer_ownership"];
const SHOP = "prj-shop";
/** The CLI's output, one file for each fault. */
const SAID = join(ROOT, "test-results", "faults");
mkdirSync(SAID, { recursive: true });
const chosen = Object.entries(FAULTS).filter(([, { always }]) => WHOLE || always);

type Fields = Record<string, unknown>;
type Outcome = (typeof OUTCOMES)[number];
/** The worst last: a cell shows the worst. */
const OUTCOMES = ["no matter", "left alone", "found again", "retried", "in words", "by hand", "not met"] as const;

const cells = new Map<string, Outcome>();
/** What no fault may cause. */
const noHarm = (): Record<"lost" | "duplicated" | "leaked" | "othersTouched" | "unclear", string[]> => ({
  lost: [],
  duplicated: [],
  leaked: [],
  othersTouched: [],
  unclear: [],
});
const harms: ReturnType<typeof noHarm>[] = [];
const campaigns: Campaign[] = [];

const cellOf = (fault: string, route: string): string => `${fault} | ${route}`;

function record(fault: string, route: string, outcome: Outcome): void {
  const known = cells.get(cellOf(fault, route)) ?? "no matter";
  cells.set(cellOf(fault, route), OUTCOMES[Math.max(OUTCOMES.indexOf(known), OUTCOMES.indexOf(outcome))] ?? outcome);
}

/** One run of the CLI, and the requests that reached the service meanwhile. */
interface Try extends Run {
  readonly requests: readonly LoggedRequest[];
  /** Routes whose request was refused its connection. */
  readonly refused: readonly string[];
}

class Campaign {
  #others: string;
  readonly harm = noHarm();
  #seen = 0;
  /** The objects to take over according to the messages, by the resource's name. */
  readonly #adopt: Record<string, true | string> = {};
  /** The request whose answer was lost, by the resource's name. */
  readonly #failedAt: Record<string, string> = {};
  /** Outputs of each round, until the end. */
  readonly #secrets: string[] = [];
  #colleague: CampaignColleague | undefined;
  /** How many key sets and transfer urls were made beyond those declared. */
  askedAgain = 0;

  private constructor(
    readonly name: string,
    readonly fault: Fault,
    readonly stack: Stack,
    public adopted: string,
    others: string,
  ) {
    this.#others = others;
    harms.push(this.harm);
    campaigns.push(this);
  }

  /** What a colleague has stands there before: objects in both projects, and a compute without an operation, to take over. */
  static async begin(name: string, fault: Fault): Promise<Campaign> {
    const { listLagMs = 0 } = fault;
    const stack = await Stack.create({ program: "", emulator: { listLagMs } });
    const { service } = stack;
    await service.addProject({ id: SHOP });
    const plant = (kind: string, create: object, project_id = SHOP) => service.edit({ kind, project_id, create });
    await plant("integration", { branch_id: "br-main-prj-shop", database_name: "theirs", role_name: "theirs" });
    await plant("domain", { domain: "https://theirs.example.com" });
    await plant("user", { email: "theirs@example.com" });
    await plant("oauth_provider", {
      id: "discord",
      type: "standard",
      client_id: "theirs",
      client_secret: "theirs-too",
    });
    const replica = { branch_id: "br-main", type: "read_only" };
    await plant("endpoint", replica, "prj-demo");
    const others = othersOf(await service.state(), "");
    const ready = { ...replica, autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 };
    const adopted = String((await plant("endpoint", ready, "prj-demo"))["id"]);
    await service.edit({ kind: "endpoint", id: adopted, set: { current_state: "init" } });
    if (fault.shortAttempts) stack.env["SHORTER_ATTEMPTS_MS"] = "2000";
    if (fault.refused) {
      stack.env["REFUSE_FOLDER"] = join(stack.folder, "refuse");
      mkdirSync(stack.env["REFUSE_FOLDER"]);
    }
    const campaign = new Campaign(name, fault, stack, adopted, others);
    if (fault.colleague) {
      const colleague = await CampaignColleague.start(service, adopted);
      await stack.config("svc:baseUrl", colleague.gateway.baseUrl);
      campaign.#colleague = colleague;
      const shops = await service.state();
      campaign.#others =
        othersOf({ projects: shops.projects.filter(({ id }) => id !== "prj-demo") }, "") + `\n${others}`;
    }
    return campaign;
  }

  program(round: 1 | 2): void {
    this.stack.program(program(round, this.adopted, this.#adopt, this.fault.colleague));
  }

  async close(): Promise<void> {
    this.#colleague?.gateway.close();
    await this.stack.close();
  }

  /** Runs a command until it ends well, each of the step's routes meeting the fault. */
  async walk(step: Step, command: () => Promise<Run>): Promise<void> {
    const { fault, name, stack } = this;
    const routes = Object.keys(ROUTES).filter((route) => ROUTES[route]?.includes(step) && !leftOut(fault, route));
    await this.#arm(step, routes);
    if (this.#colleague !== undefined) return this.#walkBeside(this.#colleague, step, command);
    const tries: Try[] = [];
    do {
      const before = this.#refusedSoFar(routes);
      const run = await command();
      const requests = await stack.service.requests();
      const refused = this.#refusedSoFar(routes).filter((route) => !before.includes(route));
      tries.push({ ...run, refused, requests: requests.slice(this.#seen) });
      this.#seen = requests.length;
      if (run.code !== 0) this.#readable(run.text);
      if (/A user with this "email" exists already/.test(run.text)) {
        // What the message asks for.
        await this.#deleteOwnUsers();
        record(name, "POST /projects/auth/user", "by hand");
      }
      if (fault.actsAfterMs !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, fault.actsAfterMs));
        if (step === "up" && run.code !== 0) await this.#adoptWhatTurnedUp(routes, run.text);
      }
    } while (tries.at(-1)?.code !== 0 && tries.length < MOST_TRIES);
    const unmet = await this.#unmet(routes, tries);
    for (const route of routes) record(name, route, unmet.includes(route) ? "not met" : this.#outcome(route, tries));
    await stack.service.clearFaults();
    if (tries.at(-1)?.code !== 0) {
      this.harm.lost.push(`${name}: ${step} does not end well`);
      throw new Error(`${name}: ${step} does not end well:\n${tries.map(({ text }) => text).join("\n-----\n")}`);
    }
    expect([name, step, unmet]).toEqual([name, step, []]);
  }

  /** The same beside the colleague, who is asked to give way after each try: then the command goes on, and puts right what he took along. */
  async #walkBeside(colleague: CampaignColleague, step: Step, command: () => Promise<Run>): Promise<void> {
    const { name } = this;
    const said: string[] = [];
    for (let tries = 0; ; tries++) {
      const { code, text } = await command();
      said.push(text);
      if (code !== 0) this.#readable(text);
      this.harm.othersTouched.push(...(await colleague.harm()).map((harm) => `${name}, ${step}: ${harm}`));
      const met = colleague.met.splice(0);
      for (const { route, named } of met) {
        const isSaid = text.split("\n").some((line) => line.includes("Could not") && line.includes(named));
        record(name, route, isSaid ? "in words" : "left alone");
      }
      const names = await colleague.giveWay();
      this.#others = othersOf(await this.stack.service.state(), [this.#others, ...names].join("\n"));
      if (colleague.adopted !== this.adopted) {
        this.adopted = colleague.adopted;
        this.program(step === "up" ? 1 : 2);
      }
      if (code === 0 && met.length === 0) break;
      if (tries < MOST_TRIES) continue;
      this.harm.lost.push(`${name}: ${step} does not end well`);
      throw new Error(`${name}: ${step} does not end well:\n${said.join("\n-----\n")}`);
    }
    for (const route of colleague.left) record(name, route, "not met");
    expect([name, step, colleague.left, colleague.failures]).toEqual([name, step, [], []]);
  }

  async #arm(step: Step, routes: readonly string[]): Promise<void> {
    const { request, operations, refused } = this.fault;
    const { service } = this.stack;
    for (const [action, times] of Object.entries(operations?.[step] ?? {}))
      await service.fault({ operation: { action, status: "failed", error: "no capacity", times } });
    for (const route of routes) {
      const [method, path = ""] = route.split(" ");
      if (request !== undefined) await service.fault({ method, path, ...request() });
      this.#colleague?.arm(route);
      if (refused) writeFileSync(this.#refusal(route), `${method} ${path.replace(/\{\w+\}/g, "[^/]+")}$`);
    }
  }

  #refusal(route: string): string {
    return join(this.stack.env["REFUSE_FOLDER"] ?? "", encodeURIComponent(route));
  }

  #refusedSoFar(routes: readonly string[]): string[] {
    return this.fault.refused ? routes.filter((route) => !existsSync(this.#refusal(route))) : [];
  }

  /** The routes that did not meet the fault; for operations and lists this is told by what the service has. */
  async #unmet(routes: readonly string[], tries: readonly Try[]): Promise<string[]> {
    const { fault, stack } = this;
    if (fault.refused) return readdirSync(stack.env["REFUSE_FOLDER"] ?? "").map(decodeURIComponent);
    const requests = tries.flatMap((one) => one.requests);
    const { body } = await control(stack.service.emulator.url, "GET", "/faults");
    const left = body["faults"] as { method?: string; path?: string }[];
    if (fault.operations) return left.length > 0 ? [...routes] : [];
    // A request that the service itself has refused did not act.
    const refused = ({ real_status: status = 200 }: LoggedRequest): boolean => status >= 300;
    if (fault.listLagMs !== undefined) return routes.filter((route) => !isReadInLag(route, requests, fault.listLagMs));
    const inVain = requests.filter(refused).map(({ method, template }) => `${method} ${template}`);
    return [...inVain, ...left.map(({ method, path }) => `${method ?? ""} ${path ?? ""}`)];
  }

  #outcome(route: string, tries: readonly Try[]): Outcome {
    const { fault } = this;
    if (fault.listLagMs !== undefined || fault.operations) return tries.length > 1 ? "in words" : "no matter";
    const [method, template = ""] = route.split(" ");
    const sent = ({ requests }: Try) => requests.filter((one) => one.method === method && one.template === template);
    const at = tries.findIndex((one) => (fault.refused ? one.refused.includes(route) : sent(one).length > 0));
    const [met, ...later] = tries.slice(at);
    if (at < 0 || met === undefined) return "not met";
    if (
      met.text
        .split("\n")
        .some((line) => line.includes("Could not") && line.includes(`(${route}`) && !line.includes(`(${route}/`))
    )
      return "in words";
    const [first, ...more] = sent(met);
    if (fault.refused) return first === undefined ? "in words" : "retried";
    const isSame = (one: LoggedRequest) =>
      one.path === first?.path && JSON.stringify(one.body) === JSON.stringify(first.body);
    if (more.some(isSame)) return "retried";
    return later.flatMap(sent).some(isSame) ? "in words" : "found again";
  }

  /** What the messages ask for if the service has created something after all. */
  async #adoptWhatTurnedUp(routes: readonly string[], text: string): Promise<void> {
    const turnedUp = (await this.stack.service.endpoints()).find(
      ({ id, branch_id, type }) =>
        branch_id === "br-main" && type === "read_only" && id !== this.adopted && !this.#others.includes(String(id)),
    );
    for (const line of text.split("\n")) {
      const [, name] = /Could not create \w+ \("([^"]+)"\)/.exec(line) ?? [];
      if (name === undefined) continue;
      // The first message names the request; that it has made something after all is said by the next one.
      const named = routes.find((route) => line.includes(`(${route})`));
      if (named !== undefined) this.#failedAt[name] = named;
      const [, value] = /set "adopt: (true|'ep-[^']+')"/i.exec(line) ?? [];
      if (value === undefined) continue;
      // No message can know the id of a replica without a name: it asks to look for it.
      const id = value === "'ep-…'" ? turnedUp?.["id"] : value.slice(1, -1);
      if (id === undefined) continue;
      this.#adopt[name] = value === "true" ? true : String(id);
      const failedAt = this.#failedAt[name];
      if (failedAt !== undefined) record(this.name, failedAt, "by hand");
    }
    this.program(1);
  }

  /** One line in words for each failure: no stack trace, no page, no object of a library. */
  #readable(text: string): void {
    if (!/Could not |run pulumi up again/.test(text)) this.harm.unclear.push(`${this.name}: no words:\n${text}`);
    if (/\bat .*\.(js|ts|cjs|mts):\d+|<h1>|Axios|\[object|undefined/.test(text))
      this.harm.unclear.push(`${this.name}: ${text}`);
  }

  async #deleteOwnUsers(): Promise<void> {
    const shop = (await this.stack.service.state()).projects.find(({ id }) => id === SHOP);
    for (const { id, email } of shop?.["users"] as { id: string; email: string }[])
      if (email.startsWith("user")) await this.stack.service.edit({ kind: "user", project_id: SHOP, id, delete: true });
  }

  /** The service holds what is declared and what others have, and the state knows it. */
  async check(step: Step, expected: readonly string[]): Promise<void> {
    const { name, stack } = this;
    const state = await stack.service.state();
    const { ours, ids } = oursOf(state, this.#others, this.#colleague?.hisComputes);
    this.harm.lost.push(...missing(expected, ours).map((one) => `${name}, ${step}: ${one}`));
    this.harm.duplicated.push(...missing(ours, expected).map((one) => `${name}, ${step}: ${one}`));
    const others = othersOf(state, this.#others);
    if (others !== this.#others) this.harm.othersTouched.push(`${name}, ${step}: ${this.#others}\nis now ${others}`);
    const known = (await stack.resources()).map(({ id }) => id.split("/").at(-1) ?? "");
    this.harm.lost.push(...missing(ids, known).map((id) => `${name}, ${step}: ${id} is not in the state`));
    if (step !== "destroy") {
      // With an integration go its key sets.
      if (this.#colleague === undefined) this.#countIssued(step, state);
      const drift = await stack.drift();
      if (drift.code !== 0) this.harm.lost.push(`${name}, ${step}: the plan is not empty:\n${drift.text}`);
      const { secrets } = (await stack.outputs()) as { secrets: string[] };
      this.#secrets.push(...secrets);
    } else {
      this.harm.lost.push(...known.map((id) => `${name}: ${id} is left in the state`));
    }
    await this.#leaks();
    expect(this.harm).toEqual(noHarm());
  }

  /** Key sets and transfer urls: asked for again where the answer was lost, since nothing lists them and an unused one does no harm. */
  #countIssued(step: "up" | "change", { projects }: { projects: Fields[] }): void {
    const { name, fault } = this;
    const { effect } = (fault.request?.() ?? {}) as Fields;
    const answerLost = fault.actsAfterMs !== undefined || effect === "done";
    const tokens = projects
      .flatMap((one) => list(one["integrations"]))
      .flatMap((one) => one["transfer_token_hashes"] ?? []);
    const issued = projects.flatMap((one) => list(one["key_sets"])).length + tokens.length;
    // The integration's key set stays; `AuthKeys` and `AuthOwnershipTransfer` ask for another one with the change.
    this.askedAgain = issued - (step === "up" ? 3 : 5);
    const what = `${name}, ${step}: ${this.askedAgain} key sets and transfer urls more than declared`;
    if (this.askedAgain < 0) this.harm.lost.push(what);
    if (this.askedAgain > (answerLost ? ISSUING.length : 0)) this.harm.duplicated.push(what);
  }

  async #leaks(): Promise<void> {
    const found = await this.stack.leaks([
      ...this.#secrets,
      ...Object.values(SECRETS),
      this.stack.service.emulator.apiKey,
    ]);
    this.harm.leaked.push(...found.map((leak) => `${this.name}: ${leak}`));
    // Nobody knows the secret of key sets whose response was lost, so the test searches for its form.
    if (/ssk_[\w-]{20}/.test(this.stack.said)) this.harm.leaked.push(`${this.name}: a server key in the CLI's output`);
  }
}

/** Whether a route's creation was searched in its list before the list contained it. */
function isReadInLag(route: string, requests: readonly LoggedRequest[], lagMs = 0): boolean {
  return requests.some((made) => {
    if (`${made.method} ${made.template}` !== route || made.status >= 300) return false;
    const { project_id: id } = made.body as Fields;
    const path = route === "POST /projects/auth/create" ? `/projects/${String(id)}/auth/integrations` : made.path;
    return requests.some((one) => {
      const since = Date.parse(one.at) - Date.parse(made.at);
      return one.method === "GET" && one.path === path && since > 0 && since < lagMs;
    });
  });
}

const list = (value: unknown): Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);
/** The emulator's lists of objects. */
const LISTS = [...new Set(EACH_CASE.flatMap(({ campaign }) => campaign.lists))];
const nameOf = ({ id, domain, auth_provider_project_id: project }: Fields): string => String(id ?? domain ?? project);

const isShop = ({ id }: Fields): boolean => String(id).startsWith(SHOP);

/** The objects of a list. An integration of ours offers its OAuth providers by itself. */
const objectsIn = (project: Fields, name: string): Fields[] =>
  name === "oauth_providers" && !isShop(project) ? [] : list(project[name]);

/** Others' objects from before: those named in `known`, or all while that is empty. */
function othersOf({ projects }: { projects: Fields[] }, known: string): string {
  const records = projects.flatMap((project) =>
    LISTS.flatMap((name) =>
      objectsIn(project, name)
        .filter((one) => known === "" || known.includes(`"${nameOf(one)}"`))
        .map(({ transfer_token_hashes: _, ...one }) => JSON.stringify(one)),
    ),
  );
  return records.join("\n");
}

/** The remaining objects, as text with the declared values. */
function oursOf(
  { projects }: { projects: Fields[] },
  others: string,
  notCounted?: ReadonlySet<string>,
): { ours: string[]; ids: string[] } {
  const ours: string[] = [];
  const ids: string[] = [];
  for (const project of projects) {
    const own = (name: string) => objectsIn(project, name).filter((one) => !others.includes(`"${nameOf(one)}"`));
    const ended = project["deleted_endpoints"] as string[];
    const deleted = ended.filter((id) => notCounted?.has(id) !== true).length;
    if (deleted > 0) ours.push(`${deleted} computes deleted`);
    for (const { text, id } of EACH_CASE.flatMap(({ campaign }) => campaign.shown({ project, own }))) {
      ours.push(text);
      if (id !== undefined) ids.push(String(id));
    }
  }
  return { ours, ids };
}

const declared = (round: 1 | 2, besideColleague = false): string[] =>
  EACH_CASE.flatMap(({ campaign }) => campaign.declared({ round, besideColleague }));

/** The elements of the first that the second lacks, counted. */
function missing(wanted: readonly string[], there: readonly string[]): string[] {
  const left = [...there];
  return wanted.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

test.concurrent.each(chosen)("%s", async (name, fault) => {
  const campaign = await Campaign.begin(name, fault);
  const { stack } = campaign;
  try {
    // All at once: a resource that fails keeps those from being sent that are not begun. What a colleague took is seen by a refresh.
    const up = () => stack.up("--parallel", "32", ...(fault.colleague ? ["--refresh"] : []));
    campaign.program(1);
    await campaign.walk("up", up);
    await campaign.check("up", declared(1));
    campaign.program(2);
    await campaign.walk("change", up);
    await campaign.check("change", declared(2, fault.colleague));
    await campaign.walk("destroy", () => stack.destroy());
    // No more than were declared have ever been there; one of them was deleted by the colleague.
    await campaign.check("destroy", [`${fault.colleague ? 3 : 4} computes deleted`]);
  } finally {
    writeFileSync(join(SAID, `${name}.txt`), stack.said);
    await campaign.close();
  }
});

afterAll(() => {
  writeFileSync(join(ROOT, "test-results/faults.md"), report());
  if (WHOLE) process.stdout.write(`\n${report()}`);
});

/** Why the cell does not exist. */
const leftOut = (fault: Fault, route: string): string | undefined => fault.impossible?.(route) ?? fault.untold?.(route);

function report(): string {
  const routes = Object.keys(ROUTES);
  const row = (texts: readonly string[]) => `| ${texts.join(" | ")} |`;
  const notes = new Map<string, string>();
  let untold = 0;
  const rows = chosen.map(([name, fault]) =>
    row([
      name,
      ...routes.map((route) => {
        const why = leftOut(fault, route);
        if (why === undefined) return cells.get(cellOf(name, route)) ?? "not reached";
        const sign = fault.untold?.(route) === undefined ? "-" : "cannot be told";
        if (sign !== "-") untold += 1;
        notes.set(`\`${sign}\` ${name}: ${why}`, "");
        return sign;
      }),
    ]),
  );
  const figures = [...cells.values()];
  const sum = (what: keyof ReturnType<typeof noHarm>) => harms.flatMap((harm) => harm[what]).length;
  const counted = OUTCOMES.map((outcome) => `${figures.filter((one) => one === outcome).length} ${outcome}`);
  return [
    "# What each change does under each fault",
    "",
    "`retried`: sent again by itself. `found again`: the effect was looked for and found. `in words`: the command failed and said",
    "why, and the same command made it good. `by hand`: so, after what its message asked for. `no matter`: nothing happened.",
    "`left alone`: another one stood in the place of ours, stays, and the command goes on.",
    "",
    row([
      "fault",
      ...routes.map((route) => `\`${route.replace("/projects/{project_id}/", "…/").replace("/projects/", "…/")}\``),
    ]),
    row(["---", ...routes.map(() => "---")]),
    ...rows,
    "",
    ...[...notes.keys()].map((note) => `- ${note}`),
    "",
    `${chosen.length} faults, ${figures.length} cells: ${counted.join(", ")}. Beside them ${untold} that nothing can tell.`,
    `Lost: ${sum("lost")}. Made twice: ${sum("duplicated")}. Leaked: ${sum("leaked")}. Of others touched: ${sum("othersTouched")}. Unclear: ${sum("unclear")}.`,
    `Key sets and transfer urls asked for again: ${campaigns.reduce((total, one) => total + one.askedAgain, 0)}.`,
    "",
  ].join("\n");
}
