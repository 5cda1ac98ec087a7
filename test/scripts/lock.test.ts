import { existsSync, mkdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { call, environment, temporaryFolder } from "../support/scripts";

function locked(lock: string, work: string, options = "{ pollMs: 20 }"): ReturnType<typeof call> {
  return call("setup/lock.mts", "withLock", [JSON.stringify(lock), work, options], environment([]));
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

  test("is taken when nobody has refreshed it for minutes", async () => {
    const lock = join(temporaryFolder(), "the.lock");
    mkdirSync(lock);
    const longAgo = new Date(Date.now() - 10 * 60_000);
    utimesSync(lock, longAgo, longAgo);
    expect((await locked(lock, "async () => 'mine'")).value).toBe("mine");
  });

  test("is waited for, with a word, while somebody holds it; then given up with advice", async () => {
    const lock = join(temporaryFolder(), "the.lock");
    mkdirSync(lock);
    const result = await locked(lock, "async () => 'mine'", "{ pollMs: 20, giveUpMs: 200 }");
    expect(result.output).toContain(`another clone holds the lock ${lock}; waiting`);
    expect(result.error).toMatchObject({ name: "SetupError", advice: "If nothing is running, delete it." });
    expect(existsSync(lock)).toBe(true);
  });
});
