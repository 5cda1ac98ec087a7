import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { namesPlugin } from "../../../src/cli/stack/projectFile";
import { temporaryFolder } from "../../support/scripts";

const PATH = "./node_modules/pulumi-svc/plugin";

test.each([
  [true, `packages:\n  svc: ${PATH}\n`],
  [true, `packages: # of the program\n  random: random@1\n  "svc": ${PATH}\n`],
  [true, `packages: { svc: ${PATH} }\n`],
  [true, `packages: { random: random@1, "svc": ${PATH} }\n`],
  [true, `plugins:\n  providers:\n    - name: svc\n      path: ${PATH}\n`],
  [true, `plugins:\n  providers:\n  - path: ${PATH}\n    name: 'svc'\n`],
  [false, "packages: {}\n"],
  [false, "packages:\n  svc2: ./else\n"],
  [false, "packages: { mysvc: ./else }\n"],
  [false, "packages:\n  random: random@1\nconfig:\n  svc: x\n"],
  [false, "plugins:\n  providers:\n    - name: random\n      path: ./svc\n"],
  [false, ""],
])("the native plugin is named: %s for %j", (isNamed, text) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), `name: svc\nruntime: nodejs\n${text}`);
  expect(namesPlugin(folder)).toBe(isNamed);
});
