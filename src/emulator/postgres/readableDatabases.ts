import type { InstanceConnection } from "./instanceConnection";
import type { InstanceRoles } from "./instanceRoles";
import { NOT_SUPPORTED, quoted } from "./sql";
import { PostgresError, type Query } from "./upstream";

/** The databases that sessions of read replicas may use, without write access. */
export class ReadableDatabases {
  /** The oids of prepared databases. */
  private readonly readable = new Set<string>();

  constructor(
    private readonly connection: InstanceConnection,
    private readonly roles: InstanceRoles,
  ) {}

  /**
   * Objects that only read-only sessions need, created for the first of them, since they appear in dumps of the
   * database.
   */
  async make(name: string): Promise<void> {
    if (this.roles.noReader !== undefined) throw this.roles.noReader;
    const [row] = await this.connection.query("SELECT oid::text FROM pg_database WHERE datname = $1", [name]);
    const oid = String(row?.oid);
    if (this.readable.has(oid)) return;
    const { connection } = this;
    await connection.exclusively(() => connection.within(name, (query) => this.denyReader(name, query)));
    this.readable.add(oid);
  }

  private async denyReader(name: string, query: Query): Promise<void> {
    if (this.roles.isSuperuser) {
      // Otherwise anybody could create large objects. They belong to their creator, so only creation must be prevented.
      const functions = "lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea)";
      await query(`REVOKE EXECUTE ON FUNCTION ${functions} FROM PUBLIC`);
      await query(`GRANT EXECUTE ON FUNCTION ${functions} TO ${quoted(this.roles.writer.user)}`);
    }
    const [rights] = await query(
      `SELECT coalesce(bool_or(has_schema_privilege($1, oid, 'CREATE')), false) AS creates
         FROM pg_namespace WHERE nspname = 'public'`,
      [this.roles.reader.user],
    );
    if (rights?.creates === true) {
      throw new PostgresError(
        `a read replica of "${name}" would not be read-only: its role may create tables in the schema public. Run ` +
          `REVOKE CREATE ON SCHEMA public FROM PUBLIC in that database as the schema's owner (at ${this.connection.where})`,
        NOT_SUPPORTED,
      );
    }
  }
}
