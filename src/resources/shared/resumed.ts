/** What a plan says of an update that goes on with an unfinished change: for all kinds, in one wording. */
import type { Stored } from "../../runtime/lifecycle";
import { isIgnored } from "../../runtime/ignored";

/** `does`: what the update does, as parts of one sentence. */
export const resumed = (
  what: string,
  { unfinished }: Pick<Stored<object, object>, "unfinished">,
  does: readonly string[],
): string =>
  `the previous ${unfinished === "create" ? "creation" : "update"} of ${what} did not finish. This update resumes it: ${does.join("; ")}`;

/** What becomes of arguments that had been sent. `condition`: when, or why, they are sent again. */
export function sentAgain(names: readonly string[], ignored: readonly string[], condition = ""): string[] {
  const left = names.filter((name) => isIgnored(ignored, name));
  const again = names.filter((name) => !left.includes(name));
  return [
    ...(again.length === 0 ? [] : [`${areSent(again, "sent again")}${condition}`]),
    ...(left.length === 0 ? [] : [`${areSent(left, "not sent again")}, because of ignoreChanges`]),
  ];
}

/** What becomes of arguments that had been sent and that the program does not give any more. */
export const noLongerGiven = (names: readonly string[]): string[] =>
  names.length === 0
    ? []
    : [
        `${areSent(names, "no longer given")} by the program, and may stay as the failed change has set ${names.length === 1 ? "it" : "them"}`,
      ];

function areSent(names: readonly string[], sent: string): string {
  const quoted = names.map((name) => `"${name}"`);
  const last = quoted.slice(-1);
  const others = quoted.slice(0, -1).join(", ");
  return `${others === "" ? "" : `${others} and `}${last.join("")} ${names.length === 1 ? "is" : "are"} ${sent}`;
}
