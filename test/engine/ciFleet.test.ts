import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ciJob, type Job, names } from "../support/ciJob";
import { MAIN } from "../support/command";

/** The scripts of examples/ci for all stacks, with a report as `pulumi-svc fleet drift` writes it. */

const SECRETS = {
  SVC_API_KEY: "canary-key",
  PULUMI_ACCESS_TOKEN: "canary-pulumi",
  PULUMI_CONFIG_PASSPHRASE: "canary-pass",
};

/** In place of `npx`: the report of a fleet is given, and `drift --from` is our command. */
const FAKE_NPX = `#!/usr/bin/env node
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const args = process.argv.slice(process.argv.indexOf("pulumi-svc") + 1);
if (args[0] === "fleet") {
  const { code, report } = JSON.parse(readFileSync(__dirname + "/next.json", "utf8"));
  writeFileSync(args[args.indexOf("--out") + 1], report === undefined ? "" : JSON.stringify(report));
  process.exitCode = code;
} else {
  process.exitCode = require("node:child_process").spawnSync(process.execPath, [${JSON.stringify(MAIN)}, ...args], { stdio: "inherit" }).status;
}
`;

let folder: string;
let job: Job;
const env: Record<string, string> = {};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ci-fleet-"));
  Object.assign(env, { ...SECRETS, PATH: process.env["PATH"] ?? "", HOME: folder, GH_TOKEN: "canary-gh" });
  mkdirSync(join(folder, "program"));
  job = ciJob(join(folder, "program"), join(folder, "bin"), env);
  writeFileSync(join(folder, "bin", "npx"), FAKE_NPX, { mode: 0o755 });
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The report of one stack. */
function stackOf(name: string, found?: number): object {
  const [, project, stack] = name.split("/");
  const urn = `urn:pulumi:${stack}::${project}::pulumi-nodejs:dynamic/svc:ComputeEndpoint::api`;
  const properties = [{ path: "size.max", declared: 2, found }];
  const repair = { action: "update", restarts: true, messages: [] };
  const drifted = {
    urn,
    kind: "ComputeEndpoint",
    name: "api",
    id: "prj-1/ep-1",
    change: "changed",
    properties,
    repair,
  };
  const drift = found === undefined ? [] : [drifted];
  const fingerprint = `${project}-${stack}-${found}`.padEnd(32, "0");
  return { name, project, since: null, stack, drift, unmanaged: [], fingerprint };
}

/** A name is that of a stack without resources. */
function next(code: number, ...all: readonly (object | string)[]): Promise<{ code: number; text: string }> {
  const stacks = all.filter((one) => typeof one !== "string");
  const report =
    all.length === 0 ? undefined : { stacks, withoutResources: all.filter((one) => typeof one === "string") };
  writeFileSync(join(folder, "bin", "next.json"), JSON.stringify({ code, report }));
  return job.run("fleet.sh", []);
}

test("each stack has an issue of its own, which is opened, left alone, updated and closed by its fingerprint", async () => {
  const { calls, issues } = job;
  expect(await next(7, stackOf("org/shop/dev", 4), stackOf("org/auth/dev", 8), stackOf("org/auth/prod"))).toMatchObject(
    {
      code: 7,
    },
  );
  expect(issues()).toMatchObject([
    { state: "open", label: "drift-org/shop/dev", title: "Drift of stack org/shop/dev" },
    { state: "open", label: "drift-org/auth/dev", title: "Drift of stack org/auth/dev" },
  ]);
  const [{ body } = { body: "" }] = issues();
  expect(body).toContain("| ComputeEndpoint `api` | `size.max` | `2` | `4` |");
  expect(body).toMatch(/\nFingerprint `shop-dev-40+`\n$/);
  expect(names(calls()).filter((name) => name !== "issue list")).toEqual([
    ...["label create", "issue create", "label create", "issue create"],
  ]);

  // The same drift, another one, and none any more; nothing is known about the fourth.
  expect(await next(1, stackOf("org/shop/dev", 4), stackOf("org/auth/dev", 16))).toMatchObject({ code: 1 });
  expect(names(calls()).filter((name) => name !== "issue list")).toEqual(["issue edit", "issue comment"]);
  expect(await next(0, stackOf("org/shop/dev"), stackOf("org/auth/prod"))).toMatchObject({ code: 0 });
  expect(issues().map(({ state }) => state)).toEqual(["closed", "open"]);
  for (const call of calls())
    for (const [name, secret] of Object.entries(SECRETS)) expect(call.env[name]).not.toBe(secret);
});

test("stacks of equal name in two organizations have an issue each", async () => {
  const { issues } = job;
  await next(7, stackOf("org/shop/dev", 4), stackOf("org2/shop/dev"));
  await next(7, stackOf("org/shop/dev", 4), "org2/shop/dev");
  expect(issues()).toMatchObject([{ state: "open", label: "drift-org/shop/dev" }]);
  await next(7, stackOf("org/shop/dev", 4), stackOf("org2/shop/dev", 8));
  expect(issues().map(({ state }) => state)).toEqual(["open", "open"]);
});

test("the issue of a stack whose resources were destroyed is closed, and a label is as short as GitHub requires", async () => {
  const { calls, issues } = job;
  const long = "shop-of-a-long-name/feature-with-a-long-branch";
  const other = `${long}-2`;
  await next(7, stackOf("org/shop/dev", 4), stackOf(`org/${long}`, 4), stackOf(`org/${other}`, 4));
  const labels = issues().map(({ label }) => label);
  expect(labels).toEqual([
    "drift-org/shop/dev",
    expect.stringMatching(/^drift-org\/shop-of-a-long-name\/feature-w-\d+$/),
    expect.stringMatching(/^drift-org\/shop-of-a-long-name\/feature-w-\d+$/),
  ]);
  expect(new Set(labels).size).toBe(3);
  for (const label of labels) expect(label.length).toBeLessThanOrEqual(50);
  calls();
  // The last one is of a backend without projects.
  expect(await next(7, stackOf("org/shop/dev", 4), `org/${long}`, "dev")).toMatchObject({ code: 7 });
  expect(names(calls())).toEqual(["issue list", "issue list", "issue close", "issue list"]);
  expect(issues().map(({ state }) => state)).toEqual(["open", "closed", "open"]);
});

test("without a report no issue is touched, and where the tracker fails the others are tried", async () => {
  const { calls } = job;
  expect(await next(1)).toMatchObject({ code: 1 });
  expect(calls()).toEqual([]);
  job.breakTracker();
  expect(await next(7, stackOf("org/shop/dev", 4), stackOf("org/auth/dev", 8))).toMatchObject({ code: 1 });
  expect(names(calls())).toEqual(["issue list", "issue list"]);
});

test("the names of the stacks are a list on one line", async () => {
  const listed = [{ name: "dev", current: true }, { name: "prod" }];
  writeFileSync(join(folder, "bin", "pulumi"), `#!/bin/sh\necho '${JSON.stringify(listed, undefined, 2)}'\n`, {
    mode: 0o755,
  });
  expect(await job.run("stacks.sh", [])).toEqual({ code: 0, text: '["dev","prod"]\n' });
  expect(readFileSync(join(folder, "program", "scripts", "stacks.sh"), "utf8")).toContain("pulumi stack ls");
});
