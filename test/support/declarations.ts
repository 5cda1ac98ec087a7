import { declaration as authIntegration } from "../../src/resources/authIntegration/declaration";
import { declaration as authKeys } from "../../src/resources/authKeys/declaration";
import { declaration as authOwnershipTransfer } from "../../src/resources/authOwnershipTransfer/declaration";
import { declaration as authUser } from "../../src/resources/authUser/declaration";
import { declaration as computeEndpoint } from "../../src/resources/computeEndpoint/declaration";
import { declaration as emailServer } from "../../src/resources/emailServer/declaration";
import { declaration as oauthProvider } from "../../src/resources/oauthProvider/declaration";
import { whitelistDeclaration, whitelistDomainDeclaration } from "../../src/resources/whitelist/declaration";

/** Of every kind. */
export const DECLARATIONS = [
  authIntegration,
  authKeys,
  authOwnershipTransfer,
  authUser,
  computeEndpoint,
  emailServer,
  oauthProvider,
  whitelistDeclaration,
  whitelistDomainDeclaration,
];
