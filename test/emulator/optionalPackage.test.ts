import { optionalPackage } from "../../src/emulator/optionalPackage";

const failing = (code: string, message: string) => () => Promise.reject(Object.assign(new Error(message), { code }));

test("a package that is installed is what was loaded", async () => {
  await expect(optionalPackage("jose", "signing a token", () => Promise.resolve({ loaded: true }))).resolves.toEqual({
    loaded: true,
  });
});

test.each([
  ["import", "ERR_MODULE_NOT_FOUND", "Cannot find package 'jose' imported from /app/x.js"],
  ["require", "MODULE_NOT_FOUND", "Cannot find module 'jose'\nRequire stack:\n- /app/x.js"],
])("a missing package is asked for in words, as %s reports it", async (_how, code, message) => {
  await expect(optionalPackage("jose", "signing a token", failing(code, message))).rejects.toThrow(
    /^signing a token needs the package jose, which is not installed: npm install --save-dev jose$/,
  );
});

test.each([
  ["another package is missing", "MODULE_NOT_FOUND", "Cannot find module 'pg-types'"],
  ["the package itself fails", "ERR_OTHER", "Cannot find module 'pg'"],
])("the error stays as it is where %s", async (_what, code, message) => {
  await expect(optionalPackage("pg", "the gate", failing(code, message))).rejects.toThrow(message);
});
