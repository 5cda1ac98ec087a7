/**
 * Rule 7 of docs/design/rules.md: everything secret leaves the provider marked. The cells are built from the
 * declarations: each secret argument in each form, and each secret output, through each history. The engine's handling
 * of marks is simulated.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Properties } from "../../src/contract/hiddenKeys";
import { EACH_CASE, KIND_CASES } from "../kinds";
import { DEMO, wholeIn, type KindCase } from "../kinds/KindCase";
import { sceneOf } from "../kinds/started";
import { cheapDigests } from "../support/cheapDigests";
import { annotated, asSecret, inClear, unmarked } from "../support/engineMarks";
import { urnOf, type Harness } from "../support/harness";
import { json, lost, type Hostile } from "../support/rules/hostile";

cheapDigests();

const folder = mkdtempSync(join(tmpdir(), "marked-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A value as a program gives it. */
interface Given {
  readonly secret: string;
  /** A name for each cell, because the cells run in parallel. */
  readonly name: string;
}

const fromEnv = ({ secret, name }: Given): unknown => {
  process.env[name] = secret;
  return { fromEnv: name };
};
const fromFile = ({ secret, name }: Given): unknown => {
  const path = join(folder, name);
  writeFileSync(path, secret);
  return { fromFile: path };
};
const FORMS = {
  literal: ({ secret }: Given): unknown => secret,
  "pulumi.secret": ({ secret }: Given): unknown => asSecret(secret),
  fromEnv,
  fromFile,
  "a secret fromEnv": (given: Given): unknown => asSecret(fromEnv(given)),
} as const;
type Form = keyof typeof FORMS;
const isForm = (to: Form | "nothing"): to is Form => to !== "nothing";

const FAULTS = {
  "goes well": () => undefined,
  "is answered 500": ({ on }: Hostile) => on({ when: isChange, executed: false, answer: SERVER_ERROR }),
  "is done, and nothing is heard of it": ({ on }: Hostile) => {
    let isDone = false;
    on({ when: (request) => isChange(request) && (isDone = true), answer: "reset" });
    on({ when: () => isDone, answer: lost });
  },
  "is done, and the command is killed": () => undefined,
  "meets an outage": ({ on }: Hostile) => on({ executed: false, answer: lost }),
} as const;
/** The last one is for a test of its own. */
type Fault = keyof typeof FAULTS | "fails afterwards";
const isChange = ({ method }: { method: string }): boolean => method !== "GET";
const SERVER_ERROR = json({ request_id: "req-1", code: "", message: "sorry" }, 500);

/** Work that cannot succeed times out soon; everything else has time, because many cells run concurrently. */
const timeoutsOf = (fault: Fault) => {
  const seconds = fault === "goes well" ? 60 : 1;
  return { __timeouts: { create: seconds, update: seconds, delete: 60, read: 60 } };
};

/** One resource and its state, as the engine keeps it: with the marks of the provider, and those of the program. */
class Life {
  id = "";
  #inputs: Properties = {};
  #outs: Properties = {};
  #isCalm = true;

  constructor(
    readonly kindCase: KindCase,
    readonly given: Harness,
    readonly network: Hostile,
    /** Whether the marks of the provider count. */
    public isMarked: boolean,
  ) {}

