import type { Kind } from "../../src/contract/pointer";
import { authIntegrationCase } from "./AuthIntegration";
import { authKeysCase } from "./AuthKeys";
import { authOwnershipTransferCase } from "./AuthOwnershipTransfer";
import { authUserCase } from "./AuthUser";
import { computeEndpointCase } from "./ComputeEndpoint";
import { emailServerCase } from "./EmailServer";
import type { KindCase } from "./KindCase";
import { oauthProviderCase } from "./OAuthProvider";
import { whitelistCase } from "./Whitelist";
import { whitelistDomainCase } from "./WhitelistDomain";

/**
 * A case for each kind, for the tests of every kind. With this explicit type, a missing case is one error here, not one
 * in each test that uses it.
 */
export const KIND_CASES: Readonly<Record<Kind, KindCase>> = {
  AuthIntegration: authIntegrationCase,
  AuthKeys: authKeysCase,
  AuthOwnershipTransfer: authOwnershipTransferCase,
  AuthUser: authUserCase,
  ComputeEndpoint: computeEndpointCase,
  EmailServer: emailServerCase,
  OAuthProvider: oauthProviderCase,
  Whitelist: whitelistCase,
  WhitelistDomain: whitelistDomainCase,
};

export const EACH_CASE: readonly KindCase[] = Object.values(KIND_CASES);
/** For `test.each`, with the name of the kind in the title. */
export const EACH_KIND: readonly (readonly [Kind, KindCase])[] = EACH_CASE.map((one) => [one.kind, one]);
/** Kinds that belong to an auth integration. */
export const EACH_CHILD = EACH_KIND.filter(([, { inIntegration }]) => inIntegration);
