import { execFile } from "node:child_process";
import { basename, dirname } from "node:path";

/** Codes of `git status --porcelain`: of the index and of the working tree. */
const WORDS: Readonly<Record<string, string>> = {
  "??": "is not added to git",
  "!!": "is ignored by git",
};

/**
 * Why git could not bring a file back as it is now; undefined where it could. It is asked in the folder of the file, which
 * may be in a submodule.
 */
export async function notInGit(file: string): Promise<string | undefined> {
  const args = ["--no-optional-locks", "--literal-pathspecs", "status", "--porcelain", "-z", "--ignored=matching"];
  const options = { cwd: dirname(file), maxBuffer: 10_000_000 };
  return new Promise((decided) => {
    execFile("git", [...args, "--untracked-files=all", "--", basename(file)], options, (error, stdout) => {
      if (error !== null) decided("is not in a git repository");
      else if (stdout === "") decided(undefined);
      else decided(WORDS[stdout.slice(0, 2)] ?? "has changes that are not committed");
    });
  });
}
