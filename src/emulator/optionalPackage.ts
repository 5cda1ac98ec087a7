/** The optional peer dependency of this package, which is loaded only on first use. */
export type OptionalPackage = "nodemailer";

/** A package that is not installed. The message says what needs it and how to install it. */
export class MissingPackage extends Error {
  constructor(name: OptionalPackage, neededFor: string) {
    super(`${neededFor} needs the package ${name}, which is not installed: npm install --save-dev ${name}`);
    this.name = "MissingPackage";
  }
}

const NOT_FOUND = "MODULE_NOT_FOUND";

/**
 * Whether this package was not found: an installed package may lack a dependency of its own. The error of a test runner
 * with its own realm is not an `Error` here.
 */
const lacks = (error: unknown, name: OptionalPackage): boolean => {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }; // Of any thrown value.
  return code === NOT_FOUND && String(message).includes(`'${name}'`);
};

/**
 * Loads an optional peer dependency.
 * @param neededFor the start of the message if it is missing, such as "POST /_emulator/mail"
 * @param load `() => require("nodemailer")`, written at the call, so that it is typed and tools find it. Not `import()`: in a
 * user's test, jest does not run it without a flag of Node.
 */
export function optionalPackage<T>(name: OptionalPackage, neededFor: string, load: () => T): T {
  try {
    return load();
  } catch (error) {
    throw lacks(error, name) ? new MissingPackage(name, neededFor) : error;
  }
}
