import { PROJECT, type Harness, type Json } from "./harness";

export const PATH = `/projects/${PROJECT}/auth/domains`;

/** The domains as the service stores them. */
export const listed = async (given: Harness): Promise<unknown[]> =>
  // The state of the emulator is checked by its own tests.
  ((await given.state())["domains"] as Json[]).map(({ domain }) => domain);

/** In whatever spelling: behind the back of the API. */
export const addByHand = (given: Harness, domain: string): Promise<void> =>
  given.edit({ kind: "domain", create: { domain } });
