import { optionalPackage } from "../../src/emulator/optionalPackage";

const failing = (code: string, message: string) => () => {
  throw Object.assign(new Error(message), { code });
};

test("a package that is installed is what was loaded", () => {
  expect(optionalPackage("pg", "the gate", () => ({ loaded: true }))).toEqual({ loaded: true });
});

test.each([
  ["Node", "Cannot find module 'pg'\nRequire stack:\n- /app/x.js"],
  ["jest", "Cannot find module 'pg' from 'node_modules/pulumi-svc/dist/emulator/postgres/upstream.js'"],
])("a missing package is asked for with a message, as %s reports it", (_runner, message) => {
  expect(() => optionalPackage("pg", "the gate", failing("MODULE_NOT_FOUND", message))).toThrow(
    /^the gate needs the package pg, which is not installed: npm install --save-dev pg$/,
  );
});

test("so it is where the error belongs to another realm, as under jest", () => {
  const thrown = { code: "MODULE_NOT_FOUND", message: "Cannot find module 'pg'" };
  const load = () => {
    throw thrown;
  };
  expect(() => optionalPackage("pg", "the gate", load)).toThrow("the gate needs the package pg");
});

test.each([
  ["another package is missing", "MODULE_NOT_FOUND", "Cannot find module 'pg-types'"],
  ["the package itself fails", "ERR_OTHER", "Cannot find module 'pg'"],
])("the error stays as it is where %s", (_what, code, message) => {
  expect(() => optionalPackage("pg", "the gate", failing(code, message))).toThrow(message);
});
