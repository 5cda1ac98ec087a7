import { PROJECT, type Harness, type Json } from "./harness";

export const PATH = `/projects/${PROJECT}/auth/domains`;

/** The domains in the service's spelling. */
export const listed = async (given: Harness): Promise<unknown[]> =>
  // The emulator's own tests check its state.
  ((await given.state())["domains"] as Json[]).map(({ domain }) => domain);

/** In any spelling, without the API. */
export const addByHand = (given: Harness, domain: string): Promise<void> =>
  given.edit({ kind: "domain", create: { domain } });
