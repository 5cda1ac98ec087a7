export { Client } from "./client";
export { isOf } from "./api/auth";
export type { ChangeOptions } from "./api/computes";
export type {
  AuthIntegrationRecord,
  BranchRecord,
  EmailServerRecord,
  EndpointAttributes,
  EndpointRecord,
  KeySetRecord,
  OAuthProviderRecord,
  WhitelistDomainRecord,
} from "./api/records";
export { Deadline, within } from "./http/deadline";
export * from "./http/errors";
export { mayHaveTakenEffect } from "./http/retry";
export { endedBadly } from "./operations/waits";
export type * from "./options";
export { orGone } from "./reads/absence";
export type { Creation as AuthCreation } from "./unknownFate";
