import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { ROOT, WHOLE } from "../support/cli";
import { codeBlocks, textOf } from "../support/codeBlocks";
import { postgresBin } from "../support/postgres";
import { LONGEST_BLOCK_MS, packInto, Reader } from "../support/reader";
import { ownPort } from "../support/service";

jest.setTimeout(4 * LONGEST_BLOCK_MS);

const EXAMPLES = readdirSync(join(ROOT, "examples"));
/**
 * Included in every test run; the others only in `npm run test:consumers`. The README of `ci` runs the scripts for CI;
 * `yaml` and `python` use the plugin as it is packed.
 */
const chosen = WHOLE ? EXAMPLES : ["ci", "yaml", "python"];
/** What the CLI needs for a program in another language. Its installer brings it; the build of this repository does not. */
const LANGUAGE_HOSTS: Readonly<Record<string, string>> = {
  yaml: "pulumi-language-yaml",
  python: "pulumi-language-python",
};

const isOnPath = (file: string): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, file)));

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-examples-"));
let archive: string;
let reader: Reader | undefined;
beforeAll(() => {
  // If this is root, the Postgres of an example runs as another user.
  chmodSync(folder, 0o755);
  archive = packInto(folder);
});
afterEach(() => reader?.close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Manifest {
  readonly version: string;
  readonly dependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
}
interface Lock {
  readonly packages: Record<string, Partial<Manifest> & { resolved?: string }>;
}
const readJson = (...path: string[]): unknown => JSON.parse(readFileSync(join(...path), "utf8"));

/** Uses the package built here instead of the version in the registry. */
function useArchive(project: string): void {
  const manifest = readJson(project, "package.json") as Manifest;
  const lock = readJson(project, "package-lock.json") as Lock;
  const [own, ours] = [lock.packages[""], lock.packages["node_modules/pulumi-svc"]];
  if (own?.dependencies === undefined || ours === undefined) throw new Error("the lock file does not know pulumi-svc");
  for (const { dependencies } of [manifest, { dependencies: own.dependencies }]) {
    dependencies["pulumi-svc"] = `file:${archive}`;
  }
  ours.resolved = `file:${archive}`;
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(project, "package-lock.json"), JSON.stringify(lock));
}

test.each(chosen)("examples/%s, copied elsewhere on its own, works as its README says", async (name) => {
  const host = LANGUAGE_HOSTS[name];
  if (host !== undefined && !isOnPath(host)) {
    // Not a skipped test, which a run of everything counts as failed; and jest shows the console too late.
    process.stderr.write(`skipped: examples/${name}. ${host} is not on the PATH\n`);
    return;
  }
  const postgres = postgresBin();
  reader = new Reader(folder, name === "app" && postgres !== undefined ? [postgres] : []);
  const project = join(reader.folder, name);
  cpSync(join(ROOT, "examples", name), project, {
    recursive: true,
    filter: (source) => !source.endsWith("node_modules"),
  });
  useArchive(project);
  const readme = join("examples", name, "README.md");
  const [, ...sections] = textOf(readme).split(/^(?=## )/m);
  const section = sections.find((each) => each.startsWith("## Run it locally")) ?? "";
  const replaced = new Map(section.includes("8788") ? [["8788", String(ownPort() - 10_000)]] : []);
  // The first block is typed in the copy.
  const said = await reader.follow(codeBlocks(readme, section), name, replaced, name);
  expect(said).toMatch(/\+ \d+ created|Tests: +\d+ passed|pass 1\b/);
  expect(said).not.toMatch(/warning: Could not find|Deprecat/);
  if (!existsSync(join(project, "tsconfig.json"))) return;
  const types = await reader.terminal(name).run("npx tsc --noEmit -p .");
  expect(types).toEqual({ code: 0, output: "" });
});

test.each(EXAMPLES)("the lock file of examples/%s is that of its package.json and of this package", (name) => {
  const own = readJson(ROOT, "package.json") as Manifest;
  const manifest = readJson(ROOT, "examples", name, "package.json") as Manifest;
  const { packages } = readJson(ROOT, "examples", name, "package-lock.json") as Lock;
  const { version, dependencies, peerDependencies } = own;
  expect(packages["node_modules/pulumi-svc"]).toMatchObject({ version, dependencies, peerDependencies });
  expect(packages[""]).toMatchObject({ dependencies: manifest.dependencies });
  expect(manifest.dependencies["pulumi-svc"]).toBe(`^${version}`);
  expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
  // In the clone it is this very package, not one that npm has found for the range.
  expect(realpathSync(join(ROOT, "node_modules", "pulumi-svc"))).toBe(realpathSync(ROOT));
  expect(existsSync(join(ROOT, "examples", name, "node_modules", "pulumi-svc"))).toBe(false);
});
