import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { ciJob, git, type Job, names, type Pull, pushed } from "../support/ciJob";

const FINGERPRINT = "0123456789abcdef0123456789abcdef";
const OTHER_FINGERPRINT = "f".repeat(32);
const BRANCH = "drift-accept-dev";
const TITLE = "Accept the drift of stack dev";
const SECRETS = {
  SVC_API_KEY: "canary-key",
  PULUMI_ACCESS_TOKEN: "canary-pulumi",
  PULUMI_CONFIG_PASSPHRASE: "canary-pass",
};

/**
 * Replaces `npx`: edits the program, writes a report and exits as the test says; records its arguments and environment.
 */
const FAKE_NPX = `#!/usr/bin/env node
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const args = process.argv.slice(2);
appendFileSync(__dirname + "/npx-calls", JSON.stringify({ args, env: process.env }) + "\\n");
const { code, program, beside, report } = JSON.parse(readFileSync(__dirname + "/next.json", "utf8"));
if (program !== undefined) writeFileSync("index.js", program);
if (beside !== undefined) writeFileSync("../beside.js", beside);
const out = args.indexOf("--out");
if (report !== undefined && out > 0) writeFileSync(args[out + 1], report);
if (report !== undefined && out < 0) process.stdout.write(report);
console.error("said by pulumi-svc");
process.exitCode = code;
`;

interface Next {
  readonly code: number;
  /** The edited index.js. */
  readonly program?: string;
  /** The edited file beside the folder of the program. */
  readonly beside?: string;
  readonly report?: string;
}

const program = (max: number, above = "above"): string =>
  `// ${above}\n${"\n".repeat(2)}const size = { max: ${max} };\n\n// below\n`;
const report = (fingerprint: string, text = "| ComputeEndpoint `api` | `size.max` |"): string =>
  `## Accepted\n\n${text}\n\nFingerprint \`${fingerprint}\`\n`;

/** A repository with an origin, without a stack. */
class Repository {
  readonly folder = mkdtempSync(join(tmpdir(), "ci-drift-"));
  readonly root = join(this.folder, "repository");
  readonly program: string;
  readonly origin = join(this.folder, "origin.git");
  readonly env: Record<string, string> = {
    ...SECRETS,
    PATH: process.env["PATH"] ?? "",
    HOME: this.folder,
    GH_TOKEN: "canary-gh",
    ACCEPT_TOKEN: "canary-accept",
    ISSUE_TOKEN: "canary-issue",
    GIT_AUTHOR_NAME: "a bot",
    GIT_AUTHOR_EMAIL: "bot@example.com",
    GIT_CONFIG_NOSYSTEM: "1",
    GITHUB_REF_NAME: "main",
  };
  readonly #bin = join(this.folder, "bin");
  readonly job: Job;

