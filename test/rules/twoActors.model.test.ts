/**
 * Two actors, our program and a colleague, and an unreliable network: whatever happens in whatever order, nothing of
 * the colleague is ours unless `adopt` says so, and the state matches the service.
 *
 * SVC_MODEL_RUNS and SVC_MODEL_SEED make longer or different runs; a failure prints the seed and the path, which
 * SVC_MODEL_SEED and SVC_MODEL_PATH take to repeat it.
 */
import fc from "fast-check";
import { KINDS, type Kind } from "../../src/contract/pointer";
import { KIND_CASES } from "../kinds";
import { WHOLE } from "../support/cli";
import { Colleague, homeOf, THEIR_CLIENT, type Deed } from "../support/rules/colleague";
import { HOWS, Network, type How } from "../support/rules/network";
import {
  changesIn,
  output,
  type Course,
  type Entry,
  type Outcome,
  type Program,
  type Stack,
} from "../support/rules/program";
import { atRest, branch, placeIn, world, type Json, type World } from "../support/rules/world";

/** The imitation of the engine (test/chance) plays two actors in each run, too. */
const RUNS = Number(process.env["SVC_MODEL_RUNS"] ?? (WHOLE ? 300 : 120));
const SEED = Number(process.env["SVC_MODEL_SEED"] ?? 20_240_801);
const PATH = process.env["SVC_MODEL_PATH"];
/** Concurrent, since most of the time is waiting. */
const LANES = 10;
const LAG_MS = 8;
/** No request times out because the machine is busy: only the network should be bad here. */
const CLIENT = { baseDelayMs: 1, lagMs: 30, pollCeilingMs: 15, attemptTimeoutMs: 10_000 };

const SITES = ["https://a.example.com", "https://b.example.com", "https://c.example.com"] as const;
const BASES = ["first", "second", "replica", "auth", "domain", "list", "provider", "mail", "user"] as const;

/** Kinds with parts of their own in the model. Of the others it knows what their case says: `least` and `standing`. */
const OWN_PARTS: readonly Kind[] = [
  ...(["ComputeEndpoint", "AuthIntegration", "Whitelist", "WhitelistDomain"] as const),
  ...(["OAuthProvider", "EmailServer", "AuthUser"] as const),
];
const OTHERS = KINDS.filter((kind) => !OWN_PARTS.includes(kind));

interface Primary {
  readonly branch: number;
  readonly size: 1 | 2;
  readonly adopt: boolean;
}

/** What our program declares; omitted: not in the program. */
interface Wanted {
  readonly auth?: "own" | "adopt" | undefined;
  readonly first?: Primary;
  readonly second?: Primary;
  readonly replica?: { readonly branch: 1 | 2; readonly size: 1 | 2 };
  readonly domains: readonly string[];
  /** One resource for each domain, named by its index or by itself, or one for all. */
  readonly form: "by index" | "by name" | "whole";
  readonly adoptDomains: boolean;
  readonly provider?: { readonly secret: "x" | "y"; readonly adopt: boolean };
  readonly mail?: "one" | "two";
  readonly user?: string;
  readonly others: readonly Kind[];
  /** What has its other name, and whether the program says which one it had before. */
  readonly renamed: readonly (typeof BASES)[number][];
  readonly aliased: boolean;
}

const PARTS = [
  ...["auth", "first", "second", "replica", "domains", "form"],
  ...["adoptDomains", "provider", "mail", "user", "others", "renamed", "aliased"],
] as readonly (keyof Wanted)[];

interface Trouble {
  readonly on: "reads" | "changes";
  readonly at: number;
  readonly how: How;
}

interface Step {
  readonly command: "up" | "refresh" | "destroy" | "colleague";
  readonly wanted: Wanted;
  /** What of it takes the place of what the program had; the first program has all of it. */
  readonly changes: readonly (keyof Wanted)[];
  readonly seed: number;
  readonly troubles: readonly Trouble[];
  /**
   * What the colleague does: by himself, or while the change of this number is on its way. He replaces the integration
   * right before the list of integrations of this number (between two requests of ours), or after the trouble of this
   * number (between two attempts of one).
   */
  readonly deed: Deed;
  readonly deedAt: number | null;
}

