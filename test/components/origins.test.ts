import * as pulumi from "@pulumi/pulumi";
import * as svc from "../../src";
import { originsOf } from "../../src/components/origins";
import { type ComponentName, componentOfType } from "../../src/contract/componentNames";
import { isSecret } from "../../src/contract/engineSecrets";
import { declaration as computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointDeclaration";
import { declaration as emailServer } from "../../src/resources/emailServer/emailServerDeclaration";
import { declaration as oauthProvider } from "../../src/resources/oauthProvider/oauthProviderDeclaration";
import { EACH_CASE } from "../kinds";

/** The real classes create the children. Each argument has a distinct value, which shows where it comes from. */

interface Made {
  readonly kind: string;
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

const made: Made[] = [];
const components: string[] = [];

beforeAll(() =>
  pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, ...given }) => {
        // The inputs of a mock are untyped.
        const inputs = given.inputs as Record<string, unknown>;
        if (type.includes(":dynamic")) made.push({ kind: type.split(":").at(-1) ?? "", name, inputs });
        else components.push(type);
        return { id: name, state: inputs };
      },
      call: () => ({}),
    },
    "proj",
    "dev",
  ),
);
beforeEach(() => {
  made.splice(0);
  components.splice(0);
});

/** All arguments of a kind but some, each with a value of its own. */
const all = (declaration: { readonly args: object }, place: string, ...but: string[]): Record<string, string> =>
  Object.fromEntries(
    Object.keys(declaration.args)
      .filter((name) => !but.includes(name))
      .map((name) => [name, `${place} ${name}`]),
  );

const COMPUTE = (place: string): object => all(computeEndpoint, place, "projectId", "branchId", "type");

// A new argument of a component does not compile before it has a value here, and then has to come to a child.
const GROUP = {
  projectId: "project",
  branchId: "branch",
  primary: COMPUTE("primary"),
  replicas: [COMPUTE("first"), { key: "reports", ...COMPUTE("second") }, COMPUTE("third")] as unknown,
} satisfies Record<keyof svc.ComputeGroupArgs, unknown>;
const AUTH = {
  projectId: "project",
  branchId: "branch",
  databaseName: "database",
  roleName: "role",
  authProvider: "provider",
  adopt: true,
  deletionProtection: "protection",
  oauth: { google: all(oauthProvider, "google", "projectId", "providerId"), github: "shared" },
  redirectDomains: ["https://one.example.com", "https://two.example.com"],
  exclusiveDomains: true,
  email: all(emailServer, "email", "projectId"),
} satisfies Record<keyof svc.ProjectAuthArgs, unknown>;

type Args = Readonly<Record<string, unknown>>;
/** Which no argument of the component gives. */
type Own = Readonly<Record<string, readonly string[]>>;
const OWN: Own = {
  ComputeEndpoint: ["type"],
  OAuthProvider: ["providerId"],
  WhitelistDomain: ["domain", "expiresOn", "adopt"],
};

/** By the number of a replica: what identifies it, and what would keep a smaller number from deleting it. */
const OWN_OF_NUMBERED = ["name", "adopt", "deletionProtection"];

/** A component, and the children that it shows. */
const resourcesIn = (component: pulumi.Resource): pulumi.Resource[] => [
  component,
  ...Object.values(component)
    .flatMap((shown: unknown) => [shown, ...Object.values(Object(shown))])
    .filter((one): one is pulumi.Resource => pulumi.CustomResource.isInstance(one)),
];

/** What the SDK marks as a secret, too. */
const clear = (value: unknown): unknown => (isSecret(value) ? Reflect.get(Object(value), "value") : value);

test.each<[string, ComponentName, Args, Own]>([
  ["a list of replicas", "ComputeGroup", GROUP, {}],
  ["a number of replicas", "ComputeGroup", { ...GROUP, replicas: 2 }, { replica: [...OWN_OF_NUMBERED] }],
  ["the whole list of domains", "ProjectAuth", AUTH, {}],
  ["a resource for each domain", "ProjectAuth", { ...AUTH, exclusiveDomains: undefined }, {}],
])(
  "each argument of each child of a component with %s comes from where the map says",
  async (_what, name, args, own) => {
    // From a program without types.
    const Component = svc[name] as unknown as new (name: string, args: Args) => pulumi.ComponentResource;
    await Promise.all(resourcesIn(new Component("own", args)).map(({ urn }) => new Promise((is) => urn.apply(is))));
    expect(components.map(componentOfType)).toEqual([name]);
    const reached = new Set<string>();
    for (const child of made) {
      const { declaration } = EACH_CASE.find(({ kind }) => kind === child.kind) ?? { declaration: { args: {} } };
      const origins = originsOf(name, { name: "own", args }, child, Object.keys(declaration.args));
      const isReplica = child.name.includes("replica");
      const expected = [...(OWN[child.kind] ?? []), ...((isReplica && own["replica"]) || [])];
      const without = Object.keys(declaration.args).filter((argument) => !origins.has(argument));
      expect([child.name, ...without.toSorted()]).toEqual([child.name, ...expected.toSorted()]);
      for (const [argument, origin] of origins) {
        const value = origin.reduce<unknown>((inner, key) => Object(inner)[key], args);
        // A provider with the shared keys, and what the component assumes.
        if (value === undefined) continue;
        reached.add(String(origin[0]));
        expect([child.name, argument, clear(child.inputs[argument])]).toEqual([child.name, argument, value]);
      }
    }
    const decides = ["exclusiveDomains", ...(Array.isArray(args["replicas"]) ? [] : ["replicas"])];
    const others = name === "ProjectAuth" && args["exclusiveDomains"] === undefined ? ["redirectDomains"] : [];
    expect([...reached, ...others].toSorted()).toEqual(
      Object.keys(args)
        .filter((argument) => !decides.includes(argument))
        .toSorted(),
    );
  },
);

test("no other type is a component of ours", () => {
  for (const type of [
    "ComputeGroup",
    "svc:components:Other",
    "svc:components:toString",
    "demo:svc:components:ComputeGroup",
  ])
    expect(componentOfType(type)).toBeUndefined();
});
