import { join } from "node:path";
import { checkInstallation } from "../../src/program/installation";

const found: jest.Mock<string | undefined, []> = jest.fn();

// Where the tests run the package finds itself, and jest's own `createRequire` knows no other place.
jest.mock("node:module", () => ({
  createRequire: () => ({
    resolve: () => {
      const path = found();
      if (path === undefined) throw new Error("not found");
      return path;
    },
  }),
}));

test("a program without the package is refused each time, and one that passed is not looked at again", () => {
  found.mockReturnValue(undefined);
  expect(checkInstallation).toThrow(/does not depend on pulumi-svc/);
  expect(checkInstallation).toThrow(/does not depend on pulumi-svc/);

  found.mockReturnValue(join(__dirname, "..", "..", "src", "provider.ts"));
  checkInstallation();
  const looked = found.mock.calls.length;
  checkInstallation();
  expect(found).toHaveBeenCalledTimes(looked);
});
