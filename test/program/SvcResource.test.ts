import * as pulumi from "@pulumi/pulumi";
import { durationSeconds } from "../../src/program/durations";
import { pointer } from "../../src/contract/pointer";
import * as svc from "../../src";

const registered: { type: string; inputs: Record<string, unknown> }[] = [];

beforeAll(() =>
  pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs }) => {
        registered.push({ type, inputs });
        return { id: `${name}-id`, state: inputs };
      },
      call: () => ({}),
    },
    "proj",
    "dev",
  ),
);
beforeEach(() => registered.splice(0));

/** What the engine would get, once everything is registered. */
async function inputsOf(resource: pulumi.CustomResource): Promise<Record<string, unknown>> {
  await new Promise((resolve) => resource.urn.apply(resolve));
  return registered.at(-1)?.inputs ?? {};
}

const ARGS = { projectId: "prj-1", branchId: "br-1", size: 2 } as const;

test("a resource is registered with its pointer, its URN and its timeouts in seconds", async () => {
  const inputs = await inputsOf(
    new svc.ComputeEndpoint("api", ARGS, { customTimeouts: { create: "1m30s", delete: "2s" } }),
  );
  expect(registered.at(-1)?.type).toBe("pulumi-nodejs:dynamic/svc:ComputeEndpoint");
  expect(inputs).toMatchObject({
    ...ARGS,
    __provider: pointer("ComputeEndpoint"),
    __urn: "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::api",
    __timeouts: { create: 90, delete: 2 },
  });
});

test("arguments given as one Output are taken by name, without the internals of the Output", async () => {
  // TypeScript accepts an Output of all arguments through lifted properties (docs/design/engine.md, Inputs and outputs).
  const lifted = pulumi.output({ ...ARGS }) as unknown as svc.ComputeEndpointArgs;
  const inputs = await inputsOf(new svc.ComputeEndpoint("lifted", lifted));
  expect(
    Object.keys(inputs)
      .filter((key) => inputs[key] !== undefined)
      .sort(),
  ).toEqual(["__provider", "__urn", "branchId", "projectId", "size"].sort());
});

test("every argument and output that is left out is still there on the resource object", () => {
  const compute = new svc.ComputeEndpoint("bare", ARGS);
  for (const name of ["settings", "name", "host", "pooledHost", "maxConnections"] as const) {
    expect(pulumi.Output.isInstance(compute[name])).toBe(true);
  }
});

test("the option import is refused with what to do instead", () => {
  expect(() => new svc.ComputeEndpoint("imported", ARGS, { import: "prj-1/ep-1" })).toThrow(
    /"import" does not work.*adopt/s,
  );
});

test("the URN of a child comes without a dependency on its parent", async () => {
  const parent = new svc.AuthIntegration("auth", { projectId: "prj-1" });
  const inputs = await inputsOf(new svc.ComputeEndpoint("child", ARGS, { parent }));
  expect(inputs["__urn"]).toBe(
    "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:AuthIntegration$pulumi-nodejs:dynamic/svc:ComputeEndpoint::child",
  );
});

test.each([
  ["10m", 600],
  ["1h30m", 5_400],
  ["2.5s", 2.5],
  ["1m30s", 90],
  ["500ms", 0.5],
])("the duration %s is %d seconds", (text, seconds) => {
  expect(durationSeconds(text)).toBeCloseTo(seconds);
});

test.each(["", "10", "ten minutes", "5 m", "-1s"])("%j is no duration", (text) => {
  expect(() => durationSeconds(text)).toThrow(/is not a duration such as/);
});
