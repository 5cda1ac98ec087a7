import { chromiumProgram } from "./browser";
import { postgresBin } from "./postgres";

// Runs before each test file of the project `services`. Where this machine does not have what the tests of a folder
// need, they are skipped, hooks included: so they are counted, and a run of everything fails on them.
const NEEDS = [
  {
    folder: "/test/postgres/",
    found: postgresBin(),
    what: "Postgres 14 or newer",
    variable: "PULUMI_SVC_POSTGRES_BIN",
  },
  { folder: "/test/browser/", found: chromiumProgram(), what: "Chromium", variable: "PULUMI_SVC_CHROMIUM" },
];

const path = (expect.getState().testPath ?? "").replaceAll("\\", "/");
for (const { folder, found, what, variable } of NEEDS) {
  if (found !== undefined || !path.includes(folder)) continue;
  // Not by the console, which jest does not show for a file whose tests are all skipped.
  const advice = `\`npm run test:services\` gets it, or says what ${variable} can name.`;
  process.stderr.write(`skipped: there is no ${what}. ${advice}\n`);
  Object.assign(globalThis, { describe: describe.skip, test: test.skip, it: test.skip });
}
