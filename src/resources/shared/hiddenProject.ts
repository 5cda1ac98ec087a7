import { hiddenProjectAdvice, NotFoundError, undefinedIfNotShown } from "../../client";
import { messageOf } from "../../contract/untrusted";
import type { Call } from "../../runtime/lifecycle";

/**
 * What to do after a 404, if it is about the whole project: every project has a list of computes. Undefined if that is
 * shown, or cannot be read now. This costs a read, only after a refusal.
 */
export async function adviceOnHiddenProject(call: Call<never>, projectId: string): Promise<string | undefined> {
  const computes = await undefinedIfNotShown(() => call.client.computes.list(projectId, call)).catch(() => []);
  return computes === undefined ? hiddenProjectAdvice(projectId) : undefined;
}

/** For the error of a request: adds that advice if the error is such a 404. Always throws. */
export const withProjectAdvice =
  (call: Call<never>, projectId: string) =>
  async (error: unknown): Promise<never> => {
    const advice = error instanceof NotFoundError ? await adviceOnHiddenProject(call, projectId) : undefined;
    throw advice === undefined ? error : new Error(`${messageOf(error)}. ${advice}`, { cause: error });
  };
