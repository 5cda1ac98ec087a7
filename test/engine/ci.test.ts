import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { api, DEMO } from "../support/emulator";
import { CI, ciJob, git, type Issue, type Job, names, type Pull, pushed } from "../support/ciJob";
import { ROOT } from "../support/cli";
import { exampleStack } from "../support/example";
import { messages } from "../support/messages";
import type { Stack } from "../support/Stack";

const REPORT = "drift.md";

interface Repository extends Omit<Job, "run"> {
  /** A script as a job runs it, with the stack's own hosts. */
  run(script: string, ...args: string[]): Promise<{ code: number; text: string }>;
  readonly stack: Stack;
}

/** The example as a repository with a deployed stack, whose key is only in the environment. */
async function repository(ownProcess = false): Promise<Repository> {
  const stack = await exampleStack("ci", {}, { configured: false, ownProcess });
  const { emulator } = stack.service;
  Object.assign(stack.env, { SVC_API_KEY: emulator.apiKey, SVC_BASE_URL: emulator.baseUrl });
  const job = ciJob(join(stack.folder, "program"), join(stack.folder, "gh"), stack.env);
  const run: Repository["run"] = async (script, ...args) => {
    const { ended, written } = await stack.served(stack.env, (env) => job.run(script, args, env));
    stack.said += ended.text + written;
    return ended;
  };
  return { ...job, stack, run };
}

