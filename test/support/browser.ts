import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { isProgram } from "./postgres";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * The browser: the one that the set-up names (`npm test`, `npm run test:services`), otherwise one on PATH. Without one,
 * the tests that need it are skipped (test/support/services.ts).
 */
export function chromiumProgram(): string | undefined {
  const named = process.env["PULUMI_SVC_CHROMIUM"];
  // Empty: the set-up found none.
  if (named !== undefined) return named || undefined;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const programs = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return programs.find(isProgram);
}

/** It contacts only the pages it opens: without these flags it looks up hosts of its vendor at start. */
const QUIET = [
  ...["--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--disable-gpu"],
];

/** A headless browser with its own profile. The caller closes it. */
export function startBrowser(): Promise<Browser> {
  const program = chromiumProgram();
  if (program === undefined) throw new Error("There is no Chromium: `npm run test:services` gets one.");
  return chromium.launch({ executablePath: program, args: QUIET });
}
