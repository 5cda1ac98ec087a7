import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { NamelessFile } from "../../../src/cli/stack/namelessFile";
import { pulumiIn } from "../../../src/cli/stack/pulumi";
import { exportedState, StackState } from "../../../src/cli/stack/state";
import { ROOT } from "../../support/cli";
import { until } from "../../support/emulator";

const HIDDEN = "[the Pulumi CLI's message repeats a secret]";

const before = { ...process.env };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-runner-"));
});
afterEach(() => {
  process.env = { ...before };
  rmSync(folder, { recursive: true });
});

/** The first `pulumi` on PATH runs this text. */
function fakePulumi(script: string): void {
  writeFileSync(join(folder, "pulumi"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  process.env["PATH"] = `${folder}${delimiter}${process.env["PATH"] ?? ""}`;
}

test("a failure has the errors of the CLI, and its first line where it reports none", async () => {
  fakePulumi("echo 'warning: old' >&2; echo 'error: no login' >&2; echo 'error: no stack' >&2; exit 1");
  expect(await pulumiIn(folder, undefined)(["stack"])).toEqual({
    ok: false,
    stdout: "",
    errors: ["no login", "no stack"],
    reason: "no login",
  });
  fakePulumi("echo >&2; echo 'panic: nil' >&2; exit 2");
  expect(await pulumiIn(folder, undefined)(["stack"])).toMatchObject({ ok: false, errors: [], reason: "panic: nil" });
  fakePulumi("exit 3");
  expect(await pulumiIn(folder, undefined)(["stack"])).toMatchObject({ ok: false, reason: "it gave no reason" });
});

test("a CLI that is missing is a failure with what to do", async () => {
  process.env["PATH"] = folder;
  const events = new NamelessFile();
  for (const options of [{}, { events }])
    expect(await pulumiIn(folder, undefined)(["stack"], options)).toMatchObject({
      ok: false,
      reason: "the Pulumi CLI was not found: install it, and put its folder on PATH",
    });
  events.close();
});

test.each([
  ["https://canary:canary@state.test/a", "cannot open [address] now"],
  ["https://state.test/a?sig=canary", "cannot open [address] now"],
  ["https://state.test/a", "cannot open https://state.test/a now"],
  ["canary-token", HIDDEN],
])("of %s a failure shows %s", async (text, shown) => {
  process.env["PULUMI_ACCESS_TOKEN"] = "canary-token";
  fakePulumi(`echo 'error: cannot open ${text} now' >&2; exit 1`);
  expect((await pulumiIn(folder, undefined)(["stack"])).reason).toBe(shown);
});

describe("of keys of the account by reference, and of other secrets by their names,", () => {
  const start = process.cwd();
  beforeEach(() => {
    writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
    writeFileSync(join(folder, "key"), "canary-of-file\n");
    process.chdir(folder);
  });
  afterEach(() => process.chdir(start));

  const config = (setting: string): void =>
    writeFileSync(join(folder, "Pulumi.dev.yaml"), `config:\n  svc:baseUrl: https://x.test/api/v2\n  ${setting}\n`);

  test.each<[string, () => void, string]>([
    ["a variable that sounds like a secret", () => (process.env["PROD_SVC_KEY"] = "canary-of-env"), "canary-of-env"],
    ["SVC_API_KEY_FILE", () => (process.env["SVC_API_KEY_FILE"] = join(folder, "key")), "canary-of-file"],
    ["svc:apiKeyFile", () => config("svc:apiKeyFile: ./key # mounted"), "canary-of-file"],
    ["svc:apiKeyFile in quotes", () => config('"svc:apiKeyFile": "key"'), "canary-of-file"],
    [
      "svc:apiKeyEnv with any name",
      () => {
        config("svc:apiKeyEnv: SHOP_PROD");
        process.env["SHOP_PROD"] = " canary-of-env\n";
      },
      "canary-of-env",
    ],
  ])("a failure does not show that of %s", async (_, set, secret) => {
    set();
    fakePulumi(`echo 'error: the header ${secret}x, ${secret}' >&2; exit 1`);
    expect((await pulumiIn(folder, undefined)(["stack"])).reason).toBe(HIDDEN);
  });

  test("a failure does not show that of svc:apiKeyFile where the program is in another folder", async () => {
    writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\nmain: app\n");
    config("svc:apiKeyFile: key");
    fakePulumi("echo 'error: canary-of-file' >&2; exit 1");
    expect((await pulumiIn(folder, undefined)(["stack"])).reason).toBe(HIDDEN);
  });

  test("a secret that is a part of another one leaves none of that", async () => {
    process.env["A_TOKEN"] = "canary";
    process.env["B_TOKEN"] = "canary-longer";
    fakePulumi("echo 'error: canary-longer' >&2; exit 1");
    expect((await pulumiIn(folder, undefined)(["stack"])).reason).toBe(HIDDEN);
  });

  test.each<[string, (value: string) => string]>([
    ["a line of it", (value) => value.split("\n")[1] ?? ""],
    ["it in an address", encodeURIComponent],
    ["it in an address of small letters", (value) => encodeURIComponent(value).toLowerCase()],
    ["it in JSON", (value) => JSON.stringify(value).slice(1, -1)],
    ["it in base64", (value) => Buffer.from(`user:${value}`).toString("base64")],
    ["its first half", (value) => JSON.stringify(value.slice(0, 30)).slice(1, -1)],
  ])("a failure shows neither a secret of several lines nor %s", async (_, form) => {
    const value = "canary-begin/+\ncanary the second line\ncanary-end";
    process.env["DEPLOY_KEY"] = value;
    writeFileSync(join(folder, "said"), `error: the key ${form(value)} is bad\n`);
    fakePulumi(`cat ${join(folder, "said")} >&2; exit 1`);
    expect((await pulumiIn(folder, undefined)(["stack"])).reason).toBe(HIDDEN);
  });

  test("a name that every object has is no variable", async () => {
    config("svc:apiKeyEnv: constructor");
    fakePulumi("echo 'error: the constructor is bad' >&2; exit 1");
    expect((await pulumiIn(folder, undefined)(["stack"])).reason).toBe("the constructor is bad");
  });

  test("words, a short flag and the path of a key file stay", async () => {
    process.env["USES_TOKEN"] = "1";
    process.env["SVC_API_KEY_FILE"] = join(folder, "key");
    fakePulumi(`echo 'error: 1 file ${join(folder, "key")} is bad' >&2; exit 1`);
    expect((await pulumiIn(folder, undefined)(["stack"])).reason).toBe(`1 file ${join(folder, "key")} is bad`);
  });
});

test("the stack is named if one is requested, and no flag confirms for the user, runs the program or continues after an error", async () => {
  process.env["PULUMI_SKIP_CONFIRMATIONS"] = "true";
  process.env["PULUMI_RUN_PROGRAM"] = "true";
  process.env["PULUMI_OPTION_CONTINUE_ON_ERROR"] = "true";
  fakePulumi('echo "$* [$PULUMI_SKIP_CONFIRMATIONS$PULUMI_RUN_PROGRAM$PULUMI_OPTION_CONTINUE_ON_ERROR]"');
  const [selected, named] = await Promise.all(
    [undefined, "prod"].map((stack) => pulumiIn(folder, stack)(["config", "--json"])),
  );
  expect([selected?.stdout, named?.stdout]).toEqual([
    "config --json --non-interactive []",
    "config --json --non-interactive --stack prod []",
  ]);
});

test("the Node processes of a command that may take long end with its engine, and have the options of the user, too", async () => {
  process.env["NODE_OPTIONS"] = "--no-warnings";
  fakePulumi('echo "$NODE_OPTIONS"');
  const run = pulumiIn(folder, undefined);
  const [short, long] = [await run(["stack"]), await run(["preview"], { isLong: true })];
  expect(short.stdout).toBe("--no-warnings");
  const [, preload = ""] = /^--no-warnings --require "(.*)"$/.exec(long.stdout) ?? [];
  // When run from the source, jest reports the place in the source.
  expect(existsSync(preload.replace(/\.js$/, ".ts"))).toBe(true);
});

test.each(["canary", '{"canary', '{"secret":"canary"}', '{"deployment":{"resources":[{"id":"canary"}]}}'])(
  "an export that is invalid is refused without its text: %s",
  async (text) => {
    fakePulumi(`echo '${text}'`);
    await expect(exportedState(pulumiIn(folder, undefined), false)).rejects.toThrow(
      /^it is not what pulumi stack export writes$/,
    );
  },
);

test("a stack that holds nothing has a state without resources", () => {
  expect(new StackState('{"version":3,"deployment":{"manifest":{}}}').resources).toEqual([]);
});

describe("a CLI that writes its events", () => {
  /** In a process of its own, as the command runs it. */
  const RUNNER = `
    const { NamelessFile } = require(${JSON.stringify(join(ROOT, "dist/cli/stack/namelessFile.js"))});
    const { pulumiIn } = require(${JSON.stringify(join(ROOT, "dist/cli/stack/pulumi.js"))});
    const events = new NamelessFile();
    pulumiIn(process.argv[1], undefined)(["up"], { events }).then(({ ok }) => console.log(ok, events.text().trim()));`;

  function run(script: string): ChildProcessWithoutNullStreams {
    fakePulumi(script);
    // Jest has its own environment; a child would get that of its process.
    return spawn(process.execPath, ["-e", RUNNER, folder], { detached: true, env: process.env });
  }
  const waitFor = (name: string): Promise<boolean> => until(async () => existsSync(join(folder, name)), Boolean);
  const PREFIX = `file=$(echo " $*" | sed 's/.*--event-log //; s/ .*//')`;

  test("continues when this process is killed, and can still write all its output", async () => {
    const child = run(`${PREFIX}; touch begun; sleep 1; echo out; echo err >&2; echo event > "$file"; touch done`);
    await waitFor("begun");
    child.kill("SIGKILL");
    await waitFor("done");
  });

  test("is asked to end once by signals that a terminal or a runner sends, and again only by Ctrl-C", async () => {
    const traps = `trap 'echo term >> said' TERM; trap 'echo int >> said' INT; trap 'echo hup >> said' HUP`;
    const child = run(
      `${PREFIX}; ${traps}; touch begun; i=0; while [ $i -lt 20 ]; do sleep 0.1; i=$((i+1)); done; echo event > "$file"`,
    );
    let said = "";
    child.stdout.on("data", (chunk) => (said += String(chunk)));
    const ended = once(child, "close");
    await waitFor("begun");
    for (const signal of ["SIGHUP", "SIGTERM", "SIGHUP", "SIGINT"] as const) {
      // The whole process group, as a terminal does it.
      process.kill(-(child.pid ?? Number.NaN), signal);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await ended;
    expect(said).toBe("true event\n");
    expect(readFileSync(join(folder, "said"), "utf8")).toBe("term\nint\n");
  });
});
