/**
 * `pulumi-svc/provider`: the module that the pointer in users' states loads (contract/pointer.ts). This path, `load`
 * and the names of the kinds are a permanent contract.
 */
import { KINDS, type Kind } from "./contract/pointer";
import { endWithEngine } from "./doors/dynamic/engineEnd";
import { engineLog } from "./doors/dynamic/engineLog";
import { dynamicProvider } from "./doors/dynamic/provider";
import type { DynamicProvider } from "./doors/dynamic/types";
import { Session } from "./host/session";
import { packageVersion } from "./contract/installation";
import { requestTrace } from "./contract/settings";
import { authIntegration } from "./resources/authIntegration/authIntegrationLifecycle";
import { authKeys } from "./resources/authKeys/authKeysLifecycle";
import { authOwnershipTransfer } from "./resources/authOwnershipTransfer/authOwnershipTransferLifecycle";
import { authUser } from "./resources/authUser/authUserLifecycle";
import { computeEndpoint } from "./resources/computeEndpoint/computeEndpointLifecycle";
import { emailServer } from "./resources/emailServer/emailServerLifecycle";
import { oauthProvider } from "./resources/oauthProvider/oauthProviderLifecycle";
import { whitelist } from "./resources/whitelist/whitelistLifecycle";
import { whitelistDomain } from "./resources/whitelist/whitelistDomainLifecycle";

/** One per process: all resources share the clients, their queues and the engine's log. */
const log = engineLog();
const trace = requestTrace((message) => log({ severity: "info", message, urn: undefined, ephemeral: false }));
const session = new Session(log, { client: { trace } });
let watched = false;

const providers: Record<string, (() => DynamicProvider) | undefined> = {
  AuthIntegration: () => dynamicProvider(authIntegration, session),
  AuthKeys: () => dynamicProvider(authKeys, session),
  AuthOwnershipTransfer: () => dynamicProvider(authOwnershipTransfer, session),
  AuthUser: () => dynamicProvider(authUser, session),
  ComputeEndpoint: () => dynamicProvider(computeEndpoint, session),
  EmailServer: () => dynamicProvider(emailServer, session),
  OAuthProvider: () => dynamicProvider(oauthProvider, session),
  Whitelist: () => dynamicProvider(whitelist, session),
  WhitelistDomain: () => dynamicProvider(whitelistDomain, session),
} satisfies Record<Kind, () => DynamicProvider>;

/**
 * The dynamic provider of a kind.
 * @throws for a kind that this version does not know.
 */
export function load(kind: string): DynamicProvider {
  const provider = Object.hasOwn(providers, kind) ? providers[kind] : undefined;
  if (provider === undefined) throw unknownKind(kind);
  if (!watched) endWithEngine();
  watched = true;
  return provider();
}

function unknownKind(kind: string): Error {
  const error = new Error(
    `pulumi-svc ${packageVersion() ?? ""} has no resource ${JSON.stringify(kind)} (it knows ${KINDS.join(", ")}). The program was written with another version: two are installed. Make the program and its packages depend on the same one.`,
  );
  error.stack = "";
  return error;
}
