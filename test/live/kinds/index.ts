import { livesIn } from "../../../src/cli/declarations";
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
// The keys of the table above.
const KINDS_IN_ORDER = Object.keys(LIVE) as Kind[];

/** The two parts of a run; `--part` chooses one. */
export const PARTS = ["compute", "auth"] as const;
export type Part = (typeof PARTS)[number];

/** What lives in an integration is of its part. */
const isInside = (kind: Kind): boolean => livesIn(kind, "AuthIntegration");
const partOf = (kind: Kind): Part => (kind === "AuthIntegration" || isInside(kind) ? "auth" : "compute");

/** The steps of all kinds in their order, with what they need. */
export function kindSteps(parts: readonly Part[]): readonly Step[] {
  const kinds = KINDS_IN_ORDER.filter((kind) => parts.includes(partOf(kind)));
  const withNeeds = (kind: Kind, steps: readonly Step[] = []): Step[] => {
    const { needs } = isInside(kind) ? LIVE.AuthIntegration : LIVE[kind];
    return steps.map((step) => ({ needs: needs === undefined || needs === step.name ? [] : [needs], ...step }));
  };
  return [
    ...kinds.flatMap((kind) => withNeeds(kind, LIVE[kind].steps)),
    ...kinds.toReversed().flatMap((kind) => withNeeds(kind, LIVE[kind].lastSteps)),
  ];
}