function programOf(projectId: string, wanted: Wanted): Program {
  const { auth, first, second, replica, domains, form, adoptDomains, provider, mail, user, others } = wanted;
  const { renamed, aliased } = wanted;
  const __timeouts = { create: 4, update: 4, delete: 4 };
  /** `which`: one of several of this base. */
  const called = (base: (typeof BASES)[number], which: number | string = "") => {
    const names = [`${base}${which}`, `${base}${which}-b`];
    const [name = base, other = base] = renamed.includes(base) ? names.reverse() : names;
    return { name, ...(aliased && { aliases: [other] }) };
  };
  const at = ({ branch: n, ...rest }: { branch: number }) => ({
    projectId,
    branchId: branch(projectId, n),
    ...rest,
    __timeouts,
  });
  const integration = called("auth");
  const inAuth = { projectId: output(integration.name, "projectId"), __timeouts };
  const singles: Program = domains.map((domain, i) => ({
    kind: "WhitelistDomain",
    ...called("domain", form === "by index" ? i : SITES.findIndex((known) => known === domain) + 10),
    inputs: { ...inAuth, domain, ...(adoptDomains && { adopt: true }) },
  }));
  const least = (isChild: boolean): Program =>
    others
      .map((kind) => KIND_CASES[kind])
      .filter(({ inIntegration }) => inIntegration === isChild)
      .map((kindCase) => ({
        kind: kindCase.kind,
        name: kindCase.kind,
        inputs: { ...kindCase.least(placeIn(projectId)), ...(isChild ? inAuth : { __timeouts }) },
      }));
  const children: Program = [
    ...least(true),
    ...(form === "whole"
      ? [{ kind: "Whitelist" as const, ...called("list"), inputs: { ...inAuth, domains } }]
      : singles),
    ...(provider === undefined
      ? []
      : [
          {
            kind: "OAuthProvider" as const,
            ...called("provider"),
            inputs: {
              ...inAuth,
              providerId: "own",
              ...credentials(provider.secret),
              ...(provider.adopt && { adopt: true }),
            },
          },
        ]),
    ...(mail === undefined
      ? []
      : [{ kind: "EmailServer" as const, ...called("mail"), inputs: { ...inAuth, ...server(mail) } }]),
    ...(user === undefined
      ? []
      : [{ kind: "AuthUser" as const, ...called("user"), inputs: { ...inAuth, email: user } }]),
  ];
  // Two primaries of one branch are refused by the plan, which is tested elsewhere.
  const isTwin = second !== undefined && second.branch === first?.branch;
  const computes = [
    ["first", first],
    ["second", isTwin ? { ...second, branch: (second.branch % 4) + 1 } : second],
    ["replica", replica && { ...replica, type: "read_only" }],
  ] as const;
  return [
    ...least(false),
    ...computes.flatMap(([base, given]) =>
      given === undefined ? [] : [{ kind: "ComputeEndpoint" as const, ...called(base), inputs: at(given) }],
    ),
    ...(auth === undefined
      ? []
      : [
          {
            kind: "AuthIntegration" as const,
            ...integration,
            inputs: { projectId, __timeouts, ...(auth === "adopt" ? { adopt: true } : { databaseName: "ours" }) },
          },
          ...children,
        ]),
  ];
}

/** What the program of a step wants, based on what it wanted before. */
function changed(had: Wanted | undefined, { wanted, changes }: Step): Wanted {
  if (had === undefined) return wanted;
  // Each part is that of one of the two.
  return Object.fromEntries(
    PARTS.map((part) => [part, (changes.includes(part) ? wanted : had)[part]]),
  ) as unknown as Wanted;
}

const credentials = (secret: string) => ({ clientId: `id-${secret}`, clientSecret: `secret-${secret}` });
const server = (mail: string) => ({
  type: "standard",
  host: `${mail}.example.com`,
  port: 587,
  username: "u",
  password: `password-${mail}`,
  senderEmail: "o@example.com",
  senderName: "O",
});

