import { type FromEnv, type FromFile, referenceProblem, type SecretReference } from "../contract/references";
import { shownAlone } from "../helpers/shownAlone";

export type { SecretReference };

/**
 * The value of an environment variable, by its name: the state holds only the name. It is read in the provider's
 * process when it is sent (docs/secrets.md).
 * @throws TypeError if the text is not the name of a variable, such as the value of one.
 */
export function fromEnv(name: string): FromEnv {
  return checked("fromEnv", { fromEnv: name });
}

/**
 * The text of a file, by its path: the state holds only the path. A relative path begins at the folder of the
 * Pulumi project. A byte order mark and one line break at the end are not part of the value; a folder, a file of more
 * than 64 kB and a file that is not UTF-8 are refused when it is read.
 * @throws TypeError if the text is not a path, such as the value of a variable, unless the file exists or the name of a
 * variable with this value ends in FILE, PATH or DIR.
 */
export function fromFile(path: string): FromFile {
  return checked("fromFile", { fromFile: path });
}

/** `fromEnv(process.env.SECRET)` compiles with a "!", and would store and show the secret in clear. */
function checked<Reference extends SecretReference>(name: string, reference: Reference): Reference {
  const problem = referenceProblem(reference);
  if (problem !== undefined) throw shownAlone(new TypeError(`${name}: ${problem.replace(`${name} `, "")}`));
  return Object.freeze(reference);
}
