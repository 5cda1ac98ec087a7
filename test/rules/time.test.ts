import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { oauthProvider } from "../../src/resources/oauthProvider/oauthProviderLifecycle";
import { endpointId } from "../support/computeCases";
import { withIntegration, type State } from "../support/harness";
import { json, scene, type Reply } from "../support/rules/hostile";
import { COMPUTE } from "../kinds/ComputeEndpoint";
import { OAUTH_STANDARD } from "../kinds/OAuthProvider";
import { computesOf, ENDPOINT, ENDPOINTS, OAUTH, recordsOf } from "../support/rules/routes";
import { outcomeOf, wordsOf, type Outcome } from "../support/rules/steps";

const busy = (status: number, headers: Record<string, string> = {}): Reply => {
  const reply = json({ request_id: "req-4", code: "", message: "too many requests" }, status);
  return { ...reply, headers: { ...reply.headers, ...headers } };
};

describe("a read that is held off", () => {
  /**
   * The time of a read, instead of 30 s: enough for all its requests on a busy machine, and less than it is held off.
   */
  const READ_MS = 1_000;
  const HELD_MS = 2_000;

  test.each([
    ["429, which says nothing of when to come back", busy(429)],
    ["429, which asks to come back later than a read has time", busy(429, { "retry-after": "2" })],
    ["423", busy(423)],
  ])("by %s continues, and succeeds when the service is free again", async (_how, answer) => {
    const { given, network } = await scene(computeEndpoint, {}, { readDeadlineMs: READ_MS });
    const state = await given.create(COMPUTE);
    given.restart();
    const until = Date.now() + HELD_MS;
    network.on({ method: "GET", when: () => Date.now() < until, executed: false, answer });
    const found = await given.read(state);
    expect(Date.now()).toBeGreaterThanOrEqual(until);
    expect(found).toMatchObject({ id: state.id, outs: { size: 2 } });
  });

  test("continues for each of those who share the list", async () => {
    const { given, network } = await scene(oauthProvider, {}, { readDeadlineMs: READ_MS });
    await withIntegration(given);
    const state = await given.create(OAUTH_STANDARD);
    given.restart();
    const until = Date.now() + HELD_MS;
    network.on({ method: "GET", path: OAUTH, when: () => Date.now() < until, executed: false, answer: busy(429) });
    const found = await Promise.all([given.read(state), given.read(state), given.read(state)]);
    expect(found.map((one) => one?.id)).toEqual([state.id, state.id, state.id]);
  });

  test("is broken anyway when the service fails in any other way", async () => {
    // With all the time that a read has: it ends by its attempts, and as one that is held off it would outlast the test.
    const { given, network } = await scene(computeEndpoint, {}, { attemptTimeoutMs: 10_000 });
    const state = await given.create(COMPUTE);
    given.restart();
    network.arrived.splice(0);
    network.on({ method: "GET", executed: false, answer: busy(503) });
    expect(wordsOf(await outcomeOf(() => given.read(state)))).toMatch(/503/);
    expect(network.arrived).toHaveLength(12);
  });
});

describe("customTimeouts are counted once", () => {
  /** An operation takes this long, a suspension a third of it. */
  const STEP_MS = 1_300;

  const updated = async (seconds: number) => {
    const { given } = await scene(computeEndpoint, { activationMs: STEP_MS });
    const first = { ...COMPUTE, restartTriggers: [1], scaleToZero: true, __timeouts: { create: 20, update: seconds } };
    const state = await given.create(first);
    // A change that is applied, and then a restart: 1.3 s, 0.4 s and 1.3 s.
    const program = { ...first, restartTriggers: [2], scaleToZero: false };
    const outcome = await outcomeOf(() => given.update(state, program));
    return { given, state, outcome };
  };

  test("in an update of two steps, each of which has time enough by itself", async () => {
    const { given, state, outcome } = await updated(2);
    expect(wordsOf(outcome)).toMatch(/customTimeouts\.update/);
    expect(wordsOf(outcome)).toContain(endpointId(state));
    expect(outcome).toMatchObject({ kept: { id: state.id, outs: { __unfinished: "update", scaleToZero: false } } });
    expect(await computesOf(given)).toHaveLength(1);
  });

  test("and an update that has time for all of its steps ends well", async () => {
    const { outcome } = await updated(10);
    expect(outcome).toMatchObject({ ended: "well", state: { outs: { restartTriggers: [2], scaleToZero: false } } });
  });

  test("without the time in the queue behind another change of this program", async () => {
    const { given } = await scene(computeEndpoint, { activationMs: 1_600, lockProjects: true });
    const patient = { ...COMPUTE, __timeouts: { create: 3 } };
    // Each takes 1.6 s, so that the last one waits longer than it has time.
    const branches = ["br-dev", "br-test"].map((branchId) => ({ ...patient, branchId }));
    const made = await Promise.all(branches.map((program) => given.create(program)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(2);
  });
});

/** Every clock and timer of the provider, but none of the network. */
const stoppedClock = () =>
  jest.useFakeTimers({
    advanceTimers: true,
    doNotFake: ["nextTick", "setImmediate", "clearImmediate", "queueMicrotask", "Date"],
  });
const TURN_MS = 20;
/** Advances the time by seconds, with everything that becomes due. */
const pass = async (seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second += 1) {
    await jest.advanceTimersByTimeAsync(1_000);
    await turn();
  }
};
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    const until = Date.now() + TURN_MS;
    const look = (): void => void (Date.now() < until ? setImmediate(look) : resolve());
    look();
  });

