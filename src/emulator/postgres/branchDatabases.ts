import type { StoredBranch } from "../model/records";
import type { Store } from "../model/store";
import type { PostgresServer } from "./postgresServer";
import type { DatabaseScope } from "./serviceDatabases";

/** By record: a branch that exists again after a reset has the same id, but is another branch. */
type Branches = ReadonlyMap<StoredBranch, Required<DatabaseScope>>;

/** Drops the databases of each branch that no longer exists: deleted, with its project, or by a reset. */
export class BranchDatabases {
  private known: Branches;

  constructor(
    private readonly store: Store,
    private readonly server: PostgresServer,
  ) {
    this.known = this.branches();
  }

  /** Drops what an earlier run of this instance has left because it was killed or Postgres was unreachable. */
  async start(): Promise<void> {
    const existing = new Set([...this.known.values()].map((branch) => JSON.stringify(branch)));
    for (const { projectId, branchId } of await this.server.databases.places()) {
      const branch = { projectId, branchId };
      if (!existing.has(JSON.stringify(branch))) await this.server.databases.drop(branch);
    }
  }

  /** Call after each change of the model, before a client can request a database. */
  follow(): void {
    const now = this.branches();
    const gone = [...this.known].filter(([branch]) => !now.has(branch)).map(([, which]) => which);
    // No branch remains: a reset. Databases that clients have created belong to no branch and are dropped as well.
    const dropped: DatabaseScope[] = gone.length > 0 && gone.length === this.known.size ? [{}] : gone;
    this.known = now;
    for (const which of dropped) {
      // The server retries before it returns an affected database.
      this.server.databases
        .drop(which)
        .catch((error: Error) => process.emitWarning(`databases were not dropped: ${error.message}`));
    }
  }

  private branches(): Branches {
    return new Map(
      this.store.projects.flatMap(({ id: projectId, branches }) =>
        branches.map((branch) => [branch, { projectId, branchId: branch.id }] as const),
      ),
    );
  }
}
