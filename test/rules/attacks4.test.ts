/** What went wrong when waits, creations and the program's side were made faster: once each. */
import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";
import { Deadline, FateUnknownError, OperationFailedError } from "../../src/client";
import { createCompute } from "../support/creating";
import { compute, LIST, operation, OPERATIONS, PRJ } from "../support/scene";
import { closeAll, errorOf, type Reply, scripted } from "../support/scriptedServer";

afterEach(closeAll);

const change = (operations: object[], endpoint = compute()): Reply => ({ json: { endpoint, operations } });
const at = (ms: number): { deadline: Deadline } => ({ deadline: new Deadline(ms) });

describe("a wait ends when its operation does", () => {
  test("also where the last operation of that kind took very long", async () => {
    let changes = 0;
    const { client } = await scripted(({ method, line }) => {
      if (method !== "GET") return change([operation("running", { id: `op-${++changes}` })]);
      if (line === LIST) return { json: { endpoints: [compute()] } };
      const took = { total_duration_ms: 3_600_000 };
      return { json: { operations: [1, 2].map((nth) => operation("finished", { id: `op-${nth}`, ...took })) } };
    });
    await client.computes.update(
      { projectId: PRJ, endpointId: "ep-1", attributes: {}, isShown: () => true },
      at(5_000),
    );
    await client.computes.update(
      { projectId: PRJ, endpointId: "ep-1", attributes: {}, isShown: () => true },
      at(5_000),
    );
  });

  test("also while younger waits ask for the compute list alone", async () => {
    const began = performance.now();
    const passed = (): number => performance.now() - began;
    const replica = compute({ id: "ep-2", type: "read_only" });
    const running = operation("running", { id: "op-2", endpoint_id: "ep-2" });
    const { server, client } = await scripted(
      ({ method, line }) => {
        if (method === "PATCH") return change([operation("running")]);
        if (method === "DELETE") return change([running], replica);
        if (line === LIST) return { json: { endpoints: passed() < 4_000 ? [compute(), replica] : [compute()] } };
        return { json: { operations: [running, operation(passed() < 4_000 ? "running" : "finished")] } };
      },
      { lagMs: 10_000, pollCeilingMs: 2_000 },
    );
    const updating = client.computes.update(
      { projectId: PRJ, endpointId: "ep-1", attributes: {}, isShown: () => true },
      at(20_000),
    );
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const deleting = client.computes.delete(
      { projectId: PRJ, endpointId: "ep-2", beforeAttempt: () => undefined },
      at(20_000),
    );
    const before = server.count(OPERATIONS);
    await deleting;
    // After 2 to 4 s there is a look after each 0.2 to 0.4 s.
    expect(server.count(OPERATIONS) - before).toBeGreaterThanOrEqual(5);
    await updating;
  }, 30_000);

  test("with a compute list of after its end, where both are read at one time", async () => {
    // The change takes the compute down and up again: the second list is read when it is down, and says so at once.
    let isUp = true;
    let changes = 0;
    const { client } = await scripted(async ({ method, line }) => {
      if (method !== "GET") {
        changes += 1;
        isUp = changes < 2;
        return change([operation("running", { id: `op-${changes}` })]);
      }
      if (line === LIST) return { json: { endpoints: [compute(isUp ? {} : { current_state: "idle" })] } };
      await new Promise((resolve) => setTimeout(resolve, 50));
      isUp = true;
      return { json: { operations: [operation("finished", { id: `op-${changes}`, total_duration_ms: 100 })] } };
    });
    await client.computes.update(
      { projectId: PRJ, endpointId: "ep-1", attributes: {}, isShown: () => true },
      at(5_000),
    );
    const seen = await client.computes.update(
      { projectId: PRJ, endpointId: "ep-1", attributes: {}, isShown: () => true },
      at(5_000),
    );
    expect(seen.current_state).toBe("active");
  });
});

