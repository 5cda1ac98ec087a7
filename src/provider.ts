/**
 * `pulumi-svc/provider`: what the pointer in users' state loads (contract/pointer.ts). This path, `load` and the names
 * of the kinds are a permanent contract.
 */
import { endWithEngine } from "./host/engineEnd";
import { host } from "./host/host";
import type { HostedProvider } from "./host/hostedProvider";
import { KINDS, type Kind } from "./contract/pointer";
import { Session } from "./host/session";
import { packageVersion } from "./contract/version";
import { authIntegration } from "./resources/authIntegration/lifecycle";
import { authKeys } from "./resources/authKeys/lifecycle";
import { authOwnershipTransfer } from "./resources/authOwnershipTransfer/lifecycle";
import { authUser } from "./resources/authUser/lifecycle";
import { computeEndpoint } from "./resources/computeEndpoint/lifecycle";
import { emailServer } from "./resources/emailServer/lifecycle";
import { oauthProvider } from "./resources/oauthProvider/lifecycle";
import { whitelist } from "./resources/whitelist/whitelistLifecycle";
import { whitelistDomain } from "./resources/whitelist/whitelistDomainLifecycle";

/** One for the process: its resources share the clients, their queues and the engine's log. */
const session = new Session();
let watched = false;

const providers: Record<string, (() => HostedProvider) | undefined> = {
  AuthIntegration: () => host(authIntegration, session),
  AuthKeys: () => host(authKeys, session),
  AuthOwnershipTransfer: () => host(authOwnershipTransfer, session),
  AuthUser: () => host(authUser, session),
  ComputeEndpoint: () => host(computeEndpoint, session),
  EmailServer: () => host(emailServer, session),
  OAuthProvider: () => host(oauthProvider, session),
  Whitelist: () => host(whitelist, session),
  WhitelistDomain: () => host(whitelistDomain, session),
} satisfies Record<Kind, () => HostedProvider>;

/**
 * The dynamic provider of a kind.
 * @throws for a kind that this version does not know.
 */
export function load(kind: string): HostedProvider {
  const provider = Object.hasOwn(providers, kind) ? providers[kind] : undefined;
  if (provider === undefined) throw unknownKind(kind);
  if (!watched) endWithEngine();
  watched = true;
  return provider();
}

function unknownKind(kind: string): Error {
  const error = new Error(
    `pulumi-svc ${packageVersion() ?? ""} has no resource ${JSON.stringify(kind)} (it knows ${KINDS.join(", ")}). The program was written with another version: two are installed. Let the program and its packages depend on the same one.`,
  );
  error.stack = "";
  return error;
}
