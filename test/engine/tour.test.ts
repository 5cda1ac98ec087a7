import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codeBlocks, textOf } from "../support/codeBlocks";
import { LONGEST_BLOCK_MS, packInto, Reader } from "../support/reader";

jest.setTimeout(6 * LONGEST_BLOCK_MS);

const INSTALL = "npm install pulumi-svc @pulumi/pulumi\n";

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-tour-"));
/** In place of the name in the registry: the package as it was built here. Everything else comes as it comes to a reader. */
const replaced = new Map<string, string>();
let reader: Reader;

beforeAll(() => void replaced.set(INSTALL, INSTALL.replace("pulumi-svc", packInto(folder))));
beforeEach(() => (reader = new Reader(folder)));
afterEach(() => reader.close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a reader of README.md gets from nothing to a first up, and nothing warns", async () => {
  const [, start = ""] = textOf("README.md").split(/^(?=## )/m);
  expect(start).toMatch(/^## From nothing/);
  const said = await reader.follow(codeBlocks("README.md", start), "svc-start", replaced);
  expect(said).not.toMatch(/\bpulumi\b.*warning:|entry point|Deprecat/i);
});

test("a reader of docs/tour.md sees what it shows, block by block", async () => {
  const said = await reader.follow(codeBlocks("docs/tour.md"), "svc-tour", replaced);
  expect(said).not.toMatch(/entry point|Deprecat/i);
});
