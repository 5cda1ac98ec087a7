import * as pulumi from "@pulumi/pulumi";
import { durationSeconds } from "../../src/program/resourceOptions";
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
    new svc.ComputeEndpoint("api", ARGS, { customTimeouts: { create: "1m30s", delete: "2s", read: "2m" } }),
  );
  expect(registered.at(-1)?.type).toBe("pulumi-nodejs:dynamic/svc:ComputeEndpoint");
  expect(inputs).toMatchObject({
    ...ARGS,
    __provider: pointer("ComputeEndpoint"),
    __urn: "urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:ComputeEndpoint::api",
    __timeouts: { create: 90, delete: 2, read: 120 },
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

/** What an output knows of itself; these are internal in the SDK's types. */
async function facts(output: pulumi.Output<unknown>) {
  const inner = output as pulumi.Output<unknown> & {
    promise: () => Promise<unknown>;
    isKnown: Promise<boolean>;
    isSecret: Promise<boolean>;
    allResources: () => Promise<Set<pulumi.Resource>>;
  };
  const [value, isKnown, isSecret, on] = await Promise.all([
    inner.promise(),
    inner.isKnown,
    inner.isSecret,
    inner.allResources(),
  ]);
  return { value, isKnown, isSecret, on: [...on] };
}

test.each([
  ["pooledHost", "ep-1-pooler.db.example.com"],
  ["proxyHost", "db.example.com"],
  ["autoscalingLimitMinCu", 1],
  ["autoscalingLimitMaxCu", 4],
  ["maxConnections", { min: 450, max: 1802 }],
  ["endpointId", "derived-id"],
] as const)("%s follows from another property, and depends on the resource as that does", async (name, value) => {
  const given = { ...ARGS, size: { min: 1, max: 4 } };
  // The mocks answer with what they are given: a host comes in by a transformation.
  const transformations = [
    ({ props, opts }: pulumi.ResourceTransformationArgs) => ({
      props: { ...props, host: "ep-1.db.example.com" },
      opts,
    }),
  ];
  const compute = new svc.ComputeEndpoint("derived", given, { transformations });
  const seen = await facts(compute[name]);
  expect(seen).toEqual({ value, isKnown: true, isSecret: false, on: [compute] });
});

test("what follows from a secret is secret", async () => {
  const compute = new svc.ComputeEndpoint("hidden", { ...ARGS, size: pulumi.secret(2) });
  expect(await facts(compute.autoscalingLimitMaxCu)).toMatchObject({ value: 2, isSecret: true });
});

test("an argument that has a value only where it is given is undefined elsewhere, and what a transformation adds shows", async () => {
  const bare = new svc.ComputeEndpoint("without", ARGS);
  expect(await facts(bare.adopt)).toEqual({ value: undefined, isKnown: true, isSecret: false, on: [bare] });
  const transformations = [
    ({ props, opts }: pulumi.ResourceTransformationArgs) => ({ props: { ...props, adopt: true }, opts }),
  ];
  const added = new svc.ComputeEndpoint("with", ARGS, { transformations });
  expect(await facts(added.adopt)).toMatchObject({ value: true });
});

describe("a secret argument", () => {
  const AUTH = { projectId: "prj-1", providerId: "google", clientId: "id" } as const;
  /** The secret outputs that the engine would receive, and whether the property is one. */
  async function secrecyOf(name: string, clientSecret: svc.StandardOAuthProviderArgs["clientSecret"]) {
    let told: readonly string[] | undefined;
    const transformations = [
      ({ props, opts }: pulumi.ResourceTransformationArgs) => {
        told = (opts as pulumi.CustomResourceOptions).additionalSecretOutputs;
        return { props, opts };
      },
    ];
    const provider = new svc.OAuthProvider(name, { ...AUTH, clientSecret }, { transformations });
    const { value, isSecret } = await facts(provider.clientSecret);
    return { told, value, isSecret };
  }

  test("is marked, whatever the program wraps it in", async () => {
    expect(await secrecyOf("literal", "s")).toEqual({ told: [], value: "s", isSecret: true });
  });

  test("that is a reference is not marked: a plan shows its name", async () => {
    const reference = svc.fromEnv("GOOGLE_SECRET");
    expect(await secrecyOf("named", reference)).toEqual({ told: [], value: reference, isSecret: false });
  });

  test("that turns out to be a reference stays marked", async () => {
    // The types take references as they are; a program without types may wrap one.
    const wrapped = pulumi.output(svc.fromFile("secrets/google")) as unknown as pulumi.Output<string>;
    const marked = { told: [], value: { fromFile: "secrets/google" }, isSecret: true };
    expect(await secrecyOf("wrapped", wrapped)).toEqual(marked);
  });
});

test("a setting of Postgres can be a reference beside values of any kind", async () => {
  const pgSettings = { work_mem: pulumi.output("64MB"), "app.token": svc.fromEnv("TOKEN") };
  const inputs = await inputsOf(new svc.ComputeEndpoint("settings", { ...ARGS, settings: { pgSettings } }));
  expect(inputs["settings"]).toEqual({ pgSettings: { work_mem: "64MB", "app.token": { fromEnv: "TOKEN" } } });
});

test("the paths of ignoreChanges and replaceOnChanges are passed on, and nothing where there are none", async () => {
  const hiddenOf = async (name: string, options: pulumi.CustomResourceOptions) => {
    const { __ignoreChanges, __replaceOnChanges } = await inputsOf(new svc.ComputeEndpoint(name, ARGS, options));
    return { __ignoreChanges, __replaceOnChanges };
  };
  const paths = ["siz", "size.maximum"];
  expect(await hiddenOf("both", { ignoreChanges: paths, replaceOnChanges: ["size"] })).toEqual({
    __ignoreChanges: paths,
    __replaceOnChanges: ["size"],
  });
  expect(await hiddenOf("none", { ignoreChanges: [], replaceOnChanges: [] })).toEqual({});
  // What stands for everything, by name.
  const { __ignoreChanges: all } = await hiddenOf("all", { ignoreChanges: ["*"] });
  expect(all).toEqual(expect.arrayContaining(["projectId", "settings"]));
  const google = { projectId: "prj-1", providerId: "google", clientId: "id", clientSecret: svc.fromFile("google") };
  const inputs = await inputsOf(new svc.OAuthProvider("google", google, { ignoreChanges: ["clientSecret"] }));
  expect(inputs["__ignoreChanges"]).toEqual(["clientSecret"]);
});

function definedIn<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("it is not there");
  return value;
}

test("the components take references wherever they take the argument", async () => {
  const reference = svc.fromEnv("SECRET");
  const auth = new svc.ProjectAuth("auth", {
    projectId: "prj-1",
    oauth: { google: { clientId: "id", clientSecret: reference } },
    email: {
      type: "standard",
      host: "smtp.example.com",
      port: 587,
      username: "mailer",
      password: reference,
      senderEmail: "a@example.com",
      senderName: "A",
    },
  });
  const group = new svc.ComputeGroup("group", {
    projectId: "prj-1",
    branchId: "br-1",
    primary: { settings: { pgSettings: { "app.token": reference } } },
    replicas: 1,
  });
  expect(await facts(definedIn(auth.oauthProviders["google"]).clientSecret)).toMatchObject({
    value: reference,
    isSecret: false,
  });
  expect(await facts(definedIn(auth.emailServer).password)).toMatchObject({ value: reference, isSecret: false });
  for (const compute of [group.primary, ...group.replicas]) {
    expect(await facts(compute.settings)).toMatchObject({ value: { pgSettings: { "app.token": reference } } });
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

test("an error in a transformation shows its own line, and the lines of the program that declares the resource", () => {
  const { stackTraceLimit } = Error;
  const transformations: pulumi.ResourceTransformation[] = [
    function ownTransformation() {
      throw new Error("refused by the team's rules");
    },
  ];
  function declaresTheCompute(): void {
    new svc.ComputeEndpoint("api", ARGS, { transformations });
  }
  const thrown = (() => {
    try {
      return declaresTheCompute();
    } catch (error) {
      return error;
    }
  })() as Error;
  const [message, own, ...callers] = thrown.stack?.split("\n") ?? [];
  expect(message).toBe("Error: refused by the team's rules");
  expect(own).toContain("SvcResource.test.ts");
  expect(callers[0]).toMatch(/declaresTheCompute.*SvcResource\.test\.ts/);
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
});

test("the engine is told which line of the program declares a resource", async () => {
  const seen = jest.spyOn(pulumi.Resource as unknown as { stackTrace: (skip: number) => unknown[] }, "stackTrace");
  new svc.ComputeEndpoint("api", ARGS);
  expect(seen.mock.results.flatMap(({ value }) => value as { uri?: string }[])).toContainEqual(
    expect.objectContaining({ uri: expect.stringContaining("SvcResource.test.ts") }),
  );
  seen.mockRestore();
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