test("the scripts deploy, report drift, repair what was shown, and end as pulumi-svc drift does", async () => {
  const { stack, run, calls, issues } = await repository();
  const { service } = stack;
  const folder = join(stack.folder, "program");
  const outputs = join(stack.folder, "outputs");
  stack.env["GITHUB_OUTPUT"] = outputs;
  await service.clearRequests();
  const before = await service.state();

  // A pull request; the deployment; a pull request without an edit.
  expect(await run("preview.sh", "dev")).toMatchObject({ code: 0, text: expect.stringMatching(/\+ 6 to create/) });
  expect(await service.mutations()).toEqual([]);
  expect(await run("up.sh", "dev")).toMatchObject({ code: 0, text: expect.stringMatching(/\+ 6 created/) });
  expect(await run("preview.sh", "dev", "--expect-no-changes")).toMatchObject({ code: 0 });

  // The default objects of a new project open no issue; objects that somebody adds do.
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 0 });
  expect(names(calls())).toEqual(["issue list"]);
  expect(readFileSync(join(folder, REPORT), "utf8")).toContain("ComputeEndpoint `prj-demo/ep-demo-main-10000001`");
  const providers = `${DEMO}/auth/oauth_providers`;
  expect((await api(service.emulator, "POST", providers, { id: "microsoft" })).status).toBe(200);
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 8 });
  expect(names(calls())).toEqual(["issue list", "label create", "issue create"]);
  expect(issues()).toMatchObject([{ state: "open", label: "drift-dev", title: "Drift of stack dev" }]);
  const [{ body: undeclared }] = issues() as [Issue];
  expect(undeclared).toContain("OAuthProvider `prj-demo/microsoft`");
  expect((await api(service.emulator, "DELETE", `${providers}/microsoft`)).status).toBeLessThan(300);

  // Another drift: the same issue, edited once.
  const endpoint = (await stack.resource("api")).id.split("/")[1] ?? "";
  const grow = (to: number) => service.edit({ kind: "endpoint", id: endpoint, set: { autoscaling_limit_max_cu: to } });
  await grow(4);
  await service.edit({ kind: "domain", create: { domain: "https://foreign.example.com" } });
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 7 });
  expect(names(calls())).toEqual(["issue list", "issue edit", "issue comment"]);
  const [{ body }] = issues() as [Issue];
  expect(body).toContain("| ComputeEndpoint `api` | `size.max` | `2` | `4` |");
  expect(body).toContain("https://foreign.example.com");
  // Whole, with the fingerprint once, at its end.
  expect(body).toBe(readFileSync(join(folder, REPORT), "utf8"));
  expect(body).toMatch(/\nFingerprint `[0-9a-f]{32}`\n$/);
  expect(body.match(/fingerprint/gi)).toHaveLength(1);

  // Held off: it waits, and reports the same. Nothing is edited.
  await service.clearRequests();
  await service.fault({ status: 429, headers: { "retry-after": "2" }, times: 3 });
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 7 });
  expect((await service.requests()).filter(({ status }) => status === 429)).toHaveLength(3);
  expect(names(calls())).toEqual(["issue list"]);

  // What the repository tolerates is not drift: the issue is closed.
  const ignore = [
    { resource: "api", property: "size.max", found: 4, reason: "a load test" },
    { resource: "domains", reason: "a load test" },
  ];
  stack.write("svc-drift.json", JSON.stringify({ ignore }));
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 0 });
  expect(names(calls())).toEqual(["issue list", "issue close"]);
  expect(issues()).toMatchObject([{ state: "closed" }]);
  rmSync(join(folder, "svc-drift.json"));

  // The result is unknown: the issue is not even looked up.
  const { SVC_BASE_URL } = stack.env;
  stack.env["SVC_BASE_URL"] = "http://127.0.0.1:9/api/v2";
  const unreachable = await run("drift.sh", "dev");
  expect(unreachable.code).toBe(1);
  expect(unreachable.text).toMatch(/^pulumi-svc: [^\n]* the service cannot be reached at 127\.0\.0\.1:9[^\n]*\n$/);
  expect(calls()).toEqual([]);
  Object.assign(stack.env, { SVC_BASE_URL });

  // A pull request shows the pending changes of the program, not drift. The deployment reverts drift if it is
  // configured to.
  expect(await run("preview.sh", "dev", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await run("up.sh", "dev", "--refresh")).toMatchObject({ code: 0, text: expect.stringMatching(/~ 2 updated/) });

  // A repair is planned, without a change, beside an edit of the program that stays pending.
  const approved = () => readFileSync(outputs, "utf8").trim().split("\n").at(-1)?.replace("fingerprint=", "") ?? "";
  expect(await run("repair-plan.sh", "dev")).toMatchObject({ code: 0 });
  expect(approved()).toBe("");
  const deployed = readFileSync(join(folder, "index.js"), "utf8");
  stack.write("index.js", deployed.replace("max: 2", "max: 3"));
  const largest = async () =>
    Reflect.get((await api(service.emulator, "GET", `${DEMO}/endpoints/${endpoint}`)).body as object, "endpoint") as {
      autoscaling_limit_max_cu: number;
    };
  await grow(4);
  await service.clearRequests();
  const shown = await run("repair-plan.sh", "dev");
  expect(shown).toMatchObject({ code: 0, text: expect.stringMatching(/`api` .*`size\.max` \| `2` \| `4` \|/) });
  const first = approved();
  expect(first).toMatch(/^[0-9a-f]{32}$/);

  // Changed again after the approval: that was not approved.
  await grow(8);
  const refused = await run("repair.sh", "dev", first);
  expect(refused).toMatchObject({ code: 9, text: expect.stringContaining("not the approved one") });
  expect(await service.mutations()).toEqual([]);

  expect(await run("repair-plan.sh", "dev")).toMatchObject({ code: 0 });
  expect(approved()).not.toBe(first);
  expect(await service.mutations()).toEqual([]);
  expect(await run("repair.sh", "dev", approved())).toMatchObject({ code: 0 });
  expect((await largest()).autoscaling_limit_max_cu).toBe(2);
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 0 });
  expect(await run("preview.sh", "dev", "--expect-no-changes")).toMatchObject({ code: 7 });

  stack.write("index.js", deployed);
  expect(await stack.leaks([service.emulator.apiKey])).toEqual([]);
  await stack.finish(before);
});

test("a deployment waits for the lock of another update, says whose it is, and ends with 11 if it stays", async () => {
  const { stack, run } = await repository();
  const locks = join(fileURLToPath(String(stack.env["PULUMI_BACKEND_URL"])), ".pulumi/locks/organization/proj/dev");
  mkdirSync(locks, { recursive: true });
  const lock = join(locks, "11111111-1111-1111-1111-111111111111.json");
  writeFileSync(lock, JSON.stringify({ pid: 123, username: "ci", hostname: "runner-7", timestamp: new Date() }));
  const holder = /created by ci@runner-7 \(pid 123\)/;

  stack.env["LOCK_WAIT"] = "0";
  const refused = await run("up.sh", "dev");
  expect(refused).toMatchObject({ code: 11, text: expect.stringMatching(holder) });
  expect(refused.text).toContain("pulumi cancel --stack dev");

  stack.env["LOCK_WAIT"] = "120";
  setTimeout(() => rmSync(lock), 4_000);
  const waited = await run("up.sh", "dev");
  expect(waited).toMatchObject({ code: 0, text: expect.stringMatching(/\+ 6 created/) });
  expect(waited.text).toMatch(/waiting for the other update of stack dev/);
});

