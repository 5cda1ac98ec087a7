export { Client, createClient } from "./client";
export { Deadline } from "./deadline";
export * from "./errors";
export type * from "./options";
export type { AuthIntegration, Branch, EmailServer, Endpoint, KeySet, OAuthProvider, WhitelistDomain } from "./schemas";
