import { cpSync, readFileSync, copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ArgumentSpec } from "../../src/runtime/arguments";
import { EACH_KIND } from "../kinds";
import { call, environment, SCRIPTS, temporaryFolder, type Called } from "../support/scripts";

jest.setTimeout(300_000); // Each run reads all sources with the compiler.

const ROOT = join(SCRIPTS, "..");
/** What two declarations say. */
const PASSWORD = "password: { secret: true, ";
const REGION = "regionId: { replaces: true, imported: false,";

const pageOf = (name: string): string => `docs/resources/${name}.md`;
/** Those of two resources stand for all. */
const [COMPUTE, EMAIL] = [pageOf("ComputeEndpoint"), pageOf("EmailServer")];
const PAGES = ["docs/resources.md", "docs/functions.md", COMPUTE, EMAIL];
const SCHEMA = "plugin/schema.json";

/** The sources of the pages, in a separate folder, with the present pages. */
function copy(): string {
  const root = temporaryFolder();
  for (const name of [
    "src",
    "docs",
    "plugin",
    "package.json",
    "tsconfig.json",
    ".prettierrc.json",
    "CONTRIBUTING.md",
    "README.md",
  ]) {
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  return root;
}

/** Runs the task, whose value is the exit code. */
function docs(root: string, ...args: string[]): Promise<Called> {
  return call(
    "tasks/docs.mts",
    "docs",
    [JSON.stringify(args)],
    environment([], {
      PULUMI_SVC_ROOT: root,
      // The compiler is compiled once.
      NODE_COMPILE_CACHE: join(ROOT, "node_modules", ".cache", "node-compile"),
    }),
  );
}

function edit(root: string, path: string, text: string, by: string): void {
  const file = join(root, path);
  const before = readFileSync(file, "utf8");
  expect(before).toContain(text);
  writeFileSync(file, before.replace(text, by));
}

const pages = (root: string): string[] => PAGES.map((page) => readFileSync(join(root, page), "utf8"));

/** The cells of each table row under a heading, as a reader sees them. */
function rows(markdown: string, heading: string): string[][] {
  const section = markdown.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
  const lines = section.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe("the reference", () => {
  test("is out of date once a source has changed, is written from the sources behind the comment that says so, and a second run finds it the same", async () => {
    const root = copy();
    const written = (page: string) => readFileSync(join(root, page), "utf8");
    const truncate = (page: string) =>
      writeFileSync(join(root, page), written(page).replace(/(?<=<!-- Written by .*-->\n)[^]*/, ""));
    const cells = (page: string, name: string): string[] | undefined =>
      rows(written(page), "Arguments").find(([first]) => first === `\`${name}\``);

    // --check names the pages and the command, and writes nothing.
    const declaration = "src/resources/computeEndpoint/computeEndpointDeclaration.ts";
    edit(root, declaration, "Whether the connection pooler is on.", "Turns the pooler on.");
    truncate("docs/functions.md");
    const before = pages(root);
    expect(await docs(root, "--check")).toEqual({
      value: 1,
      output: ["docs/functions.md", COMPUTE, SCHEMA]
        .map((page) => `${page} is out of date. Run npm run docs\n`)
        .join(""),
    });
    expect(pages(root)).toEqual(before);
    truncate("docs/resources.md");

    // The declarations: what is secret, and what replaces. What editors show agrees with the table.
    expect(cells(EMAIL, "password")).toContain("yes");
    expect(cells(COMPUTE, "regionId")?.slice(-2)).toEqual(["Must be the project's region.", "replaces it"]);
    const mailServer = "src/resources/emailServer/emailServerDeclaration.ts";
    edit(root, mailServer, PASSWORD, PASSWORD.replace("secret: true, ", ""));
    edit(root, mailServer, "`username`. Secret, unless it is given", "`username`. Given");
    edit(root, declaration, REGION, REGION.replace("replaces", "createOnly"));
    const sentence = "/** Must be the project's region. Changing this replaces the compute. */";
    edit(root, declaration, sentence, "/** Changing this later has no effect. */");
    // The first sentences of the pages, and the components, in the overviews of README.md and docs/concepts.md.
    edit(root, pageOf("AuthUser"), "A user of the managed auth,", "Somebody who signs in,");
    edit(root, mailServer, "port: {", "port: { replaces: true,");
    edit(root, mailServer, "1 to 65535.", "1 to 65535. Changing this replaces it.");
    edit(root, "src/components/ComputeGroup.ts", "new ComputeEndpoint(", "new AuthKeys(");

    expect(await docs(root)).toEqual({
      value: 0,
      output: [...PAGES, "README.md", "docs/concepts.md", "docs/plan.md", SCHEMA]
        .map((page) => `${page} was updated.\n`)
        .join(""),
    });
    expect(written("docs/functions.md")).toBe(pages(ROOT)[1]);
    expect(written("docs/resources.md")).toBe(pages(ROOT)[0]);
    expect(written(COMPUTE)).toContain("Turns the pooler on.");
    expect(written(SCHEMA)).toContain("Turns the pooler on.");
    expect(cells(EMAIL, "password")).not.toContain("yes");
    expect(cells(COMPUTE, "regionId")?.at(-1)).toBe("no effect after creation");
    expect(written("README.md")).toMatch(
      /^\| \[`AuthUser`\]\(docs\/resources\/AuthUser\.md\) +\| Somebody who signs in, such as the first administrator +\|$/m,
    );
    const concepts = written("docs/concepts.md");
    expect(rows(concepts, "The resources")).toContainEqual([
      "[`EmailServer`](resources/EmailServer.md)",
      "`<project>`",
      expect.not.stringContaining("`port`"),
      "`projectId`, `port`",
    ]);
    expect(concepts).toContain("ComputeGroup -. makes .-> AuthKeys");
    // In which order each argument replaces, and what is asked before a deletion.
    const orders = rows(written("docs/plan.md"), "Replacements");
    expect(orders).toContainEqual([
      "[`EmailServer`](resources/EmailServer.md)",
      "`port`",
      "**deleted first**",
      "whether its integration exists, and does not leave the project in this run",
    ]);
    expect(orders.filter(([resource]) => resource?.includes("ComputeEndpoint"))).toEqual([
      expect.arrayContaining(["`projectId`, `type`", "created first"]),
    ]);
    expect(written(EMAIL)).toContain(
      "creates the new object first, but a change of `port` deletes the old object first.",
    );

    const all = pages(root);
    expect(await docs(root)).toEqual({ value: 0, output: "The reference is up to date.\n" });
    expect(pages(root)).toEqual(all);
  });

  test("says which document has no place for its part", async () => {
    const root = copy();
    writeFileSync(join(root, "docs", "functions.md"), "# Functions\n");
    const says = /^docs\/functions\.md is missing, or has no comment "Written by .*Write the page by hand/;
    expect(await docs(root)).toEqual({ value: 1, output: expect.stringMatching(says) });
  });

  test("is not written while a text contradicts its table, or something public lacks its words: each is named with its place", async () => {
    const root = copy();
    const mailServer = "src/resources/emailServer/emailServerDeclaration.ts";
    edit(root, mailServer, PASSWORD, PASSWORD.replace("secret: true, ", ""));
    edit(
      root,
      "src/resources/computeEndpoint/computeEndpointDeclaration.ts",
      REGION,
      REGION.replace("replaces", "createOnly"),
    );
    edit(root, "src/resources/authUser/AuthUser.ts", "Its Pulumi id is", "It is known as");
    edit(
      root,
      "src/resources/authUser/authUserDeclaration.ts",
      "  /** The id in the table of the synced users. */\n",
      "",
    );
    const exported = 'export { readerOf } from "./lookups/account";\nexport { Session } from "./runtime/session";\n';
    edit(root, "src/index.ts", "export { connectionUriOutput }", `${exported}export { connectionUriOutput }`);
    copyFileSync(join(root, "docs/resources/Whitelist.md"), join(root, "docs/resources", "README.md"));
    const before = pages(root);
    const { value, output } = await docs(root);
    expect(value).toBe(1);
    expect(output).toMatch(/^docs\/resources\/README\.md: there is no resource or component README$/m);
    const prose = "differs from its table";
    expect(output).toMatch(new RegExp(`^src/.*: EmailServer\\.password ${prose}: Secret$`, "m"));
    expect(output).toMatch(new RegExp(`: ComputeEndpoint\\.regionId ${prose}: Changing this replaces$`, "m"));
    expect(output).toMatch(
      new RegExp(`: ComputeEndpoint\\.regionId ${prose}: Changing this later has no effect$`, "m"),
    );
    expect(output).toContain("the text of AuthUser does not say: Its Pulumi id is");
    expect(output).toMatch(/^src\/resources\/authUser\/authUserDeclaration\.ts:\d+: userId has no description$/m);
    expect(output).toMatch(/^src\/lookups\/account\.ts:\d+: readerOf has no description$/m);
    expect(output).toMatch(/^src\/index\.ts exports Session, which is on no page$/m);
    expect(pages(root)).toEqual(before);
  });

  test("shows nothing internal", () => {
    for (const page of pages(ROOT)) {
      expect(page).not.toMatch(/docs\/design|\b\w+Shape\b|__(?!dirname)\w/);
    }
  });
});

describe("the table of the arguments", () => {
  test.each(EACH_KIND.map(([kind, { lifecycle }]) => [kind, lifecycle.args] as const))(
    "of %s says what the provider does",
    (kind, args) => {
      const specs = Object.entries(args) as [string, ArgumentSpec<unknown>][]; // each is a spec of its own type
      const page = readFileSync(join(ROOT, pageOf(kind)), "utf8");
      const told = rows(page, "Arguments").map((cells) => ({
        name: cells[0],
        required: cells[2] === "yes",
        replaces: cells.at(-1) === "replaces it",
        createOnly: cells.at(-1) === "no effect after creation",
      }));
      const done = specs.map(([name, { required, replaces, createOnly }]) => ({
        name: `\`${name}\``,
        required: required === true,
        replaces: replaces !== undefined,
        createOnly: createOnly === true,
      }));
      expect(told).toEqual(done);
    },
  );
});
