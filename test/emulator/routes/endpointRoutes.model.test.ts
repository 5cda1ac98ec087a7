import fc from "fast-check";
import { startEmulator, type Emulator } from "../../../src/emulator";
import { api, control, DEMO, records } from "../../support/emulator";

/** What the rules of docs/design/api.md, Compute routes, say must be there: each compute by id, with its branch and kind. */
interface Model {
  computes: Map<string, { branch: string; primary: boolean }>;
}
type Step = fc.AsyncCommand<Model, Emulator>;

const BRANCHES = ["br-main", "br-dev", "br-test"];
const hasPrimary = (model: Model, branch: string): boolean =>
  [...model.computes.values()].some((compute) => compute.primary && compute.branch === branch);
const nth = (model: Model, index: number) => [...model.computes.entries()][index % model.computes.size];

class Create implements Step {
  constructor(
    readonly branch: string,
    readonly primary: boolean,
  ) {}
  check = () => true;
  async run(model: Model, emulator: Emulator): Promise<void> {
    const type = this.primary ? "read_write" : "read_only";
    const { status, body } = await api(emulator, "POST", `${DEMO}/endpoints`, {
      endpoint: { branch_id: this.branch, type },
    });
    expect(status).toBe(this.primary && hasPrimary(model, this.branch) ? 409 : 201);
    const created = body.endpoint as { id: string } | undefined; // there with a 201 only
    if (created !== undefined) model.computes.set(created.id, { branch: this.branch, primary: this.primary });
  }
  toString = () => `create(${this.branch}, ${this.primary ? "primary" : "replica"})`;
}

class Move implements Step {
  constructor(
    readonly index: number,
    readonly branch: string,
  ) {}
  check = (model: Readonly<Model>) => model.computes.size > 0;
  async run(model: Model, emulator: Emulator): Promise<void> {
    const [id, compute] = nth(model, this.index) ?? ["", { branch: "", primary: false }];
    const { status } = await api(emulator, "PATCH", `${DEMO}/endpoints/${id}`, {
      endpoint: { branch_id: this.branch },
    });
    const taken = compute.primary && compute.branch !== this.branch && hasPrimary(model, this.branch);
    expect(status).toBe(taken ? 409 : 200);
    if (!taken) compute.branch = this.branch;
  }
  toString = () => `move(${this.index}, ${this.branch})`;
}

class Remove implements Step {
  constructor(readonly index: number) {}
  check = (model: Readonly<Model>) => model.computes.size > 0;
  async run(model: Model, emulator: Emulator): Promise<void> {
    const [id = ""] = nth(model, this.index) ?? [];
    expect((await api(emulator, "DELETE", `${DEMO}/endpoints/${id}`)).status).toBe(200);
    expect((await api(emulator, "DELETE", `${DEMO}/endpoints/${id}`)).status).toBe(204);
    model.computes.delete(id);
  }
  toString = () => `remove(${this.index})`;
}

class Act implements Step {
  constructor(
    readonly index: number,
    readonly action: string,
  ) {}
  check = (model: Readonly<Model>) => model.computes.size > 0;
  async run(model: Model, emulator: Emulator): Promise<void> {
    const [id = ""] = nth(model, this.index) ?? [];
    const { status } = await api(emulator, "POST", `${DEMO}/endpoints/${id}/${this.action}`);
    expect([200, 412]).toContain(status);
  }
  toString = () => `${this.action}(${this.index})`;
}

class Look implements Step {
  check = () => true;
  async run(model: Model, emulator: Emulator): Promise<void> {
    const listed = records((await api(emulator, "GET", `${DEMO}/endpoints`)).body, "endpoints");
    expect(
      new Map(listed.map(({ id, branch_id, type }) => [id, { branch: branch_id, primary: type === "read_write" }])),
    ).toEqual(model.computes);
  }
  toString = () => "look";
}

test("whatever is done to computes, a branch has at most one primary and the list is correct", async () => {
  const emulator = await startEmulator({ activationMs: 1 });
  const index = fc.nat(20);
  const branch = fc.constantFrom(...BRANCHES);
  const steps = [
    fc.tuple(branch, fc.boolean()).map(([where, primary]) => new Create(where, primary)),
    fc.tuple(index, branch).map(([which, where]) => new Move(which, where)),
    index.map((which) => new Remove(which)),
    fc.tuple(index, fc.constantFrom("start", "suspend", "restart")).map(([which, action]) => new Act(which, action)),
    fc.constant(new Look()),
  ];
  try {
    await fc.assert(
      fc.asyncProperty(fc.commands(steps, { maxCommands: 25 }), async (commands) => {
        await control(emulator.url, "POST", "/reset");
        const { body } = await api(emulator, "GET", `${DEMO}/endpoints`);
        const computes = new Map(
          records(body, "endpoints").map(({ id }) => [String(id), { branch: "br-main", primary: true }]),
        );
        await fc.asyncModelRun(() => ({ model: { computes }, real: emulator }), commands);
      }),
      { numRuns: 40 },
    );
  } finally {
    await emulator.close();
  }
});
