/**
 * `pulumi-svc/provider`: the module that the pointer in users' states loads (contract/pointer.ts). This path, `load`
 * and the names of the kinds are a permanent contract.
 */
import type { ArgumentRules } from "./contract/declaration";
import { KINDS, type Kind } from "./contract/pointer";
import { endWithEngine } from "./doors/dynamic/engineEnd";
import { engineLog, isEngineAddress } from "./doors/dynamic/engineLog";
import { dynamicProvider } from "./doors/dynamic/provider";
import type { DynamicProvider } from "./doors/dynamic/types";
import type { Lifecycle } from "./host/lifecycle";
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
const [run] = process.argv.slice(-1).filter(isEngineAddress);
const session = new Session(log, { client: { trace }, run });
let watched = false;

/** The lifecycle of each kind. */
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

const isKind = (kind: string): kind is Kind => Object.hasOwn(LIFECYCLES, kind);

/**
 * The dynamic provider of a kind.
 * @throws for a kind that this version does not know.
 */
export function load(kind: string): DynamicProvider {
  if (!isKind(kind)) throw unknownKind(kind);
  if (!watched) endWithEngine();
  watched = true;
  // The host passes only values that match the lifecycle's schemas.
  return dynamicProvider(LIFECYCLES[kind] as unknown as Lifecycle<object, object>, session);
}

/**
 * The `Lifecycle` of a kind, for a command that runs it with a session of its own. Without its type: the published
 * types do without zod.
 */
export const lifecycleOf = (kind: Kind): object => LIFECYCLES[kind];

/** The rules of a kind's arguments, in the order of its declaration, for commands that handle all kinds. */
export const argumentRules = (kind: Kind): Readonly<Record<string, ArgumentRules<unknown>>> => LIFECYCLES[kind].args;

function unknownKind(kind: string): Error {
  const error = new Error(
    `pulumi-svc ${packageVersion() ?? ""} has no resource ${JSON.stringify(kind)} (it knows ${KINDS.join(", ")}). The program was written with another version: two are installed. Make the program and its packages depend on the same one.`,
  );
  error.stack = "";
  return error;
}
