/**
 * The argument `deletionProtection`. What the state holds of it counts, so it holds where no program runs (`pulumi destroy`). No
 * request carries it: turning it on or off sends nothing.
 */
import type { Properties } from "../contract/hiddenKeys";
import { type Changes, type Rules, ruleOf } from "./arguments";

const protecting = (rules: Rules): string[] =>
  Object.keys(rules).filter((name) => ruleOf(rules, name)?.protects === true);

/** The argument that protects an object with these arguments; undefined where none does. */
export const protectionOf = (rules: Rules, args: object): string | undefined =>
  protecting(rules).find((name) => Reflect.get(args, name) === true);

/** What is stored, without its protection. */
export const withoutProtection = (rules: Rules, outs: object): Properties =>
  Object.fromEntries(Object.entries(outs).filter(([name]) => ruleOf(rules, name)?.protects !== true));

/** Whether a change is one of the protection alone. */
export function isOfProtectionAlone(rules: Rules, { changed, dropped, added }: Changes<never>): boolean {
  const names: readonly string[] = [...changed, ...dropped, ...added];
  return names.length > 0 && names.every((name) => ruleOf(rules, name)?.protects === true);
}

const TURN_OFF = 'Give it "deletionProtection: false" in the program, and run pulumi up';

/** @throws before anything is sent. It is not asked whether the object is there: a refresh proves that it is gone. */
export function refuseProtectedDeletion(rules: Rules, outs: object): void {
  const name = protectionOf(rules, outs);
  if (name === undefined) return;
  throw new Error(
    `its "${name}" is on, so nothing was sent and it stays. ${TURN_OFF}; after that it can be deleted. ` +
      "If it is gone at the service already, pulumi refresh takes it out of the stack",
  );
}

/** @throws in the plan. `because`: the arguments that replace it. What the program newly protects is not replaced either. */
export function refuseProtectedReplacement(
  rules: Rules,
  { subject, because, outs, news }: { subject: string; because: Iterable<string>; outs: object; news: object },
): void {
  const names = [...because].map((one) => `"${one}"`).join(", ");
  const name = protectionOf(rules, outs) ?? protectionOf(rules, news);
  if (names === "" || name === undefined) return;
  throw new Error(
    `${subject} is not replaced, although ${names} would: its "${name}" is on. ` +
      `Leave ${names} as before, or, if somebody changed it at the service, declare what is there (pulumi-svc drift --accept); or, if it is to be replaced, first turn the protection off. ${TURN_OFF} without any other change of it`,
  );
}
