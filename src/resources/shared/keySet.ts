import type { KeySetRecord } from "../../client";
import type { AuthKeysOutputs } from "../authKeys/authKeysDeclaration";
import { omitUndefined } from "./omitUndefined";
import type { EnvSource } from "./tools";

/** The outputs of a key set. */
export function keyOutputs(keys: KeySetRecord) {
  return omitUndefined({
    pubClientKey: keys.pub_client_key,
    secretServerKey: keys.secret_server_key,
    jwksUrl: keys.jwks_url,
    schemaName: keys.schema_name,
    tableName: keys.table_name,
    authProviderProjectId: keys.auth_provider_project_id,
  });
}

/** Keys cannot be read back. In a resource that is only looked up they are empty. */
export function storedKeys(outs: Partial<AuthKeysOutputs>) {
  const { pubClientKey = "", secretServerKey = "", jwksUrl = "", schemaName, tableName, authProviderProjectId } = outs;
  return { pubClientKey, secretServerKey, jwksUrl, ...omitUndefined({ schemaName, tableName, authProviderProjectId }) };
}

/** What `env` writes of a key set. */
export const keySources: readonly EnvSource[] = [
  { output: "jwksUrl" },
  { output: "pubClientKey" },
  { output: "secretServerKey", isSecret: true },
  { output: "authProviderProjectId", isOptional: true },
  { output: "schemaName", isOptional: true },
  { output: "tableName", isOptional: true },
];