  /** `within`: the folder of the program. */
  constructor(within: string) {
    this.program = join(this.root, within);
    mkdirSync(this.program, { recursive: true });
    this.job = ciJob(this.program, this.#bin, this.env);
    writeFileSync(join(this.#bin, "npx"), FAKE_NPX, { mode: 0o755 });
    writeFileSync(join(this.root, ".gitignore"), "scripts\n");
    writeFileSync(join(this.root, "beside.js"), program(2));
    writeFileSync(join(this.program, "index.js"), program(2));
    pushed(this.root, this.origin);
    // No hook of the repository runs with the token.
    for (const hook of ["pre-push", "pre-commit", "reference-transaction"])
      writeFileSync(join(this.root, ".git", "hooks", hook), `#!/bin/sh\ntouch "${this.folder}/hook-ran"\n`, {
        mode: 0o755,
      });
  }

  git(...args: string[]): string {
    return git(this.program, ...args);
  }

  /** Pushed to the main branch. */
  edit(text: string, message: string): void {
    writeFileSync(join(this.program, "index.js"), text);
    this.git("add", ".");
    this.git("commit", "--quiet", "--message", message);
    this.git("push", "--quiet", "origin", "HEAD:main");
  }

  /** In the state of a new job. */
  checkOut(): void {
    this.git("reset", "--quiet", "--hard");
    this.git("clean", "--quiet", "--force");
    // In a new clone nothing is shallow. A commit that an earlier job fetched so, made again in the same second, is refused.
    rmSync(join(this.root, ".git", "shallow"), { force: true });
  }

  /** The commit that the branch of the pull request has at the origin. */
  tip(): string {
    return this.git("ls-remote", this.origin, `refs/heads/${BRANCH}`).split("\t")[0] ?? "";
  }

  async accept(next: Next, ...args: string[]): Promise<{ code: number; text: string }> {
    this.checkOut();
    return await this.next(next, "accept.sh", "dev", ...args);
  }

  async next(next: Next, script: string, ...args: string[]): Promise<{ code: number; text: string }> {
    writeFileSync(join(this.#bin, "next.json"), JSON.stringify(next));
    return await this.job.run(script, args);
  }

  npxCalls(): { args: string[]; env: Record<string, string> }[] {
    const file = join(this.#bin, "npx-calls");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as { args: string[]; env: Record<string, string> });
  }
}

const repositories: Repository[] = [];
afterEach(() => {
  for (const { folder } of repositories.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function repository(within = "."): Repository {
  const made = new Repository(within);
  repositories.push(made);
  return made;
}

const edited = (fingerprint = FINGERPRINT, code = 0): Next => ({
  code,
  program: program(4),
  report: report(fingerprint),
});

test("the edit of the program is one pull request: opened, left alone, updated with another drift or edit, and closed", async () => {
  const place = repository();
  const { calls, pulls } = place.job;
  const main = place.git("rev-parse", "HEAD");

  // No drift: nothing to do.
  expect(await place.accept({ code: 0, report: "## Drift\n\nno drift\n" })).toMatchObject({ code: 0 });
  expect(names(calls())[0]).toMatch(
    /^api repos\/\{owner\}\/\{repo\}\/pulls\?state=open&head=\{owner\}:drift-accept-dev$/,
  );
  expect([place.tip(), pulls()]).toEqual(["", []]);

  // An edit, and something that is left: the pull request, and the same exit code.
  expect(await place.accept(edited(FINGERPRINT, 7))).toMatchObject({ code: 7 });
  expect(names(calls()).slice(1)).toEqual(["pr create"]);
  expect(pulls()).toMatchObject([{ state: "open", head: BRANCH, base: "main", title: TITLE }]);
  const [{ body }] = pulls() as [Pull];
  expect(body).toMatch(/^## Accepted\n\n\| ComputeEndpoint `api` \| `size\.max` \|\n\n<!-- edit [0-9a-f]{40} -->\n/);
  expect(body.endsWith(`-->\nFingerprint \`${FINGERPRINT}\`\n`)).toBe(true);
  const first = place.tip();
  place.git("fetch", "--quiet", "origin", BRANCH);
  expect(place.git("log", "-1", "--format=%P|%an|%ce|%B", first)).toBe(
    `${main}|a bot|bot@example.com|${TITLE}\n\nFingerprint \`${FINGERPRINT}\``,
  );
  expect(place.git("diff", "--name-only", main, first)).toBe("index.js");
  expect(place.git("show", `${first}:index.js`)).toBe(program(4).trim());
  // The job stays where it was.
  expect([place.git("rev-parse", "HEAD"), place.git("symbolic-ref", "--short", "HEAD")]).toEqual([main, "main"]);
  expect(existsSync(join(place.folder, "hook-ran"))).toBe(false);

  // The same drift: nothing is pushed, and nobody is notified.
  expect(await place.accept(edited())).toMatchObject({ code: 0 });
  expect(names(calls())).toHaveLength(1);
  expect(place.tip()).toBe(first);

  // The same drift, but the program has changed elsewhere: the edit fits again.
  place.edit(program(2, "another line"), "another line");
  const moved = { ...edited(), program: program(4, "another line") };
  expect(await place.accept(moved)).toMatchObject({ code: 0 });
  expect(names(calls()).slice(1)).toEqual(["api --method", "pr comment"]);
  expect(place.git("ls-remote", "origin", `refs/heads/${BRANCH}`)).not.toContain(first);
  expect(await place.accept(moved)).toMatchObject({ code: 0 });
  expect(names(calls())).toHaveLength(1);

  // Another drift: the same pull request.
  expect(await place.accept({ ...moved, report: report(OTHER_FINGERPRINT) })).toMatchObject({ code: 0 });
  const [, patch, comment] = calls();
  expect(patch?.args.slice(0, 2)).toEqual(["PATCH", "repos/{owner}/{repo}/pulls/1"]);
  expect(comment?.args.slice(0, 3)).toEqual(["1", "--body", "The edit is another one now: see the description above."]);
  expect(pulls()).toMatchObject([{ state: "open", body: expect.stringContaining(OTHER_FINGERPRINT) }]);

  // No drift any more, or none that can be accepted.
  expect(await place.accept({ code: 7, report: report(FINGERPRINT) })).toMatchObject({ code: 7 });
  expect(names(calls()).slice(1)).toEqual(["pr close"]);
  expect(pulls()).toMatchObject([{ state: "closed" }]);
  expect(await place.accept({ code: 0 })).toMatchObject({ code: 0 });
  expect(names(calls())).toHaveLength(1);

  // The next time: a new one, whose branch is still there.
  expect(await place.accept(moved)).toMatchObject({ code: 0 });
  expect(pulls()).toMatchObject([{ state: "closed" }, { number: 2, state: "open", head: BRANCH }]);
});

test("what may push is not there while pulumi-svc runs, and its keys are not there when something is pushed", async () => {
  const place = repository();
  expect(await place.accept(edited())).toMatchObject({ code: 0 });
  const [npx] = place.npxCalls();
  expect(npx?.args.join(" ")).toBe(
    "--no -- pulumi-svc drift --accept --stack dev --wait 600 --format markdown --out accept.markdown",
  );
  expect(npx?.env).toMatchObject(SECRETS);
  for (const name of ["GH_TOKEN", "ACCEPT_TOKEN", "ISSUE_TOKEN"]) expect(npx?.env).not.toHaveProperty(name);
  const calls = place.job.calls();
  expect(calls).toHaveLength(2);
  for (const { env } of calls) {
    expect(env["GH_TOKEN"]).toBe("canary-gh");
    for (const name of Object.keys(SECRETS)) expect(env).not.toHaveProperty(name);
  }
});

/** Replaces `pulumi`: its plan ends according to the name of its stack; records its arguments and environment. */
const FAKE_PULUMI = `#!/usr/bin/env node
const args = process.argv.slice(2);
const stack = args[args.indexOf("--stack") + 1];
require("node:fs").appendFileSync(__dirname + "/pulumi-calls", JSON.stringify({ args, env: process.env }) + "\\n");
console.log("the plan of " + stack);
process.exitCode = { prod: 7, "acme/test": 255 }[stack] ?? 0;
`;

test("the other stacks that the report names are planned with the edit, without what may push", async () => {
  const place = repository();
  writeFileSync(join(place.folder, "bin", "pulumi"), FAKE_PULUMI, { mode: 0o755 });
  const stacks =
    "### Other stacks\n\nLook:\n\n- `prod`\n- `acme/test`\n- `stage`\n- <code>&#45;x</code>\n- `-x`\n- `$(id)`";
  const { code, text } = await place.accept({ ...edited(FINGERPRINT, 7), report: report(FINGERPRINT, stacks) });
  expect(code).toBe(7);
  expect(text).toContain("the plan of prod\n");
  const [{ body }] = place.job.pulls() as [Pull];
  expect(body).toContain(`
### Plans of the other stacks

- \`prod\`: changes, see the log of the job
- \`acme/test\`: could not be planned, see the log of the job
- \`stage\`: no change

<!-- edit `);
  expect(body.endsWith(`\nFingerprint \`${FINGERPRINT}\`\n`)).toBe(true);
  const calls = readFileSync(join(place.folder, "bin", "pulumi-calls"), "utf8")
    .trim()
    .split("\n");
  expect(calls).toHaveLength(3);
  for (const line of calls) {
    const { args, env } = JSON.parse(line) as { args: string[]; env: Record<string, string> };
    expect(args).toEqual(expect.arrayContaining(["preview", "--expect-no-changes"]));
    expect(env).toMatchObject(SECRETS);
    for (const name of ["GH_TOKEN", "ACCEPT_TOKEN", "ISSUE_TOKEN"]) expect(env).not.toHaveProperty(name);
  }
});

test("where something cannot be told, edited or pushed, nothing is touched", async () => {
  const place = repository();
  const { calls, pulls } = place.job;
  // A pull request of a fork, from a branch of the same name.
  const theirs: Pull = { number: 1, state: "open", head: BRANCH, isFork: true, body: "theirs" };
  writeFileSync(join(place.folder, "bin", "pulls.json"), JSON.stringify([theirs]));
  expect(await place.accept({ code: 0 })).toMatchObject({ code: 0 });
  expect(await place.accept(edited())).toMatchObject({ code: 0 });
  expect(pulls()).toMatchObject([theirs, { number: 2, state: "open" }]);
  const [, ours] = pulls();
  const tip = place.tip();
  calls();

  // It could not be determined, or nobody knows what it edited.
  for (const code of [1, 2, 9])
    expect(await place.accept({ ...edited(OTHER_FINGERPRINT), code })).toMatchObject({ code: 1 });
  expect(calls()).toEqual([]);
  const unnamed = await place.accept({ code: 0, program: program(4), report: "no fingerprint\n" });
  expect(unnamed).toMatchObject({ code: 1, text: expect.stringContaining("does not end with a fingerprint") });
  expect(names(calls())).toHaveLength(1);

  // Files that somebody left in the checkout are not part of it.
  place.checkOut();
  writeFileSync(join(place.program, "index.js"), program(3));
  const runs = place.npxCalls().length;
  const dirty = await place.next(edited(), "accept.sh", "dev");
  expect(dirty).toMatchObject({ code: 1, text: expect.stringContaining("changes that are not committed") });
  expect(place.npxCalls()).toHaveLength(runs);

  // A push of somebody else to the branch stays. With the same drift it is not even read.
  place.checkOut();
  place.git("fetch", "--quiet", "origin", BRANCH);
  place.git("checkout", "--quiet", "--detach", "FETCH_HEAD");
  place.git("commit", "--quiet", "--allow-empty", "--message", "by hand");
  place.git("push", "--quiet", "origin", `HEAD:${BRANCH}`);
  place.git("checkout", "--quiet", "main");
  const byHand = place.tip();
  expect(byHand).not.toBe(tip);
  expect(await place.accept(edited())).toMatchObject({ code: 0 });
  const refused = await place.accept(edited(OTHER_FINGERPRINT));
  expect(refused).toMatchObject({ code: 1, text: expect.stringContaining(`somebody has pushed to ${BRANCH}`) });
  expect([place.tip(), pulls()]).toEqual([byHand, [theirs, ours]]);

  // A push that fails opens nothing; a host that fails is not taken for "no pull request".
  writeFileSync(join(place.folder, "bin", "pulls.json"), JSON.stringify([theirs]));
  place.git("remote", "set-url", "origin", join(place.folder, "nowhere.git"));
  calls();
  expect(await place.accept(edited())).toMatchObject({ code: 1 });
  expect(names(calls())).toHaveLength(1);
  place.job.breakTracker();
  expect(await place.accept(edited())).toMatchObject({ code: 1 });
  expect(names(calls())).toHaveLength(1);
  expect(pulls()).toEqual([theirs]);
});

test("a long account is cut for the pull request, and keeps its fingerprint", async () => {
  const place = repository();
  const long = Array.from({ length: 2_000 }, (_, line) => `| line ${line} ${" ".repeat(60)}|`).join("\n");
  expect(await place.accept({ ...edited(), report: report(FINGERPRINT, long) })).toMatchObject({ code: 0 });
  const [{ body }] = place.job.pulls() as [Pull];
  expect(body.length).toBeLessThan(65_536);
  expect(body).toMatch(/\| line 500 [^]*\nThe rest is in accept\.markdown/);
  expect(body.endsWith(`\nFingerprint \`${FINGERPRINT}\`\n`)).toBe(true);
});

test("the program may stand in a folder of the repository, and use files of others", async () => {
  const place = repository("infra");
  place.git("remote", "set-url", "origin", "../origin.git");
  expect(await place.accept({ ...edited(), beside: program(4) })).toMatchObject({ code: 0 });
  place.git("fetch", "--quiet", "origin", BRANCH);
  expect(place.git("diff", "--name-only", "main", "FETCH_HEAD").split("\n")).toEqual(["beside.js", "infra/index.js"]);
});

async function served<T>(
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
  use: (address: string) => Promise<T>,
): Promise<T> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test("on GitLab it is one merge request of this project, by its API", async () => {
  const place = repository();
  interface MergeRequest {
    iid: number;
    state: string;
    source_project_id: number;
    target_project_id: number;
    [key: string]: unknown;
  }
  const fork = { iid: 1, state: "opened", source_project_id: 9, target_project_id: 7, source_branch: BRANCH };
  const requests: MergeRequest[] = [fork];
  const seen: string[] = [];
  await served(
    async (request, response) => {
      const { method = "", url = "", headers } = request;
      seen.push(`${method} ${url}`);
      const body = (method === "GET" ? {} : await json(request)) as Record<string, unknown>;
      if (headers["private-token"] !== "canary-accept") return void response.writeHead(401).end("no");
      const iid = Number(/\/merge_requests\/(\d+)/.exec(url)?.[1]);
      const found = requests.find((one) => one.iid === iid);
      if (method === "POST" && url.endsWith("/merge_requests"))
        requests.push({ iid: 2, state: "opened", source_project_id: 7, target_project_id: 7, ...body });
      if (method === "PUT" && found !== undefined)
        Object.assign(found, body, body["state_event"] === "close" ? { state: "closed" } : {});
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(method === "GET" ? requests.filter(({ state }) => state === "opened") : {}));
    },
    async (address) => {
      Object.assign(place.env, {
        CI_API_V4_URL: `${address}/api/v4`,
        CI_PROJECT_ID: "7",
        CI_PROJECT_URL: place.origin.replace(/\.git$/, ""),
        CI_COMMIT_BRANCH: "main",
      });
      // The origin of a checkout there has a token that may not push.
      place.git("remote", "set-url", "origin", join(place.folder, "nowhere.git"));
      const gitlab = "scripts/merge-request-gitlab.mjs";
      const tip = () => place.tip();
      const api = "/api/v4/projects/7/merge_requests";
      const find = `GET ${api}?state=opened&per_page=100&source_branch=${BRANCH}`;

      expect(await place.accept({ code: 0 }, gitlab)).toMatchObject({ code: 0 });
      expect(await place.accept(edited(), gitlab)).toMatchObject({ code: 0 });
      const first = tip();
      expect(first).not.toBe("");
      expect(seen.splice(0)).toEqual([find, find, `POST ${api}`]);
      const description = expect.stringContaining(FINGERPRINT) as string;
      const branches = { source_branch: BRANCH, target_branch: "main", remove_source_branch: true };
      expect(requests).toMatchObject([fork, { ...branches, title: TITLE, description }]);

      expect(await place.accept(edited(), gitlab)).toMatchObject({ code: 0 });
      expect([tip(), seen.splice(0)]).toEqual([first, [find]]);

      expect(await place.accept(edited(OTHER_FINGERPRINT), gitlab)).toMatchObject({ code: 0 });
      expect(seen.splice(0)).toEqual([find, `PUT ${api}/2`, `POST ${api}/2/notes`]);
      expect(requests[1]).toMatchObject({ description: expect.stringContaining(OTHER_FINGERPRINT) as string });

      expect(await place.accept({ code: 0 }, gitlab)).toMatchObject({ code: 0 });
      expect(seen.splice(0)).toEqual([find, `POST ${api}/2/notes`, `PUT ${api}/2`]);
      expect(requests).toMatchObject([fork, { state: "closed" }]);

      place.env["ACCEPT_TOKEN"] = "canary-wrong";
      expect(await place.accept(edited(), gitlab)).toMatchObject({
        code: 1,
        text: expect.stringMatching(/^merge-request-gitlab: GET of the merge request -> 401 no$/m),
      });
    },
  );
});

test("git pushes with the host's token, which no log shows", async () => {
  // git asks for it from the top of the repository, by a shell.
  const place = repository("the team's $HOME");
  const basic = (user: string, token: string) => `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}`;
  for (const [host, url, expected] of [
    ["pull-request-github.sh", (address: string) => `${address}/o/r.git`, basic("x-access-token", "canary-gh")],
    ["merge-request-gitlab.mjs", (address: string) => `${address}/o/r`, basic("oauth2", "canary-accept")],
  ] as const) {
    const seen: (string | undefined)[] = [];
    await served(
      ({ url: path = "", headers }, response) => {
        if (path.startsWith("/api/")) return void response.end("[]");
        seen.push(headers.authorization);
        response.writeHead(headers.authorization === undefined ? 401 : 403, { "www-authenticate": "Basic" }).end();
      },
      async (address) => {
        Object.assign(place.env, { CI_API_V4_URL: `${address}/api/v4`, CI_PROJECT_URL: url(address) });
        place.git("remote", "set-url", "origin", url(address));
        const refused = await place.accept(edited(), `scripts/${host}`);
        expect(refused).toMatchObject({ code: 1, text: expect.stringContaining("403") });
        expect(refused.text).not.toContain("canary-");
        expect(seen).toEqual([undefined, expected]);
      },
    );
  }
});

test("a repair is of the drift that was shown and approved, and of no other", async () => {
  const place = repository();
  const [outputs, jobSummary] = [join(place.folder, "outputs"), join(place.folder, "summary")];
  Object.assign(place.env, { GITHUB_OUTPUT: outputs, GITHUB_STEP_SUMMARY: jobSummary });
  const plan = "npx --no -- pulumi-svc drift --repair --stack dev --wait 600 --format markdown";
  const repair = `npx --no -- pulumi-svc drift --repair --yes --expect ${FINGERPRINT} --stack dev --wait 600 --format markdown`;
  const asked = () => place.npxCalls().map(({ args }) => ["npx", ...args].join(" "));
  const planned = (next: Next, ...flags: string[]) => place.next(next, "repair-plan.sh", "dev", ...flags);
  const repaired = (next: Next, ...args: string[]) => place.next(next, "repair.sh", "dev", ...args);

  // The plan: without drift there is nothing to approve.
  expect(await planned({ code: 0, report: report(FINGERPRINT) })).toMatchObject({ code: 0 });
  expect(readFileSync(outputs, "utf8")).toBe("");
  // 2: there is nobody to ask. The reviewers see it in the summary.
  const shown = await planned({ code: 2, report: report(FINGERPRINT) });
  expect(shown).toMatchObject({ code: 0, text: expect.stringContaining(report(FINGERPRINT)) });
  expect(readFileSync(jobSummary, "utf8").endsWith(report(FINGERPRINT))).toBe(true);
  expect(readFileSync(outputs, "utf8")).toBe(`fingerprint=${FINGERPRINT}\n`);
  // Refused, not to be reported, or wrong flags.
  expect(await planned({ code: 1, report: report(OTHER_FINGERPRINT) })).toMatchObject({ code: 1 });
  expect(await planned({ code: 1 })).toMatchObject({ code: 1 });
  expect(await planned({ code: 11 })).toMatchObject({ code: 11 });
  expect(await planned({ code: 2 })).toMatchObject({ code: 1 });
  expect(readFileSync(outputs, "utf8")).toBe(`fingerprint=${FINGERPRINT}\n`);
  expect(new Set(asked())).toEqual(new Set([plan]));
  // On GitLab: a file whose lines the next job gets as variables.
  delete place.env["GITHUB_OUTPUT"];
  await planned({ code: 2, report: report(FINGERPRINT) }, "--allow-replace");
  expect(readFileSync(join(place.program, "repair.env"), "utf8")).toBe(`fingerprint=${FINGERPRINT}\n`);
  expect(asked().at(-1)).toBe(`${plan} --allow-replace`);

  // The repair: a text that is not a fingerprint is not used.
  const before = asked().length;
  const almost = [
    FINGERPRINT.slice(1),
    `${FINGERPRINT}0`,
    FINGERPRINT.toUpperCase(),
    `${FINGERPRINT}\n--allow-replace`,
  ];
  for (const wrong of ["", "x", ...almost, `$(touch ${outputs}-ran)`])
    expect(await repaired({ code: 0 }, wrong)).toMatchObject({ code: 2, text: expect.stringContaining("usage: ") });
  expect(asked()).toHaveLength(before);
  expect(existsSync(`${outputs}-ran`)).toBe(false);

  // It ends as the command does, with its words.
  for (const code of [0, 1, 7, 9]) {
    const ended = await repaired({ code, report: "## Repaired\n" }, FINGERPRINT);
    expect(ended).toEqual({ code, text: "## Repaired\nsaid by pulumi-svc\n" });
    expect(asked().at(-1)).toBe(repair);
  }
  expect(readFileSync(jobSummary, "utf8").endsWith("## Repaired\n")).toBe(true);
  await repaired({ code: 0 }, FINGERPRINT, "--allow-replace");
  expect(asked().at(-1)).toBe(`${repair} --allow-replace`);
  for (const { env } of place.npxCalls()) {
    expect(env).toMatchObject(SECRETS);
    for (const name of ["GH_TOKEN", "ISSUE_TOKEN"]) expect(env).not.toHaveProperty(name);
  }
});

test("drift is one issue of the stack: opened, left alone, edited with another drift, closed, and opened again", async () => {
  const place = repository();
  const { calls, issues, breakTracker } = place.job;
  const drift = (code: number, fingerprint = FINGERPRINT) =>
    place.next({ code, report: report(fingerprint) }, "drift.sh", "dev");
  const asked = () => names(calls());

  // No drift: nothing to do.
  expect(await drift(0)).toMatchObject({ code: 0 });
  expect(asked()).toEqual(["issue list"]);
  expect(await drift(8)).toMatchObject({ code: 8 });
  expect(asked()).toEqual(["issue list", "label create", "issue create"]);
  expect(issues()).toMatchObject([{ state: "open", label: "drift-dev", title: "Drift of stack dev" }]);
  const [npx] = place.npxCalls();
  expect(npx?.args.join(" ")).toBe(
    "--no -- pulumi-svc drift --stack dev --unmanaged --wait 600 --format markdown --out drift.md",
  );

  // The same drift: nothing is edited. Another one: the same issue, edited once.
  expect(await drift(8)).toMatchObject({ code: 8 });
  expect(asked()).toEqual(["issue list"]);
  expect(await drift(7, OTHER_FINGERPRINT)).toMatchObject({ code: 7 });
  expect(asked()).toEqual(["issue list", "issue edit", "issue comment"]);
  expect(issues()).toMatchObject([{ state: "open", body: report(OTHER_FINGERPRINT) }]);
  expect(await drift(7, OTHER_FINGERPRINT)).toMatchObject({ code: 7 });
  expect(asked()).toEqual(["issue list"]);

  // Closed, and not asked for again. The next time it is a new issue, also for a drift that was known.
  expect(await drift(0)).toMatchObject({ code: 0 });
  expect(asked()).toEqual(["issue list", "issue close"]);
  expect(await drift(0)).toMatchObject({ code: 0 });
  expect(asked()).toEqual(["issue list"]);
  expect(await drift(7, OTHER_FINGERPRINT)).toMatchObject({ code: 7 });
  expect(asked()).toEqual(["issue list", "label create", "issue create"]);
  expect(issues()).toMatchObject([{ state: "closed" }, { number: 2, state: "open" }]);

  // The result is unknown: the issue is not even looked up.
  for (const code of [1, 2, 9]) expect(await drift(code)).toMatchObject({ code: 1 });
  // An update of the stack ran all the time.
  expect(await drift(11)).toMatchObject({ code: 11 });
  expect(asked()).toEqual([]);

  // A tracker that fails is not taken for "no drift", nor for drift.
  breakTracker();
  for (const code of [0, 7]) {
    expect(await drift(code)).toMatchObject({ code: 1 });
    expect(asked()).toEqual(["issue list"]);
  }
});

test("on GitHub the runner obeys nothing of what a script prints", async () => {
  const place = repository();
  const resumes = new Set<string>();
  for (const code of [0, 7]) {
    const hostile = "## Accepted\n\n::add-mask::x\n##[error]y\nno line end";
    const script = join(place.program, "scripts", "repair.sh");
    const { text, ...ended } = await place.next({ code, report: hostile }, "log.sh", script, "dev", FINGERPRINT);
    expect(ended.code).toBe(code === 0 ? 0 : 7);
    // Standard error is in between, too.
    const [, resume = ""] = /^::stop-commands::([0-9a-f]{32})\nsaid by pulumi-svc\n## Accepted\n/.exec(text) ?? [];
    expect(text).toMatch(new RegExp(`no line end\n::${resume}::\n$`));
    resumes.add(resume);
  }
  expect(resumes.size).toBe(2);
  expect(await place.job.run("log.sh", [])).toMatchObject({ code: 2, text: expect.stringContaining("usage") });
});
