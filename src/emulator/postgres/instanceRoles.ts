import { randomBytes } from "node:crypto";
import type { InstanceConnection } from "./instanceConnection";
import { storedPassword } from "./scram";
import { INSUFFICIENT_PRIVILEGE, isRefused, literal, NOT_SUPPORTED, OBJECT_IN_USE, quoted } from "./sql";
import { PostgresError, type RoleLogin } from "./upstream";

const newLogin = (user: string): RoleLogin => ({ user, password: randomBytes(24).toString("base64url") });

/** The three roles of an instance on the server. A comment on each identifies the instance. */
export class InstanceRoles {
  /** The role of clients, which owns their databases. */
  readonly writer: RoleLogin;
  /** For read replicas. */
  readonly reader: RoleLogin;
  /** Owns the tables that clients must not write. */
  readonly keeper: RoleLogin;
  /** Whether the URL's user is a superuser. */
  isSuperuser = false;
  /** Why read-only sessions are not available. */
  noReader: PostgresError | undefined;

  /** @param comment the prefix of this instance's comments */
  constructor(
    private readonly connection: InstanceConnection,
    mark: string,
    private readonly comment: string,
  ) {
    this.writer = newLogin(`svc_${mark}`);
    this.reader = newLogin(`svc_${mark}_ro`);
    this.keeper = newLogin(`svc_${mark}_sync`);
  }

  async make(isSuperuser: boolean): Promise<void> {
    this.isSuperuser = isSuperuser;
    const roles = [
      { login: this.writer, attributes: "LOGIN CREATEDB" },
      { login: this.reader, attributes: "LOGIN NOCREATEDB" },
      { login: this.keeper, attributes: "LOGIN NOCREATEDB" },
    ];
    await this.connection.within(undefined, async (query) => {
      for (const { login, attributes } of roles) {
        const role = quoted(login.user);
        const [existing] = await query(
          "SELECT shobj_description(oid, 'pg_authid') AS comment FROM pg_roles WHERE rolname = $1",
          [login.user],
        );
        if (existing !== undefined && existing.comment !== `${this.comment}role`) {
          throw new PostgresError(
            `Postgres at ${this.connection.where} has a role ${role} that this emulator did not create: drop or rename it, or ` +
              "start with another data file",
            OBJECT_IN_USE,
          );
        }
        await query("BEGIN");
        if (existing === undefined) {
          await query(`CREATE ROLE ${role}`);
          await query(`COMMENT ON ROLE ${role} IS ${literal(`${this.comment}role`)}`);
        }
        const password = await storedPassword(login.password);
        await query(`ALTER ROLE ${role} WITH ${attributes} PASSWORD ${literal(password)}`).catch((error: unknown) => {
          if (!isRefused(error, INSUFFICIENT_PRIVILEGE)) throw error;
          throw new PostgresError(
            `Postgres at ${this.connection.where} has the role ${role} of an earlier start, which another user created: give ` +
              "that user, or start with another data file",
            INSUFFICIENT_PRIVILEGE,
          );
        });
        // Any role may change its own settings.
        await query(`ALTER ROLE ${role} RESET ALL`);
        // A user that is not a superuser can create databases for a role and end its sessions only as its member.
        if (!this.isSuperuser) await query(`GRANT ${role} TO CURRENT_USER`);
        await query("COMMIT");
      }
      // Permissions already refuse writes; this produces the error message of a replica.
      await query(`ALTER ROLE ${quoted(this.reader.user)} SET default_transaction_read_only = on`);
      await query(`GRANT pg_read_all_data TO ${quoted(this.reader.user)}`).catch((error: unknown) => {
        if (!isRefused(error, INSUFFICIENT_PRIVILEGE)) throw error;
        this.noReader = new PostgresError(
          `a read replica needs a role that reads all tables, and the user of Postgres at ${this.connection.where} may not ` +
            "grant that: run GRANT pg_read_all_data TO that user WITH ADMIN OPTION as a superuser, and start again",
          NOT_SUPPORTED,
        );
      });
    });
  }

  /** A client may have changed its role's password, as any role may. */
  async renewPassword({ user, password }: RoleLogin): Promise<void> {
    await this.connection.query(`ALTER ROLE ${quoted(user)} PASSWORD ${literal(await storedPassword(password))}`);
  }

  async drop(): Promise<void> {
    const roles = [this.writer, this.reader, this.keeper].map(({ user }) => quoted(user));
    await this.connection.query(`DROP ROLE IF EXISTS ${roles.join(", ")}`);
  }
}
