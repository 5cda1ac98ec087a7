import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeBlocks, textOf } from "../support/codeBlocks";
import { LONGEST_BLOCK_MS, packInto, Reader } from "../support/reader";

jest.setTimeout(6 * LONGEST_BLOCK_MS);

const INSTALL = "npm install pulumi-svc @pulumi/pulumi\n";

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-tour-"));
/** Uses the package built here instead of the registry's. Everything else is as for a reader. */
const replaced = new Map<string, string>();
let reader: Reader;

beforeAll(() => void replaced.set(INSTALL, INSTALL.replace("pulumi-svc", packInto(folder))));
beforeEach(() => (reader = new Reader(folder)));
afterEach(() => reader.close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a reader of README.md gets from nothing to a first up without a warning, and sees what docs/tour.md shows from there", async () => {
  const [, start = ""] = textOf("README.md").split(/^(?=## )/m);
  expect(start).toMatch(/^## From nothing/);
  const before = codeBlocks("README.md", start);
  const said = await reader.follow([...before, ...codeBlocks("docs/tour.md")], "svc-start", replaced);
  const [first = ""] = said.split("unchanged");
  expect(first).toContain("+ 6 created");
  expect(first).not.toMatch(/\bpulumi\b.*warning:/i);
  expect(said).not.toMatch(/entry point|Deprecat/i);
  expect(readFileSync(join(reader.folder, "svc-start", "index.ts"), "utf8")).toContain("max: 4 }");
});
