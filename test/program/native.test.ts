import * as pulumi from "@pulumi/pulumi";
import * as dynamic from "../../src";
import * as svc from "../../src/native";
import { KINDS, nativeToken, type Kind } from "../../src/contract/pointer";
import { KIND_CASES } from "../kinds";
import { DEMO, wholeIn } from "../kinds/KindCase";

const made: pulumi.runtime.MockResourceArgs[] = [];

beforeAll(() =>
  pulumi.runtime.setMocks(
    {
      newResource: (args) => {
        made.push(args);
        return { id: `${args.name}-id`, state: args.inputs as object };
      },
      call: () => ({}),
    },
    "proj",
    "dev",
    true,
  ),
);
beforeEach(() => made.splice(0));

/** A class as a program without types sees it. */
type Untyped = new (name: string, args: unknown, opts?: pulumi.CustomResourceOptions) => pulumi.CustomResource;
/** A kind that src/native.ts does not export is one error here. */
const CLASSES: Readonly<Record<Kind, unknown>> = svc;
const untyped = (kind: Kind): Untyped => CLASSES[kind] as Untyped;

/** What the engine would get. */
async function registered(resource: pulumi.Resource): Promise<Partial<pulumi.runtime.MockResourceArgs>> {
  await new Promise((resolve) => resource.urn.apply(resolve));
  return made.at(-1) ?? {};
}

const given = (inputs: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(inputs as object).filter(([, value]) => value !== undefined));

/** As the engine takes it: it is stored encrypted. */
const secret = (value: unknown) => ({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value });

test("it exports the same objects as pulumi-svc: one import makes the whole program native", () => {
  expect(svc).toEqual(dynamic);
  expect(new dynamic.ComputeEndpoint("api", { projectId: "p", branchId: "br" })).toBeInstanceOf(svc.ComputeEndpoint);
});

test.each(KINDS)(
  "%s sends its arguments and nothing else, whatever its options, with its secrets marked",
  async (kind) => {
    const kindCase = KIND_CASES[kind];
    const args = wholeIn(kindCase, DEMO);
    const { type, inputs } = await registered(
      new (untyped(kind))(kind, args, {
        customTimeouts: { create: "5m" },
        ignoreChanges: ["projectId"],
        replaceOnChanges: ["projectId"],
      }),
    );
    expect(type).toBe(nativeToken(kind));
    const { args: rules } = kindCase.declaration as { args: Readonly<Record<string, { secret?: boolean }>> };
    expect(given(inputs)).toEqual(
      Object.fromEntries(
        Object.entries(args).map(([name, value]) => [name, rules[name]?.secret === true ? secret(value) : value]),
      ),
    );
  },
);

test("a name that a resource does not have goes to the plugin without its value", async () => {
  const args = { projectId: "p", branchId: "br", sise: "canary" };
  const { inputs } = await registered(new (untyped("ComputeEndpoint"))("api", args));
  expect(given(inputs)).toEqual({ projectId: "p", branchId: "br", __surplus: ["sise"] });
});

test("the option import goes to the engine", async () => {
  await registered(new svc.ComputeEndpoint("taken", { projectId: "p", branchId: "br" }, { import: "p/ep-1" }));
  expect(made).toMatchObject([{ id: "p/ep-1", type: "svc:index:ComputeEndpoint" }]);
});

test("a Provider is one of the plugin, with its settings by their own names", async () => {
  pulumi.runtime.setAllConfig({ "svc:quiet": "true", "svc:baseUrl": "https://a.example.com/v2" });
  const { type, inputs } = await registered(new svc.Provider("account", { apiKey: "key", maxSizeCu: 8 }));
  pulumi.runtime.setAllConfig({});
  expect(type).toBe("pulumi:providers:svc");
  expect(given(inputs)).toEqual({
    apiKey: secret("key"),
    baseUrl: "https://a.example.com/v2",
    maxSizeCu: "8",
    quiet: "true",
  });
});

async function aliasesOf(resource: pulumi.Resource): Promise<string[]> {
  // They are internal in the SDK's types.
  const { __aliases } = resource as unknown as { __aliases: pulumi.Output<string>[] };
  return new Promise((resolve) => pulumi.all(__aliases).apply(resolve));
}

test("the aliases are those of the dynamic types, also of a Provider", async () => {
  const auth = new svc.AuthIntegration("auth", { projectId: "p" });
  const child = new svc.AuthUser("ann", { projectId: "p", email: "ann@example.com" }, { parent: auth });
  const found = await aliasesOf(child);
  const [auths, users] = ["AuthIntegration", "AuthUser"].map((kind) => `pulumi-nodejs:dynamic/svc:${kind}`);
  expect(found).toContain(`urn:pulumi:dev::proj::${auths}$${users}::ann`);
  expect(found).toContain(`urn:pulumi:dev::proj::svc:index:AuthIntegration$${users}::ann`);
  const provider = "urn:pulumi:dev::proj::pulumi:providers:pulumi-nodejs::account";
  expect(await aliasesOf(new svc.Provider("account"))).toEqual([provider]);
});

test("where resources are declared already, it says that it comes too late", () => {
  const load = (name: string): typeof dynamic => jest.requireActual(name);
  jest.isolateModules(() => {
    const { ComputeEndpoint } = load("../../src");
    new ComputeEndpoint("early", { projectId: "p", branchId: "br" });
    expect(() => load("../../src/native")).toThrow(/^pulumi-svc\/native: this program has already declared/);
  });
});
