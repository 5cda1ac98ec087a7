/**
 * The one gate before a request that deletes or resets something at the service (docs/design/rules.md, 9). Nothing else
 * makes such a request: `Requests` takes the method DELETE only from here.
 */
import { changeDeadline } from "./changes";
import type { GatedRequest, Request } from "./http/request";
import { type Permission, requireGranted } from "./proof";
import type { WaitOptions } from "./reads/sharedReads";

/** What a destruction stands on. */
export interface Destruction extends WaitOptions {
  /** Whether the object is the one that is meant. Asked first, before each attempt; it may read lists for it. */
  readonly isMeant: (options: WaitOptions) => Promise<Permission> | Permission;
  /** Whether it may go: nobody else holds it. Asked last, in the tick in which the attempt is sent. */
  readonly mayGo: () => Permission;
}

type Route = Pick<Request, "template" | "params" | "body" | "currentBody" | "retryLocked" | "fate"> &
  Pick<GatedRequest, "method">;

/** `onSend`: called once both are granted, in the tick in which the attempt is sent. */
export function gatedRequest(
  route: Route,
  { isMeant, mayGo, deadline, onProgress, onError }: Destruction,
  onSend: () => void = () => undefined,
): GatedRequest {
  const request = {
    ...route,
    deadline: changeDeadline(deadline),
    onProgress,
    onError,
    beforeAttempt: async () => {
      requireGranted(await isMeant({ deadline, onProgress }));
      requireGranted(mayGo());
      onSend();
    },
  };
  // The only place that makes one.
  return request as unknown as GatedRequest;
}
