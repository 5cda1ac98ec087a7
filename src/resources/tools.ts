/** What commands know of each kind. */
import type { Container } from "../contract/claims";
import type { Kind } from "../contract/pointer";
import { authIntegration } from "./authIntegration/authIntegrationTools";
import { authKeys } from "./authKeys/authKeysTools";
import { authOwnershipTransfer } from "./authOwnershipTransfer/authOwnershipTransferTools";
import { authUser } from "./authUser/authUserTools";
import { computeEndpoint } from "./computeEndpoint/computeEndpointTools";
import { emailServer } from "./emailServer/emailServerTools";
import { oauthProvider } from "./oauthProvider/oauthProviderTools";
import type { ContainerTools, Tools } from "./shared/tools";
import { whitelistDomain } from "./whitelist/whitelistDomainTools";
import { whitelist } from "./whitelist/whitelistTools";

export * from "./shared/tools";

/** In the order in which commands list objects. A row is a kind: nothing else in commands names one. */
const TOOLS: Readonly<Record<Kind, Tools> & Record<Container, ContainerTools>> = {
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

/** The order of the table. */
export const LISTED_KINDS = Object.keys(TOOLS) as readonly Kind[];

export const toolsOf = (kind: Kind): Tools => TOOLS[kind];