describe("the signal of a runner that cancels a deployment", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "ci-signal-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A deployment in place of `pulumi`: it ends when it is asked to. */
  const cancelled = (signal: NodeJS.Signals, ending: string, ...command: readonly [string, ...string[]]) => {
    writeFileSync(
      join(folder, "pulumi"),
      `#!/bin/sh\n[ "$1" = up ] || exit 0\ntrap '${ending}' TERM\necho begun\nwhile :; do sleep 0.05; done\n`,
      { mode: 0o755 },
    );
    const [script, ...args] = command.map((one) => (one.endsWith(".sh") ? join(CI, "scripts", one) : one));
    const env = { PATH: [folder, process.env["PATH"]].join(delimiter) };
    return new Promise<{ code: number | null; text: string }>((resolve) => {
      const child = execFile(script as string, args, { env }, (_, text, stderr) =>
        resolve({ code: child.exitCode, text: text + stderr }),
      );
      child.stdout?.once("data", function begun(this: NodeJS.ReadableStream, chunk: string) {
        if (String(chunk).includes("begun")) child.kill(signal);
        else this.once("data", begun);
      });
    });
  };

  test.each(["SIGINT", "SIGTERM"] as const)("%s reaches it, and its end is awaited", async (signal) => {
    const { code, text } = await cancelled(signal, "echo asked; sleep 1; exit 3", "log.sh", "up.sh", "dev");
    expect(code).toBe(3);
    expect(text).toMatch(/^::stop-commands::([0-9a-f]{32})\nbegun\nasked\n\n::\1::\n$/);
  });

  test("no other deployment follows, also if this one ends because of a lock", async () => {
    const locked = 'echo "error: the stack is currently locked by 1 lock(s)" >&2; exit 255';
    expect(await cancelled("SIGTERM", locked, "up.sh", "dev")).toEqual({
      code: 255,
      text: expect.stringMatching(/^begun\nerror: the stack is currently locked/),
    });
  });
});

test("what somebody changed by hand is accepted by a pull request, after whose merge nothing differs", async () => {
  const { stack, run, calls, pulls } = await repository();
  const { service } = stack;
  const before = await service.state();
  const folder = join(stack.folder, "program");
  Object.assign(stack.env, { GIT_AUTHOR_NAME: "a bot", GIT_AUTHOR_EMAIL: "bot@example.com", GITHUB_REF_NAME: "main" });
  // The file itself, since it is edited.
  for (const file of ["index.ts", "tsconfig.json", "Pulumi.yaml"])
    stack.write(file, readFileSync(join(CI, file), "utf8").replace(/^name: .*$/m, "name: proj"));
  rmSync(join(folder, "index.js"));
  stack.write(".gitignore", "scripts\nnode_modules\n*.md\n");
  pushed(folder, join(stack.folder, "origin.git"));
  expect(await run("up.sh", "dev")).toMatchObject({ code: 0 });
  expect(await run("accept.sh", "dev")).toMatchObject({ code: 0 });
  expect(pulls()).toEqual([]);

  // A change gives a pull request. It is not touched as long as nothing else changes.
  const endpoint = (await stack.resource("api")).id.split("/")[1];
  await service.edit({ kind: "endpoint", id: endpoint, set: { autoscaling_limit_max_cu: 4 } });
  await service.edit({ kind: "domain", create: { domain: "https://foreign.example.com" } });
  await service.clearRequests();
  expect(await run("accept.sh", "dev")).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([]);
  const [{ body }] = pulls() as [Pull];
  expect(body).toContain("| ComputeEndpoint `api` | `size.max` | `2` | `4` |");
  expect(body).toContain("https://foreign.example.com");
  git(folder, "reset", "--quiet", "--hard");
  calls();
  expect(await run("accept.sh", "dev")).toMatchObject({ code: 0 });
  expect(names(calls())).toHaveLength(1);
  // The fingerprint of the issue.
  git(folder, "reset", "--quiet", "--hard");
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 7 });
  const [fingerprint = ""] = /Fingerprint `[0-9a-f]{32}`\n$/.exec(readFileSync(join(folder, REPORT), "utf8")) ?? [];
  expect(fingerprint).not.toBe("");
  expect(body.endsWith(fingerprint)).toBe(true);

  // Merged: a program that declares what the service has, and whose types are right.
  git(folder, "fetch", "--quiet", "origin", "drift-accept-dev");
  expect(git(folder, "diff", "--name-only", "HEAD", "FETCH_HEAD")).toBe("index.ts");
  git(folder, "merge", "--quiet", "FETCH_HEAD");
  const merged = readFileSync(join(folder, "index.ts"), "utf8");
  expect(merged).toMatch(/max: 4\b/);
  expect(merged).toContain('"https://foreign.example.com"');
  stack.env["PULUMI_NODEJS_TRANSPILE_ONLY"] = "false";
  expect(await run("preview.sh", "dev", "--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  stack.env["PULUMI_NODEJS_TRANSPILE_ONLY"] = "true";
  expect(await service.mutations()).toEqual([]);
  // Before the deployment there is nothing to edit, and after it no drift.
  calls();
  expect(await run("accept.sh", "dev")).toMatchObject({ code: 0 });
  expect(names(calls()).slice(1)).toEqual(["pr close"]);
  expect(await run("up.sh", "dev", "--refresh")).toMatchObject({ code: 0 });
  await stack.finish(before);
});

