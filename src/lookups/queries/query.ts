/** A question to the service: what a look-up function finds, without the SDK, so that any protocol can ask it. */
import type { Client } from "../../client";
import { BRANCH_ID, COMPUTE_ID, SEGMENT } from "../../contract/identifiers";
import { isObject, objectProblems, type Expected } from "../../helpers/given";
import type { ProjectLookupArgs } from "./types";

/** Whom to ask. */
export interface Asked {
  readonly client: Client;
  /** The auth provider from the settings. */
  readonly authProvider: string;
}

export interface Query<Args extends ProjectLookupArgs, Result> {
  /** The name of the function. */
  readonly name: string;
  /** The arguments besides the project. All are strings. */
  readonly others: readonly Exclude<keyof Args & string, "projectId">[];
  /** What of the result is secret: a protocol that cannot mark it leaves it out. */
  readonly secrets?: readonly string[];
  readonly find: (asked: Asked, args: Args) => Promise<Result>;
}

/** The names of the arguments, all and required ones. */
export const expectedOf = ({ others }: Pick<Query<never, unknown>, "others">): Required<Expected> => ({
  known: ["projectId", ...others],
  required: ["projectId"],
});

/** The problems with the arguments. `hint`: what else to say of one that is no string. */
export function argumentProblems(query: Pick<Query<never, unknown>, "others">, args: unknown, hint = ""): string[] {
  const expected = expectedOf(query);
  const problems = objectProblems(args, "", expected);
  const given = isObject(args) ? args : {};
  const isBad = (value: unknown): boolean => value === "" || (value !== undefined && typeof value !== "string");
  const bad = expected.known.filter((name) => isBad(given[name]));
  for (const name of expected.known) {
    const { [name]: value } = given;
    const [form, example] = FORMS[name] ?? [];
    if (form === undefined || isBad(value) || value === undefined || form.test(String(value))) continue;
    const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(String(value));
    problems.push(`"${name}" must be an id such as ${example}${isAddress ? ", not the address of a page" : ""}`);
  }
  if (bad.length === 0) return problems;
  const names = bad.map((name) => `"${name}"`).join(" and ");
  return [...problems, `${names} must be a string that is not empty${hint}`];
}

/** The arguments that go into a route or name an object, with an example. */
const FORMS: Readonly<Record<string, readonly [form: RegExp, example: string]>> = {
  projectId: [SEGMENT, "prj-demo"],
  branchId: [BRANCH_ID, "br-main"],
  endpointId: [COMPUTE_ID, "ep-cool-1"],
};

/**
 * For a read that bypasses the cache: one process may run a program several times (Automation API) while others change
 * things.
 */
export const fresh = () => ({ since: performance.now() });
