import { oauthProvider } from "../../src/resources/oauthProvider/oauthProviderLifecycle";
import { CANARY, harness, PROJECT, withIntegration, type Harness, type Json } from "./harness";

export const SHARED = { projectId: PROJECT, providerId: "microsoft" };
export const STANDARD = { ...SHARED, clientId: "own-id", clientSecret: `${CANARY}-secret` };
export const OTHER_SECRET = `${CANARY}-other`;
export const PATH = `/projects/${PROJECT}/auth/oauth_providers`;

export const started = async (...more: [options?: object, client?: object]): Promise<Harness> => {
  const given = await harness(oauthProvider, ...more);
  await withIntegration(given);
  return given;
};

/** The provider in the emulator's state, with hashed secrets. */
export async function kept(given: Harness, id = "microsoft"): Promise<Json | undefined> {
  // The emulator's own tests check its state.
  const providers = (await given.state())["oauth_providers"] as Json[];
  return providers.find((provider) => provider["id"] === id);
}

export const bodies = async (given: Harness): Promise<[string, Json][]> =>
  (await given.mutations()).map(({ method, body }) => [method, body]);

export const setByHand = (given: Harness, set: Json, id = "microsoft") =>
  given.edit({ kind: "oauth_provider", id, set });

/** A list in which the service shows optional fields. */
export const listing = (given: Harness, provider: Json) =>
  given.fault({ method: "GET", path: PATH, status: 200, body: { providers: [provider] }, times: 0 });
