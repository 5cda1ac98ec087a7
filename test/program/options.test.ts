import * as pulumi from "@pulumi/pulumi";
import { withInheritedAliases } from "../../src/program/resourceOptions";
import * as svc from "../../src";

beforeAll(() =>
  pulumi.runtime.setMocks(
    { newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs as object }), call: () => ({}) },
    "proj",
    "dev",
  ),
);

/** All aliases that the SDK hands to the engine, as URNs. They are internal in its types. */
async function allAliasesOf(resource: pulumi.Resource): Promise<string[]> {
  const { __aliases } = resource as unknown as { __aliases: pulumi.Output<string>[] };
  return new Promise((resolve) => {
    pulumi.all(__aliases).apply(resolve);
  });
}

/** Those of the same protocol. */
const aliasesOf = async (resource: pulumi.Resource): Promise<string[]> =>
  (await allAliasesOf(resource)).filter((urn) => !urn.includes("svc:index:"));

const COMPUTE = "pulumi-nodejs:dynamic/svc:ComputeEndpoint";
const GROUP = "svc:components:ComputeGroup";
const AUTH = "svc:components:ProjectAuth";
const at = (type: string, name: string): string => `urn:pulumi:dev::proj::${type}::${name}`;
const BASE = { projectId: "prj-1", branchId: "br-1" };

test("an alias of a ComputeGroup is one of each of its computes", async () => {
  const args = { ...BASE, primary: {}, replicas: [{ key: "reports" }] };
  const { primary, replicas } = new svc.ComputeGroup("new", args, { aliases: [{ name: "old" }] });
  expect(await Promise.all([primary, ...replicas].map(aliasesOf))).toEqual([
    [at(`${GROUP}$${COMPUTE}`, "old-primary")],
    [at(`${GROUP}$${COMPUTE}`, "old-replica-reports")],
  ]);
});

test("an alias of a ProjectAuth is one of all that it makes", async () => {
  const args = { projectId: "prj-1", oauth: { google: "shared" }, redirectDomains: ["https://a.test"] } as const;
  const auth = new svc.ProjectAuth(
    "new",
    { ...args, redirectDomains: [...args.redirectDomains] },
    { aliases: [{ name: "old" }] },
  );
  const children = [auth.integration, auth.oauthProviders["google"], auth.whitelistDomains["https://a.test"]];
  const found = await Promise.all(children.map((child) => (child === undefined ? [] : aliasesOf(child))));
  expect(found.flat().map((urn) => urn.split("$svc:").at(-1)?.split("::").at(-1))).toEqual([
    "old",
    "old-google",
    "old-https://a.test",
  ]);
  expect(found.flat().every((urn) => urn.startsWith(`urn:pulumi:dev::proj::${AUTH}$pulumi-nodejs:dynamic/svc:`))).toBe(
    true,
  );
});

class Team extends pulumi.ComponentResource {
  readonly api: svc.ComputeEndpoint;
  readonly group: svc.ComputeGroup;
  constructor(name: string, opts?: pulumi.ComponentResourceOptions) {
    super("my:Team", name, {}, opts);
    this.api = new svc.ComputeEndpoint(`${name}-api`, { ...BASE }, { parent: this, aliases: [{ name: "first-api" }] });
    this.group = new svc.ComputeGroup(`${name}-group`, { ...BASE, primary: {} }, { parent: this });
  }
}

test("an alias of a program's own component goes down to what is in it, beside the aliases given there", async () => {
  const { api, group } = new Team("new", { aliases: [{ name: "old" }] });
  expect(await aliasesOf(api)).toEqual([
    at(`my:Team$${COMPUTE}`, "first-api"),
    at(`my:Team$${COMPUTE}`, "old-api"),
    at(`my:Team$${COMPUTE}`, "first-api"),
  ]);
  expect(await aliasesOf(group.primary)).toEqual([at(`my:Team$${GROUP}$${COMPUTE}`, "old-group-primary")]);
});

