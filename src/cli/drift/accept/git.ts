import { execFile, type ExecFileException } from "node:child_process";
import { basename, dirname } from "node:path";

/** Codes of `git status --porcelain`: of the index and of the working tree. */
const WORDS: Readonly<Record<string, string>> = {
  "??": "is not added to git",
  "!!": "is ignored by git",
};

const ABOUT_REPOSITORY = new Set(["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"]);

/**
 * Why git could not bring a file back as it is now; undefined where it could. It is asked in the folder of the file, which
 * may be in a submodule.
 */
export async function notInGit(file: string): Promise<string | undefined> {
  const args = ["--no-optional-locks", "--literal-pathspecs", "status", "--porcelain", "-z", "--ignored=matching"];
  // In a hook, git tells by the environment which repository it is about: it need not be the one of the file.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ABOUT_REPOSITORY.has(name)));
  const options = { cwd: dirname(file), env: { ...env, LC_ALL: "C" }, maxBuffer: 10_000_000 };
  return new Promise((decided) => {
    execFile("git", [...args, "--untracked-files=all", "--", basename(file)], options, (error, stdout, stderr) => {
      if (error !== null) decided(whyUnknown(error, stderr));
      else if (stdout === "") decided(undefined);
      else decided(WORDS[stdout.slice(0, 2)] ?? "has changes that are not committed");
    });
  });
}

/** Git also fails where it is not installed, and in a repository that it does not trust. */
function whyUnknown({ code }: ExecFileException, stderr: string): string {
  if (code === "ENOENT") return "could not be looked up in git, which is not installed";
  if (/not a git repository/.test(stderr)) return "is not in a git repository";
  return `could not be looked up in git, which said: ${stderr.split("\n", 1).join("")}`;
}
