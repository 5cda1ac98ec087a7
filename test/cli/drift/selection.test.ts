import { selected } from "../../../src/cli/drift/selection";

const urn = (type: string, name: string): string => `urn:pulumi:dev::proj::${type}::${name}`;
const [api, list, apiUser] = [
  urn("svc:ComputeEndpoint", "api"),
  urn("svc:Whitelist", "list"),
  urn("svc:AuthUser", "api"),
];
const all = [api, list, apiUser].map((one) => ({ urn: one }));

test("a resource is named by its name or its URN, once however often it is named", () => {
  expect(selected(all, ["list", list])).toEqual([{ urn: list }]);
  expect(selected(all, [apiUser, "list"])).toEqual([{ urn: list }, { urn: apiUser }]);
});

test("without a name it is all of them", () => {
  expect(selected(all, [])).toEqual(all);
});

test("the two states of one resource are one name", () => {
  expect(selected([{ urn: api }, { urn: api }], ["api"])).toEqual([{ urn: api }, { urn: api }]);
});

test("every name that no resource has, and every name that several have, is a problem at once", () => {
  expect(() => selected(all, ["api", "lis", "list"])).toThrow(
    [
      `"api" is the name of several resources. Give the URN of one: ${api}, ${apiUser}`,
      'the stack holds no resource of pulumi-svc with the name or URN "lis"',
    ].join("\n"),
  );
});
