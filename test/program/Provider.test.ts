import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";

const made: pulumi.runtime.MockResourceArgs[] = [];

async function mock({ isPreview = false } = {}): Promise<void> {
  const newResource = (args: pulumi.runtime.MockResourceArgs) => {
    made.push(args);
    return { id: `${args.name}-id`, state: args.inputs as object };
  };
  await pulumi.runtime.setMocks({ newResource, call: () => ({}) }, "proj", "dev", isPreview);
}
beforeAll(() => mock());
afterEach(() => pulumi.runtime.setAllConfig({}));

/** The inputs of the key that the engine stores. */
async function inputsOf(name: string, args: svc.ProviderArgs): Promise<Record<string, unknown>> {
  const provider = new svc.Provider(name, args);
  await new Promise((resolve) => provider.urn.apply(resolve));
  const inputs = (made.find((one) => one.name === name)?.inputs ?? {}) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(inputs).filter(([key]) => key.startsWith("svc:apiKey")));
}

/** As the engine takes it: it is stored encrypted. A name is not. */
const secret = (value: string) => ({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value });

const CONFIGURED = [
  { "svc:apiKey": "configured-key" },
  { "svc:apiKeyEnv": "PROD_KEY" },
  { "svc:apiKeyFile": "keys/prod" },
];

test.each(CONFIGURED)("a Provider without a key passes on what is configured: %j", async (configuration) => {
  pulumi.runtime.setAllConfig(configuration);
  expect(await inputsOf(`of ${JSON.stringify(configuration)}`, {})).toEqual({
    ...configuration,
    ...("svc:apiKey" in configuration && { "svc:apiKey": secret("configured-key") }),
  });
});

test.each(CONFIGURED)(
  "a Provider with a key of its own, in any form, passes that alone beside %j",
  async (configuration) => {
    pulumi.runtime.setAllConfig(configuration);
    const name = JSON.stringify(configuration);
    expect(await inputsOf(`key ${name}`, { apiKey: "own-key" })).toEqual({ "svc:apiKey": secret("own-key") });
    expect(await inputsOf(`env ${name}`, { apiKeyEnv: pulumi.output("OWN") })).toEqual({ "svc:apiKeyEnv": "OWN" });
    expect(await inputsOf(`file ${name}`, { apiKeyFile: "own/file" })).toEqual({ "svc:apiKeyFile": "own/file" });
  },
);

test.each<[svc.ProviderArgs, RegExp]>([
  [{ apiKey: "canary", apiKeyEnv: "NAME" }, /^Provider "p": apiKey and apiKeyEnv: give one of them$/],
  [{ apiKeyEnv: "NAME", apiKeyFile: "canary" }, /^Provider "p": apiKeyEnv and apiKeyFile: give one of them$/],
  [{ apiKeyEnv: "canary-key" }, /^Provider "p": apiKeyEnv: must be the name of an environment variable/],
  [{ apiKeyFile: "canary\n" }, /^Provider "p": apiKeyFile: must be the path of a file, not its content$/],
])("bad arguments are refused at once, without showing them: %j", (args, words) => {
  const make = () => new svc.Provider("p", args);
  expect(make).toThrow(words);
  expect(make).not.toThrow(/canary/);
});

const FORMS = ["apiKey", "apiKeyEnv", "apiKeyFile"] as const;
const NO_VALUE = "is given, but has no value. Set it, or leave it out to use the key of the stack";

// A value inside an Output fails the process of the program: test/engine/keylessProvider.test.ts.
describe.each(FORMS)("%s without a value is not replaced by the key of another account:", (form) => {
  // From a program without types.
  const args = (value: unknown): svc.ProviderArgs => ({ baseUrl: "https://staging.test/api/v2", [form]: value });
  beforeEach(() => pulumi.runtime.setAllConfig({ "svc:apiKeyEnv": "PROD_KEY" }));
  const isMade = (name: string): boolean => made.some((one) => one.name === name);

  test.each([undefined, "", " \n\t"])("given as %j, it is refused at once", (value) => {
    expect(() => new svc.Provider("refused", args(value))).toThrow(`Provider "refused": ${form}: ${NO_VALUE}`);
    expect(() => new svc.Provider("refused", Object.create(args(value)) as object)).toThrow(NO_VALUE);
    expect(isMade("refused")).toBe(false);
  });

  test("nor is it refused less beside another form", () => {
    const other = form === "apiKey" ? "apiKeyFile" : "apiKey";
    const both = { ...args(undefined), [other]: "canary" };
    expect(() => new svc.Provider("refused", both)).toThrow(`Provider "refused": ${form}: ${NO_VALUE}`);
  });

  test.each([null, 7, {}, []])("what is no text, such as %j, is refused as well", (value) => {
    expect(() => new svc.Provider("refused", args(value))).toThrow(`Provider "refused": ${form}: must be a string`);
  });

  test("an Output that is not known yet passes a preview", async () => {
    await mock({ isPreview: true });
    const unknown = new svc.Provider("unknown", args(pulumi.output(pulumi.unknown)));
    // Marked internal in the SDK's types.
    expect(await (unknown.settings[form] as unknown as { isKnown: Promise<boolean> }).isKnown).toBe(false);
    await new Promise((resolve) => unknown.urn.apply(resolve));
    expect(isMade("unknown")).toBe(true);
    await mock();
  });
});

test("a limit of sizes is passed on: that of the Provider, else what is configured", async () => {
  pulumi.runtime.setAllConfig({ "svc:maxSizeCu": "2" });
  for (const [name, args] of Object.entries({ own: { maxSizeCu: pulumi.output(0.5) }, configured: {} }))
    await new Promise((resolve) => new svc.Provider(`limit ${name}`, args).urn.apply(resolve));
  const limits = made.filter(({ name }) => name.startsWith("limit ")).map(({ inputs }) => inputs as object);
  expect(limits).toMatchObject([{ "svc:maxSizeCu": "0.5" }, { "svc:maxSizeCu": "2" }]);
});

test("undefined leaves out what is no key", async () => {
  pulumi.runtime.setAllConfig({ "svc:apiKey": "configured-key", "svc:baseUrl": "https://prod.test/api/v2" });
  const { settings } = new svc.Provider("left out", {
    ["baseUrl" as string]: undefined,
    ["authProvider" as string]: undefined,
  });
  expect(await new Promise((resolve) => settings.baseUrl.apply(resolve))).toBe("https://prod.test/api/v2");
});

test("the value of a variable in place of its name is refused without showing it", () => {
  process.env["SVC_TEST_KEY"] = "CANARY_VALUE";
  try {
    const make = () => new svc.Provider("p", { apiKeyEnv: String(process.env["SVC_TEST_KEY"]) });
    expect(make).toThrow(/apiKeyEnv: must be the name of an environment variable, not its value$/);
    expect(make).not.toThrow(/CANARY/);
  } finally {
    delete process.env["SVC_TEST_KEY"];
  }
});
