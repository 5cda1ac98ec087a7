import {
  checkHooks,
  type Registrable,
  registrablesOf,
  registrationOf,
  withNeeded,
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
    "/srv/program",
    false,
  );
  const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value: "hidden" };
  expect(request.getObject()?.toJavaScript()).toEqual({
    ...{ size: { max: 2 }, settings: { token: secret }, list: [1, null, true], __urn: urnOf("api") },
    __replaceOnChanges: true,
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

test("a preview says so to the lifecycle, and only to ours", () => {
  expect(registrationOf(one({}), "/", true).getObject()?.toJavaScript()).toEqual({ __preview: true });
  expect(
    registrationOf(one({ type: "pulumi:providers:x" }), "/", true)
      .getObject()
      ?.toJavaScript(),
  ).toEqual({});
});

test("parents and providers are registered with a resource, in the order of the state, and nothing else", () => {
  const all = of(
    { urn: "stack", type: "pulumi:pulumi:Stack" },
    { urn: "provider", type: "pulumi:providers:pulumi-nodejs", parent: "stack" },
    { urn: "other", type: "t", parent: "stack" },
    { urn: "group", type: "t", parent: "stack" },
    { urn: "api", type: TYPE, parent: "group", provider: "provider::id", dependencies: ["other"] },
    { urn: "api", type: TYPE, delete: true },
  );
  expect(withNeeded(all, ["api"]).map(({ urn }) => urn)).toEqual(["stack", "provider", "group", "api"]);
});

test("a resource with hooks is refused by its URN", () => {
  expect(() => checkHooks([one({}), one({ resourceHooks: { beforeUpdate: ["hook"] } })])).toThrow(
    /nothing was changed: urn:.*::api has resource hooks/,
  );
});
