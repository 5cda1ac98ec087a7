import { Service } from "../support/service";
import { Stack } from "../support/Stack";

/** A Provider whose key has no value: the stack's key must not be sent to its address. */

const ofProvider = (form: string, given: string): string => `
  const provider = new svc.Provider("staging", { baseUrl: process.env.STAGING, ${form}: ${given} });
  new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 }, { provider });`;

let staging: Service;
beforeEach(async () => (staging = await Service.start({ apiKey: "the-key-of-staging" })));
afterEach(() => staging.emulator.close());

async function stackOf(program: string): Promise<Stack> {
  const stack = await Stack.create({ program });
  stack.env["STAGING"] = staging.emulator.baseUrl;
  return stack;
}

test.each([
  ["apiKey", "process.env.UNSET"],
  ["apiKey", "Promise.resolve(process.env.UNSET)"],
  ["apiKeyEnv", 'pulumi.output(Promise.resolve(" "))'],
  ["apiKeyFile", "pulumi.secret(null)"],
])("%s: %s fails the preview and the up with a message, and nothing is sent or stored", async (form, given) => {
  const stack = await stackOf(ofProvider(form, given));
  for (const { code, text } of [await stack.preview(), await stack.up()]) {
    expect(code).not.toBe(0);
    expect(text).toContain(
      `Provider "staging": ${form}: is given, but has no value. Set it, or leave it out to use the key of the stack`,
    );
  }
  expect(await staging.requests()).toEqual([]);
  expect(await stack.exported()).not.toContain("staging");
});

test("a look-up by a Provider whose key resolves to nothing fails with a message, and asks nobody", async () => {
  const stack = await stackOf(`
    const provider = new svc.Provider("staging", { baseUrl: process.env.STAGING, apiKey: pulumi.output(process.env.UNSET) });
    exports.found = svc.getBranchesOutput({ projectId: "prj-demo" }, { provider });`);
  const { code, text } = await stack.preview();
  expect(code).not.toBe(0);
  expect(text).toContain('Provider "staging": apiKey: is given, but has no value');
  expect(await staging.requests()).toEqual([]);
});

test("a key that is not known yet passes a preview", async () => {
  const stack = await stackOf(`
    const { projectId } = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
    const keys = new svc.AuthKeys("keys", { projectId });
    ${ofProvider("apiKey", "keys.secretServerKey")}`);
  expect(await stack.preview()).toMatchObject({ code: 0 });
  expect(await staging.requests()).toEqual([]);
});
