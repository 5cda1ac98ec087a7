import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import type { Properties } from "../../../src/contract/hiddenKeys";
import { allAtService, computes, DEMO_PRIMARY, editByHand, endpointId, put } from "../../support/computeCases";
import { PROJECT, thrownBy, type Harness, type Json, type State } from "../../support/harness";

/** What can be said of a compute, in the words of the service: written by hand, apart from the code under test. */
interface Facts {
  branch_id: string;
  limits: readonly [min: number, max: number];
  suspend_timeout_seconds: number;
  name: string;
  pooler_enabled: boolean;
}
type Fact = keyof Facts;

interface Model {
  /** What the program gives; undefined while nothing is in the state. */
  declared: Partial<Facts> | undefined;
  /** What the state holds of each fact. */
  stored: Partial<Facts>;
  /** What the service has; undefined when somebody has deleted it. */
  service: Partial<Facts> | undefined;
}

interface Real {
  compute: Harness;
  state: State | undefined;
}

function inputsOf({ branch_id, limits, suspend_timeout_seconds: seconds, name, pooler_enabled }: Partial<Facts>) {
  return {
    projectId: PROJECT,
    branchId: branch_id,
    ...(limits && { size: limits[0] === limits[1] ? limits[0] : { min: limits[0], max: limits[1] } }),
    ...(seconds !== undefined && {
      scaleToZero: seconds < 0 ? false : seconds === 0 ? true : { afterSeconds: seconds },
    }),
    ...(name !== undefined && { name }),
    ...(pooler_enabled !== undefined && { poolerEnabled: pooler_enabled }),
  } satisfies Properties;
}

function onTheWire({ limits, ...rest }: Partial<Facts>): Json {
  return {
    ...rest,
    ...(limits && { autoscaling_limit_min_cu: limits[0], autoscaling_limit_max_cu: limits[1] }),
  };
}

const BY_DEFAULT: Partial<Facts> = { limits: [0.25, 2], suspend_timeout_seconds: 0, pooler_enabled: false };

async function own({ compute }: Real): Promise<Json | undefined> {
  const others = (await allAtService(compute)).filter(({ id }) => id !== DEMO_PRIMARY);
  expect(others.length).toBeLessThanOrEqual(1);
  return others[0];
}

async function compareWithService(model: Model, real: Real): Promise<void> {
  const record = await own(real);
  if (model.service === undefined) return expect(record).toBeUndefined();
  expect(record).toMatchObject(onTheWire(model.service));
  expect(record).not.toHaveProperty("pending_state");
}

const stateOf = ({ state }: Real): State => {
  if (state === undefined) throw new Error("nothing is in the state");
  return state;
};

type Command = fc.AsyncCommand<Model, Real>;

/** `pulumi up` with other arguments. */
class Up implements Command {
  constructor(readonly wanted: Partial<Facts>) {}
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    const inputs = inputsOf(this.wanted);
    const { compute } = real;
    expect(await compute.check(inputs)).toEqual([]);
    if (model.declared === undefined) {
      real.state = await compute.create(inputs);
      model.service = { ...BY_DEFAULT, ...this.wanted };
    } else {
      const state = stateOf(real);
      const { changes, replaces } = await compute.diff(state, inputs);
      expect(replaces).toEqual([]);
      const differs = Object.entries(this.wanted).some(
        ([name, value]) => !isDeepStrictEqual(model.stored[name as Fact], value),
      );
      const sameNames = isDeepStrictEqual(Object.keys(model.declared).sort(), Object.keys(this.wanted).sort());
      expect(changes === false).toBe(!differs && sameNames);
      if (changes === false) return;
      if (model.service === undefined) {
        expect((await thrownBy(compute.update(state, inputs))).message).toMatch(/it no longer exists/);
        return;
      }
      await compute.forgetRequests();
      real.state = await compute.update(state, inputs);
      const { declared, stored, service } = model;
      // The state of an attribute that was not managed before may be old: there the service is asked.
      const sent = (Object.keys(this.wanted) as Fact[]).filter(
        (name) =>
          !isDeepStrictEqual(stored[name], this.wanted[name]) ||
          (!(name in declared) && !isDeepStrictEqual(service[name], this.wanted[name])),
      );
      expect(await compute.mutations()).toHaveLength(sent.length > 0 ? 1 : 0);
      for (const name of sent) Object.assign(service, { [name]: this.wanted[name] });
    }
    model.declared = this.wanted;
    model.stored = { ...model.service, ...this.wanted };
    await compareWithService(model, real);
    expect((await compute.diff(stateOf(real), inputs)).changes).toBe(false);
  }
  toString = () => `up(${JSON.stringify(this.wanted)})`;
}

