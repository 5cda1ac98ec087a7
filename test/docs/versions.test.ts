import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OLDEST_SDK } from "../../src/contract/installation";
import { ROOT, TESTED } from "../support/cli";
import { textOf } from "../support/codeBlocks";

test("docs/toolchains.md names the oldest supported and the newest tested version", () => {
  const words = `Supported are Pulumi SDKs and CLIs from ${OLDEST_SDK} on, below 4; tested up to ${TESTED}.`;
  expect(textOf("docs/toolchains.md").replace(/\s+/g, " ")).toContain(words);
  expect(textOf("CHANGELOG.md")).toContain(`(tested up to ${TESTED})`);
});

/** In a package.json, an image, a path and the command that installs the CLI. */
const PINNED = /(?:@pulumi\/pulumi": "|pulumi[\w-]*:|versions\/|--version )(\d+\.\d+\.\d+)/g;

test("the examples take the version that is tested", () => {
  const files = execFileSync("git", ["ls-files", "examples"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  const others = files
    // Python's packages are released on days of their own.
    .filter((file) => !/package-lock\.json$|requirements\.txt$/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), "utf8").matchAll(PINNED)].map(([, version]) => `${file}: ${version}`),
    )
    .filter((each) => !each.endsWith(`: ${TESTED}`));
  expect(others).toEqual([]);
});
