export { Client } from "./client";
export { type AuthCreation, isOf } from "./api/auth";
export type { ChangeOptions } from "./api/computes";
export type {
  AuthIntegrationRecord,
  BranchRecord,
  EmailServerRecord,
  EndpointRecord,
  KeySetRecord,
  OAuthProviderRecord,
  OperationRecord,
  WhitelistDomainRecord,
} from "./api/records";
export { Deadline, within } from "./http/deadline";
export * from "./http/errors";
export { mayHaveTakenEffect } from "./http/retry";
export { endedBadly, isUnfinished } from "./operations/waits";
export type * from "./options";
export { type Collection, orGone } from "./reads/absence";
export type { Waiting } from "./reads/sharedReads";
export { createOrStanding } from "./unknownFate";
