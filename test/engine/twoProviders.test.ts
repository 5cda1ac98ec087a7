import { Stack } from "../support/Stack";

/** Each explicit Provider has a process of its own. What they tell each other is docs/design/rules.md, 4. */

const PROVIDERS = 'const [one, two] = ["one", "two"].map((name) => new svc.Provider(name));';
const compute = (name: string, provider: string, more = ""): string =>
  `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "br-dev", size: 1${more} }, { provider: ${provider} });`;

test("what one Provider takes over, another one does not delete", async () => {
  const stack = await Stack.create({ program: `${PROVIDERS}\n${compute("former", "one")}` });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const { id } = await stack.resource("former");

  stack.program(`${PROVIDERS}\n${compute("latter", "two", ", adopt: true")}`);
  const up = await stack.up();
  expect(up).toMatchObject({ code: 0 });
  expect(up.text).toMatch(/former[\s\S]*is not deleted: \\?"latter\\?" of this program manages it now/);
  expect((await stack.resource("latter")).id).toBe(id);
  expect(await stack.drift()).toMatchObject({ code: 0 });
});

test("one object that two Providers declare is an error of the plan", async () => {
  const stack = await Stack.create({
    program: `${PROVIDERS}\n${compute("former", "one")}\n${compute("latter", "two", ", adopt: true")}`,
  });
  const plan = await stack.preview();
  expect(plan.code).not.toBe(0);
  expect(plan.text).toMatch(/"(former|latter)" of this program declares .* too\. Declare it once/);
});
