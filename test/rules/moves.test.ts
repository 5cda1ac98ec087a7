/** What a plan says about a compute that moves to a branch, and what `up` then does. */
import type { Properties } from "../../src/contract/hiddenKeys";
import { output, type Declared, type Outcome, type Program } from "../support/rules/program";
import { branch, world, type World } from "../support/rules/world";

const P = "prj-moves";
const on = (name: string, n: number, more: Partial<Declared> & { readonly inputs?: Properties } = {}): Declared => ({
  kind: "ComputeEndpoint",
  name,
  ...more,
  inputs: { projectId: P, branchId: branch(P, n), ...more.inputs },
});
const put = (name: string, n: number, inputs: Properties): Declared => on(name, n, { inputs });

interface Case {
  readonly before: Program;
  readonly program: Program;
  /** Somebody does something meanwhile. */
  readonly meanwhile?: (given: World, idOf: (name: string) => string) => Promise<unknown>;
  readonly up: "succeeds" | "fails";
  /**
   * The result of a plan that is not strict: no message, a failure unless another resource makes room, or a failure.
   */
  readonly plan: "nothing" | "unless" | "certain";
  /** The result of a strict plan, if it differs from that of `up`. */
  readonly strict?: "succeeds";
}

const [A1, B2, C3] = [on("a", 1), on("b", 2), on("c", 3)];
const A_TO_2 = on("a", 2);
const B_TO_3 = on("b", 3);
const theirs = (n: number) => (given: World) =>
  given.call("POST", `/projects/${P}/endpoints`, { endpoint: { branch_id: branch(P, n), type: "read_write" } });
const movedByHand = (name: string, n: number) => (given: World, idOf: (name: string) => string) =>
  given.edit(P, { kind: "endpoint", id: idOf(name), set: { branch_id: branch(P, n) } });

const CASES: Readonly<Record<string, Case>> = {
  "a chain, the one in front first": { before: [A1, B2], program: [B_TO_3, A_TO_2], up: "succeeds", plan: "nothing" },
  "a chain, the one behind first": { before: [A1, B2], program: [A_TO_2, B_TO_3], up: "succeeds", plan: "unless" },
  "a chain of three, in the worst order": {
    before: [A1, B2, C3],
    program: [A_TO_2, B_TO_3, on("c", 4)],
    up: "succeeds",
    plan: "unless",
  },
  "a chain whose one behind depends on the one in front": {
    before: [A1, B2],
    program: [B_TO_3, put("a", 2, { projectId: output("b", "projectId") })],
    up: "succeeds",
    plan: "nothing",
  },
  "a chain whose one in front depends on the one behind, which nothing tells the provider": {
    before: [A1, B2],
    program: [A_TO_2, put("b", 3, { projectId: output("a", "projectId") })],
    up: "fails",
    plan: "unless",
    strict: "succeeds",
  },
  "the one in front has another name, and an alias": {
    before: [A1, B2],
    program: [on("b2", 3, { aliases: ["b"] }), A_TO_2],
    up: "succeeds",
    plan: "nothing",
  },
  "the one in front has another name, without an alias": {
    before: [A1, B2],
    program: [on("b2", 3), A_TO_2],
    up: "fails",
    plan: "unless",
  },
  "the one in front is replaced, and so deleted last": {
    before: [A1, B2],
    program: [put("b", 3, { type: "read_only" }), A_TO_2],
    up: "fails",
    plan: "certain",
  },
  "a new one where another is replaced, and so deleted last": {
    before: [B2],
    program: [put("b", 2, { type: "read_only" }), on("new", 2)],
    up: "fails",
    plan: "certain",
  },
  "a new one that takes it over": {
    before: [B2],
    program: [put("b", 2, { type: "read_only" }), put("new", 2, { adopt: true })],
    up: "succeeds",
    plan: "nothing",
  },
  "the one in front is no longer declared": { before: [A1, B2], program: [A_TO_2], up: "fails", plan: "unless" },
  "a new compute takes the branch that another one leaves": {
    before: [A1],
    program: [A_TO_2, on("new", 1)],
    up: "succeeds",
    plan: "nothing",
  },
  "a new compute that is declared before the one that leaves": {
    before: [A1],
    program: [on("new", 1), A_TO_2],
    up: "succeeds",
    plan: "unless",
  },
  "a new compute where somebody else has one": {
    before: [A1],
    meanwhile: theirs(2),
    program: [A1, on("new", 2)],
    up: "fails",
    plan: "unless",
  },
  "a primary of somebody else": { before: [A1], meanwhile: theirs(2), program: [A_TO_2], up: "fails", plan: "unless" },
  "a swap": { before: [A1, B2], program: [A_TO_2, on("b", 1)], up: "fails", plan: "certain" },
  "a circle of three": {
    before: [A1, B2, C3],
    program: [A_TO_2, B_TO_3, on("c", 1)],
    up: "fails",
    plan: "certain",
  },
  "a branch that is not there": {
    before: [A1],
    program: [put("a", 1, { branchId: "br-none" })],
    up: "fails",
    plan: "certain",
  },
  "one of the program that somebody has moved into the way": {
    before: [A1, B2],
    meanwhile: movedByHand("b", 3),
    program: [B2, on("a", 3)],
    up: "fails",
    plan: "certain",
  },
  "the same for a new one": {
    before: [B2],
    meanwhile: movedByHand("b", 3),
    program: [B2, on("new", 3)],
    up: "fails",
    plan: "certain",
  },
  "one of the program that somebody has moved out of the way": {
    before: [A1, B2],
    meanwhile: movedByHand("b", 3),
    program: [B2, A_TO_2].map((one) => (one === B2 ? B_TO_3 : one)),
    up: "succeeds",
    plan: "nothing",
  },
  "a compute that somebody has moved there already": {
    before: [A1],
    meanwhile: movedByHand("a", 2),
    program: [A_TO_2],
    up: "succeeds",
    plan: "nothing",
  },
  "a read replica beside a primary": {
    before: [put("r", 1, { type: "read_only" }), B2],
    program: [put("r", 2, { type: "read_only" }), B2],
    up: "succeeds",
    plan: "nothing",
  },
  "a compute that is gone": {
    before: [A1],
    meanwhile: (given, idOf) => given.edit(P, { kind: "endpoint", id: idOf("a"), delete: true }),
    program: [put("a", 1, { size: 2 })],
    up: "fails",
    plan: "certain",
  },
};

