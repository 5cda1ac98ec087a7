import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { until } from "../support/emulator";
import { folderForServers } from "../support/gate";
import { psqlProgram } from "../support/postgres";
import { endVisits, VISITORS } from "../support/visitors";

const MAIN = resolve(__dirname, "../../dist/cli/main.js");
const { SVC_EMULATOR_API_KEY: _key, ...ENVIRONMENT } = process.env;

const children: ChildProcess[] = [];
let folder: string;
/** Of the emulators. */
let temporary: string;
beforeEach(() => {
  [folder, temporary] = [folderForServers(), folderForServers()];
});
afterEach(async () => {
  await endVisits();
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await nothingLeft();
  for (const path of [folder, temporary]) rmSync(path, { recursive: true, force: true });
});

interface Run {
  child: ChildProcess;
  /** Both of the following, as they came. */
  output: () => string;
  stdout: () => string;
  stderr: () => string;
  ended: Promise<number | null>;
}

function run(parameters: readonly string[], environment: NodeJS.ProcessEnv = {}): Run {
  const env = { ...ENVIRONMENT, TMPDIR: temporary, ...environment };
  const child = spawn(process.execPath, [MAIN, "emulator", "--postgres", ...parameters], { env });
  children.push(child);
  let [text, stdout, stderr] = ["", "", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    text += String(chunk);
    stdout += String(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    text += String(chunk);
    stderr += String(chunk);
  });
  return {
    child,
    output: () => text,
    stdout: () => stdout,
    stderr: () => stderr,
    ended: once(child, "close").then(([code]) => code as number | null),
  };
}

