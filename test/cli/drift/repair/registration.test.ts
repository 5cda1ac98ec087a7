import { otherPackages } from "../../../../src/cli/drift/repair/otherPackages";
import {
  lookUpOf,
  partialProgram,
  type Registrable,
  registrablesOf,
  registrationOf,
} from "../../../../src/cli/drift/repair/registration";
import { StackState } from "../../../../src/cli/stack/state";

const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", plaintext: '"hidden"' };
const TYPE = "pulumi-nodejs:dynamic/svc:ComputeEndpoint";
const urnOf = (name: string): string => `urn:pulumi:dev::proj::${TYPE}::${name}`;

const of = (...resources: object[]) => registrablesOf(new StackState(JSON.stringify({ deployment: { resources } })));
function one(given: object): Registrable {
  const [resource] = of({ urn: urnOf("api"), type: TYPE, custom: true, ...given }).values();
  if (resource === undefined) throw new Error("it is not registrable");
  return resource;
}

test("a request holds what the state holds, secrets marked as such", () => {
  const request = registrationOf(
    one({
      inputs: { size: { max: 2 }, settings: { token: SECRET }, list: [1, null, true], __urn: urnOf("api") },
      parent: "urn:pulumi:dev::proj::c:c:C::group",
      provider: "urn:pulumi:dev::proj::pulumi:providers:pulumi-nodejs::default::id",
      protect: true,
      retainOnDelete: true,
      dependencies: ["urn:one"],
      propertyDependencies: { size: ["urn:one"], list: null },
      aliases: [urnOf("old")],
      additionalSecretOutputs: ["key"],
      ignoreChanges: ["name"],
      replaceOnChanges: ["size"],
      deletedWith: "urn:one",
      replaceWith: ["urn:two"],
      replacementTrigger: SECRET,
      hideDiff: ['settings["a.b"][0]'],
      customTimeouts: { create: 60, read: 5 },
      sourcePosition: "project:///src/a%20b.ts#12,3",
      stackTrace: [{ sourcePosition: "project:///../lib/x.ts#4" }, {}],
    }),
    { isTarget: true, isPreview: false, root: "/srv/program" },
  );
  const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value: "hidden" };
  expect(request.getObject()?.toJavaScript()).toEqual({
    ...{ size: { max: 2 }, settings: { token: secret }, list: [1, null, true], __urn: urnOf("api") },
    __replaceOnChanges: ["size"],
    __retains: true,
    __ignoreChanges: ["name"],
  });
  expect(request.getReplacementTrigger()?.toJavaScript()).toEqual(secret);
  expect(request.getPropertydependenciesMap().get("size")?.getUrnsList()).toEqual(["urn:one"]);
  expect(request.getAliasesList().map((alias) => alias.getUrn())).toEqual([urnOf("old")]);
  expect(request.toObject()).toMatchObject({
    type: TYPE,
    name: "api",
    custom: true,
    protect: true,
    retainondelete: true,
    parent: "urn:pulumi:dev::proj::c:c:C::group",
    provider: "urn:pulumi:dev::proj::pulumi:providers:pulumi-nodejs::default::id",
    dependenciesList: ["urn:one"],
    additionalsecretoutputsList: ["key"],
    ignorechangesList: ["name"],
    replaceonchangesList: ["size"],
    deletedwith: "urn:one",
    replaceWithList: ["urn:two"],
    hidediffsList: ['settings["a.b"][0]'],
    customtimeouts: { create: "60s", update: "", pb_delete: "", read: "5s" },
    sourceposition: { uri: "file:///srv/program/src/a%20b.ts", line: 12, column: 3 },
    stacktrace: { framesList: [{ pc: { uri: "file:///srv/lib/x.ts", line: 4, column: 0 } }, { pc: undefined }] },
  });
});

const PREVIEW = { isTarget: true, isPreview: true, root: "/" };

test("a preview says so to the lifecycle, and only to ours", () => {
  expect(registrationOf(one({}), PREVIEW).getObject()?.toJavaScript()).toEqual({ __preview: true });
  expect(
    registrationOf(one({ type: "pulumi:providers:x" }), PREVIEW)
      .getObject()
      ?.toJavaScript(),
  ).toEqual({});
});

test("of what is no target a request holds which one it is: no value, and no option that the SDK may not know", () => {
  const request = registrationOf(
    one({ inputs: { token: SECRET }, parent: "urn:one", provider: "provider::id", replacementTrigger: SECRET }),
    { ...PREVIEW, isTarget: false },
  );
  expect(request.getObject()).toBeUndefined();
  expect(request.getReplacementTrigger()).toBeUndefined();
  expect(request.toObject()).toMatchObject({ type: TYPE, name: "api", parent: "urn:one", provider: "provider::id" });
});

test("a provider keeps its version, whatever others of its package have", () => {
  const request = registrationOf(one({ type: "pulumi:providers:x", inputs: { version: "1.2.3", key: SECRET } }), {
    ...PREVIEW,
    isTarget: false,
  });
  expect(request.getVersion()).toBe("1.2.3");
  expect(request.getObject()?.toJavaScript()).toMatchObject({ version: "1.2.3", key: expect.anything() });
});

