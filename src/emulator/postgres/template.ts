import { existsSync } from "node:fs";
import { join } from "node:path";
import { KEEPER, makeFolder, SUPERUSER } from "./cluster";
import { startGuard } from "./guard";
import type { Programs } from "./programs";
import { newTemporaryFolder } from "./temporaryFolders";

/** The owner of a branch's database, as the service names both. */
export const ROLE = "svcdb_owner";
export const DATABASE = "svcdb";

let made: Promise<string> | undefined;

/** The folder of a cluster with the standard role and database, of which those of branches are copies. */
export async function template(programs: Programs): Promise<string> {
  const making = (made ??= make(programs));
  try {
    const folder = await making;
    if (existsSync(folder)) return folder;
  } catch (error) {
    if (made === making) made = undefined;
    throw error;
  }
  // Somebody cleans up temporary files.
  if (made === making) made = undefined;
  return template(programs);
}

/** One for all emulators of a process, with which it ends. */
async function make(programs: Programs): Promise<string> {
  const folder = newTemporaryFolder("template");
  makeFolder(folder, programs);
  startGuard(folder, [folder]);
  const cluster = join(folder, "template");
  const ctype = process.platform === "darwin" ? "UTF-8" : "C.UTF-8";
  const locale = ["--encoding=UTF8", "--locale=C", `--lc-ctype=${ctype}`];
  const form = ["--auth=trust", "--no-sync", "--no-instructions", "--wal-segsize=1"];
  await programs.run(programs.initdb, ["-D", cluster, "-U", SUPERUSER, ...form, ...locale]);
  const statements = [
    // Before version 16, a role with CREATEROLE could grant itself these, which lead to a shell of the server's user.
    "UPDATE pg_authid SET rolsuper = true " +
      "WHERE rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')",
    `CREATE ROLE ${KEEPER} LOGIN`,
    `CREATE ROLE ${ROLE} LOGIN CREATEDB CREATEROLE`,
    `CREATE DATABASE ${DATABASE} OWNER ${ROLE}`,
  ];
  // A line is a statement there.
  await programs.run(
    programs.postgres,
    ["--single", "-D", cluster, "-c", "fsync=off", "postgres"],
    statements.join("\n"),
  );
  return cluster;
}
