import type { StoredBranch } from "../model/records";
import type { Store } from "../model/store";
import type { PostgresServer } from "./postgresServer";
import type { DatabaseScope } from "./serviceDatabases";

/** By record: a branch that is there again after a reset has the same id, and is another one. */
type Branches = ReadonlyMap<StoredBranch, Required<DatabaseScope>>;

/** Drops the databases of each branch that is gone: deleted, with its project, or by a reset. */
export class BranchDatabases {
  private known: Branches;

  constructor(
    private readonly store: Store,
    private readonly server: PostgresServer,
  ) {
    this.known = this.branches();
  }

  /** Drops what the earlier run of this instance has left: it was killed, or Postgres was away. */
  async start(): Promise<void> {
    const existing = new Set([...this.known.values()].map((branch) => JSON.stringify(branch)));
    for (const { projectId, branchId } of await this.server.databases.places()) {
      const branch = { projectId, branchId };
      if (!existing.has(JSON.stringify(branch))) await this.server.databases.drop(branch);
    }
  }

  /** Call after each change of the model, before anybody can ask for a database. */
  follow(): void {
    const now = this.branches();
    const gone = [...this.known].filter(([branch]) => !now.has(branch)).map(([, which]) => which);
    // Nothing of before is left: a reset. What clients have made belongs to no branch, and goes as well.
    const dropped: DatabaseScope[] = gone.length > 0 && gone.length === this.known.size ? [{}] : gone;
    this.known = now;
    for (const which of dropped) {
      // The server tries again before it gives out a database that this concerns.
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
