import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Emulator } from "../../src/emulator";
import { environment, SCRIPTS } from "../support/scripts";
import { KEY, objectsOf, startService } from "./support";

jest.setTimeout(120_000);

const COMPUTES = ["--branch", "br-dev", "--part", "compute"];

const settings = ({ baseUrl }: Emulator) => ({
  SVC_BASE_URL: baseUrl,
  SVC_API_KEY: KEY,
  SVC_PROJECT_ID: "prj-demo",
});

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

const THIS = ["-r", "ts-node/register/transpile-only", join(__dirname, "main.ts")];
/** What `npm run test:live` starts. */
const TASK = [join(SCRIPTS, "run.mjs"), "test:live"];

function start(
  variables: Record<string, string>,
  args: readonly string[],
  program = THIS,
): { child: ChildProcess; end: Promise<Ended> } {
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: join(SCRIPTS, ".."),
    env: environment([], variables),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const end = once(child, "exit").then(async ([code]: (number | null)[]) => ({
    code: code ?? null,
    output: (await output).join(""),
  }));
  return { child, end };
}

const run = (emulator: Emulator, ...args: string[]): Promise<Ended> => start(settings(emulator), args).end;

/** Sends a signal as soon as the run has made something. */
async function signalled(emulator: Emulator, signal: NodeJS.Signals, program: string[]): Promise<Ended> {
  const { child, end } = start(settings(emulator), [...COMPUTES, "--yes"], program);
  await new Promise<void>((resolve) => {
    child.stdout?.on("data", (part: Buffer) => part.includes("ok         create a primary") && resolve());
  });
  child.kill(signal);
  return end;
}

const changes = (emulator: Emulator): unknown[] => emulator.requests().filter(({ method }) => method !== "GET");

test("without settings, it tries an emulator of its own, and everything holds", async () => {
  const { code, output } = await start({}, [], TASK).end;
  expect(output).toContain(
    "SVC_BASE_URL, SVC_API_KEY, SVC_PROJECT_ID are not set: this run tries an emulator of its own",
  );
  expect(output).toMatch(/\nholds: \d\d, differs: 0, not tried: \d+, failed steps: 0, left behind: 0\n/);
  expect(code).toBe(0);
});

test.each([
  [{ SVC_API_KEY: KEY }, [], /^Set SVC_BASE_URL and SVC_PROJECT_ID too/],
  [{}, ["--clean"], /^Set SVC_BASE_URL and SVC_API_KEY and SVC_PROJECT_ID too/],
  [{}, ["--part", "domains"], /--part takes compute or auth/],
])("wrong usage ends with 2: %j %j", async (variables, args, expected) => {
  expect(await start({ ...variables }, args).end).toEqual({ code: 2, output: expect.stringMatching(expected) });
});

test("without --yes it shows at which service it would make what, and changes nothing", async () => {
  const emulator = await startService();
  const { code, output } = await run(emulator, ...COMPUTES);
  expect(output).toContain(`project prj-demo at ${new URL(emulator.baseUrl).host}. What it makes and costs:`);
  expect(output).toMatch(/costs:\n- computes on branch br-dev: one primary of 0\.25/);
  expect(output).toMatch(/\nNothing was changed\. Add --yes to begin\n/);
  expect(await run(emulator, "--yes")).toEqual({
    code: 1,
    output: expect.stringMatching(/nothing was changed\n.*--branch has to name .*br-main \(main\), br-dev \(dev\)/),
  });
  expect([code, changes(emulator)]).toEqual([1, []]);
});

test("a signal: what was made is removed, and the report says so", async () => {
  const emulator = await startService();
  const before = await objectsOf(emulator);
  const { code, output } = await signalled(emulator, "SIGTERM", TASK);
  expect(output).toMatch(
    /SIGTERM: the current step ends[^]*removed: ComputeEndpoint prj-demo\/ep-[^]*left behind: 0\n/,
  );
  expect(output).not.toContain(KEY);
  expect([code, await objectsOf(emulator)]).toEqual([1, before]);
});

test("after kill -9, the next run changes nothing and says what removes the leftovers: --clean", async () => {
  const emulator = await startService();
  const before = await objectsOf(emulator);
  expect((await signalled(emulator, "SIGKILL", THIS)).code).toBe(null);
  const sent = changes(emulator).length;
  const refused = await run(emulator, ...COMPUTES, "--yes");
  expect(refused.output).toMatch(
    /nothing was changed\n.*ep-\S+ on br-dev \(pulumi-svc-live-.*\) is left from an earlier run\. npm run test:live -- --clean/,
  );
  const listed = await run(emulator, "--clean");
  expect(listed.output).toMatch(/left from earlier runs: 1\n- ep-\S+ on br-dev[^]*Nothing was changed\. Add --yes/);
  expect([refused.code, listed.code, changes(emulator).length]).toEqual([1, 1, sent]);
  expect(await run(emulator, "--clean", "--yes")).toMatchObject({
    code: 0,
    output: expect.stringMatching(/removed: ComputeEndpoint prj-demo\/ep-/),
  });
  expect(await objectsOf(emulator)).toEqual(before);
});
