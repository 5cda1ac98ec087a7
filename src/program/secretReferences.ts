import { type FromEnv, type FromFile, referenceProblem, type SecretReference } from "../contract/references";

export type { SecretReference };

/**
 * The value of an environment variable, by its name: the state holds the name alone. It is read in the provider's process when it
 * is sent (docs/secrets.md).
 * @throws TypeError for what is no name of a variable, such as the value of one.
 */
export function fromEnv(name: string): FromEnv {
  return checked("fromEnv", { fromEnv: name });
}

/**
 * The text of a file, by its path: the state holds the path alone. A relative path begins at the folder of the Pulumi project. A
 * byte order mark and one line break at the end are no part of the value; a folder, more than 64 kB and what is no UTF-8 are refused when it is read.
 * @throws TypeError for what is no path, such as the value of a variable: unless there is such a file, or the name of a variable
 * with this value ends in FILE, PATH or DIR.
 */
export function fromFile(path: string): FromFile {
  return checked("fromFile", { fromFile: path });
}

/** `fromEnv(process.env.SECRET)` compiles with a "!", and would store and show the secret in clear. */
function checked<Reference extends SecretReference>(name: string, reference: Reference): Reference {
  const problem = referenceProblem(reference);
  if (problem !== undefined) throw new TypeError(`${name}: ${problem.replace(`${name} `, "")}`);
  return Object.freeze(reference);
}
