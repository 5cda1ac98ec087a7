import { renamedWarning } from "../../src/runtime/renamed";
import { typeToken } from "../../src/contract/pointer";

const COMPUTE = typeToken("ComputeEndpoint");
const at = (name: string, ...types: string[]): string => `urn:pulumi:dev::proj::${types.join("$")}::${name}`;
const GROUP = "svc:components:ComputeGroup";
const AUTH = "svc:components:ProjectAuth";
const INTEGRATION = typeToken("AuthIntegration");

const line = (urn: string, oldUrn: string): string | undefined =>
  /add (aliases: .*), and nothing/.exec(renamedWarning(urn, oldUrn) ?? "")?.[1];

test.each([
  ["a name", at("new", COMPUTE), at("old", COMPUTE), 'aliases: [{ name: "old" }] to the options of "new"'],
  [
    "a name in a component of the program",
    at("new-api", "my:Team", COMPUTE),
    at("old-api", "my:Team", COMPUTE),
    'aliases: [{ name: "old-api" }] to the options of "new-api"',
  ],
  [
    "a move into a component",
    at("api", "my:Team", COMPUTE),
    at("api", COMPUTE),
    'aliases: [{ parent: pulumi.rootStackResource }] to the options of "api"',
  ],
  [
    "a move into a component under another name",
    at("team-api", "my:Team", COMPUTE),
    at("api", COMPUTE),
    'aliases: [{ parent: pulumi.rootStackResource, name: "api" }] to the options of "team-api"',
  ],
  [
    "a move out of a component, of which the URN does not tell the name",
    at("api", COMPUTE),
    at("api", "my:Team", COMPUTE),
    `aliases: ["${at("api", "my:Team", COMPUTE)}"] to the options of "api"`,
  ],
  [
    "a ComputeGroup",
    at("new-primary", GROUP, COMPUTE),
    at("old-primary", GROUP, COMPUTE),
    'aliases: [{ name: "old" }] to the options of the ComputeGroup "new"',
  ],
  [
    "a ProjectAuth",
    at("new", AUTH, INTEGRATION),
    at("old", AUTH, INTEGRATION),
    'aliases: [{ name: "old" }] to the options of the ProjectAuth "new"',
  ],
])("%s: the line to paste", (_what, urn, oldUrn, expected) => {
  expect(line(urn, oldUrn)).toBe(expected);
});

test.each([
  ["the URN of before an alias, which says nothing new", at("api", COMPUTE), at("api", COMPUTE)],
  ["the same in a renamed stack", at("api", COMPUTE), at("api", COMPUTE).replace(":dev:", ":prod:")],
  [
    "what a component makes beside the one that tells",
    at("new-https://a.test", AUTH, typeToken("WhitelistDomain")),
    at("old-https://a.test", AUTH, typeToken("WhitelistDomain")),
  ],
  [
    "a move into a component of ours, whose children take no alias",
    at("g-primary", GROUP, COMPUTE),
    at("api", COMPUTE),
  ],
])("nothing is reported of %s", (_what, urn, oldUrn) => {
  expect(renamedWarning(urn, oldUrn)).toBeUndefined();
});