describe("a POST that is answered long after its time is over", () => {
  afterEach(() => jest.useRealTimers());

  test.each([5, 20, 40])("by %d s ends in the state, and is not made twice", async (late) => {
    stoppedClock();
    const { given, network } = await scene(computeEndpoint, {}, { mutationAttemptTimeoutMs: 60_000 });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let executed = (): void => undefined;
    const wasExecuted = new Promise<void>((resolve) => (executed = resolve));
    network.on({
      method: "POST",
      path: ENDPOINTS,
      nth: 1,
      after: () => {
        executed();
        return held;
      },
    });
    const creating = outcomeOf(() => given.create({ ...COMPUTE, __timeouts: { create: 1 } }));
    await wasExecuted;
    await pass(1 + late);
    release();
    const outcome = await ended(creating, () => pass(1));
    const [made] = await computesOf(given);
    const state: State | undefined = outcome.ended === "well" ? outcome.state : outcome.kept;
    expect(state?.id).toBe(`prj-demo/${String(made?.["id"])}`);
    expect(await computesOf(given)).toHaveLength(1);
    expect(network.arrived.filter(({ method }) => method === "POST")).toHaveLength(1);
  });
});

/** The result of a step while time passes. */
async function ended(running: Promise<Outcome>, goOn: () => Promise<void>): Promise<Outcome> {
  let outcome: Outcome | undefined;
  void running.then((value) => (outcome = value));
  for (let turns = 0; outcome === undefined && turns < 300; turns += 1) await goOn();
  if (outcome === undefined) throw new Error("it never ended");
  return outcome;
}

describe("a change that is held off", () => {
  test("by another operation of the project is made when that has ended", async () => {
    const { given, network } = await scene(computeEndpoint);
    const state = await given.create(COMPUTE);
    network.on({ method: "PATCH", path: ENDPOINT, nth: 1, executed: false, answer: busy(423) });
    network.on({ method: "PATCH", path: ENDPOINT, nth: 1, executed: false, answer: busy(429) });
    const { outs } = await given.update(state, { ...COMPUTE, size: 4 });
    expect(outs["size"]).toBe(4);
    expect((await recordsOf(given, "operations")).some(({ action }) => action === "apply_config")).toBe(true);
  });
});

describe("a read that is held off", () => {
  afterEach(() => jest.useRealTimers());

  test("for ever shows a moving line, and ends with a message after two minutes more", async () => {
    const { given, network } = await scene(computeEndpoint);
    const created = await given.create(COMPUTE);
    stoppedClock();
    given.restart();
    given.log.splice(0);
    network.on({ method: "GET", executed: false, answer: busy(429, { "retry-after": "5" }) });
    const began = performance.now();
    const outcome = await ended(
      outcomeOf(() => given.read(created)),
      () => pass(1),
    );
    const seconds = (performance.now() - began) / 1_000;
    expect(wordsOf(outcome)).toMatch(/429/);
    expect(seconds).toBeGreaterThan(100);
    expect(seconds).toBeLessThan(200);
    expect(given.log.filter(({ ephemeral }) => ephemeral)).not.toEqual([]);
  });
});
