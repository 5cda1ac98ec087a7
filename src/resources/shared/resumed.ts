import type { Changes, Stored } from "../../host/lifecycle";
import { isIgnored } from "../../host/ignored";

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

/**
 * For the plan of an update that goes on with an unfinished change: what it sends again, as the end of a sentence.
 * `condition`: when it does that. What `ignoreChanges` leaves to the service is not sent again.
 */
export function sentAgain(
  { sent }: Pick<Stored<object, object>, "sent">,
  { ignored }: Pick<Changes<object>, "ignored">,
  condition = "",
): string {
  if (sent === undefined)
    return ", and everything that differs from the program is sent, because the state does not say what the failed update sent";
  const left = [...sent].filter((name) => isIgnored(ignored, name));
  const names = [...sent].filter((name) => !left.includes(name));
  const are = (some: readonly string[]): string => (some.length === 1 ? "is" : "are");
  const again = names.length === 0 ? "" : `, and ${quoted(names)} ${are(names)} sent again${condition}`;
  const stays = left.length === 0 ? "" : `, and ${quoted(left)} ${are(left)} not sent again, because of ignoreChanges`;
  return again + stays;
}
