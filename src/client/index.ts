export { Client } from "./client";
export { isOfProvider, normalisedOrigin, spellingsOf } from "./api/domains";
export { saysProjectIsMissing, type ChangeOptions } from "./api/computes";
export { identityOf, NotOursError, type OwnIntegration } from "./api/ownIntegration";
export type {
  AuthIntegrationRecord,
  BranchRecord,
  EmailServerRecord,
  EmailServerRequest,
  EndpointAttributes,
  EndpointRecord,
  KeySetRecord,
  OAuthCredentials,
  OAuthProviderRecord,
  WhitelistDomainRecord,
} from "./records";
export { Deadline, READ_MS, withDeadline } from "./http/deadline";
export * from "./http/errors";
export { mayHaveTakenEffect } from "./http/retry";
export { Granted, type Permission, requireGranted, Unknown } from "./proof";
export { NO_TLS } from "./http/transport";
export type * from "./clientOptions";
export { undefinedIfGone } from "./reads/absence";
export type { SendOptions } from "./changes";
export { NotShownError, type Collection, type Expected, type ListOptions } from "./collection";
export type { CreationRecovery } from "./createRecovery";
