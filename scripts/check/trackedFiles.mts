import { run } from "../lib/exec.mts";
import { ROOT } from "../lib/paths.mjs";
import { lostReferences } from "./documents.mts";

/**
 * What no tracked file may hold. The patterns are POSIX extended ones for git; each is written so that it does not match itself.
 */
const FORBIDDEN = [
  {
    what: "a path of somebody's machine",
    pattern: "(^|[^[:alnum:]_.~/<{-])/(work|root|home/[a-z]+|Users/[A-Za-z]+|tmp)/[[:alnum:]_.]",
  },
  {
    what: "the host of a package registry",
    pattern: "(registry[.](npmjs|yarnpkg)|proxy[.]golang|npm[.]pkg[.]github|pypi[.]org|artifactory[.])",
  },
  { what: "a private key", pattern: "-----BEGIN [A-Z ]*PRIVATE[ ]KEY" },
  {
    what: "a token of a known form",
    pattern:
      "(gh[opsu]_[A-Za-z0-9]{30}|npm_[A-Za-z0-9]{36}|pul-[0-9a-f]{40}|AKIA[0-9A-Z]{16}|xox[abp]-[0-9A-Za-z-]{20}|eyJ[A-Za-z0-9_-]{20,}[.]eyJ)",
  },
  { what: "a URL with a password in it", pattern: "https?://[^/[:space:]\"'`{}<>]+:[^/[:space:]\"'`{}<>]+@" },
];

export async function trackedFiles(): Promise<string> {
  const findings = [];
  for (const { what, pattern } of FORBIDDEN) {
    const { code, output } = await run("git", ["grep", "-nIE", "-e", pattern]);
    // The tests' made-up secrets say that they are: each holds the word canary.
    const lines = output.split("\n").filter((line) => line !== "" && !/canary/i.test(line));
    // git grep: 0 found, 1 nothing found, more: an error.
    if (code > 1 || lines.length > 0) findings.push(`${what}:\n${lines.join("\n")}`);
  }
  const { output: listed } = await run("git", ["ls-files", "-z"]);
  const lost = lostReferences(ROOT, listed.split("\0").filter(Boolean));
  if (lost.length > 0) findings.push(`a reference to a document that nobody who clones this has:\n${lost.join("\n")}`);
  return findings.join("\n");
}
