/** SQL helpers: quoted names and strings, and error codes. */
import { PostgresError } from "./upstream";

/** SQLSTATEs (PostgreSQL documentation, appendix A). */
export const INSUFFICIENT_PRIVILEGE = "42501";
export const INVALID_PASSWORD = "28P01";
export const OBJECT_IN_USE = "55006";
export const DUPLICATE_DATABASE = "42P04";
export const NO_SUCH_DATABASE = "3D000";
export const NOT_SUPPORTED = "0A000";

export const isRefused = (error: unknown, code: string): boolean =>
  error instanceof PostgresError && error.code === code;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** With E, so that a backslash is independent of standard_conforming_strings. */
export const literal = (text: string): string => `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
