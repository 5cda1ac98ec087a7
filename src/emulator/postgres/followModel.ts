import type { Store } from "../model/store";
import { BranchDatabases } from "./branchDatabases";
import type { PostgresServer } from "./postgresServer";
import { UsersSync } from "./usersSync";

/** Makes the databases follow the model until it is stopped. Leftovers of an earlier run are dropped first. */
export async function followModel(store: Store, server: PostgresServer): Promise<{ stop(): Promise<void> }> {
  const branches = new BranchDatabases(store, server);
  const users = new UsersSync(store, server);
  let isStopped = false;
  store.onChange(() => {
    if (isStopped) return;
    branches.follow();
    users.follow();
  });
  await branches.start();
  await users.start();
  return {
    stop: () => {
      isStopped = true;
      return users.stop();
    },
  };
}
