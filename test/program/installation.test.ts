import { join } from "node:path";
import type * as pulumi from "@pulumi/pulumi";
import { packageVersion } from "../../src/contract/installation";
import { engineFolders } from "../../src/program/engineFolders";
import { checkInstallation } from "../../src/program/installation";

const found: jest.Mock<string | undefined, []> = jest.fn();
const script: jest.Mock<string | undefined, []> = jest.fn();
const sdk: jest.Mock<string, []> = jest.fn(() => "3.216.0");

// In the tests the package finds itself, and jest's own `createRequire` knows no other place.
jest.mock("node:module", () => ({
  createRequire: () =>
    Object.assign(() => ({ version: sdk() }), {
      resolve: (what: string) => {
        const path = what.endsWith("/dynamic-provider") ? script() : found();
        if (path === undefined) throw new Error("not found");
        return path;
      },
    }),
}));
jest.mock("../../src/contract/installation", () => ({
  ...jest.requireActual<object>("../../src/contract/installation"),
  packageVersion: jest.fn(() => "0.1.0"),
}));
const versionOf = jest.mocked(packageVersion);
jest.mock("../../src/program/engineFolders", () => ({ engineFolders: jest.fn() }));
const foldersOf = jest.mocked(engineFolders);

beforeEach(() => {
  found.mockReturnValue(join(__dirname, "..", "..", "src", "provider.ts"));
  script.mockReturnValue("dynamic-provider");
  foldersOf.mockReturnValue(["/app"]);
});

test("a program without the package is refused with a message, each time", () => {
  found.mockReturnValue(undefined);
  expect(checkInstallation).toThrow(/does not depend on pulumi-svc/);
  expect(checkInstallation).toThrow(/does not depend on pulumi-svc/);
});

test("a bundle without the package beside it is told to keep it out of the bundle", () => {
  found.mockReturnValue(undefined);
  versionOf.mockReturnValueOnce(undefined);
  expect(checkInstallation).toThrow(/is a bundle that contains pulumi-svc.*--external:pulumi-svc/);
});

test("a program whose engine cannot start a provider where it looks is told of that folder", () => {
  script.mockReturnValue(undefined);
  expect(checkInstallation).toThrow(/starts the provider in \/app, and finds no .*set `main: __dirname`/);
});

test.each(["3.215.9", "2.30.0"])("SDK %s is too old", (version) => {
  sdk.mockReturnValueOnce(version);
  expect(checkInstallation).toThrow(`@pulumi/pulumi ${version} is too old: it needs 3.216.0 or later`);
});

test.each([
  [
    "proj",
    [
      expect.stringMatching(
        /not pulumi-svc settings .*: svc:b info: all is well, svc:strictplan \(did you mean svc:strictPlan\?\)\. Rename/,
      ),
    ],
  ],
  // They are the project's own.
  ["svc", []],
])("settings that nobody knows, in the project %s", (project, warnings) => {
  jest.isolateModules(() => {
    const fresh = jest.requireActual<{ checkInstallation: () => void }>("../../src/program/installation");
    const { log, runtime } = jest.requireActual<typeof pulumi>("@pulumi/pulumi");
    runtime.setMocks({ call: () => ({}), newResource: () => ({ id: "", state: {} }) }, project);
    runtime.setAllConfig({
      "svc:strictplan": "canary",
      "svc:quiet": "true",
      "svc:b\ninfo: all is well": "",
      "proj:quietly": "x",
    });
    const warn = jest.spyOn(log, "warn").mockResolvedValue();
    fresh.checkInstallation();
    fresh.checkInstallation();
    expect(warn.mock.calls.map(([text]) => text)).toEqual(warnings);
  });
});

test.each([
  [
    "another version beside the program is warned of",
    ["0.1.0", "0.0.9"],
    [/0\.1\.0 is imported, but 0\.0\.9 will run/],
  ],
  ["a copy in a bundle is no second version", [undefined, "0.1.0"], []],
])("%s, and what has passed is not looked at again", (_, versions, warnings) => {
  // Another copy of the module, which has checked nothing yet.
  jest.isolateModules(() => {
    const fresh = jest.requireActual<{ checkInstallation: () => void }>("../../src/program/installation");
    const version = jest.requireMock<{ packageVersion: jest.Mock }>("../../src/contract/installation").packageVersion;
    for (const each of versions) version.mockReturnValueOnce(each);
    const warn = jest.spyOn(jest.requireActual<typeof pulumi>("@pulumi/pulumi").log, "warn").mockResolvedValue();
    fresh.checkInstallation();
    expect(warn.mock.calls.map(([text]) => text)).toEqual(warnings.map((each) => expect.stringMatching(each)));
    const looked = found.mock.calls.length;
    fresh.checkInstallation();
    expect(found).toHaveBeenCalledTimes(looked);
  });
});

test("where it cannot be seen in which folder the engine of an inline program looks, nothing is refused", () => {
  foldersOf.mockReturnValue(undefined);
  script.mockReturnValue(undefined);
  expect(checkInstallation).not.toThrow();
});