/** The differences between an entry of the state and the service; `own`: also from the declaration. */
async function differences(
  given: World,
  projectId: string,
  entries: readonly Entry[],
  own: boolean,
): Promise<string[]> {
  const held = await given.holdings(projectId);
  const list = (name: string) => held[name] as Json[];
  const [integration] = list("integrations");
  const home = integration === undefined ? undefined : String(integration["auth_provider_project_id"]);
  return entries.flatMap((entry) => {
    const { kind, name, inputs, outs } = entry;
    const [, rest = ""] = entry.id.split(/\/(.*)/s);
    const gone = [`"${name}" (${kind} ${entry.id}) is in the state, and not at the service`];
    const values = own ? inputs : outs;
    const compare = (shown: Record<string, unknown>): string[] =>
      Object.entries(shown).flatMap(([key, value]) =>
        values[key] === undefined || JSON.stringify(values[key]) === JSON.stringify(value)
          ? []
          : [
              `"${key}" of "${name}" is ${JSON.stringify(values[key])} ${own ? "as declared" : "in the state"}, and ${JSON.stringify(value)} at the service`,
            ],
      );
    if (OTHERS.includes(kind)) {
      const { inIntegration, deletion, standing } = KIND_CASES[kind];
      const isGone = inIntegration ? homeOf(entry) !== home : false;
      return isGone || (deletion !== undefined && standing(held, entry).length === 0) ? gone : [];
    }
    if (kind === "ComputeEndpoint") {
      const record = list("endpoints").find(({ id }) => id === rest);
      if (record === undefined) return gone;
      const [min, max] = [record["autoscaling_limit_min_cu"], record["autoscaling_limit_max_cu"]];
      return compare({ branchId: record["branch_id"], size: min === max ? min : { min, max }, type: record["type"] });
    }
    const here = homeOf(entry);
    if (here !== undefined && here !== home) return gone;
    if (kind === "AuthIntegration") return compare({ databaseName: integration?.["db_name"] });
    if (kind === "AuthUser") {
      const record = list("users").find(({ id }) => id === rest);
      return record === undefined ? gone : compare({ email: record["email"] });
    }
    if (kind === "Whitelist") {
      // A set: in the order of the program as far as it is one.
      const domains = list("domains").map(({ domain }) => String(domain));
      const declared = Array.isArray(values["domains"]) ? values["domains"].map(String) : [];
      const isSame = domains.length === declared.length && declared.every((domain) => domains.includes(domain));
      return home === undefined ? gone : isSame ? [] : compare({ domains });
    }
    if (kind === "WhitelistDomain") return list("domains").some(({ domain }) => domain === rest) ? [] : gone;
    if (kind === "OAuthProvider") {
      const record = list("oauth_providers").find(({ id }) => id === rest);
      if (record === undefined) return gone;
      // One that he has put in the place of ours: no list shows its credentials.
      const clientId = record["client_id"] === THEIR_CLIENT ? undefined : record["client_id"];
      return compare({ type: record["type"], ...(clientId !== undefined && { clientId }) });
    }
    // The one mail server is there as long as the integration is.
    const { host } = held["email_server"] as Json;
    return home === undefined ? gone : compare({ host });
  });
}

/** Which of these deleted objects still exist at the service; objects in another entry of the state may. */
async function remaining(
  given: World,
  projectId: string,
  deleted: readonly Entry[],
  state: readonly Entry[],
): Promise<string[]> {
  const held = await given.holdings(projectId);
  const [integration] = held["integrations"] as Json[];
  const standing = (entry: Entry): readonly string[] => KIND_CASES[entry.kind].standing(held, entry);
  // What is in another integration was none of ours, whatever its name.
  const isHere = (entry: Entry): boolean =>
    !KIND_CASES[entry.kind].inIntegration ||
    (integration !== undefined && [undefined, integration["auth_provider_project_id"]].includes(homeOf(entry)));
  const kept = new Set(state.flatMap(standing));
  return deleted
    .filter((entry) => isHere(entry) && standing(entry).some((object) => !kept.has(object)))
    .map(({ name, kind, id }) => `"${name}" (${kind} ${id}) still stands`);
}

