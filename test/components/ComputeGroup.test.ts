import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";

interface Registered {
  type: string;
  name: string;
  inputs: Record<string, unknown>;
}

const registered: Registered[] = [];

beforeAll(() =>
  pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs }) => {
        registered.push({ type, name, inputs: inputs as Record<string, unknown> }); // a mock's inputs are untyped
        return { id: `prj-1/ep-${name}`, state: { ...inputs, host: `ep-${name}.example.test` } };
      },
      call: () => ({}),
    },
    "proj",
    "dev",
  ),
);
beforeEach(() => registered.splice(0));

const value = <T>(output: pulumi.Output<T>): Promise<T> =>
  new Promise((resolve) => {
    output.apply(resolve);
  });

/** The arguments of each compute of a group, by its name in the stack. */
async function computesOf(group: svc.ComputeGroup): Promise<Record<string, object>> {
  await value(group.hosts);
  const computes = registered.filter(({ type }) => type.endsWith(":ComputeEndpoint"));
  const given = (inputs: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(inputs).filter(([key, field]) => !key.startsWith("__") && field !== undefined));
  return Object.fromEntries(computes.map(({ name, inputs }) => [name, given(inputs)]));
}

const BASE = { projectId: "prj-1", branchId: "br-1" };

test("one primary and as many replicas like it as were asked for", async () => {
  const like = { size: 2, scaleToZero: false } as const;
  const primary = { ...like, name: "orders", adopt: true } as const;
  const group = new svc.ComputeGroup("orders", { ...BASE, primary, replicas: 3 });
  expect(await computesOf(group)).toEqual({
    "orders-primary": { ...BASE, ...primary, type: "read_write" },
    "orders-replica-0": { ...BASE, ...like, name: "orders-replica-0", type: "read_only" },
    "orders-replica-1": { ...BASE, ...like, name: "orders-replica-1", type: "read_only" },
    "orders-replica-2": { ...BASE, ...like, name: "orders-replica-2", type: "read_only" },
  });
  expect(await value(group.hosts)).toEqual({
    primary: "ep-orders-primary.example.test",
    replicas: {
      "0": "ep-orders-replica-0.example.test",
      "1": "ep-orders-replica-1.example.test",
      "2": "ep-orders-replica-2.example.test",
    },
  });
});

test.each([
  ["a long name", "g".repeat(90), ["g".repeat(54) + "-replica-0", "g".repeat(54) + "-replica-1"]],
  [
    "a character of two halves at the cut",
    "g".repeat(53) + "😀😀",
    ["0", "1"].map((key) => `${"g".repeat(53)}-replica-${key}`),
  ],
])("the names of numbered replicas keep to 64 characters: %s", async (_what, name, names) => {
  const group = new svc.ComputeGroup(name, { ...BASE, primary: {}, replicas: 2 });
  const computes = Object.values(await computesOf(group)) as { name?: string }[]; // untyped inputs, as above
  expect(computes.map((compute) => compute.name)).toEqual([undefined, ...names]);
});

test("replicas given one by one are what they say, and are called by their key or their place", async () => {
  const replicas = [{ key: "api", size: 1 }, { size: { min: 1, max: 2 } }];
  const group = new svc.ComputeGroup("orders", { ...BASE, primary: { size: 8 }, replicas });
  expect(await computesOf(group)).toEqual({
    "orders-primary": { ...BASE, size: 8, type: "read_write" },
    "orders-replica-api": { ...BASE, size: 1, type: "read_only" },
    "orders-replica-1": { ...BASE, size: { min: 1, max: 2 }, type: "read_only" },
  });
  const { api, "1": second } = (await value(group.hosts)).replicas;
  expect([api, second]).toEqual(["ep-orders-replica-api.example.test", "ep-orders-replica-1.example.test"]);
});

test("a group may be a primary alone", async () => {
  const group = new svc.ComputeGroup("alone", { ...BASE, primary: {} });
  expect(Object.keys(await computesOf(group))).toEqual(["alone-primary"]);
  expect((await value(group.hosts)).replicas).toEqual({});
});

test("its computes are its children, so that their URNs name the group", async () => {
  const group = new svc.ComputeGroup("orders", { ...BASE, primary: {}, replicas: 1 });
  const urns = await Promise.all([group.primary, ...group.replicas].map(({ urn }) => value(urn)));
  for (const urn of urns)
    expect(urn).toContain("svc:components:ComputeGroup$pulumi-nodejs:dynamic/svc:ComputeEndpoint");
  expect(registered.map(({ inputs }) => inputs["__urn"]).filter(Boolean)).toEqual(urns);
});

test("its customTimeouts are those of each of its computes", async () => {
  const timeoutsOf = async (opts?: pulumi.ComponentResourceOptions) => {
    registered.splice(0);
    await value(new svc.ComputeGroup("orders", { ...BASE, primary: {}, replicas: 1 }, opts).hosts);
    const computes = registered.filter(({ type }) => type.endsWith(":ComputeEndpoint"));
    return computes.map(({ inputs }) => inputs["__timeouts"]);
  };
  const seconds = { create: 1_200, delete: 90 };
  expect(await timeoutsOf({ customTimeouts: { create: "20m", delete: "90s" } })).toEqual([seconds, seconds]);
  expect(await timeoutsOf()).toEqual([undefined, undefined]);
});

test.each([-1, 1.5, Number.NaN])("%p replicas are refused with a message", (replicas) => {
  expect(() => new svc.ComputeGroup("orders", { ...BASE, primary: {}, replicas })).toThrow(
    'ComputeGroup "orders": replicas: must be a whole number, 0 or more, or a list',
  );
});

test.each([[[{ key: "a" }, { key: "a" }], "a"] as const, [[{ key: "1" }, {}], "1"] as const])(
  "two replicas of one key are refused: %j",
  (replicas, key) => {
    const make = () => new svc.ComputeGroup("orders", { ...BASE, primary: {}, replicas: [...replicas] });
    expect(make).toThrow(`ComputeGroup "orders": replicas: two of them have the key "${key}"`);
  },
);
