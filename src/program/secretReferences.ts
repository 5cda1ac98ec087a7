import {
  type FromEnv,
  type FromFile,
  isValueOfVariable,
  referenceProblem,
  type SecretReference,
} from "../contract/references";

export type { SecretReference };

/** Capitals and digits in two or more words, none of them long. A generated value has another form. */
const USUAL_NAME = /^[A-Z][A-Z0-9]{0,19}(?:_[A-Z0-9]{1,20})+$/;

/**
 * The value of an environment variable, by its name: the state holds the name alone. It is read in the provider's process when it
 * is sent (docs/secrets.md).
 * @throws TypeError for what is no name of a variable, such as the value of one.
 */
export function fromEnv(name: string): FromEnv {
  const reference = checked("fromEnv", { fromEnv: name });
  // `fromEnv(process.env.SECRET)` compiles with a "!", and would store the secret in clear. A usual name may be the value of a
  // variable, too: a job without the secrets may hold a list of their names.
  if (!USUAL_NAME.test(name) && isValueOfVariable(name)) {
    throw new TypeError('fromEnv: takes the name of an environment variable, not its value: fromEnv("NAME")');
  }
  return reference;
}

/**
 * The text of a file, by its path: the state holds the path alone. A relative path begins at the folder of the Pulumi project. One
 * line break at the end is no part of the value; a folder, more than 64 kB and what is no UTF-8 are refused when it is read.
 * @throws TypeError for what is no path.
 */
export function fromFile(path: string): FromFile {
  return checked("fromFile", { fromFile: path });
}

function checked<Reference extends SecretReference>(name: string, reference: Reference): Reference {
  const problem = referenceProblem(reference);
  if (problem !== undefined) throw new TypeError(`${name}: ${problem.replace(`${name} `, "")}`);
  return Object.freeze(reference);
}
