import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ArgumentSpec } from "../../src/host/arguments";
import { EACH_KIND } from "../kinds";
import { call, environment, SCRIPTS, temporaryFolder, type Called } from "../support/scripts";

jest.setTimeout(300_000); // Each run reads all sources with the compiler.

const ROOT = join(SCRIPTS, "..");
const PAGES = ["docs/resources.md", "docs/functions.md", "test/docs/messages.md"];

/** What the pages are written from, in a folder of its own, and with the pages as they are. */
function copy(): string {
  const root = temporaryFolder();
  for (const name of [
    "src",
    "docs",
    "test/docs/messages.md",
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
  test("is written behind the comment that says so, and a second run finds it the same", async () => {
    const root = copy();
    for (const [at, text] of pages(root).entries()) {
      writeFileSync(join(root, PAGES[at] ?? ""), text.replace(/(?<=<!-- Written by .*-->\n)[^]*/, ""));
    }
    const missing = await docs(root, "--check");
    expect(missing.value).toBe(1);
    for (const page of PAGES) expect(missing.output).toContain(`${page} is not what the sources give`);
    expect(await docs(root)).toEqual({
      value: 0,
      output: PAGES.map((page) => `${page} is written anew.\n`).join(""),
    });
    const written = pages(root);
    expect(await docs(root)).toEqual({ value: 0, output: "The reference is up to date.\n" });
    expect(pages(root)).toEqual(written);
  });

  test("says which document has no place for its part", async () => {
    const root = copy();
    writeFileSync(join(root, "docs", "functions.md"), "# Functions\n");
    expect((await docs(root)).error?.message).toMatch(/^docs\/functions\.md has no comment "Written by/);
  });

  test("is out of date once a JSDoc has changed: --check names the page and the command, and writes nothing", async () => {
    const root = copy();
    edit(
      root,
      "src/resources/computeEndpoint/declaration.ts",
      "Whether the connection pooler is on.",
      "Turns the pooler on.",
    );
    const before = pages(root);
    const { value, output } = await docs(root, "--check");
    expect(value).toBe(1);
    expect(output).toBe("docs/resources.md is not what the sources give. Write it anew: npm run docs\n");
    expect(pages(root)).toEqual(before);
  });

  test("follows the declarations: what is secret, and what replaces", async () => {
    const root = copy();
    const cells = (heading: string, name: string): string[] | undefined =>
      rows(pages(root)[0] ?? "", heading).find(([first]) => first === `\`${name}\``);
    expect(cells("Arguments of EmailServer", "password")).toContain("yes");
    expect(cells("Arguments of ComputeEndpoint", "regionId")?.at(-1)).toBe("replaces it");
    const password = "password: { secret: true, ";
    edit(root, "src/resources/emailServer/declaration.ts", password, password.replace("secret: true, ", ""));
    const region = "regionId: { replaces: true }";
    edit(root, "src/resources/computeEndpoint/declaration.ts", region, region.replace("replaces", "createOnly"));
    // What editors show has to agree with the table.
    const { value, output } = await docs(root);
    expect(value).toBe(1);
    const prose = "says something else than its table";
    expect(output).toMatch(new RegExp(`^src/.*: EmailServer\\.password ${prose}: Secret$`, "m"));
    expect(output).toMatch(new RegExp(`: ComputeEndpoint\\.regionId ${prose}: Changing this replaces$`, "m"));
    expect(output).toMatch(
      new RegExp(`: ComputeEndpoint\\.regionId ${prose}: Changing this later has no effect$`, "m"),
    );
    const sentence = "/** Must be the project's region. Changing this replaces the compute. */";
    edit(root, "src/resources/computeEndpoint/declaration.ts", sentence, "/** Changing this later has no effect. */");
    edit(
      root,
      "src/resources/emailServer/declaration.ts",
      "`username`. Secret, unless it is given",
      "`username`. Given",
    );
    expect(await docs(root)).toMatchObject({ value: 0 });
    expect(cells("Arguments of EmailServer", "password")).not.toContain("yes");
    expect(cells("Arguments of ComputeEndpoint", "regionId")?.at(-1)).toBe("no effect after creation");
  });

  test("has overviews in README.md and docs/concepts.md, which follow the guides, the declarations and the components", async () => {
    const root = copy();
    edit(root, "docs/guide/AuthUser.md", "A user of the managed auth,", "Somebody who signs in,");
    edit(root, "src/resources/emailServer/declaration.ts", "port: {", "port: { replaces: true,");
    edit(root, "src/resources/emailServer/declaration.ts", "1 to 65535.", "1 to 65535. Changing this replaces it.");
    edit(root, "src/components/ComputeGroup.ts", "new ComputeEndpoint(", "new AuthKeys(");
    const { value } = await docs(root);
    expect(value).toBe(0);
    expect(readFileSync(join(root, "README.md"), "utf8")).toMatch(
      /^\| \[`AuthUser`\]\(docs\/guide\/AuthUser\.md\) +\| Somebody who signs in, such as the first administrator +\|$/m,
    );
    const concepts = readFileSync(join(root, "docs/concepts.md"), "utf8");
    expect(rows(concepts, "The resources")).toContainEqual([
      "[`EmailServer`](guide/EmailServer.md)",
      "`<project>`",
      expect.not.stringContaining("`port`"),
      "`projectId`, `port`",
    ]);
    expect(concepts).toContain("ComputeGroup -. makes .-> AuthKeys");
    edit(root, "src/resources/authUser/AuthUser.ts", "Its Pulumi id is", "It is known as");
    expect((await docs(root, "--check")).output).toContain("the text of AuthUser does not say: Its Pulumi id is");
  });

  test("is not written while something public lacks its words: each is named with its place", async () => {
    const root = copy();
    edit(root, "src/resources/authUser/declaration.ts", "  /** The id in the table of the synced users. */\n", "");
    const exported = 'export { readerOf } from "./functions/account";\nexport { Session } from "./host/session";\n';
    edit(root, "src/index.ts", "export { connectionUriOutput }", `${exported}export { connectionUriOutput }`);
    const before = pages(root);
    const { value, output } = await docs(root);
    expect(value).toBe(1);
    expect(output).toMatch(/^src\/resources\/authUser\/declaration\.ts:\d+: userId has no description$/m);
    expect(output).toMatch(/^src\/functions\/account\.ts:\d+: readerOf has no description$/m);
    expect(output).toMatch(/^src\/index\.ts exports Session, which is on no page$/m);
    expect(pages(root)).toEqual(before);
  });

  test("shows functions and types as they are declared, with their texts and without what they do", () => {
    const [, functions = ""] = pages(ROOT);
    const section = functions.split(/^### /m).find((part) => part.startsWith("getComputeEndpoint\n")) ?? "";
    expect(section).toContain("\nOne compute: by its id, or the primary of a branch.");
    expect(section).toMatch(/^function getComputeEndpoint\(args: .*\): Promise<ComputeEndpointResult>;$/m);
    expect(section).toMatch(/^\/\*\* As `getComputeEndpoint`, .*\nfunction getComputeEndpointOutput\($/m);
    expect(section).toMatch(
      /^interface GetComputeEndpointArgs .*\n {2}\/\*\* The compute .*\n {2}endpointId\?: string;$/m,
    );
    expect(section).toContain("[ComputeEndpointResult](#computeendpointresult)");
    expect(section).not.toMatch(/return|export/);
  });

  test("holds every message, with what is filled in: a changed one makes its page out of date", async () => {
    const root = copy();
    edit(
      root,
      "src/functions/branches.ts",
      '"this service does not list branches"',
      "`branches cannot be listed: ${branches}`",
    );
    expect(await docs(root)).toEqual({ value: 0, output: "test/docs/messages.md is written anew.\n" });
    const lines = pages(root)[2]?.split("\n") ?? [];
    expect(lines).toContain("branches cannot be listed: {branches}");
    expect(lines).toContain("no branch of the project is flagged as default");
    expect(lines).not.toContain("this service does not list branches");
    // Names, keys and units are no messages.
    expect(lines.filter((line) => /^(application\/json|GET|ep-…)$/.test(line))).toEqual([]);
  });

  test("takes no argument but --check", async () => {
    expect((await docs(ROOT, "--chekc")).error?.message).toBe('docs does not know "--chekc".');
  });

  test("shows nothing internal", () => {
    for (const page of pages(ROOT)) {
      expect(page).not.toMatch(/docs\/design|\b\w+Shape\b|__(?!dirname)\w/);
    }
  });

  test("leads nowhere that is not there", () => {
    const headings = (file: string) =>
      [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
        heading.toLowerCase().replaceAll(" ", "-"),
      );
    const links = PAGES.flatMap((page) =>
      [...readFileSync(join(ROOT, page), "utf8").matchAll(/\]\(([^)#]*)#?([^)]*)\)/g)].map(
        ([, path = "", anchor = ""]) => ({
          file: path === "" ? join(ROOT, page) : join(ROOT, page, "..", path),
          anchor,
        }),
      ),
    );
    expect(links.length).toBeGreaterThan(50);
    const broken = links.filter(
      ({ file, anchor }) => !existsSync(file) || (anchor !== "" && !headings(file).includes(anchor)),
    );
    expect(broken).toEqual([]);
  });
});

describe("the table of the arguments", () => {
  test.each(EACH_KIND.map(([kind, { lifecycle }]) => [kind, lifecycle.args] as const))(
    "of %s says what the provider does",
    (kind, args) => {
      const specs = Object.entries(args) as [string, ArgumentSpec<unknown>][]; // each is a spec of its own type
      const [resources = ""] = pages(ROOT);
      const told = rows(resources, `Arguments of ${kind}`).map((cells) => ({
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
