import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { call, environment, runProcess, temporaryFolder } from "./support";

const QUICK = "{ pollMs: 20 }";

function locked(lock: string, work: string): ReturnType<typeof call> {
  return call("setup/lock.mjs", "withLock", [JSON.stringify(lock), work, QUICK], environment([]));
}

function heldBy(lock: string, owner: { pid: number; host: string }): void {
  mkdirSync(lock);
  writeFileSync(join(lock, "owner.json"), JSON.stringify(owner));
}

/** The pid of a process that has ended. */
async function deadPid(): Promise<number> {
  const { output } = await runProcess("/bin/sh", ["-c", "echo $$"], { env: environment([]) });
  return Number(output);
}

describe("the lock around getting the CLI", () => {
  test("lets one process in at a time", async () => {
    const lock = join(temporaryFolder(), "the.lock");
    const log = join(temporaryFolder(), "log");
    const work = `async () => {
      const { appendFileSync } = await import("node:fs");
      appendFileSync(${JSON.stringify(log)}, "in ");
      await new Promise((resolve) => setTimeout(resolve, 100));
      appendFileSync(${JSON.stringify(log)}, "out ");
    }`;
    await Promise.all([1, 2, 3].map(() => locked(lock, work)));
    expect(readFileSync(log, "utf8")).toBe("in out in out in out ");
    expect(existsSync(lock)).toBe(false);
  });

  test("answers with what the work answers, and is open again when the work fails", async () => {
    const lock = join(temporaryFolder(), "the.lock");
    expect((await locked(lock, "async () => { throw new Error('no disk'); }")).error?.message).toBe("no disk");
    expect((await locked(lock, "async () => 42")).value).toBe(42);
  });

  test("is taken from a process of this machine that has ended", async () => {
    const lock = join(temporaryFolder(), "the.lock");
    heldBy(lock, { pid: await deadPid(), host: hostname() });
    expect((await locked(lock, "async () => 'mine'")).value).toBe("mine");
  });

  test("is taken when nobody has refreshed it for minutes, whatever its pid", async () => {
    const lock = join(temporaryFolder(), "the.lock");
    heldBy(lock, { pid: process.pid, host: "another-machine" });
    const longAgo = new Date(Date.now() - 10 * 60_000);
    utimesSync(lock, longAgo, longAgo);
    expect((await locked(lock, "async () => 'mine'")).value).toBe("mine");
  });

  test("is waited for, with a word, while its holder runs; then given up with advice", async () => {
    const lock = join(temporaryFolder(), "the.lock");
    heldBy(lock, { pid: process.pid, host: hostname() });
    const options = "{ pollMs: 20, giveUpMs: 200 }";
    const work = "async () => 'mine'";
    const result = await call("setup/lock.mjs", "withLock", [JSON.stringify(lock), work, options], environment([]));
    expect(result.output).toContain(`another clone is at it (process ${process.pid})`);
    expect(result.error).toMatchObject({ name: "SetupError", advice: "If nothing is running, delete it." });
    expect(existsSync(lock)).toBe(true);
  });
});