test("what is only looked up is looked up again, by its id", () => {
  const looked = one({
    ...{ external: true, id: "prj-demo/ep-1", inputs: { __urn: "" }, dependencies: ["urn:one"], parent: "urn:two" },
    ...{ additionalSecretOutputs: ["key"], sourcePosition: "project:///a.ts#1,2", provider: "provider::id" },
  });
  const request = lookUpOf(looked, { isPreview: false, root: "/srv" });
  expect(request.getProperties()?.toJavaScript()).toEqual({ __urn: "" });
  expect(request.toObject()).toMatchObject({
    ...{ id: "prj-demo/ep-1", type: TYPE, name: "api", parent: "urn:two", provider: "provider::id" },
    ...{ dependenciesList: ["urn:one"], additionalsecretoutputsList: ["key"], acceptsecrets: true },
    sourceposition: { uri: "file:///srv/a.ts", line: 1, column: 2 },
  });
});

const STACK = [
  { urn: "stack", type: "pulumi:pulumi:Stack" },
  { urn: "provider", type: "pulumi:providers:pulumi-nodejs", parent: "stack" },
  { urn: "other", type: "t", parent: "stack" },
  { urn: "group", type: "t", parent: "stack" },
  { urn: "api", type: TYPE, parent: "group", provider: "provider::id", dependencies: ["other"] },
  { urn: "api", type: TYPE, delete: true },
];
const DEPENDANTS = [
  { urn: "by-order", type: "t", dependencies: ["api"] },
  { urn: "by-output", type: "t", propertyDependencies: { host: ["api"], none: null } },
  { urn: "child", type: "t", parent: "api" },
  { urn: "deleted-with", type: "t", deletedWith: "api" },
  { urn: "replaced-with", type: "t", replaceWith: ["api"] },
  { urn: "their-provider", type: "pulumi:providers:postgresql", dependencies: ["api"] },
  { urn: "theirs", type: "t", provider: "their-provider::id" },
  { urn: "their-group", type: "t" },
  { urn: "further", type: "t", parent: "their-group", dependencies: ["by-order"] },
  { urn: "stranger", type: "t", dependencies: ["other"] },
];
const declaredFor = (resources: object[], change: "changed" | "deleted" | "leftover"): string[] => [
  ...partialProgram(of(...resources), [{ urn: "api", change }]).declared,
];

test("parents and providers are declared with a target, and nothing that it depends on", () => {
  expect(declaredFor(STACK, "changed").toSorted()).toEqual(["api", "group", "provider", "stack"]);
});

test("all that depends on a target is declared with it, in each way and by way of others", () => {
  const declared = declaredFor([...STACK, ...DEPENDANTS], "changed");
  const missing = [...STACK, ...DEPENDANTS].map(({ urn }) => urn).filter((urn) => !declared.includes(urn));
  expect([...new Set(missing)]).toEqual(["other", "stranger"]);
  expect(declaredFor([...STACK, ...DEPENDANTS], "leftover").toSorted()).toEqual(declared.toSorted());
});

test("of what depends on a resource that is gone the engine knows nothing, unless a replacement has deleted it", () => {
  expect(declaredFor([...STACK, ...DEPENDANTS], "deleted").toSorted()).toEqual(["api", "group", "provider", "stack"]);
  const unreplaced = STACK.map((one) => ("delete" in one ? one : { ...one, pendingReplacement: one.urn === "api" }));
  expect(declaredFor([...unreplaced, ...DEPENDANTS], "deleted")).toContain("further");
});

test("a dependant with an object that is still to be deleted is reported, unless it is repaired as well", () => {
  const dependants = [
    { urn: "stack::p::t::web", type: "t", dependencies: ["api"] },
    { urn: "stack::p::t::web", type: "t", delete: true },
  ];
  expect(() => declaredFor([...STACK, ...dependants], "changed")).toThrow(
    /nothing was changed: web depends on what is to be repaired.*Run pulumi up first/,
  );
  const drift = ["api", "stack::p::t::web"].map((urn) => ({ urn, change: "leftover" as const }));
  expect(() => partialProgram(of(...STACK, ...dependants), drift)).not.toThrow();
});

test("resources that depend on each other in a circle are declared, and end nothing in a loop", () => {
  const circle = [
    { urn: "api", type: TYPE, dependencies: ["b"] },
    { urn: "b", type: "t", dependencies: ["api"], parent: "b" },
  ];
  expect(declaredFor(circle, "changed")).toEqual(["api", "b"]);
});

test("the plugins of other packages are named: that of a package that is made for one program, too", () => {
  const provider = (type: string, inputs: object) => ({ urn: type, type: `pulumi:providers:${type}`, inputs });
  const all = of(
    provider("aws", { version: "6.0.0" }),
    provider("aws", {}),
    provider("made", { __internal: { name: "terraform-provider" } }),
    ...[provider("pulumi-nodejs", {}), provider("pulumi", {}), { urn: "plain", type: "t" }],
  );
  expect(otherPackages({ all, declared: new Set(all.keys()) })).toEqual(["aws", "terraform-provider"]);
  expect(otherPackages({ all, declared: new Set(["made"]) })).toEqual(["terraform-provider"]);
});

test("a target with hooks is refused by its URN, and one beside it is not, nor is what the engine copies", () => {
  const resourceHooks = { beforeUpdate: ["hook"] };
  const all = of(
    { urn: "group", type: "t", resourceHooks },
    { urn: urnOf("api"), type: TYPE, resourceHooks },
    { urn: "b", type: TYPE, parent: "group" },
    { urn: "dependant", type: "t", dependencies: ["b"], resourceHooks },
  );
  expect(() => partialProgram(all, [{ urn: urnOf("api"), change: "changed" }])).toThrow(
    /nothing was changed: urn:.*::api has resource hooks/,
  );
  expect(() => partialProgram(all, [{ urn: "b", change: "changed" }])).not.toThrow();
});
