import { chromiumProgram } from "./browser";
import { postgresBin } from "./postgres";

// Runs before each test file of the project `services`. If the machine lacks what a folder's tests need, they are
// skipped, hooks included, so that they are counted, and a complete run fails.
const NEEDS = [
  {
    folder: "/test/postgres/",
    found: postgresBin(),
    what: "Postgres 15 or newer",
    variable: "PULUMI_SVC_POSTGRES_BIN",
  },
  { folder: "/test/browser/", found: chromiumProgram(), what: "Chromium", variable: "PULUMI_SVC_CHROMIUM" },
];

const path = (expect.getState().testPath ?? "").replaceAll("\\", "/");
for (const { folder, found, what, variable } of NEEDS) {
  if (found !== undefined || !path.includes(folder)) continue;
  // Not with the console, whose output jest hides for a file with only skipped tests.
  const advice = `\`npm run test:services\` gets it, or says what ${variable} can name.`;
  process.stderr.write(`skipped: there is no ${what}. ${advice}\n`);
  Object.assign(globalThis, { describe: describe.skip, test: test.skip, it: test.skip });
}
