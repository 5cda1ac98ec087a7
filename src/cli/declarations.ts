/** Facts about each kind from its declaration, for commands that handle all kinds. */
import type { ArgumentRules } from "../contract/declaration";
import type { Kind } from "../contract/pointer";
import { declaration as authIntegration } from "../resources/authIntegration/authIntegrationDeclaration";
import { declaration as authKeys } from "../resources/authKeys/authKeysDeclaration";
import { declaration as authOwnershipTransfer } from "../resources/authOwnershipTransfer/authOwnershipTransferDeclaration";
import { declaration as authUser } from "../resources/authUser/authUserDeclaration";
import { declaration as computeEndpoint } from "../resources/computeEndpoint/computeEndpointDeclaration";
import { declaration as emailServer } from "../resources/emailServer/emailServerDeclaration";
import { declaration as oauthProvider } from "../resources/oauthProvider/oauthProviderDeclaration";
import { whitelistDeclaration, whitelistDomainDeclaration } from "../resources/whitelist/whitelistDeclaration";

const DECLARATIONS = {
  AuthIntegration: authIntegration,
  AuthKeys: authKeys,
  AuthOwnershipTransfer: authOwnershipTransfer,
  AuthUser: authUser,
  ComputeEndpoint: computeEndpoint,
  EmailServer: emailServer,
  OAuthProvider: oauthProvider,
  Whitelist: whitelistDeclaration,
  WhitelistDomain: whitelistDomainDeclaration,
} satisfies Record<Kind, object>;

/** The argument rules of a kind, in the order of its declaration. */
const rulesOf = (kind: Kind): [string, ArgumentRules<unknown>][] => Object.entries(DECLARATIONS[kind].args);

/** The names of a kind's arguments. */
export const argumentsOf = (kind: Kind): string[] => Object.keys(DECLARATIONS[kind].args);

/** Whether an object of this kind belongs to an auth integration and is deleted with it. */
export const livesInIntegration = (kind: Kind): boolean => DECLARATIONS[kind].args.projectId.replaces === "container";

/** The arguments that an imported program sets: those that the service shows and an update sends. */
export const importedArguments = (kind: Kind): string[] =>
  rulesOf(kind).flatMap(([name, { createOnly, local, unreadable, imported }]) =>
    createOnly === true || local === true || unreadable === true || imported === false ? [] : [name],
  );