test("the plan of a pull request is one comment for each stack, updated in place, with no secret in it", async () => {
  const { stack, run, calls } = await repository(true);
  const { service } = stack;
  const folder = join(stack.folder, "program");
  const file = join(stack.folder, "gh", "comments.json");
  const marker = "<!-- pulumi-svc plan: dev -->";
  // Somebody has copied our comment.
  const theirs = { id: 1, own: false, body: `${marker}\nmine now` };
  writeFileSync(file, JSON.stringify([theirs]));
  const comments = () => JSON.parse(readFileSync(file, "utf8")) as { id: number; own: boolean; body: string }[];
  const summary = join(stack.folder, "job-summary");
  Object.assign(stack.env, { GITHUB_STEP_SUMMARY: summary, PR_NUMBER: "7", GH_REPO: "o/r", GH_TOKEN: "t" });
  // A program that prints what it was given, and an object with a hostile name.
  const index = readFileSync(join(folder, "index.js"), "utf8");
  stack.write(
    "index.js",
    `${index}\nif ("GH_TOKEN" in process.env) throw new Error("the program has the token");\nconst hostile = "\`\`\`\`\\n@everyone <!-- x --> <img src=x>";
console.log("key:", process.env.SVC_API_KEY, hostile);
new (require("pulumi-svc").EmailServer)("mail", { projectId: domains.projectId, type: "standard", host: "smtp.example.com", port: 587,
  username: "mailer", password: require("@pulumi/pulumi").secret("canary-smtp-password-plan"), senderEmail: "a@example.com", senderName: hostile.replace("\\n", " ") });`,
  );
  expect(await run("plan.sh", "dev")).toMatchObject({ code: 0, text: expect.stringMatching(/\+ 7 to create/) });
  expect(await service.mutations()).toEqual([]);
  const plan = readFileSync(join(folder, "plan.markdown"), "utf8");
  expect(readFileSync(summary, "utf8")).toBe(plan);
  const [first, title, , headline, , fence = ""] = plan.split("\n");
  expect([first, title, headline]).toEqual([marker, "## Plan for stack `dev`", "**7 to create**"]);
  // From there to the end it is all code: no line is long enough to end it.
  expect(fence).toMatch(/^`{5,}text$/);
  const closing = fence.replace("text", "");
  expect(plan.endsWith(`\n${closing}\n`)).toBe(true);
  expect(plan.split(closing)).toHaveLength(3);
  expect(plan).toContain("@everyone");
  expect(plan).toContain("key: [secret]");
  expect(plan).not.toMatch(/canary-/);

  expect(await run("comment-github.sh", "plan.markdown")).toMatchObject({ code: 0 });
  expect(names(calls())).toEqual(["pr view", "pr comment"]);
  expect(comments().map(({ own, body }) => [own, body.replaceAll("\r\n", "\n")])).toEqual([
    [false, theirs.body],
    [true, plan],
  ]);

  // A preview that fails is reported in the same comment, and fails the job.
  stack.write("index.js", `${index}\nthrow new Error("canary-free words of the program");`);
  const failed = await run("plan.sh", "dev");
  expect(failed.code).not.toBe(0);
  expect(await run("comment-github.sh", "plan.markdown")).toMatchObject({ code: 0 });
  expect(names(calls())).toEqual(["pr view", "api --method"]);
  const [kept, updated, ...more] = comments();
  expect([kept, more]).toEqual([theirs, []]);
  expect(updated?.body).toMatch(/^<!-- pulumi-svc plan: dev -->\n## The preview of stack `dev` failed\n/);
  expect(updated?.body).toContain("canary-free words of the program");

  // Another stack has a comment of its own.
  writeFileSync(join(folder, "prod.markdown"), "<!-- pulumi-svc plan: prod -->\nprod");
  expect(await run("comment-github.sh", "prod.markdown")).toMatchObject({ code: 0 });
  expect(comments().map(({ id }) => id)).toEqual([1, 101, 102]);
  expect(await stack.leaks(["canary-smtp-password-plan"])).toEqual([]);
  await stack.close();
});

/** The output of plan.mjs for the output of a preview. */
const planned = (output: string): Promise<string> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [join(CI, "scripts", "plan.mjs"), "dev", "0"], (_, stdout) =>
      resolve(stdout),
    );
    child.stdin?.end(output);
  });

test("the comment begins with what the plan changes, and what it does to connections", async () => {
  // As the CLI prints them, with the warnings of the compute of these tests.
  const shown = (warnings: readonly string[], counts: readonly string[]): string =>
    [...warnings.map((text) => `    warning: ${text}`), "Resources:", ...counts.map((line) => `    ${line}`), ""].join(
      "\n",
    );
  const restart = `a change of "size" restarts compute ep-a ("api") when it is active: open connections are dropped`;
  const replaced = `ComputeEndpoint ("b"): it is deleted first, and the new one has another id and another host`;
  const moved =
    "compute ep-c moves from br-a to br-b: it keeps its id and host, and serves the data of the other branch";
  // Still the words of the warnings.
  const all = messages().join("\n");
  for (const part of ["restarts {what} when it is active", "another id and another host", "{what} moves from"])
    expect(all).toContain(part);
  const counts = ["~ 2 to update", "- 1 to delete", "+-1 to replace", "4 changes. 1 unchanged"];
  const headline = async (output: string): Promise<string | undefined> => (await planned(output)).split("\n")[3];
  expect(await headline(shown([restart, restart, replaced, moved], counts))).toBe(
    "**1 to delete, 1 to replace, 2 to update, 1 restart, 1 new host, 1 move to another branch**",
  );
  expect(await headline(shown([], ["3 unchanged"]))).toBe("**No changes**");
  expect(await headline(`Outputs:\n  ~ host: "a" => "b"\n\n${shown([], ["3 unchanged"])}`)).toBe(
    "**Only outputs change**",
  );
});

test("a plan that is too long for a comment keeps its beginning and its end", async () => {
  const long = `first\n${"| a line of the plan ``` |\n".repeat(9_000)}+ 3 to create\n`;
  const made = await planned(long);
  expect(made.length).toBeLessThan(65_536);
  expect(made).toMatch(/````text\nfirst\n[^]*… the whole plan is in the log of the job …[^]*\+ 3 to create\n````\n$/);
});

test("a stack has to be named; a long report is cut for the tracker, and keeps its fingerprint", async () => {
  const { stack, run, issues } = await repository();
  const fingerprint = "Fingerprint `0123456789abcdef0123456789abcdef`";
  const fake = join(stack.folder, "fake");
  mkdirSync(fake);
  const lines = `for (let i = 0; i < 2000; i++) text += "| line " + i + " ".repeat(60) + "|\\n";`;
  const npx = `#!/usr/bin/env node\nlet text = "## Drift\\n"; ${lines}\nrequire("node:fs").writeFileSync("${REPORT}", text + "\\n${fingerprint}\\n");\nprocess.exitCode = 7;\n`;
  writeFileSync(join(fake, "npx"), npx, { mode: 0o755 });
  stack.env["PATH"] = [fake, stack.env["PATH"]].join(delimiter);
  for (const script of ["preview.sh", "plan.sh", "up.sh", "drift.sh", "accept.sh", "repair-plan.sh", "repair.sh"])
    expect(await run(script)).toMatchObject({ code: 2, text: expect.stringContaining("usage: scripts/") });
  for (let time = 0; time < 2; time++) expect(await run("drift.sh", "dev")).toMatchObject({ code: 7 });
  expect(issues()).toHaveLength(1);
  const [{ body }] = issues() as [Issue];
  expect(body.length).toBeLessThan(65_536);
  expect(body).toMatch(/\| line 500 [^]*\nThe rest is in drift\.md/);
  expect(body.endsWith(`\n\n${fingerprint}\n`)).toBe(true);
});

test("the tracker of GitLab opens, updates and closes the same issue by its API", async () => {
  const opened: Record<string, unknown>[] = [];
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    seen.push(`${method} ${url}`);
    const body = (method === "GET" ? {} : await json(request)) as Record<string, unknown>;
    if (headers["private-token"] !== "canary-issue-token") return void response.writeHead(401).end("no");
    const found = opened.filter(({ state }) => state === "opened");
    if (method === "POST" && url.endsWith("/issues")) opened.push({ iid: opened.length + 1, state: "opened", ...body });
    if (method === "PUT")
      Object.assign(found[0] ?? {}, body, body["state_event"] === "close" ? { state: "closed" } : {});
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(method === "GET" ? found : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const command = join(CI, "scripts", "issue-gitlab.mjs");
    const call = (input: string, args: string[], token = "canary-issue-token") =>
      new Promise<{ code: number | null; text: string }>((resolve) => {
        const env = { CI_API_V4_URL: `http://127.0.0.1:${port}/api/v4`, CI_PROJECT_ID: "7", ISSUE_TOKEN: token };
        const child = execFile(process.execPath, [command, ...args], { env }, (_, stdout, stderr) =>
          resolve({ code: child.exitCode, text: stdout + stderr }),
        );
        child.stdin?.end(input);
      });
    const good = (text = "") => ({ code: 0, text });
    expect(await call("", ["find", "drift-dev"])).toEqual(good());
    expect(await call("first\n", ["open", "drift-dev", "Drift of stack dev"])).toEqual(good());
    expect(opened).toMatchObject([{ title: "Drift of stack dev", labels: "drift-dev", description: "first\n" }]);
    expect(await call("", ["find", "drift-dev"])).toEqual(good("1\nfirst\n\n"));
    expect(await call("second\n", ["update", "1"])).toEqual(good());
    expect(opened).toMatchObject([{ description: "second\n" }]);
    expect(await call("", ["close", "1"])).toEqual(good());
    expect(await call("", ["find", "drift-dev"])).toEqual(good());
    expect(seen.slice(0, 2)).toEqual([
      "GET /api/v4/projects/7/issues?state=opened&per_page=1&labels=drift-dev",
      "POST /api/v4/projects/7/issues",
    ]);
    const refused = await call("", ["find", "drift-dev"], "canary-wrong-token");
    expect(refused).toEqual({ code: 1, text: "issue-gitlab: GET of the issue -> 401 no\n" });
  } finally {
    server.close();
  }
});

test("the comment of a merge request of GitLab is ours alone, and is updated in place on whatever page it stands", async () => {
  interface Note {
    id: number;
    author: { id: number };
    body: string;
  }
  const marker = "<!-- pulumi-svc plan: dev -->";
  const notes: Note[] = [{ id: 1, author: { id: 4 }, body: `${marker}\nnot ours` }];
  for (let id = 2; id <= 101; id++) notes.push({ id, author: { id: 5 }, body: "a word" });
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    seen.push(`${method} ${url}`);
    const sent = (method === "GET" ? {} : await json(request)) as { body?: string };
    if (headers["private-token"] !== "canary-token") return void response.writeHead(401).end("no");
    response.setHeader("content-type", "application/json");
    if (url === "/api/v4/user") return void response.end('{"id":5}');
    const page = Number(new URL(url, "http://x").searchParams.get("page"));
    if (page > 0) {
      response.setHeader("x-next-page", page * 100 < notes.length ? String(page + 1) : "");
      return void response.end(JSON.stringify(notes.slice((page - 1) * 100, page * 100)));
    }
    if (method === "POST") notes.push({ id: notes.length + 1, author: { id: 5 }, body: sent.body ?? "" });
    const found = notes.find(({ id }) => url.endsWith(`/notes/${id}`));
    if (method === "PUT" && found !== undefined) found.body = sent.body ?? "";
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = mkdtempSync(join(tmpdir(), "plan-"));
  try {
    const { port } = server.address() as AddressInfo;
    const comment = (body: string, token = "canary-token") =>
      new Promise<{ code: number | null; text: string }>((resolve) => {
        const file = join(folder, "plan.markdown");
        writeFileSync(file, body);
        const api = { CI_API_V4_URL: `http://127.0.0.1:${port}/api/v4`, CI_PROJECT_ID: "7", CI_MERGE_REQUEST_IID: "3" };
        const env = { ...api, ISSUE_TOKEN: token };
        const command = [join(CI, "scripts", "comment-gitlab.mjs"), file];
        const child = execFile(process.execPath, command, { env }, (_, stdout, stderr) =>
          resolve({ code: child.exitCode, text: stdout + stderr }),
        );
      });
    expect(await comment(`${marker}\nfirst\n`)).toEqual({ code: 0, text: "" });
    expect(seen).toEqual([
      "GET /api/v4/user",
      "GET /api/v4/projects/7/merge_requests/3/notes?per_page=100&page=1",
      "GET /api/v4/projects/7/merge_requests/3/notes?per_page=100&page=2",
      "POST /api/v4/projects/7/merge_requests/3/notes",
    ]);
    expect(await comment(`${marker}\nsecond\n`)).toEqual({ code: 0, text: "" });
    expect(seen.at(-1)).toBe("PUT /api/v4/projects/7/merge_requests/3/notes/102");
    expect([notes.length, notes.at(-1)?.body, notes[0]?.body]).toEqual([
      102,
      `${marker}\nsecond\n`,
      `${marker}\nnot ours`,
    ]);
    const refused = await comment(marker, "canary-wrong");
    expect(refused).toEqual({ code: 1, text: "comment-gitlab: GET of the comment -> 401 no\n" });
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});

const WORKFLOWS = ["preview", "up", "drift", "fleet", "drift-accept", "drift-repair"] as const;
const workflow = (name: (typeof WORKFLOWS)[number]): string =>
  readFileSync(join(CI, ".github", "workflows", `${name}.yml`), "utf8");

test("the workflows call the scripts with the key in the environment, and never print --json of an up", () => {
  expect(readdirSync(join(CI, ".github", "workflows")).sort()).toEqual(
    [...WORKFLOWS, "up-all"].map((name) => `${name}.yml`).sort(),
  );
  const gitlab = readFileSync(join(CI, ".gitlab-ci.yml"), "utf8");
  const called =
    /(?<=run: (?:(?:exec )?scripts\/log\.sh )?|script: |script:\n {4}- |^ {4}- )(scripts\/(?!log\.sh)\S+)/gm;
  const expected = {
    preview: ["plan.sh", "comment-github.sh"],
    up: ["up.sh"],
    drift: ["drift.sh"],
    fleet: ["fleet.sh"],
    "drift-accept": ["accept.sh"],
    "drift-repair": ["repair-plan.sh", "repair.sh"],
  };
  const scripts = Object.values(expected).map((names) => names.map((name) => `scripts/${name}`));
  expect(WORKFLOWS.map((name) => workflow(name).match(called))).toEqual(scripts);
  expect(gitlab.match(called)).toEqual(
    scripts.flat().map((script) => script.replace("comment-github.sh", "comment-gitlab.mjs")),
  );
  for (const text of WORKFLOWS.map(workflow)) {
    expect(text).toMatch(/^permissions:\n {2}contents: read\n/m);
    expect(text).toMatch(/^ *concurrency:\n/m);
    expect(text).toContain("SVC_API_KEY: ${{ secrets.SVC_API_KEY }}");
    // The input of the comment was printed before.
    for (const [, run] of text.matchAll(/run: (?:exec )?(scripts\/.*)/g))
      expect(run).toMatch(/^scripts\/(log\.sh scripts\/(\S+\.sh prod|fleet\.sh)|comment-github\.sh plan\.markdown)/);
    // An expression in a command would be run as a part of it.
    for (const [run] of text.matchAll(/run: (?:\|\n(?: {10}.*\n)+|.*\n)/g)) expect(run).not.toContain("${{");
  }
  // The code that the plan runs gets no token with write permission.
  expect(workflow("preview").split("scripts/comment-github.sh")[0]).not.toContain("GH_TOKEN");
  const shell = ["plan", "preview", "up", "drift", "fleet", "issue", "accept", "repair-plan", "repair"].map((name) =>
    readFileSync(join(CI, "scripts", `${name}.sh`), "utf8"),
  );
  for (const text of [...WORKFLOWS.map(workflow), gitlab, ...shell])
    expect(text.replace(/^ *#.*$/gm, "")).not.toMatch(/--json(?! number,body)/);
});

test("the workflow for all stacks gets their names as a matrix, and none as a part of a command", () => {
  const text = readFileSync(join(CI, ".github", "workflows", "up-all.yml"), "utf8");
  expect(text).toContain('run: exec scripts/log.sh scripts/up.sh "$STACK"\n');
  for (const [run] of text.matchAll(/run: (?:\|\n(?: {10}.*\n)+|.*\n)/g)) expect(run).not.toContain("${{");
  expect(text).not.toMatch(/: write\b/);
  expect(text).toMatch(/max-parallel: \d/);
});

test("the runner's signal reaches a deployment: the shell between them passes none on", () => {
  expect(workflow("up")).toContain("run: exec scripts/log.sh scripts/up.sh prod\n");
});

test("no workflow may write more than what its scripts write", () => {
  const mayWrite = (name: (typeof WORKFLOWS)[number]) =>
    [...workflow(name).matchAll(/^ +([a-z-]+): write\b/gm)].map(([, scope]) => scope);
  expect(Object.fromEntries(WORKFLOWS.map((name) => [name, mayWrite(name)]))).toEqual({
    preview: ["pull-requests"],
    up: [],
    drift: ["issues"],
    fleet: ["issues"],
    "drift-accept": ["contents", "pull-requests"],
    "drift-repair": [],
  });
});

test("a repair waits for its approval without holding the deployments off, and then for them", () => {
  const [, plan = "", approve = "", repair = ""] = workflow("drift-repair").split(/^ {2}(?:plan|approve|repair):$/m);
  expect(approve).toMatch(/^ {4}environment: drift-repair /m);
  expect(approve).not.toMatch(/concurrency|secrets\./);
  expect([plan, repair].filter((text) => text.includes("environment:"))).toEqual([]);
  expect(repair).toMatch(/^ {4}needs: \[plan, approve\]$/m);
  const group = /concurrency:\n +group: up-prod\b.*\n +cancel-in-progress: false\b.*\n +queue: max\b/;
  for (const text of [repair, workflow("up")]) expect(text).toMatch(group);
  const gitlab = readFileSync(join(CI, ".gitlab-ci.yml"), "utf8");
  const job = /^drift-repair:\n(?: {2}.*\n)+/m.exec(gitlab)?.[0];
  expect(job).toMatch(/^ {2}resource_group: prod$/m);
  expect(job).toMatch(/^ {2}environment: drift-repair /m);
  expect(job).toMatch(/^ {6}when: manual$/m);
});

test("on GitLab a repair may replace where the variable says true, and with no other value of it", () => {
  const gitlab = readFileSync(join(CI, ".gitlab-ci.yml"), "utf8");
  const lines = [...gitlab.matchAll(/(?<=script: scripts\/)repair.*/g)].map(([line]) => line);
  expect(lines).toHaveLength(2);
  const flags = (line: string, value: string) =>
    execFileSync("bash", ["-ec", `set -o pipefail; printf "%s\n" ${line}`], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], ...(value !== "" && { ALLOW_REPLACE: value }) },
    }).includes("--allow-replace");
  for (const line of lines)
    expect(["", "true", "false", "0", "no"].map((value) => flags(line, value))).toEqual([
      false,
      true,
      false,
      false,
      false,
    ]);
});

test("every action is pinned by its commit, one commit for each version, here and in this repository's own workflows", () => {
  const folders = [join(CI, ".github", "workflows"), join(ROOT, ".github", "workflows")];
  const texts = folders.flatMap((folder) =>
    readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")),
  );
  const uses = texts.flatMap((text) => [...text.matchAll(/^\s*- uses: (.*)$/gm)].map(([, used = ""]) => used));
  expect(uses.length).toBeGreaterThan(10);
  for (const used of uses) expect(used).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  const names = new Set(uses.map((used) => used.split("@")[0]));
  expect(new Set(uses).size).toBe(names.size);
});
