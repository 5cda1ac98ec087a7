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
  const status = await asked(file, ["status", "--porcelain", "-z", "--ignored=matching", "--untracked-files=all"]);
  if ("reason" in status) return status.reason;
  if (status.text !== "") return WORDS[status.text.slice(0, 2)] ?? "has changes that are not committed";
  // `--skip-worktree` and `--assume-unchanged` of git update-index: status passes over changes of such a file.
  const listed = await asked(file, ["ls-files", "-v", "-z"]);
  if ("reason" in listed) return listed.reason;
  return /^[Sa-z] /.test(listed.text) ? "is marked in git as one whose changes do not count" : undefined;
}

/** What git says of one file. */
async function asked(
  file: string,
  command: readonly string[],
): Promise<{ readonly text: string } | { readonly reason: string }> {
  const args = ["--no-optional-locks", "--literal-pathspecs", ...command, "--", basename(file)];
  // In a hook, git tells by the environment which repository it is about: it need not be the one of the file.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ABOUT_REPOSITORY.has(name)));
  const options = { cwd: dirname(file), env: { ...env, LC_ALL: "C" }, maxBuffer: 10_000_000 };
  return new Promise((decided) => {
    execFile("git", args, options, (error, text, stderr) =>
      decided(error === null ? { text } : { reason: whyUnknown(error, stderr) }),
    );
  });
}

/** Git also fails where it is not installed, and in a repository that it does not trust. */
function whyUnknown({ code }: ExecFileException, stderr: string): string {
  if (code === "ENOENT") return "could not be looked up in git, which is not installed";
  if (/not a git repository/.test(stderr)) return "is not in a git repository";
  return `could not be looked up in git, which said: ${stderr.split("\n", 1).join("")}`;
}
