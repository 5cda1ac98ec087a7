import { containersOf, gatherersOf, importedArguments, livesIn, standardsOf } from "../../src/cli/declarations";
import { KINDS } from "../../src/contract/pointer";

test("an import gives what the service shows and a change of the object sends, of each kind", () => {
  expect(Object.fromEntries(KINDS.map((kind) => [kind, importedArguments(kind)]))).toEqual({
    AuthIntegration: ["projectId", "branchId", "databaseName", "authProvider"],
    AuthKeys: ["projectId", "authProvider", "rotationTriggers"],
    AuthOwnershipTransfer: ["projectId", "authProvider", "triggers"],
    AuthUser: ["projectId", "name", "authProvider"],
    ComputeEndpoint: [
      "projectId",
      "branchId",
      "type",
      "name",
      "size",
      "scaleToZero",
      "poolerEnabled",
      "disabled",
      "passwordlessAccess",
      "settings",
    ],
    EmailServer: ["projectId", "type", "host", "port", "username", "password", "senderEmail", "senderName"],
    OAuthProvider: ["projectId", "providerId"],
    Whitelist: ["projectId", "domains", "authProvider"],
    WhitelistDomain: ["projectId", "domain", "authProvider"],
  });
});

test("what lives in an integration is what goes with it, and says which argument names it", () => {
  expect(containersOf("AuthUser")).toEqual(new Map([["projectId", "AuthIntegration"]]));
  expect(KINDS.filter((kind) => livesIn(kind, "ComputeEndpoint"))).toEqual([]);
  expect(KINDS.filter((kind) => !livesIn(kind, "AuthIntegration"))).toEqual(["AuthIntegration", "ComputeEndpoint"]);
});

test("one resource may declare all objects of another kind", () => {
  expect(KINDS.map((kind) => [kind, gatherersOf(kind)]).filter(([, gatherers]) => gatherers?.length !== 0)).toEqual([
    ["WhitelistDomain", ["Whitelist"]],
  ]);
});

test("an import leaves out what a new object has anyway", () => {
  expect(standardsOf("ComputeEndpoint")).toMatchObject({
    type: "read_write",
    scaleToZero: true,
    poolerEnabled: false,
    disabled: false,
    passwordlessAccess: true,
    size: undefined,
  });
  expect(standardsOf("AuthIntegration")).toMatchObject({ databaseName: "svcdb", branchId: undefined });
});