test("without an alias of the parent the options are what they were", () => {
  const parent = new Team("plain");
  const opts = { parent, aliases: [{ name: "old" }] };
  expect(withInheritedAliases("new", COMPUTE, opts)).toBe(opts);
  const root = { aliases: [{ name: "old" }] };
  expect(withInheritedAliases("new", COMPUTE, root)).toBe(root);
});

test.each([
  ["on", { deletionProtection: true }, {}, true],
  ["off", { deletionProtection: false }, {}, undefined],
  ["not given", {}, {}, undefined],
  ["an Output, whose value the program does not know", { deletionProtection: pulumi.output(true) }, {}, undefined],
  ["on, and the program says otherwise", { deletionProtection: true }, { protect: false }, false],
] as const)("deletionProtection that is %s: the option protect", (_how, args, opts, expected) => {
  // It is internal in the types of the SDK.
  const protectOf = (resource: pulumi.Resource) => (resource as unknown as { __protect?: boolean }).__protect;
  const all = [
    new svc.ComputeEndpoint("api", { ...BASE, ...args }, opts),
    new svc.AuthIntegration("auth", { projectId: "prj-1", ...args }, opts),
    // `protect: false` of a component says nothing of each child.
    ...("protect" in opts
      ? []
      : [
          new svc.ComputeGroup("db", { ...BASE, primary: { ...args } }).primary,
          new svc.ProjectAuth("whole", { projectId: "prj-1", ...args }).integration,
        ]),
  ];
  expect(all.map(protectOf)).toEqual(all.map(() => expected));
  const { replicas } = new svc.ComputeGroup("more", { ...BASE, primary: { ...args }, replicas: 1 });
  expect(replicas.map(protectOf)).toEqual([undefined]);
});

describe("the aliases with the types of the other protocol", () => {
  const AUTH_TYPE = "pulumi-nodejs:dynamic/svc:AuthIntegration";
  const NATIVE = "svc:index:ComputeEndpoint";
  const NATIVE_AUTH = "svc:index:AuthIntegration";
  const othersOf = async (resource: pulumi.Resource): Promise<string[]> =>
    [...new Set(await allAliasesOf(resource))].filter((urn) => urn.includes("svc:index:")).toSorted();

  test("a resource has that of its own URN, and of each alias", async () => {
    const aliases = [{ name: "old" }, pulumi.output(at(COMPUTE, "older")), { type: "other:index:Compute" }];
    const compute = new svc.ComputeEndpoint("api", BASE, { aliases });
    expect(await othersOf(compute)).toEqual([at(NATIVE, "api"), at(NATIVE, "old"), at(NATIVE, "older")]);
  });

  test("a child has those of the whole chain, and those of a chain of which a part has moved", async () => {
    const auth = new svc.AuthIntegration("auth", { projectId: "prj-1" }, { aliases: [{ name: "former" }] });
    const child = new svc.ComputeEndpoint("child", BASE, { parent: auth });
    expect(await othersOf(child)).toEqual([
      at(`${AUTH_TYPE}$${NATIVE}`, "child"),
      at(`${NATIVE_AUTH}$${COMPUTE}`, "child"),
      at(`${NATIVE_AUTH}$${NATIVE}`, "child"),
    ]);
  });

  test("a move out of an integration is found too, and a name that looks like a type stays", async () => {
    const auth = new svc.AuthIntegration("from", { projectId: "prj-1" });
    const compute = new svc.ComputeEndpoint("svc:index:ComputeEndpoint$x::y", BASE, { aliases: [{ parent: auth }] });
    const name = "svc:index:ComputeEndpoint$x::y";
    expect(await allAliasesOf(compute)).toEqual([
      at(`${AUTH_TYPE}$${COMPUTE}`, name),
      at(NATIVE, name),
      at(`${NATIVE_AUTH}$${NATIVE}`, name),
    ]);
  });

  test("a Provider and a component at the root have none", async () => {
    expect(await allAliasesOf(new svc.Provider("account"))).toEqual([]);
    expect(await allAliasesOf(new svc.ComputeGroup("group", { ...BASE, primary: {} }))).toEqual([]);
  });
});