const FAILS = /pulumi up will fail here|has no branch/;
const UNLESS = /^pulumi up will fail here, unless the same run removes this first/;

const ofSuccess = ({ log }: Outcome): string[] =>
  log.filter(({ severity, message }) => severity === "warning" && FAILS.test(message)).map(({ message }) => message);

test.each(Object.entries(CASES))("%s", async (_what, one) => {
  const { before, program, meanwhile, up, plan, strict = up } = one;
  const given = await world();
  await given.project(P);
  // If it has to begin, it may take its time.
  const stack = given.stack(up === "succeeds" ? { siblingStartsMs: 30_000 } : {});
  const course = { seed: 1, preview: "none", parallel: 16, jitterMs: 0, looks: true } as const;
  expect((await stack.up(before, course)).errors).toEqual([]);
  await meanwhile?.(given, (name) => String(stack.entry(name).outs["endpointId"]));

  await given.forgetRequests();
  const planned = await stack.preview(program, course);
  expect(planned.errors).toEqual([]);
  const said = ofSuccess(planned);
  expect(said.length > 0).toBe(plan !== "nothing");
  expect(said.some((text) => !UNLESS.test(text))).toBe(plan === "certain");
  expect((await given.requests()).length).toBeLessThanOrEqual(up === "succeeds" ? 2 : 3);

  process.env["SVC_STRICT_PLAN"] = "1";
  try {
    const { errors } = await stack.preview(program, course);
    expect(errors.length > 0).toBe(strict === "fails");
  } finally {
    delete process.env["SVC_STRICT_PLAN"];
  }

  const { errors } = await stack.up(program, course);
  expect(errors.length > 0).toBe(up === "fails");
});

test("a strict plan whose obstacle another compute settles names the compute that cannot move", async () => {
  const given = await world();
  await given.project(P);
  const stack = given.stack();
  const course = { seed: 1, preview: "none", parallel: 16, jitterMs: 0, looks: true } as const;
  expect((await stack.up([A1, B2], course)).errors).toEqual([]);
  await theirs(3)(given);
  process.env["SVC_STRICT_PLAN"] = "1";
  try {
    const { errors } = await stack.preview([on("a", 3), B2], course);
    expect(errors).toEqual([expect.stringMatching(/"a": pulumi up will fail here: \S+ already has a primary compute/)]);
  } finally {
    delete process.env["SVC_STRICT_PLAN"];
  }
});
