import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT } from "./cli";

export const CI = join(ROOT, "examples", "ci");

/**
 * Stores issues and pull requests in files like GitHub, and records its input: arguments, standard input, environment.
 */
const FAKE_GH = `#!/usr/bin/env node
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require("node:fs");
const [area, action, ...args] = process.argv.slice(2);
const flag = (name) => args[args.indexOf(name) + 1];
const stdin = args.includes("-") ? readFileSync(0, "utf8") : "";
appendFileSync(__dirname + "/calls", JSON.stringify({ call: area + " " + action, args, stdin, env: process.env }) + "\\n");
if (existsSync(__dirname + "/broken")) process.exit(4);
const file = __dirname + "/issues.json";
const issues = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
const issue = issues[Number(args[0]) - 1];
const comments = () => (existsSync(__dirname + "/comments.json") ? JSON.parse(readFileSync(__dirname + "/comments.json", "utf8")) : []);
const saveComments = (all) => writeFileSync(__dirname + "/comments.json", JSON.stringify(all));
const pulls = existsSync(__dirname + "/pulls.json") ? JSON.parse(readFileSync(__dirname + "/pulls.json", "utf8")) : [];
if (area === "api" && action.startsWith("repos/")) {
  // What the expression of --jq makes of it.
  const found = pulls.find(({ state, head, isFork }) => state === "open" && !isFork && action.endsWith("&head={owner}:" + head));
  if (found) console.log(found.number + "\\n" + found.body.replace(/\\n/g, "\\r\\n"));
}
switch (area + " " + action) {
  case "issue list": {
    const found = issues.find(({ label, state }) => label === flag("--label") && state === flag("--state"));
    // As the page of an issue saves it.
    if (found) console.log(found.number + "\\n" + found.body.replace(/\\n/g, "\\r\\n"));
    break;
  }
  case "issue create":
    issues.push({ number: issues.length + 1, state: "open", label: flag("--label"), title: flag("--title"), body: stdin });
    break;
  case "pr view":
    // What the expression of --jq makes of it.
    for (const { id, own, body } of comments())
      if (own) console.log("https://github.test/o/r/pull/7#issuecomment-" + id + " " + body.split("\\n")[0].replace(/\\r$/, ""));
    break;
  case "pr comment": saveComments([...comments(), { id: 100 + comments().length, own: true, body: stdin.replace(/\\n/g, "\\r\\n") }]); break;
  case "api --method": {
    const body = readFileSync(0, "utf8");
    const pull = pulls.find(({ number }) => args[1].endsWith("/pulls/" + number));
    if (pull) pull.body = body;
    saveComments(comments().map((one) => (args[1].endsWith("/comments/" + one.id) ? { ...one, body } : one)));
    break;
  }
  case "issue edit": issue.body = stdin; break;
  case "issue close": issue.state = "closed"; break;
  case "pr create":
    pulls.push({ number: pulls.length + 1, state: "open", head: flag("--head"), base: flag("--base"), title: flag("--title"), body: stdin });
    break;
  case "pr close": pulls[Number(args[0]) - 1].state = "closed"; break;
}
writeFileSync(__dirname + "/pulls.json", JSON.stringify(pulls));
writeFileSync(file, JSON.stringify(issues));
`;

export interface Issue {
  number: number;
  state: string;
  label: string;
  title: string;
  body: string;
}

export interface Pull {
  number: number;
  state: string;
  head: string;
  base?: string;
  title?: string;
  body: string;
  isFork?: boolean;
}

export interface Call {
  readonly call: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

export interface Job {
  /** Runs a script like a job, in the folder of the program. */
  run(script: string, args: string[], env?: Record<string, string>): Promise<{ code: number; text: string }>;
  /** The calls of `gh` since the last check. */
  calls(): Call[];
  issues(): Issue[];
  pulls(): Pull[];
  breakTracker(): void;
}

/** The scripts of examples/ci in the folder of a program, and a fake `gh` in the folder `bin`. Adds to `env`. */
export function ciJob(program: string, bin: string, env: Record<string, string>): Job {
  cpSync(join(CI, "scripts"), join(program, "scripts"), { recursive: true });
  mkdirSync(bin);
  writeFileSync(join(bin, "gh"), FAKE_GH, { mode: 0o755 });
  env["PATH"] = [bin, env["PATH"]].join(delimiter);
  const kept = (file: string): string => {
    const path = join(bin, file);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  };
  let seen = 0;
  return {
    run: (script, args, given = env) =>
      new Promise((resolve) => {
        const command = join(program, "scripts", script);
        const child = execFile(command, args, { cwd: program, env: given }, (_, stdout, stderr) =>
          resolve({ code: child.exitCode ?? -1, text: stdout + stderr }),
        );
      }),
    calls() {
      const lines = kept("calls").split("\n").slice(seen, -1);
      seen += lines.length;
      return lines.map((line) => JSON.parse(line) as Call);
    },
    issues: () => JSON.parse(kept("issues.json")) as Issue[],
    pulls: () => JSON.parse(kept("pulls.json") || "[]") as Pull[],
    breakTracker: () => writeFileSync(join(bin, "broken"), ""),
  };
}

export const names = (calls: Call[]): string[] => calls.map(({ call }) => call);

/** As a developer of the program, without the hooks and settings of whoever runs the tests. */
export function git(folder: string, ...args: string[]): string {
  const who = ["-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "core.hooksPath=/dev/null"];
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", [...who, ...args], { cwd: folder, env, encoding: "utf8" }).trim();
}

/** Makes the folder a repository, with its content on the main branch of an origin. */
export function pushed(folder: string, origin: string): void {
  git(folder, "init", "--quiet", "--bare", "--initial-branch=main", origin);
  git(folder, "init", "--quiet", "--initial-branch=main");
  git(folder, "remote", "add", "origin", origin);
  git(folder, "add", ".");
  git(folder, "commit", "--quiet", "--message", "the program");
  git(folder, "push", "--quiet", "origin", "main");
}
