/** The Pulumi ids of objects: what they look like, and which mean the same object. */
import { SEGMENT } from "./identifiers";

/** The Pulumi id of an object, which begins with its project. */
export interface IdRules {
  /**
   * Its parts in order, between slashes. One with the name of an argument is compared as values of that are; any other
   * one is a name that the service gives.
   */
  readonly parts: readonly ["projectId", ...string[]];
  /** Its last part, if that is more than a name. */
  readonly last?: RegExp;
  /** For messages: what it looks like, in words, and an example. */
  readonly form: string;
  readonly example: string;
}

const NAME = /^[^/]+$/;

/** The last part may contain slashes. */
function partsOf({ parts }: IdRules, id: string): string[] {
  const pieces = id.split("/");
  const before = pieces.slice(0, parts.length - 1);
  return [...before, pieces.slice(before.length).join("/")];
}

/** What is wrong with a text that is given as an id; undefined: it has the form of one. */
export function idProblem(rules: IdRules, id: string): string | undefined {
  const { parts, last = NAME, form, example } = rules;
  const given = partsOf(rules, id);
  const [projectId = ""] = given;
  const hasForm =
    given.length === parts.length && given.every((part, at) => (at + 1 < parts.length ? NAME : last).test(part));
  if (SEGMENT.test(projectId) && hasForm) return undefined;
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(id);
  return `the id must have the form ${form}, such as ${example}${isAddress ? ": the address of a page is no id" : ""}`;
}

/** The rule of an argument that says how its values are compared. */
interface Compared {
  form?(value: string): unknown;
}

/** The one form of all spellings of an id (forms.ts). */
export function idForm(rules: IdRules, args: Readonly<Record<string, Compared>>, id: string): string {
  const parts = partsOf(rules, id).map((part, at) => {
    const name = rules.parts[at] ?? "";
    return Object.hasOwn(args, name) ? (args[name]?.form?.(part) ?? part) : part;
  });
  return parts.join("/");
}
