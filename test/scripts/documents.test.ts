import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { KINDS } from "../../src/contract/pointer";

const ROOT = join(__dirname, "..", "..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const manifest = JSON.parse(read("package.json")) as { files: string[]; devDependencies: Record<string, string> };

/** The files in the npm package: the three that npm always adds, and those in "files". */
const shipped = ["README.md", "LICENSE", "package.json", ...manifest.files];
const documents = ["README.md", ...manifest.files].flatMap((name) => {
  if (name.endsWith(".md")) return [name];
  if (name !== "docs") return [];
  const files = readdirSync(join(ROOT, name), { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".md")).map((file) => join(name, file));
});

test.each(documents)("%s, which the package holds, links to nothing that the package does not hold", (file) => {
  const targets = [...read(file).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = ""]) => target);
  const local = targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => join(dirname(file), target));
  const missing = local.filter(
    (path) => !existsSync(join(ROOT, path)) || !shipped.some((name) => !relative(name, path).startsWith("..")),
  );
  expect(missing).toEqual([]);
});

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (page: string): string[] =>
  [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replace(/ /g, "-"),
  );

test.each(documents)("%s links to headings that are there", (file) => {
  const links = [...read(file).matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)];
  const lost = links.filter(([, target = "", anchor = ""]) => {
    const page = target === "" ? file : join(dirname(file), target);
    return page.endsWith(".md") && !anchorsOf(page).includes(anchor);
  });
  expect(lost.map(([link]) => link)).toEqual([]);
});

test.each(KINDS)("%s has a page, and a row in README.md and docs/concepts.md that leads to it", (kind) => {
  const lacking = [
    ["README.md", "docs/resources"],
    ["docs/concepts.md", "resources"],
  ].filter(([page = "", folder = ""]) => !read(page).includes(`| [\`${kind}\`](${folder}/${kind}.md)`));
  expect({ pagesWithoutRow: lacking.map(([page]) => page) }).toEqual({ pagesWithoutRow: [] });
  expect(read(`docs/resources/${kind}.md`)).not.toBe("");
});

test.each(["CONTRIBUTING.md", "docs/secrets.md", "docs/design/tests.md"])(
  "the test files that %s names are there",
  (page) => {
    const named = read(page).match(/\btest\/[\w./]+\.test\.ts/g) ?? [];
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  },
);

test("the tests that docs/design/engine.md names are there", () => {
  const named = [...read("docs/design/engine.md").matchAll(/`(test\/[^`]+)`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

/** Those in other languages use the packed plugin, and language hosts that the set-up does not build. */
const inTypeScript = readdirSync(join(ROOT, "examples")).filter((name) =>
  existsSync(join(ROOT, "examples", name, "tsconfig.json")),
);

test.each(inTypeScript)("examples/%s runs with the CLI that the set-up installs", (name) => {
  const readme = read(join("examples", name, "README.md"));
  const versions = [...readme.matchAll(/\/versions\/([\d.]+)\/bin/g)].map(([, version]) => version);
  expect(versions).toEqual([manifest.devDependencies["@pulumi/pulumi"]]);
  expect(readme).toContain(`cd examples/${name}\n`);
});
