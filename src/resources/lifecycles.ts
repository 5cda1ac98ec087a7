/** The lifecycle of each kind: what every protocol, and each command that handles all kinds, runs. */
import type { ArgumentRules } from "../contract/declaration";
import type { Kind } from "../contract/pointer";
import type { Lifecycle } from "../runtime/lifecycle";
import { authIntegration } from "./authIntegration/authIntegrationLifecycle";
import { authKeys } from "./authKeys/authKeysLifecycle";
import { authOwnershipTransfer } from "./authOwnershipTransfer/authOwnershipTransferLifecycle";
import { authUser } from "./authUser/authUserLifecycle";
import { computeEndpoint } from "./computeEndpoint/computeEndpointLifecycle";
import { emailServer } from "./emailServer/emailServerLifecycle";
import { oauthProvider } from "./oauthProvider/oauthProviderLifecycle";
import { whitelist } from "./whitelist/whitelistLifecycle";
import { whitelistDomain } from "./whitelist/whitelistDomainLifecycle";

const LIFECYCLES = {
  AuthIntegration: authIntegration,
  AuthKeys: authKeys,
  AuthOwnershipTransfer: authOwnershipTransfer,
  AuthUser: authUser,
  ComputeEndpoint: computeEndpoint,
  EmailServer: emailServer,
  OAuthProvider: oauthProvider,
  Whitelist: whitelist,
  WhitelistDomain: whitelistDomain,
} satisfies Record<Kind, object>;

/** The host passes only values that match the lifecycle's schemas. */
export const lifecycleOf = (kind: Kind): Lifecycle<object, object> =>
  LIFECYCLES[kind] as unknown as Lifecycle<object, object>;

/** The rules of a kind's arguments, in the order of its declaration. */
export const argumentRules = (kind: Kind): Readonly<Record<string, ArgumentRules<unknown>>> => LIFECYCLES[kind].args;
