import { execFile, type ExecFileException } from "node:child_process";
import { basename, dirname } from "node:path";

/** Codes of `git status --porcelain` for the index and the working tree. */
const WORDS: Readonly<Record<string, string>> = {
  "??": "is not added to git",
  "!!": "is ignored by git",
};

const ABOUT_REPOSITORY = new Set(["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"]);

/**
 * Why git could not restore a file in its current form; undefined if it could. Runs in the folder of the file, which
 * may be in a submodule.
 */
export async function notInGit(file: string): Promise<string | undefined> {
  const status = await asked(file, ["status", "--porcelain", "-z", "--ignored=matching", "--untracked-files=all"]);
  if ("reason" in status) return status.reason;
  if (status.text !== "") return WORDS[status.text.slice(0, 2)] ?? "has changes that are not committed";
  // `git status` ignores changes of files marked by `--skip-worktree` or `--assume-unchanged` of git update-index.
  const listed = await asked(file, ["ls-files", "-v", "-z"]);
  if ("reason" in listed) return listed.reason;
  return /^[Sa-z] /.test(listed.text)
    ? "is marked in git so that its changes are ignored (assume-unchanged or skip-worktree)"
    : undefined;
}

/** Runs git for one file. */
async function asked(
  file: string,
  command: readonly string[],
): Promise<{ readonly text: string } | { readonly reason: string }> {
  const args = ["--no-optional-locks", "--literal-pathspecs", ...command, "--", basename(file)];
  // In a hook, git's environment selects a repository, which may not be the file's.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ABOUT_REPOSITORY.has(name)));
  const options = { cwd: dirname(file), env: { ...env, LC_ALL: "C" }, maxBuffer: 10_000_000 };
  return new Promise((decided) => {
    execFile("git", args, options, (error, text, stderr) =>
      decided(error === null ? { text } : { reason: whyUnknown(error, stderr) }),
    );
  });
}

/** Git also fails if it is not installed, or if it does not trust the repository. */
function whyUnknown({ code }: ExecFileException, stderr: string): string {
  if (code === "ENOENT") return "could not be looked up in git, which is not installed";
  if (/not a git repository/.test(stderr)) return "is not in a git repository";
  return `could not be looked up in git: ${stderr.split("\n", 1).join("")}`;
}
