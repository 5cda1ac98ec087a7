import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";

const BRANCH: svc.BranchResult = { branchId: "br-mocked", default: true };

const calls: pulumi.runtime.MockCallArgs[] = [];
const ANSWERS: Record<string, object> = {
  "svc:index:getDefaultBranch": BRANCH,
  "svc:index:getBranches": [BRANCH],
  "svc:index:getEmailServer": { type: "standard", password: "mocked-password" },
};

// No key and no address is set: a request to the service would fail.
beforeAll(() =>
  pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
    call: (args) => {
      calls.push(args);
      const answer = ANSWERS[args.token];
      if (answer === undefined) throw new Error(`no mock of ${args.token}`);
      return Promise.resolve(answer);
    },
  }),
);
beforeEach(() => calls.splice(0));

const valueOf = <T>(output: pulumi.Output<T>): Promise<T> => new Promise((resolve) => void output.apply(resolve));

test("with pulumi.runtime.setMocks a function asks the mocks, by its token and with its arguments", async () => {
  expect(await svc.getDefaultBranch({ projectId: "prj-1" })).toEqual(BRANCH);
  expect(await valueOf(svc.getBranchesOutput({ projectId: pulumi.output("prj-2") }))).toEqual([BRANCH]);
  expect(calls).toEqual([
    { token: "svc:index:getDefaultBranch", inputs: { projectId: "prj-1" } },
    { token: "svc:index:getBranches", inputs: { projectId: "prj-2" } },
  ]);
});

test("with an explicit provider too, and a password stays a secret", async () => {
  const provider = new svc.Provider("other", { apiKey: "k", baseUrl: "https://svc.test/api/v2" });
  const plain = await svc.getEmailServer({ projectId: "prj-1" }, { provider });
  expect(plain).toEqual({ type: "standard" });
  const whole = svc.getEmailServerOutput({ projectId: "prj-1" }, { provider });
  expect(await pulumi.isSecret(whole)).toBe(true);
  expect(await valueOf(whole)).toEqual({ type: "standard", password: "mocked-password" });
});

test("what the mocks throw is told as a failure of the function, and bad arguments never reach them", async () => {
  await expect(svc.getOAuthProviders({ projectId: "prj-1" })).rejects.toThrow(
    "getOAuthProviders: no mock of svc:index:getOAuthProviders",
  );
  await expect(svc.getBranches({ projectId: "" })).rejects.toThrow("projectId");
  expect(calls).toHaveLength(1);
});
