/** What commands know of each kind. */
import type { Kind } from "../contract/pointer";
import { authIntegration } from "./authIntegration/authIntegrationTools";
import { authKeys } from "./authKeys/authKeysTools";
import { authOwnershipTransfer } from "./authOwnershipTransfer/authOwnershipTransferTools";
import { authUser } from "./authUser/authUserTools";
import { computeEndpoint } from "./computeEndpoint/computeEndpointTools";
import { emailServer } from "./emailServer/emailServerTools";
import { oauthProvider } from "./oauthProvider/oauthProviderTools";
import type { Tools } from "./shared/tools";
import { whitelistDomain } from "./whitelist/whitelistDomainTools";
import { whitelist } from "./whitelist/whitelistTools";

export * from "./shared/tools";

/** In the order in which commands list objects. */
const TOOLS: Readonly<Record<Kind, Tools>> = {
  ComputeEndpoint: computeEndpoint,
  AuthIntegration: authIntegration,
  OAuthProvider: oauthProvider,
  WhitelistDomain: whitelistDomain,
  EmailServer: emailServer,
  AuthKeys: authKeys,
  AuthOwnershipTransfer: authOwnershipTransfer,
  AuthUser: authUser,
  Whitelist: whitelist,
};

export const toolsOf = (kind: Kind): Tools => TOOLS[kind];