  /** All that can be read without the passphrase. */
  shown(): string {
    const { log, failures } = this.given;
    return [inClear(this.#inputs), inClear(this.#outs), ...log.map(({ message }) => message), ...failures].join("\n");
  }

  output(name: string): unknown {
    return unmarked(this.#outs)[name];
  }

  async up(program: Properties, fault: Fault = "goes well"): Promise<void> {
    const { given, network } = this;
    given.restart();
    const { provider } = given;
    const hidden = { __urn: urnOf(this.kindCase.kind), __provider: "pointer", ...timeoutsOf(fault) };
    const news = { ...program, ...hidden };
    const checked = await provider.check(unmarked(this.#inputs), unmarked(news));
    expect(checked.failures).toEqual([]);
    const inputs = this.#kept(checked.inputs ?? {}, news);
    if (this.id !== "") {
      const { changes, replaces = [] } = await provider.diff(this.id, unmarked(this.#outs), unmarked(inputs));
      // If the provider does not decide, the engine compares the inputs.
      const differs = changes ?? !isDeepStrictEqual(unmarked(this.#inputs), unmarked(inputs));
      if (!differs) return void (this.#inputs = inputs);
      if (replaces.length > 0) await this.#delete();
    }
    // What a fault has left may be refused later, with a message.
    if (fault !== "goes well") this.#isCalm = false;
    if (fault !== "fails afterwards") FAULTS[fault](network);
    const before = [this.id, this.#inputs, this.#outs] as const;
    try {
      if (this.id === "") {
        const { id, outs = {} } = await provider.create(unmarked(inputs));
        [this.id, this.#inputs, this.#outs] = [id, inputs, this.#kept(outs, inputs)];
      } else {
        const { outs = {} } = await provider.update(this.id, unmarked(this.#outs), unmarked(inputs));
        [this.#inputs, this.#outs] = [inputs, this.#kept(outs, inputs)];
      }
    } catch (error) {
      if (this.#isCalm) throw error;
      given.failures.push(String(error));
      const { id = "", properties } = error as { id?: string; properties?: Properties };
      if (properties !== undefined) {
        // After a partial update the old inputs stay.
        if (this.id === "") this.#inputs = inputs;
        [this.id, this.#outs] = [id, this.#kept(properties, inputs)];
      }
    }
    network.calm();
    if (fault === "is done, and the command is killed") [this.id, this.#inputs, this.#outs] = before;
  }

  async refresh(): Promise<void> {
    if (this.id === "") return;
    this.given.restart();
    const { id = "", props = {}, inputs = {} } = await this.given.provider.read(this.id, unmarked(this.#outs));
    if (id === "") return;
    [this.#inputs, this.#outs] = [this.#kept(inputs, this.#inputs), this.#kept(props, this.#outs)];
  }

  /** As `get` reads it: the state is empty. */
  async lookedUp(): Promise<string> {
    this.given.restart();
    const { props = {} } = await this.given.provider.read(this.id, {});
    return inClear(this.#kept(props, {}));
  }

  async #delete(): Promise<void> {
    await this.given.provider.delete(this.id, unmarked(this.#outs));
    this.id = "";
  }

  #kept(returned: object, given: Properties): Properties {
    return annotated(this.isMarked ? { ...returned } : unmarked(returned), given);
  }
}

/** An argument that contains a secret. */
interface Place {
  readonly kindCase: KindCase;
  readonly name: string;
  /** All of a program with this in its place; undefined: without it. */
  readonly holding: (value: unknown) => Properties;
  readonly forms: readonly Form[];
}

/** They are set with others, or not at all. */
const PAIRED = ["clientSecret", "password"];
const LITERALS: readonly Form[] = ["literal", "pulumi.secret"];
const EVERY_FORM = Object.keys(FORMS) as Form[];

const PLACES: readonly (readonly [title: string, place: Place])[] = [
  ...EACH_CASE.flatMap((kindCase) =>
    Object.entries(kindCase.secretArguments).map(([name, holding]): Place => {
      const { [name]: _own, ...others } = wholeIn(kindCase, DEMO);
      const without = PAIRED.includes(name) ? kindCase.least(DEMO) : others;
      return {
        kindCase,
        name,
        forms: !kindCase.byReference.includes(name) ? LITERALS : EVERY_FORM,
        // A test knows what it puts where.
        holding: (value) => (value === undefined ? without : { ...others, [name]: holding?.(value as string) }),
      };
    }),
  ),
  {
    kindCase: KIND_CASES.ComputeEndpoint,
    name: "name",
    forms: ["pulumi.secret"] as const,
    holding: (name: unknown): Properties => ({
      projectId: DEMO.projectId,
      branchId: DEMO.free,
      ...(name !== undefined && { name }),
    }),
  },
].map((place) => [`${place.kindCase.kind}.${place.name}`, place] as const);

let cells = 0;

interface Cell {
  readonly place: Place;
  readonly from: Form | "nothing";
  readonly isMarked?: boolean;
}

/** Where a value appears in plain text, by step. */
async function history(
  { place: { kindCase, name, holding }, isMarked = true }: Cell,
  steps: (life: Life, value: (form: Form, nth: number) => Properties) => AsyncGenerator<string>,
): Promise<string[]> {
  const { given, network } = await sceneOf(kindCase, { secretAnswers: "echo" });
  const life = new Life(kindCase, given, network, isMarked);
  const cell = (cells += 1);
  const secretOf = (nth: number): string => `canary-marks-${cell}-${nth}`;
  const value = (form: Form, nth: number): Properties =>
    holding(FORMS[form]({ secret: secretOf(nth), name: `SVC_MARKS_${name}_${cell}_${nth}` }));
  const leaks: string[] = [];
  for await (const step of steps(life, value)) if (life.shown().includes(`canary-marks-${cell}-`)) leaks.push(step);
  return leaks;
}

/** Which of these leak, by the name of the cell. */
async function leaksOf(cellsOf: readonly (readonly [string, Promise<string[]>])[]): Promise<string[]> {
  const found = await Promise.all(
    cellsOf.map(async ([title, leaks]) => (await leaks).map((step) => `${title}: ${step}`)),
  );
  return found.flat();
}

const changing = (cell: Cell, to: Form | "nothing", fault: Fault): Promise<string[]> =>
  history(cell, async function* (life, value) {
    const given = (form: Form | "nothing", nth: number): Properties =>
      isForm(form) ? value(form, nth) : cell.place.holding(undefined);
    await life.up(given(cell.from, 1));
    yield "created";
    const changed = given(to, 2);
    await life.up(changed, fault);
    yield "changed";
    await life.refresh();
    yield "refreshed";
    await life.up(changed);
    yield "changed again";
    await life.refresh();
    yield "refreshed again";
    // A name is a secret to the program alone that says so.
    const isOurs = cell.place.name !== "name" && life.id !== "" && cell.isMarked !== false;
    if (isOurs) expect(await life.lookedUp()).not.toContain("canary-marks");
  });

const EACH_FAULT = Object.keys(FAULTS) as (keyof typeof FAULTS)[];

const creating = (cell: Cell & { from: Form }, fault: Fault): Promise<string[]> =>
  history(cell, async function* (life, value) {
    await life.up(value(cell.from, 1), fault);
    yield "created";
    await life.refresh();
    yield "refreshed";
  });

describe.each(PLACES)("%s", (_title, place) => {
  test.each(place.forms)("given as %s is in plain text nowhere, whatever becomes of it", async (from) => {
    const targets = [...place.forms, "nothing"] as const;
    const all = EACH_FAULT.flatMap((fault) => [
      [`a creation that ${fault}`, creating({ place, from }, fault)] as const,
      [`a change from nothing that ${fault}`, changing({ place, from: "nothing" }, from, fault)] as const,
      ...targets.map((to) => [`a change to ${to} that ${fault}`, changing({ place, from }, to, fault)] as const),
    ]);
    expect(await leaksOf(all)).toEqual([]);
  });
});

const OUTPUTS = EACH_CASE.flatMap((kindCase) =>
  kindCase.secretOutputs.map((name) => [`${kindCase.kind}.${name}`, kindCase, name] as const),
);

test.each(OUTPUTS)("%s, which the service makes, is in plain text nowhere", async (_title, kindCase, name) => {
  const { given, network } = await sceneOf(kindCase, { secretAnswers: "echo" });
  const life = new Life(kindCase, given, network, true);
  await life.up(wholeIn(kindCase, DEMO));
  const secret = String(life.output(name));
  expect(secret.length).toBeGreaterThan(12);
  expect(life.shown()).not.toContain(secret);
  await life.refresh();
  expect(life.output(name)).toBe(secret);
  expect(life.shown()).not.toContain(secret);
  expect(await life.lookedUp().catch(String)).not.toContain(secret);
});

test.each(PLACES)(
  "%s of a state in plain text is marked by one refresh, and no plan shows it",
  async (_title, place) => {
    const from = place.forms.includes("literal") ? "literal" : "pulumi.secret";
    const leaks = await history({ place, from, isMarked: false }, async function* (life, value) {
      const program = unmarked(value(from, 1));
      await life.up(program);
      yield "created";
      life.isMarked = true;
      await life.refresh();
      // If the program gives a name in plain text, it is not a secret.
      if (place.name !== "name") yield "refreshed";
      await life.given.forgetRequests();
      await life.up(program);
      if (place.name !== "name") yield "again";
      expect(await life.given.mutations()).toEqual([]);
    });
    expect(leaks).toEqual(["created"]);
  },
);

test("a setting that somebody else has made is marked where its name, or its value, may be that of a secret", async () => {
  const kindCase = KIND_CASES.ComputeEndpoint;
  const { given, network } = await sceneOf(kindCase);
  const life = new Life(kindCase, given, network, true);
  await life.up({ ...kindCase.least(DEMO), settings: { pgSettings: { "app.given": "in-clear", work_mem: "4MB" } } });
  const secrets = { "app.signing_key": "canary-1", search_path: "postgres://u:canary-2@h/db", "app.given": "canary-3" };
  const harmless = { work_mem: "64MB", "app.token_ttl": "3600", "app.verbose": "on" };
  const [id] = [String(life.output("endpointId"))];
  await given.edit({ kind: "endpoint", id, set: { settings: { pg_settings: { ...secrets, ...harmless } } } });
  expect(life.shown()).toContain("in-clear");
  await life.refresh();
  expect(life.output("settings")).toMatchObject({ pgSettings: { ...secrets, ...harmless } });
  expect(life.shown()).not.toContain("canary");
  for (const value of ["64MB", '"3600"', '"on"']) expect(life.shown()).toContain(value);
});

const FAILING = {
  ComputeEndpoint: { operation: { action: "apply_config", status: "failed", error: "no capacity left" } },
  EmailServer: { method: "PATCH", merge: { host: "other.example.com" }, effect: "done" },
};
const MAIL = { ...KIND_CASES.EmailServer.least(DEMO), ...wholeIn(KIND_CASES.EmailServer, DEMO) };

/** The engine keeps the previous inputs, in which nothing is marked. */
test.each([
  ["ComputeEndpoint", "name", "plain", asSecret("canary-brought")],
  ["ComputeEndpoint", "restartTriggers", ["plain"], [asSecret("canary-brought")]],
  ["ComputeEndpoint", "settings", {}, { pgSettings: { "app.mode": asSecret("canary-brought") } }],
  ["ComputeEndpoint", "settings", {}, { pgSettings: { search_path: asSecret("canary-brought") } }],
  ["EmailServer", "username", "plain", asSecret("canary-brought")],
] as const)(
  "%s.%s: what a change has brought that failed afterwards is in plain text nowhere",
  async (kind, name, from, to) => {
    const kindCase = KIND_CASES[kind];
    const { given, network } = await sceneOf(kindCase);
    const life = new Life(kindCase, given, network, true);
    const others = kind === "EmailServer" ? MAIL : kindCase.least(DEMO);
    // Something else that changes, so that there is an operation to fail.
    const beside = kind === "EmailServer" ? {} : { size: 4 };
    await life.up({ ...others, [name]: from });
    await given.fault(FAILING[kind]);
    await life.up({ ...others, ...beside, [name]: to }, "fails afterwards");
    expect(given.failures).not.toEqual([]);
    expect(JSON.stringify(life.output(name))).toContain("canary-brought");
    for (const _again of [1, 2]) {
      await life.refresh();
      expect(life.shown()).not.toContain("canary");
    }
    // A plan keeps showing what cannot be meant.
    expect(life.shown()).toContain(DEMO.projectId);
  },
);

/**
 * Not every cell: the engine itself marks what a program keeps giving as a secret, and a reference has no value that
 * could leak.
 */
test("with the marks of the provider taken away, every row leaks in some cell, and literals leak in most", async () => {
  const rows = PLACES.flatMap(([title, place]) =>
    place.forms.map(async (from) => {
      const targets = (["literal", "nothing"] as const).filter((to) => !isForm(to) || place.forms.includes(to));
      const faults = from === "literal" ? EACH_FAULT : (["is done, and nothing is heard of it"] as const);
      const cell = { place, from, isMarked: false };
      const leaks = await Promise.all(
        faults.flatMap((fault) => targets.map(async (to) => (await changing(cell, to, fault)).length > 0)),
      );
      return { row: `${title} as ${from}`, from, leaks };
    }),
  );
  const found = await Promise.all(rows);
  expect(found.length).toBeGreaterThan(PLACES.length);
  expect(found.filter(({ leaks }) => !leaks.includes(true))).toEqual([]);
  const ofLiterals = found.flatMap(({ from, leaks }) => (from === "literal" ? leaks : []));
  const leaking = ofLiterals.filter((isLeaking) => isLeaking);
  expect(leaking.length / ofLiterals.length).toBeGreaterThan(0.8);
});
