import { optionalPackage } from "../../src/emulator/optionalPackage";

const failing = (code: string, message: string) => () => {
  throw Object.assign(new Error(message), { code });
};

test("a package that is installed is what was loaded", () => {
  expect(optionalPackage("nodemailer", "the inbox", () => ({ loaded: true }))).toEqual({ loaded: true });
});

test.each([
  ["Node", "Cannot find module 'nodemailer'\nRequire stack:\n- /app/x.js"],
  ["jest", "Cannot find module 'nodemailer' from 'node_modules/pulumi-svc/dist/emulator/control/mail.js'"],
])("a missing package is asked for with a message, as %s reports it", (_runner, message) => {
  expect(() => optionalPackage("nodemailer", "the inbox", failing("MODULE_NOT_FOUND", message))).toThrow(
    /^the inbox needs the package nodemailer, which is not installed: npm install --save-dev nodemailer$/,
  );
});

test("so it is where the error belongs to another realm, as under jest", () => {
  const thrown = { code: "MODULE_NOT_FOUND", message: "Cannot find module 'nodemailer'" };
  const load = () => {
    throw thrown;
  };
  expect(() => optionalPackage("nodemailer", "the inbox", load)).toThrow("the inbox needs the package nodemailer");
});

test.each([
  ["another package is missing", "MODULE_NOT_FOUND", "Cannot find module 'nodemailer-types'"],
  ["the package itself fails", "ERR_OTHER", "Cannot find module 'nodemailer'"],
])("the error stays as it is where %s", (_what, code, message) => {
  expect(() => optionalPackage("nodemailer", "the inbox", failing(code, message))).toThrow(message);
});
