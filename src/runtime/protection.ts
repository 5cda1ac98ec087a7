/**
 * The argument `deletionProtection`. The stored value counts, so it holds when no program runs (`pulumi destroy`). No
 * request carries it: turning it on or off sends nothing.
 */
import type { Properties } from "../contract/hiddenKeys";
import { type Changes, type Rules, ruleOf } from "./arguments";

const protecting = (rules: Rules): string[] =>
  Object.keys(rules).filter((name) => ruleOf(rules, name)?.protects === true);

/** The argument that protects an object with these arguments; undefined if none does. */
export const protectionOf = (rules: Rules, args: object): string | undefined =>
  protecting(rules).find((name) => Reflect.get(args, name) === true);

/** The stored outs without the protection. */
export const withoutProtection = (rules: Rules, outs: object): Properties =>
  Object.fromEntries(Object.entries(outs).filter(([name]) => ruleOf(rules, name)?.protects !== true));

/** Whether a change only turns the protection on or off. */
export function isOfProtectionAlone(rules: Rules, { changed, dropped, added }: Changes<never>): boolean {
  const names: readonly string[] = [...changed, ...dropped, ...added];
  return names.length > 0 && names.every((name) => ruleOf(rules, name)?.protects === true);
}

const TURN_OFF = 'Give it "deletionProtection: false" in the program, and run pulumi up';

/**
 * @throws before anything is sent. Whether the object still exists is not read: a refresh proves that it is gone.
 * `isReplaced`: the engine replaces it by itself, so no update of this plan can turn the protection off. `isLeftOver`:
 * what replaces it is there already.
 */
export function refuseProtectedDeletion(
  rules: Rules,
  { outs, isReplaced, isLeftOver }: { outs: object; isReplaced: boolean; isLeftOver: boolean },
): void {
  const name = protectionOf(rules, outs);
  if (name === undefined) return;
  if (isLeftOver)
    throw new Error(
      `its "${name}" is on, so nothing was sent, and it is kept. What replaces it was created before, because the engine asks nothing for a replacement by an option (--replace, pulumi state taint). ` +
        "Delete it at the service if it is not needed: pulumi refresh then removes it from the stack, and what replaces it stays",
    );
  const wayOut = isReplaced
    ? `This plan replaces it, which does not turn the protection off. Leave out what replaces it (--replace; pulumi state untaint undoes pulumi state taint). ${TURN_OFF}; after that it can be replaced. `
    : `${TURN_OFF}; after that it can be deleted. `;
  throw new Error(
    `its "${name}" is on, so nothing was sent, and it is kept. ${wayOut}` +
      "If it no longer exists at the service, pulumi refresh removes it from the stack",
  );
}

/**
 * Why a protected object is not replaced. `because`: the arguments that replace it. A protection that the program adds
 * counts too.
 */
export function protectedReplacement(
  rules: Rules,
  { subject, because, outs, news }: { subject: string; because: Iterable<string>; outs: object; news: object },
): string | undefined {
  const names = [...because].map((one) => `"${one}"`).join(", ");
  const name = protectionOf(rules, outs) ?? protectionOf(rules, news);
  if (names === "" || name === undefined) return undefined;
  return (
    `${subject} is not replaced, although the change of ${names} requires it: its "${name}" is on. ` +
    `Undo the change of ${names}. If somebody changed it at the service, declare the value there (pulumi-svc drift --accept). To replace it, first turn the protection off. ${TURN_OFF} without any other change of it`
  );
}
