import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findPrograms } from "../../../src/emulator/postgres/programs";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postgres-programs-"));
  // If this is root, the server runs as another user.
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A folder with a Postgres of that version. */
function postgres(version: string, ...path: string[]): string {
  const bin = join(folder, ...path);
  mkdirSync(bin, { recursive: true });
  for (const name of ["initdb", "postgres"])
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} (PostgreSQL) ${version}"\n`, { mode: 0o755 });
  return bin;
}

/** The folder of the programs that are found, below the test's own. */
const found = (environment: NodeJS.ProcessEnv, ...collections: string[]): string =>
  findPrograms(
    environment,
    collections.map((name) => join(folder, name)),
  ).postgres.slice(folder.length + 1);

test("the variable comes first, then PATH, then the folders of packages", () => {
  postgres("15.1", "named");
  postgres("16.1", "path", "second");
  mkdirSync(join(folder, "path", "first"));
  // As on a Debian without the package of the server.
  writeFileSync(join(folder, "path", "first", "initdb"), "", { mode: 0o755 });
  postgres("17.1", "debian", "17", "bin");
  const PATH = ["first", "second"].map((name) => join(folder, "path", name)).join(delimiter);
  expect(found({ PATH, PULUMI_SVC_POSTGRES_BIN: join(folder, "named") }, "debian")).toBe("named/postgres");
  expect(found({ PATH, PULUMI_SVC_POSTGRES_BIN: "" }, "debian")).toBe("path/second/postgres");
  expect(found({ PATH: join(folder, "path", "first") }, "debian")).toBe("debian/17/bin/postgres");
  expect(found({}, "none", "debian")).toBe("debian/17/bin/postgres");
});

test.each([
  ["Debian", "", ["9", "15", "16"], "16"],
  ["Red Hat", "pgsql-", ["15", "17"], "17"],
  ["Homebrew", "postgresql@", ["9", "15", "18"], "18"],
])(
  "the newest version in the folders of %s is found, and other folders there are none",
  (_, prefix, versions, newest) => {
    for (const version of versions) postgres(`${version}.2`, "all", `${prefix}${version}`, "bin");
    postgres("19.1", "all", "postgresql-common", "bin");
    expect(found({}, "all")).toBe(`all/${prefix}${newest}/bin/postgres`);
  },
);

test("the newest of several collections is found, where it has both programs", () => {
  postgres("15.2", "debian", "15", "bin");
  postgres("18.2", "brew", "postgresql@18", "bin");
  rmSync(join(postgres("17.2", "brew", "postgresql@17", "bin"), "initdb"));
  rmSync(join(postgres("19.2", "debian", "19", "bin"), "initdb"));
  expect(found({}, "debian", "brew")).toBe("brew/postgresql@18/bin/postgres");
});

test("what is missing is said: no Postgres at all, none in the named folder, one that is too old", () => {
  expect(() => found({}, "none")).toThrow(/^the emulator's --postgres found no Postgres: install version 15 or later/);
  postgres("17.1", "debian", "17", "bin");
  expect(() => found({ PULUMI_SVC_POSTGRES_BIN: join(folder, "none") }, "debian")).toThrow(
    `found no Postgres in ${join(folder, "none")} (PULUMI_SVC_POSTGRES_BIN): install`,
  );
  const old = postgres("14.9", "old");
  expect(() => found({ PULUMI_SVC_POSTGRES_BIN: old })).toThrow(
    `(PULUMI_SVC_POSTGRES_BIN) (${join(old, "postgres")} is version 14): install version 15 or later`,
  );
  // One that is too old does not hide another.
  expect(found({ PATH: old }, "debian")).toBe("debian/17/bin/postgres");
});
