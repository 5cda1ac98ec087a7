import * as pulumi from "@pulumi/pulumi";
import type * as Program from "./index";

/** What the program has declared, by type and name, and what it has asked. */
const declared: pulumi.runtime.MockResourceArgs[] = [];
const asked: pulumi.runtime.MockCallArgs[] = [];

// No service, no key, no Pulumi CLI: nothing is sent. Before the program is loaded, which is why it is imported below.
beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: (args) => {
      declared.push(args);
      // Values that only the service knows are made up here.
      return { id: `${args.name}-id`, state: { ...args.inputs, host: "ep-mocked.example.com" } };
    },
    // The functions of pulumi-svc: their token is "svc:index:" and their name.
    call: (args) => {
      asked.push(args);
      if (args.token === "svc:index:getDefaultBranch") return { branchId: "br-mocked", default: true };
      throw new Error(`the tests have no answer for ${args.token}`);
    },
  });
});

const valueOf = <T>(output: pulumi.Output<T>): Promise<T> => new Promise((resolve) => void output.apply(resolve));

test("reports are read from a replica of the production branch that sleeps", async () => {
  const { host } = jest.requireActual<typeof Program>("./index");
  expect(await valueOf(host)).toBe("ep-mocked.example.com");
  expect(asked).toEqual([expect.objectContaining({ inputs: { projectId: "prj-demo" } })]);
  expect(declared.map(({ type, name }) => [type, name])).toEqual([
    ["pulumi-nodejs:dynamic/svc:ComputeEndpoint", "reports"],
  ]);
  expect(declared[0]?.inputs).toMatchObject({
    branchId: "br-mocked",
    type: "read_only",
    size: { min: 0.5, max: 2 },
  });
});