/** One run: the steps, the assertions after each, and a quiet end after all of them. */
async function play(given: World, network: Network, projectId: string, steps: readonly Step[]): Promise<void> {
  await given.project(projectId);
  const colleague = new Colleague(given, projectId);
  const stack = given.stack(CLIENT, network.baseUrl);
  let wants: Wanted | undefined;
  let last: Program = [];
  let failures = 0;
  /** His edits that a refresh has shown. */
  let known = 0;
  /**
   * What no list tells of: whether a user is there whose deletion has failed, and which credentials a provider has that
   * two entries of the state hold, after a rename whose up has failed.
   */
  const doubtful = new Set<string>();
  const hold = async (when: string, at: Stack, clears: boolean): Promise<void> => {
    const complaints = await colleague.complaints(at, clears);
    if (complaints.length > 0) throw new Error(`${when}: ${complaints.join("; ")}`);
  };
  /** A creation takes over the one mail server, and with adopt the provider: also where its answer was lost. */
  const forgetCreatedOver = ({ steps: taken }: Outcome): void => {
    if (taken.some((what) => what.startsWith("create mail"))) colleague.mails.clear();
    if (taken.some((what) => what.startsWith("create provider")) && wants?.provider?.adopt === true)
      colleague.credentials.clear();
  };
  const beside =
    (step: Step) =>
    async (n: number): Promise<void> => {
      if (n === step.deedAt) await colleague.act(step.deed, stack, true);
    };
  for (const [i, step] of steps.entries()) {
    const when = `step ${i} (${step.command})`;
    if (step.command === "colleague") {
      await colleague.act(step.deed, stack, false);
      // Long enough ago for every list: what he did at the same moment is played beside a command.
      await pause(LAG_MS + 2);
      continue;
    }
    const bySort = (on: Trouble["on"]) =>
      new Map(step.troubles.filter((t) => t.on === on).map(({ at, how }) => [at, how]));
    const besides = { [step.deed.do === "replace" ? step.deed.at : "onChange"]: beside(step) };
    network.set(projectId, { reads: bySort("reads"), changes: bySort("changes"), ...besides });
    const { removals, edits } = colleague;
    const before = stack.state;
    if (step.command === "up") {
      wants = changed(wants, step);
      last = programOf(projectId, wants);
    }
    const done = await command(stack, step, last);
    await network.calm(projectId);
    forgetCreatedOver(done);
    // A Whitelist clears the list of the integration that it was made in.
    const home = await colleague.home();
    const isHere = (entry: Entry): boolean => [undefined, home].includes(homeOf(entry));
    const isCleared = (entry: Entry): boolean =>
      entry.kind === "Whitelist" && (isHere(entry) || done.errors.length > 0);
    await hold(when, stack, step.command === "up" && stack.state.some(isCleared));
    failures += done.errors.length;
    for (const { kind, name, id } of stack.state) {
      const isTwin = stack.state.filter((entry) => entry.kind === kind && entry.id === id).length > 1;
      if (kind === "AuthUser" && done.steps.includes(`delete ${name}`)) doubtful.add(id);
      if (kind === "OAuthProvider" && isTwin) doubtful.add(id);
    }
    if (done.errors.length > 0) continue;
    if (step.command === "refresh") known = edits;
    if (step.command === "destroy") expect(stack.state).toEqual([]);
    if (step.deedAt === null) {
      const deleted = before.filter(({ name }) => done.steps.includes(`delete ${name}`));
      const wrong = await remaining(given, projectId, deleted, stack.state);
      if (wrong.length > 0) throw new Error(`${when}, which was green: ${wrong.join("; ")}`);
    }
    // What was made or changed without a word stands there, as declared; but for what he did meanwhile.
    if (step.command !== "up" || colleague.removals !== removals || step.deedAt !== null) continue;
    // An update sends what differs from the state, so what he changed before it may stay until a refresh finds it.
    const verbs = colleague.edits === known ? ["create", "update"] : ["create"];
    const touched = stack.state.filter(({ name }) => verbs.some((verb) => done.steps.includes(`${verb} ${name}`)));
    const wrong = await differences(given, projectId, touched, true);
    if (wrong.length > 0) throw new Error(`${when}, which was green: ${wrong.join("; ")}`);
  }
  await pause(LAG_MS + 2);
  await atRest(given, projectId);

  // From here on nothing stands between.
  const calm = given.stack(CLIENT);
  calm.state = stack.state;
  const course: Course = { seed: 1, preview: "none", jitterMs: 2 };
  const clears = last.some(({ kind }) => kind === "Whitelist");
  const seen = (entries: readonly Entry[]) => entries.filter(({ id }) => !doubtful.has(id));
  expect((await calm.refresh(course)).errors).toEqual([]);
  await hold("the refresh before the last up", calm, false);
  const end = await calm.up(last, course);
  failures += end.errors.length;
  await pause(LAG_MS + 2);
  forgetCreatedOver(end);
  await hold("the last up", calm, clears);
  expect((await calm.refresh(course)).errors).toEqual([]);
  const wrong = await differences(given, projectId, seen(calm.state), false);
  if (wrong.length > 0) throw new Error(`the last refresh: ${wrong.join("; ")}`);
  if (end.errors.length === 0) {
    const undeclared = await differences(given, projectId, seen(calm.state), true);
    if (undeclared.length > 0) throw new Error(`the last up, which was green: ${undeclared.join("; ")}`);
    const again = await calm.up(last, course);
    expect([...again.errors, ...changesIn(again)]).toEqual([]);
  }
  const before = calm.state;
  expect((await calm.destroy(course)).errors).toEqual([]);
  await hold("the last destroy", calm, false);
  expect(await remaining(given, projectId, before, [])).toEqual([]);
  // Where every command was green, nothing of ours is left behind.
  if (failures > 0) return;
  const left = (await given.computes(projectId))
    .map(({ id }) => String(id))
    .filter((id) => !colleague.computes.has(id));
  expect(left).toEqual([]);
}

