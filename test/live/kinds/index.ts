import type { Kind } from "../../../src/contract/pointer";
import type { LiveKind } from "../LiveKind";
import type { Step } from "../run";
import { live as authIntegration } from "./AuthIntegration";
import { live as authKeys } from "./AuthKeys";
import { live as authOwnershipTransfer } from "./AuthOwnershipTransfer";
import { live as authUser } from "./AuthUser";
import { live as computeEndpoint } from "./ComputeEndpoint";
import { live as emailServer } from "./EmailServer";
import { live as oauthProvider } from "./OAuthProvider";
import { live as whitelist } from "./Whitelist";
import { live as whitelistDomain } from "./WhitelistDomain";

/** In the order in which their steps run: a container stands before what lives in it. */
export const LIVE: Readonly<Record<Kind, LiveKind>> = {
  ComputeEndpoint: computeEndpoint,
  AuthIntegration: authIntegration,
  // Before a redirect domain exists: it would remove it.
  Whitelist: whitelist,
  WhitelistDomain: whitelistDomain,
  AuthKeys: authKeys,
  AuthUser: authUser,
  OAuthProvider: oauthProvider,
  EmailServer: emailServer,
  AuthOwnershipTransfer: authOwnershipTransfer,
};

export const EACH: readonly LiveKind[] = Object.values(LIVE);

/** The steps of all kinds in their order, with what they need. */
export const kindSteps = (parts: readonly string[]): readonly Step[] => {
  const kinds = EACH.filter(({ part }) => parts.includes(part));
  const withNeeds = (each: LiveKind, steps: readonly Step[] = []): Step[] =>
    steps.map((step) => ({ needs: [each.needs].filter((need) => need !== step.name), ...step }));
  return [
    ...kinds.flatMap((each) => withNeeds(each, each.steps)),
    ...kinds.toReversed().flatMap((each) => withNeeds(each, each.lastSteps)),
  ];
};
