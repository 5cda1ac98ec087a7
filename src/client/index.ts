export { Client } from "./client";
export { EXISTING_USER } from "./api/auth";
export { isOfProvider, spellingsOf } from "./api/domains";
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
export { NO_TLS } from "./http/transport";
export type * from "./clientOptions";
export { hiddenProjectAdvice, undefinedIfNotShown } from "./reads/absence";
export * from "./proof";
export type { Destruction } from "./gate";
export type { WaitOptions } from "./reads/sharedReads";
export { NotShownError, type Collection, type Expected, type ListOptions } from "./collection";
export type { CreationRecovery } from "./createRecovery";