function command(stack: Stack, step: Step, program: Program): Promise<Outcome> {
  const course = { seed: step.seed, jitterMs: 8 };
  if (step.command === "up") return stack.up(program, course);
  return step.command === "refresh" ? stack.refresh(course) : stack.destroy(course);
}

/** Ordinary records, which print readably. */
const PLAIN = { noNullPrototype: true } as const;

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const size = fc.constantFrom(1 as const, 2 as const);
const site = fc.constantFrom(...SITES);
const address = fc.constantFrom("ann@example.com", "bob@example.com");
const branchNumber = fc.integer({ min: 1, max: 4 });
const primary = fc.record({ branch: branchNumber, size, adopt: fc.boolean() }, PLAIN);
const wanted: fc.Arbitrary<Wanted> = fc.record(
  {
    auth: fc.constantFrom("own" as const, "own" as const, "own" as const, "adopt" as const, undefined),
    first: primary,
    second: primary,
    replica: fc.record({ branch: fc.constantFrom(1 as const, 2 as const), size }, PLAIN),
    domains: fc.uniqueArray(site, { maxLength: 3 }),
    form: fc.constantFrom("by index" as const, "by name" as const, "whole" as const),
    adoptDomains: fc.boolean(),
    provider: fc.record({ secret: fc.constantFrom("x" as const, "y" as const), adopt: fc.boolean() }, PLAIN),
    mail: fc.constantFrom("one" as const, "two" as const),
    user: address,
    others: fc.subarray([...OTHERS]),
    // Mostly nothing.
    renamed: fc.oneof(fc.constant([]), fc.constant([]), fc.subarray([...BASES], { maxLength: 4 })),
    aliased: fc.boolean(),
  },
  { requiredKeys: ["auth", "domains", "form", "adoptDomains", "others", "renamed", "aliased"], ...PLAIN },
);
const which = fc.integer({ min: 0, max: 5 });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ do: fc.constantFrom("primary" as const, "replica" as const), branch: branchNumber }, PLAIN),
  fc.record({ do: fc.constantFrom("delete compute" as const, "resize compute" as const), which }, PLAIN),
  fc.record({ do: fc.constantFrom("add domain" as const, "remove domain" as const), domain: site }, PLAIN),
  fc.record({ do: fc.constantFrom("add provider" as const, "remove provider" as const) }, PLAIN),
  fc.record(
    { do: fc.constantFrom("add user" as const, "add user" as const, "remove user" as const), email: address },
    PLAIN,
  ),
  fc.record({ do: fc.constantFrom("integrate" as const, "disintegrate" as const, "mail" as const) }, PLAIN),
  fc.record(
    {
      do: fc.constant("replace" as const),
      at: fc.constantFrom("onList" as const, "onTrouble" as const),
      domains: fc.uniqueArray(site, { maxLength: 3 }),
    },
    PLAIN,
  ),
);
const trouble: fc.Arbitrary<Trouble> = fc.record({
  on: fc.constantFrom("reads" as const, "changes" as const, "changes" as const),
  at: fc.nat({ max: 5 }),
  how: fc.constantFrom(...HOWS),
});
const step: fc.Arbitrary<Step> = fc.record(
  {
    command: fc.constantFrom(...(["up", "up", "up", "up", "refresh", "destroy", "colleague", "colleague"] as const)),
    wanted,
    changes: fc.oneof(
      fc.constant(PARTS),
      ...[2, 4].map((maxLength) => fc.subarray([...PARTS], { minLength: 1, maxLength })),
    ),
    seed: fc.nat({ max: 1_000 }),
    troubles: fc.array(trouble, { maxLength: 3 }),
    deed,
    deedAt: fc.option(fc.nat({ max: 4 }), { freq: 2 }),
  },
  PLAIN,
);

