/** The optional peers of this package. Only what needs one loads it, and only at its first use. */
export type OptionalPackage = "pg" | "nodemailer";

/** A package that is not installed. Its message says what needs it and how to get it. */
export class MissingPackage extends Error {
  constructor(name: OptionalPackage, neededFor: string) {
    super(`${neededFor} needs the package ${name}, which is not installed: npm install --save-dev ${name}`);
    this.name = "MissingPackage";
  }
}

const NOT_FOUND = "MODULE_NOT_FOUND";

/**
 * Whether it is this package that was not found: an installed one may lack a dependency of its own. The error of a test
 * runner with a realm of its own is no `Error` here.
 */
const lacks = (error: unknown, name: OptionalPackage): boolean => {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown }; // of whatever was thrown
  return code === NOT_FOUND && String(message).includes(`'${name}'`);
};

/**
 * Loads an optional peer.
 * @param neededFor the start of the message where it is missing, such as "the emulator's --postgres"
 * @param load `() => require("pg")`, written where it is used, so that it has its types and tools find it. No `import()`:
 * in a test of a user, jest runs none without a flag of Node.
 */
export function optionalPackage<T>(name: OptionalPackage, neededFor: string, load: () => T): T {
  try {
    return load();
  } catch (error) {
    throw lacks(error, name) ? new MissingPackage(name, neededFor) : error;
  }
}
