/** The optional peers of this package. Only what needs one loads it, and only at its first use. */
export type OptionalPackage = "pg" | "jose" | "nodemailer";

/** A package that is not installed. Its message says what needs it and how to get it. */
export class MissingPackage extends Error {
  constructor(name: OptionalPackage, neededFor: string) {
    super(`${neededFor} needs the package ${name}, which is not installed: npm install --save-dev ${name}`);
    this.name = "MissingPackage";
  }
}

/** Node's two codes: of `require` and of `import`. */
const NOT_FOUND: ReadonlySet<unknown> = new Set(["MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND"]);

/** Whether it is this package that was not found: an installed one may lack a dependency of its own. */
const lacks = (error: unknown, name: OptionalPackage): boolean =>
  error instanceof Error && "code" in error && NOT_FOUND.has(error.code) && error.message.includes(`'${name}'`);

/**
 * Loads an optional peer.
 * @param neededFor the start of the message where it is missing, such as "signing a token"
 * @param load `() => import("jose")`: written where it is used, so that it has its types and tools find it
 */
export async function optionalPackage<T>(name: OptionalPackage, neededFor: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw lacks(error, name) ? new MissingPackage(name, neededFor) : error;
  }
}