test("nothing of a colleague's becomes ours or is deleted by us, and what our state says is what the service shows", async () => {
  const lanes = await Promise.all(
    Array.from({ length: PATH === undefined ? LANES : 1 }, async () => {
      const given = await world({ listLagMs: LAG_MS });
      return { given, network: await Network.before(given.baseUrl) };
    }),
  );
  const settings = PATH === undefined ? { numRuns: Math.ceil(RUNS / lanes.length) } : { numRuns: 1, path: PATH };
  try {
    const ends = await Promise.allSettled(
      lanes.map(({ given, network }, lane) => {
        const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async (steps) => {
          await given.reset();
          await play(given, network, "prj-model", steps);
        });
        // A shrink takes minutes here and hardly repeats what depends on time: the run itself is printed.
        return fc.assert(property, { ...settings, seed: SEED + lane, endOnFailure: true });
      }),
    );
    // All have ended: nothing of another lane runs into the next test.
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  } finally {
    for (const { network } of lanes) network.close();
  }
}, 600_000);

describe("what the colleague does beside a change of ours", () => {
  const PROJECT = "prj-model";
  const opened: Network[] = [];
  afterEach(() => opened.splice(0).forEach((network) => network.close()));

  /** He has begun, after the trouble of our first change, and goes on until he is let. */
  async function begun(events: string[]) {
    const given = await world();
    await given.project(PROJECT);
    const network = await Network.before(given.baseUrl);
    opened.push(network);
    const [hasBegun, isLet] = [deferred(), deferred()];
    const onTrouble = async () => {
      hasBegun.resolve();
      await isLet.promise;
      events.push("he has ended");
    };
    network.set(PROJECT, { reads: new Map(), changes: new Map([[0, "lost"] as const]), onTrouble });
    const ask = (method: string, path: string, signal?: AbortSignal) =>
      fetch(`${network.baseUrl}/projects/${PROJECT}/${path}`, {
        method,
        headers: { authorization: `Bearer ${given.apiKey}` },
        ...(signal !== undefined && { signal }),
      });
    const ours = new AbortController();
    const change = ask("POST", "auth/domains", ours.signal);
    const isLost = expect(change).rejects.toThrow();
    await hasBegun.promise;
    return { network, ask, letHim: isLet.resolve, giveUp: () => ours.abort(), isLost };
  }

  test("has ended before his things are looked at, also where we have given that change up", async () => {
    const events: string[] = [];
    const { network, letHim, giveUp, isLost } = await begun(events);
    giveUp();
    await isLost;
    const calm = network.calm(PROJECT).then(() => events.push("calm"));
    await pause(20);
    letHim();
    await calm;
    expect(events).toEqual(["he has ended", "calm"]);
  });

  test("is not seen in the middle by other requests of ours", async () => {
    const events: string[] = [];
    const { ask, letHim, isLost } = await begun(events);
    const read = ask("GET", "branches").then(({ status }) => events.push(`read: ${status}`));
    await pause(50);
    letHim();
    await Promise.all([read, isLost]);
    expect(events).toEqual(["he has ended", "read: 200"]);
  });
});