test("a replica that stays because the operation of its deletion failed is not waited for until the deadline", async () => {
  const replica = compute({ type: "read_only" });
  const { client } = await scripted(({ method, line }) => {
    if (method !== "GET") return change([operation("running")], replica);
    return line === LIST ? { json: { endpoints: [replica] } } : { json: { operations: [operation("failed")] } };
  });
  const error = await errorOf(
    client.computes.delete({ projectId: PRJ, endpointId: "ep-1", beforeAttempt: () => undefined }, at(5_000)),
  );
  expect(error).toBeInstanceOf(OperationFailedError);
});

test("an operation counts as untraceable by a list that was read a lag after the change, not one that took as long to come", async () => {
  let looks = 0;
  const { client } = await scripted(
    ({ method, line }) => {
      if (method !== "GET") return change([operation("running")]);
      if (line === LIST) return { json: { endpoints: [compute()] } };
      looks += 1;
      return looks === 1 ? { json: { operations: [] }, delayMs: 400 } : { json: { operations: [operation("failed")] } };
    },
    { lagMs: 300 },
  );
  const error = await errorOf(
    client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, isShown: () => true }, at(5_000)),
  );
  expect(error).toBeInstanceOf(OperationFailedError);
});

describe("of two lost creations that sent the same, the second one left when lists showed the object of the first one", () => {
  const REPLICA = { branch_id: "br-1", type: "read_only" };
  const replica = (id: string): object => compute({ id, ...REPLICA });
  const first = replica("ep-1");
  const theirs = replica("ep-theirs");

  /** `later`: what the list of after the lag shows. `firstMs`: when the first connection breaks off; the second one does at 300. */
  const creating = async (later: object[], firstMs: number) => {
    let lists = 0;
    const { client } = await scripted(({ method, line }, nth) => {
      if (method === "POST") return { fault: "reset", delayMs: nth === 1 ? firstMs : 100 };
      if (line !== LIST) return { json: { operations: [] } };
      lists += 1;
      return { json: { endpoints: lists === 1 ? [] : lists === 2 ? [first] : later } };
    });
    const creations = [createCompute(client, PRJ, REPLICA)];
    await new Promise((resolve) => setTimeout(resolve, 200));
    creations.push(createCompute(client, PRJ, REPLICA));
    return Promise.allSettled(creations);
  };
  const idsOf = (ended: Awaited<ReturnType<typeof creating>>): unknown[] =>
    ended.map((one) => (one.status === "fulfilled" ? one.value.id : one.reason));

  test("what a colleague has made meanwhile makes more objects than were lost: none is claimed", async () => {
    const refused = expect.any(FateUnknownError) as unknown;
    expect(idsOf(await creating([theirs, first, replica("ep-2")], 600))).toEqual([refused, refused]);
  });

  test("as many as were lost: the second one does not go away empty, and no object is left over", async () => {
    expect(idsOf(await creating([replica("ep-2"), first], 250))).toEqual(["ep-1", "ep-2"]);
  });
});

describe("what follows from other properties", () => {
  const args = { projectId: "prj-1", branchId: "br-1", size: 2 };
  const host = "ep-1.db.example.com";

  beforeAll(() =>
    pulumi.runtime.setMocks({
      newResource: ({ inputs }) => ({ id: "prj-1/ep-1", state: { ...inputs, host } }),
      call: () => ({}),
    }),
  );

  test("is a key of the resource: one that is exported as a whole is stored by its keys", () => {
    const keys = Object.keys(new svc.ComputeEndpoint("exported", args));
    expect(keys).toEqual(expect.arrayContaining(["endpointId", "pooledHost", "proxyHost", "maxConnections", "adopt"]));
  });

  test("has no value where that is null", async () => {
    // Programs without types give it.
    const compute = new svc.ComputeEndpoint("null", { ...args, size: null as unknown as number });
    const seen = await new Promise((resolve) => compute.maxConnections.apply(resolve));
    expect(seen).toBeUndefined();
  });

  test("gives way to what a subclass says", async () => {
    class Mine extends svc.ComputeEndpoint {
      constructor(name: string) {
        super(name, args);
        Reflect.set(this, "pooledHost", pulumi.output("mine"));
      }
    }
    const seen = await new Promise((resolve) => new Mine("subclass").pooledHost.apply(resolve));
    expect(seen).toBe("mine");
  });
});
