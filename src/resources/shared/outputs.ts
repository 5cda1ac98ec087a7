import type { KeySetRecord } from "../../client";
import type { AuthKeysOutputs } from "../authKeys/declaration";

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Keys without a value are left out: neither a request nor a state holds an `undefined`. */
export function omitUndefined<T extends object>(value: T): Present<T> {
  // Only keys whose value is undefined are gone, which is what Present says.
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Present<T>;
}

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

/** Keys cannot be read back. What is only looked up has none: they stay empty there. */
export function storedKeys(outs: Partial<AuthKeysOutputs>) {
  const { pubClientKey = "", secretServerKey = "", jwksUrl = "", schemaName, tableName, authProviderProjectId } = outs;
  return { pubClientKey, secretServerKey, jwksUrl, ...omitUndefined({ schemaName, tableName, authProviderProjectId }) };
}