/** Somebody changes it in the console. */
class EditByHand implements Command {
  constructor(readonly facts: Partial<Facts>) {}
  check = ({ service }: Readonly<Model>) => service !== undefined;
  async run(model: Model, real: Real): Promise<void> {
    await editByHand(real.compute, endpointId(stateOf(real)), onTheWire(this.facts));
    Object.assign(model.service ?? {}, this.facts);
  }
  toString = () => `editByHand(${JSON.stringify(this.facts)})`;
}

class DeleteByHand implements Command {
  check = ({ service }: Readonly<Model>) => service !== undefined;
  async run(model: Model, real: Real): Promise<void> {
    await real.compute.edit({ kind: "endpoint", id: endpointId(stateOf(real)), delete: true });
    model.service = undefined;
  }
  toString = () => "deleteByHand";
}

/** It sleeps or wakes by itself. */
class Rest implements Command {
  constructor(readonly action: "start" | "suspend") {}
  check = ({ service }: Readonly<Model>) => service !== undefined;
  async run(_model: Model, real: Real): Promise<void> {
    await put(real.compute, endpointId(stateOf(real)), this.action);
  }
  toString = () => this.action;
}

/** `pulumi refresh`, in a process of its own. */
class Refresh implements Command {
  check = ({ declared }: Readonly<Model>) => declared !== undefined;
  async run(model: Model, real: Real): Promise<void> {
    real.compute.restart();
    await real.compute.forgetRequests();
    real.state = await real.compute.read(stateOf(real));
    expect(await real.compute.mutations()).toEqual([]);
    expect(real.state === undefined).toBe(model.service === undefined);
    const { declared = {}, service } = model;
    if (real.state === undefined || service === undefined) {
      model.declared = undefined;
      return;
    }
    model.stored = { ...service };
    const drifted = (Object.keys(declared) as Fact[]).some((name) => !isDeepStrictEqual(declared[name], service[name]));
    expect((await real.compute.diff(real.state, inputsOf(declared))).changes === false).toBe(!drifted);
  }
  toString = () => "refresh";
}

class Destroy implements Command {
  check = ({ declared }: Readonly<Model>) => declared !== undefined;
  async run(model: Model, real: Real): Promise<void> {
    await real.compute.delete(stateOf(real));
    real.state = undefined;
    model.declared = undefined;
    model.service = undefined;
    await compareWithService(model, real);
  }
  toString = () => "destroy";
}

const size = fc.constantFrom(0.25, 1, 2, 8, 16);
const facts = {
  branch_id: fc.constantFrom("br-dev", "br-test"),
  limits: fc.tuple(size, size).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
  // Not 300, which is the same as 0.
  suspend_timeout_seconds: fc.constantFrom(-1, 0, 60, 900),
  name: fc.constantFrom("orders", "reports"),
  pooler_enabled: fc.boolean(),
};
const wanted = fc.record(facts, { requiredKeys: ["branch_id"] });
const edited = fc.record(facts, { requiredKeys: [] });

test("whatever is declared, changed by hand, refreshed and destroyed in whatever order: managed arguments stand as declared, and drift is found exactly there", async () => {
  const commands = fc.commands(
    [
      wanted.map((given) => new Up(given)),
      wanted.map((given) => new Up(given)),
      edited.map((given) => new EditByHand(given)),
      fc.constantFrom("start" as const, "suspend" as const).map((action) => new Rest(action)),
      fc.constant(new Refresh()),
      fc.constant(new Refresh()),
      fc.constant(new DeleteByHand()),
      fc.constant(new Destroy()),
    ],
    { maxCommands: 14 },
  );
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const compute = await computes({ activationMs: 2 }, { pollCeilingMs: 5, lagMs: 30 });
      const setup = () => ({
        model: { declared: undefined, stored: {}, service: undefined } satisfies Model as Model,
        real: { compute, state: undefined } satisfies Real as Real,
      });
      await fc.asyncModelRun(setup, sequence);
    }),
    { numRuns: 30, endOnFailure: true },
  );
}, 120_000);