/** The connection string of the line to paste, once it is printed. */
async function pasted({ child, output }: Run): Promise<string> {
  for (;;) {
    const [, uri] = /^(?:PGPASSWORD="\S+" )?psql "(\S+)"$/m.exec(output()) ?? [];
    if (uri !== undefined) return uri;
    if (child.exitCode !== null) throw new Error(output());
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** However an emulator ends, nothing of it is left: neither files nor processes, which have their paths as arguments. */
async function nothingLeft(): Promise<void> {
  await until(
    async () => [...readdirSync(temporary), ...processesOf(temporary), ...processesOf(folder)],
    ({ length }) => length === 0,
  );
}

const processesOf = (path: string): string[] =>
  execFileSync("ps", ["-A", "-o", "args"], { encoding: "utf8", maxBuffer: 2 ** 26 })
    .split("\n")
    .filter((args) => args.includes(path) && !args.includes(MAIN));

test("the line that is printed works as it is pasted, and shows no key but the one that everybody knows", async () => {
  const open = run(["--port", "0"]);
  const client = await VISITORS.pg(await pasted(open));
  expect(await client.ask("select 'pasted'")).toBe("pasted");
  open.child.kill("SIGTERM");
  expect(await open.ended).toBe(0);
});

const ODD_KEY = `p@ss:w/rd?x=1&y=%25#z"'$HOME\`\\;endpoint=ep-x`;

const WITH_PSQL = { ...ENVIRONMENT, PATH: `${dirname(psqlProgram() ?? "")}:${process.env["PATH"]}` };

(psqlProgram() ? test : test.skip).each([
  ["with characters that a URL or a shell would change", ODD_KEY],
  ["of 5000 characters", "k".repeat(5000)],
])("a key that is given, %s, works with the line as it is pasted, and is not printed", async (_what, key) => {
  for (const [parameters, variable] of [
    [[], "SVC_EMULATOR_API_KEY"],
    [["--api-key", key], "SVC_API_KEY"],
  ] as const) {
    const given = run(["--port", "0", ...parameters], variable === "SVC_API_KEY" ? {} : { [variable]: key });
    const uri = await pasted(given);
    expect(given.output()).not.toContain(key);
    expect(given.output()).not.toContain(encodeURIComponent(key));
    const [line = ""] = given
      .output()
      .split("\n")
      .filter((one) => one.includes(uri));
    // As in the shell of the program, with the variable of the line below it.
    const shell = `${line} -X -w -A -t -c "select 'pasted'"`;
    expect(execFileSync("/bin/sh", ["-c", shell], { env: { ...WITH_PSQL, [variable]: key }, encoding: "utf8" })).toBe(
      "pasted\n",
    );
    process.env["PGPASSWORD"] = key;
    try {
      expect(await (await VISITORS.pg(uri)).ask("select 1")).toBe("1");
    } finally {
      delete process.env["PGPASSWORD"];
    }
  }
  const beside = run(["--exec", `psql "$SVC_POSTGRES_URL" -X -w -A -t -c "select 'beside'"`], {
    ...WITH_PSQL,
    SVC_EMULATOR_API_KEY: key,
  });
  expect(await beside.ended).toBe(0);
  expect(beside.stdout()).toBe("beside\n");
});

test("a command that runs beside it is told the gate, and a whole connection string", async () => {
  const print = "console.log(process.env.SVC_POSTGRES_GATE, process.env.SVC_POSTGRES_URL)";
  const { ended, stdout, stderr } = run(["--exec", `"${process.execPath}" -e "${print}"`]);
  expect(await ended).toBe(0);
  expect(stderr()).toBe("");
  const [gate, uri] = stdout().trim().split(" ");
  expect(gate).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(uri).toBe(
    `postgresql://svcdb_owner:test-key@${gate}/svcdb?sslmode=disable&options=endpoint%3Dep-demo-main-10000001`,
  );
});

describe("killed", () => {
  test("it leaves neither files nor servers, whatever these do", async () => {
    const { child, ...emulator } = run(["--port", "0"]);
    const client = await VISITORS.pg(await pasted({ child, ...emulator }));
    await client.ask("create table mine as select 1");
    const working = client.ask("select pg_sleep(60)").catch(String);
    expect(processesOf(temporary)).not.toEqual([]);
    child.kill("SIGKILL");
    expect(await working).toContain("terminated");
    await nothingLeft();
  });

  describe("together with its guard", () => {
    /** What runs for the emulators of this test, without the emulators. */
    const pidsOf = (path: string): number[] =>
      execFileSync("ps", ["-A", "-o", "pid,args"], { encoding: "utf8", maxBuffer: 2 ** 26 })
        .split("\n")
        .filter((line) => line.includes(path) && !line.includes(MAIN) && !line.includes("ps -A"))
        .map((line) => Number.parseInt(line));
    const guardsOf = (path: string): number[] =>
      pidsOf(path).filter((pid) =>
        execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" }).includes("pulumi-svc-guard"),
      );

    /** As `pkill -9 -f pulumi-svc-guard` does before the emulator is killed. */
    async function killWithGuards(emulator: Run): Promise<void> {
      const guards = guardsOf(temporary);
      expect(guards.length).toBeGreaterThan(0);
      for (const pid of guards) process.kill(pid, "SIGKILL");
      emulator.child.kill("SIGKILL");
      await emulator.ended;
    }

    test("the next start removes its folders and servers, and leaves those of others", async () => {
      const living = run(["--port", "0"]);
      const neighbour = await VISITORS.pg(await pasted(living));
      await neighbour.ask("create table mine as select 1 as id");
      const before = readdirSync(temporary);
      // Nothing says whose it is, or its process cannot be asked.
      const unknown = join(temporary, "pulumi-svc-postgres-unknown");
      mkdirSync(unknown);
      writeFileSync(join(unknown, "data"), "kept");
      const killed = run(["--port", "0"]);
      await (await VISITORS.pg(await pasted(killed))).ask("create table lost as select 1");
      const guards = guardsOf(temporary);
      const ofKilled = readdirSync(temporary).filter((name) => !before.includes(name) && !name.endsWith("-unknown"));
      expect(ofKilled.map((name) => name.split("-")[2]).sort()).toEqual(["postgres", "sockets", "template"]);
      for (const pid of guards) if (ofKilled.some((name) => pidsOf(name).includes(pid))) process.kill(pid, "SIGKILL");
      killed.child.kill("SIGKILL");
      await killed.ended;
      expect(readdirSync(temporary)).toEqual(expect.arrayContaining(ofKilled));
      const next = run(["--port", "0"]);
      await pasted(next);
      await until(
        async () => [...readdirSync(temporary), ...processesOf(temporary)],
        (left) => !ofKilled.some((name) => left.some((one) => one.includes(name))),
      );
      expect(await neighbour.ask("select id from mine")).toBe("1");
      expect(readFileSync(join(unknown, "data"), "utf8")).toBe("kept");
      rmSync(unknown, { recursive: true });
    }, 120_000); // Three clusters start.

    test("its data file serves the next start at once", async () => {
      const data = ["--port", "0", "--data", join(folder, "state.json")];
      const killed = run(data);
      await (await VISITORS.pg(await pasted(killed))).ask("create table kept as select 7 as id");
      await killWithGuards(killed);
      expect(processesOf(folder)).not.toEqual([]);
      const again = run(data);
      expect(await (await VISITORS.pg(await pasted(again))).ask("select id from kept")).toBe("7");
    });
  });

  test("it is started again with its data file, and has its databases; others on that file are refused", async () => {
    const data = ["--port", "0", "--data", join(folder, "state.json")];
    const first = run(data);
    const client = await VISITORS.pg(await pasted(first));
    await client.ask("create table kept as select 7 as id");
    const other = run(data);
    expect(await other.ended).toBe(1);
    expect(other.output()).toBe(
      `pulumi-svc: another emulator (process ${first.child.pid}) uses the data file "${folder}/state.json": stop it, or ` +
        `give this one a file of its own. If process ${first.child.pid} is no emulator, delete ${folder}/state.json.lock\n`,
    );
    const open = client.ask("begin; insert into kept values (8); select pg_sleep(60)").catch(String);
    await until(
      async () => processesOf("SELECT"),
      ({ length }) => length > 0,
    );
    first.child.kill("SIGKILL");
    await open;
    const again = run(data);
    const back = await VISITORS.pg(await pasted(again));
    expect(await back.ask("select string_agg(id::text, ',') from kept")).toBe("7");
    again.child.kill("SIGTERM");
    expect(await again.ended).toBe(0);
  });
});

describe("a signal while the emulator starts", () => {
  /** Sent when it has begun to make its files. */
  async function signalled(signal: NodeJS.Signals, parameters: readonly string[], begun = ""): Promise<Run> {
    const started = run(parameters);
    await until(
      async () => readdirSync(temporary, { recursive: true }).map(String),
      (names) => names.some((name) => name.includes(begun)),
    );
    started.child.kill(signal);
    return started;
  }

  test.each([
    ["SIGTERM", 0],
    ["SIGINT", 0],
  ] as const)("ends it (%s) with code %s, and leaves nothing", async (signal, code) => {
    const started = await signalled(signal, ["--port", "0"]);
    expect([await started.ended, started.output()]).toEqual([code, ""]);
    await nothingLeft();
  });

  test("leaves nothing if it is SIGKILL, while it makes its template", async () => {
    const started = await signalled("SIGKILL", ["--port", "0"], "template/base");
    await started.ended;
    await nothingLeft();
  });

  test("leaves its data file to the next start", async () => {
    const data = ["--port", "0", "--data", join(folder, "data")];
    const started = await signalled("SIGTERM", data);
    expect([await started.ended, started.output()]).toEqual([0, ""]);
    expect(existsSync(join(folder, "data"))).toBe(true);
    const again = run(data);
    expect(await (await VISITORS.pg(await pasted(again))).ask("select 1")).toBe("1");
  });

  test("starts no command, and the code says so", async () => {
    const started = await signalled("SIGTERM", ["--exec", "echo it runs"]);
    expect([await started.ended, started.output()]).toEqual([143, ""]);
  });
});

test("what cannot be started is told in one line, with exit code 1", async () => {
  const away = run(["--port", "0"], { PULUMI_SVC_POSTGRES_BIN: folder });
  expect(await away.ended).toBe(1);
  expect(away.output()).toMatch(
    /^pulumi-svc: the emulator's --postgres found no Postgres in .*: install version 15.*\n$/,
  );
  expect(away.output()).toContain(folder);
  const open = run(["--port", "0", "--host", "0.0.0.0"]);
  expect(await open.ended).toBe(1);
  expect(open.output()).toMatch(/^pulumi-svc: .*everybody knows the default key.*SVC_EMULATOR_API_KEY\n$/);
});
