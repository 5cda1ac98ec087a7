import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { json } from "node:stream/consumers";
import { api, DEMO } from "../support/emulator";
import { ROOT } from "../support/cli";
import { exampleStack } from "../support/example";
import type { Stack } from "../support/Stack";

const CI = join(ROOT, "examples", "ci");
const REPORT = "drift.md";

/** Keeps issues in a file as GitHub does, and notes all that it is given: arguments, standard input, environment. */
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
  case "issue edit": issue.body = stdin; break;
  case "issue close": issue.state = "closed"; break;
}
writeFileSync(file, JSON.stringify(issues));
`;

interface Issue {
  number: number;
  state: string;
  label: string;
  title: string;
  body: string;
}

interface Call {
  readonly call: string;
  readonly args: string[];
}

interface Repository {
  readonly stack: Stack;
  /** Runs a script as a job does, from the folder of the program. */
  run(script: string, ...args: string[]): Promise<{ code: number; text: string }>;
  /** The calls of `gh` since the last look. */
  calls(): Call[];
  issues(): Issue[];
  breakTracker(): void;
}

/** The example as a repository with a deployed stack, whose key stands in the environment alone. */
async function repository(): Promise<Repository> {
  const stack = await exampleStack("ci");
  const program = join(stack.folder, "program");
  cpSync(join(CI, "scripts"), join(program, "scripts"), { recursive: true });
  for (const setting of ["svc:apiKey", "svc:baseUrl"]) await stack.removeConfig(setting);
  const bin = join(stack.folder, "gh");
  mkdirSync(bin);
  writeFileSync(join(bin, "gh"), FAKE_GH, { mode: 0o755 });
  const { emulator } = stack.service;
  Object.assign(stack.env, {
    PATH: [bin, stack.env["PATH"]].join(delimiter),
    SVC_API_KEY: emulator.apiKey,
    SVC_BASE_URL: emulator.baseUrl,
  });
  let seen = 0;
  return {
    stack,
    async run(script, ...args) {
      const command = join(program, "scripts", script);
      const ended = await new Promise<{ code: number; text: string }>((resolve) => {
        const child = execFile(command, args, { cwd: program, env: stack.env }, (_, stdout, stderr) =>
          resolve({ code: child.exitCode ?? -1, text: stdout + stderr }),
        );
      });
      stack.said += ended.text;
      return ended;
    },
    calls() {
      const lines = readFileSync(join(bin, "calls"), "utf8").split("\n").slice(seen, -1);
      seen += lines.length;
      return lines.map((line) => JSON.parse(line) as Call);
    },
    issues: () => JSON.parse(readFileSync(join(bin, "issues.json"), "utf8")) as Issue[],
    breakTracker: () => writeFileSync(join(bin, "broken"), ""),
  };
}

const names = (calls: Call[]): string[] => calls.map(({ call }) => call);

test("the scripts deploy, keep one issue about drift, and end as pulumi-svc drift does", async () => {
  const { stack, run, calls, issues, breakTracker } = await repository();
  const { service } = stack;
  await service.clearRequests();
  const before = await service.state();

  // Of a pull request; the deployment; the same of a pull request without an edit.
  expect(await run("preview.sh", "dev")).toMatchObject({ code: 0, text: expect.stringMatching(/\+ 4 to create/) });
  expect(await service.mutations()).toEqual([]);
  expect(await run("up.sh", "dev")).toMatchObject({ code: 0, text: expect.stringMatching(/\+ 4 created/) });
  expect(await run("preview.sh", "dev", "--expect-no-changes")).toMatchObject({ code: 0 });

  // What the project and the new integration have by themselves opens no issue; what somebody adds does.
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 0 });
  expect(names(calls())).toEqual(["issue list"]);
  expect(readFileSync(join(stack.folder, "program", REPORT), "utf8")).toContain("OAuthProvider `prj-demo/github`");
  const providers = `${DEMO}/auth/oauth_providers`;
  expect((await api(service.emulator, "POST", providers, { id: "microsoft" })).status).toBe(200);
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 8 });
  expect(names(calls())).toEqual(["issue list", "label create", "issue create"]);
  expect(issues()).toMatchObject([{ state: "open", label: "drift-dev", title: "Drift of stack dev" }]);
  const [{ body: undeclared }] = issues() as [Issue];
  expect(undeclared).toContain("OAuthProvider `prj-demo/microsoft`");
  expect((await api(service.emulator, "DELETE", `${providers}/microsoft`)).status).toBeLessThan(300);

  // Closed, and not asked for again.
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 0 });
  expect(names(calls())).toEqual(["issue list", "issue close"]);
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 0 });
  expect(names(calls())).toEqual(["issue list"]);
  expect(issues()).toMatchObject([{ state: "closed" }]);

  // Drift: a new issue. The same drift: nothing is edited.
  const endpoint = (await stack.resource("api")).id.split("/")[1];
  await service.edit({ kind: "endpoint", id: endpoint, set: { autoscaling_limit_max_cu: 4 } });
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 7 });
  expect(names(calls())).toEqual(["issue list", "label create", "issue create"]);
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 7 });
  expect(names(calls())).toEqual(["issue list"]);
  const [, { body }] = issues() as [Issue, Issue];
  expect(body).toContain("| ComputeEndpoint `api` | `size.max` | `2` | `4` |");
  // Whole, with the fingerprint once, at its end.
  expect(body).toBe(readFileSync(join(stack.folder, "program", REPORT), "utf8"));
  expect(body).toMatch(/\nFingerprint `[0-9a-f]{32}`\n$/);
  expect(body.match(/fingerprint/gi)).toHaveLength(1);

  // Held off: it waits, and tells the same.
  await service.fault({ status: 429, headers: { "retry-after": "2" }, times: 3 });
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 7 });
  expect((await service.requests()).filter(({ status }) => status === 429)).toHaveLength(3);
  expect(names(calls())).toEqual(["issue list"]);

  // Another drift: the same issue, edited once.
  await service.edit({ kind: "domain", create: { domain: "https://foreign.example.com" } });
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 7 });
  expect(names(calls())).toEqual(["issue list", "issue edit", "issue comment"]);
  expect(issues()).toHaveLength(2);
  expect(issues()[1]).toMatchObject({ state: "open", body: expect.stringContaining("https://foreign.example.com") });

  // A pull request shows what the program has pending, not drift. The deployment takes drift back where it is told to.
  expect(await run("preview.sh", "dev", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await run("up.sh", "dev", "--refresh")).toMatchObject({ code: 0, text: expect.stringMatching(/~ 2 updated/) });
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 0 });
  expect(names(calls())).toEqual(["issue list", "issue close"]);

  // Nobody knows: the issue is not even looked for.
  const { SVC_BASE_URL } = stack.env;
  stack.env["SVC_BASE_URL"] = "http://127.0.0.1:9/api/v2";
  const unreachable = await run("drift.sh", "dev");
  expect(unreachable.code).toBe(1);
  expect(unreachable.text).toMatch(/^pulumi-svc: [^\n]* the service cannot be reached at 127\.0\.0\.1:9[^\n]*\n$/);
  expect(calls()).toEqual([]);
  Object.assign(stack.env, { SVC_BASE_URL });

  // A tracker that fails is not taken for "no drift", nor for drift.
  breakTracker();
  expect(await run("drift.sh", "dev")).toMatchObject({ code: 1 });
  expect(names(calls())).toEqual(["issue list"]);

  expect(await stack.leaks([service.emulator.apiKey])).toEqual([]);
  await stack.finish(before);
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
  for (const script of ["preview.sh", "up.sh", "drift.sh"])
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

test("the workflows call the scripts with the key in the environment, and never print --json of an up", () => {
  const workflows = join(CI, ".github", "workflows");
  const texts = ["preview", "up", "drift"].map((name) => readFileSync(join(workflows, `${name}.yml`), "utf8"));
  expect(readdirSync(workflows).sort()).toEqual(["drift.yml", "preview.yml", "up.yml"]);
  for (const text of texts) {
    expect(text).toMatch(/^permissions:\n {2}contents: read\n/m);
    expect(text).toMatch(/^concurrency:\n/m);
    expect(text).toContain("SVC_API_KEY: ${{ secrets.SVC_API_KEY }}");
  }
  expect(texts.map((text) => text.includes("issues: write"))).toEqual([false, false, true]);
  const gitlab = readFileSync(join(CI, ".gitlab-ci.yml"), "utf8");
  const called = /(?<=run: |script: )(scripts\/\S+)/g;
  const scripts = ["preview", "up", "drift"].map((name) => `scripts/${name}.sh`);
  expect(texts.flatMap((text) => text.match(called))).toEqual(scripts);
  expect(gitlab.match(called)).toEqual(scripts);
  for (const text of [...texts, gitlab, ...scripts.map((script) => readFileSync(join(CI, script), "utf8"))])
    expect(text.replace(/^ *#.*$/gm, "")).not.toMatch(/--json(?! number,body)/);
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
