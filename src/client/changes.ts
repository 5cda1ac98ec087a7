/** What a change is sent with. */
import { Deadline } from "./http/deadline";
import type { Request } from "./http/request";
import type { WaitOptions } from "./reads/sharedReads";

const CHANGE_MS = 600_000;

/** The given deadline, or the default one of a change. */
export const changeDeadline = (given: Deadline | undefined): Deadline => given ?? new Deadline(CHANGE_MS);

/** The options of a change. `beforeAttempt` runs after the proof, in the tick in which the attempt is sent. */
export interface SendOptions extends WaitOptions, Pick<Request, "beforeAttempt" | "currentBody"> {
  /**
   * The integration that the change is meant for; its `prove` is called right before each attempt
   * (docs/design/rules.md, 2).
   */
  readonly integration?: { prove(options: WaitOptions): Promise<void> };
}

export function changeRequest(
  route: Omit<Request, "deadline" | "onProgress" | "beforeAttempt">,
  { integration, beforeAttempt, currentBody, deadline, onProgress, onError }: SendOptions,
): Request {
  const proven = integration && {
    beforeAttempt: async () => {
      await integration.prove({ deadline, onProgress });
      await beforeAttempt?.();
    },
  };
  const sending = { onProgress, onError, ...(proven ?? { beforeAttempt }), ...(currentBody && { currentBody }) };
  return { ...route, deadline: changeDeadline(deadline), ...sending };
}
