import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isAtLeast, OLDEST_SDK } from "../../src/contract/installation";

test("the oldest SDK is the one of the peer dependency", () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")) as {
    peerDependencies: Record<string, string>;
  };
  expect(peerDependencies["@pulumi/pulumi"]).toBe(`>=${OLDEST_SDK} <4`);
});

test.each([
  ["3.216.0", true],
  ["v3.259.0", true],
  ["3.217.0-alpha.1", true],
  ["4.0.0", true],
  ["3.215.9", false],
  ["2.300.0", false],
])("%s is new enough: %s", (version, expected) => {
  expect(isAtLeast(version, OLDEST_SDK)).toBe(expected);
});
