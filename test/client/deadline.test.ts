import { Deadline } from "../../src/client";

// A clock that only the tests move: this is about times, and a slow machine has its own.
beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const pass = (ms: number): void => jest.advanceTimersByTime(ms);

test("it expires once its time is over, and tells every listener once", () => {
  const deadline = new Deadline(30);
  let told = 0;
  deadline.onExpire(() => (told += 1));
  deadline.onExpire(() => (told += 1));
  expect(deadline.expired).toBe(false);
  pass(80);
  expect(deadline.expired).toBe(true);
  expect(deadline.remainingMs()).toBe(0);
  expect(told).toBe(2);
});

test("who listens after it has expired is told soon", async () => {
  const deadline = new Deadline(0);
  const told = new Promise<string>((resolve) => deadline.onExpire(() => resolve("told")));
  pass(1);
  await expect(told).resolves.toBe("told");
});

test("who unsubscribes is not told", () => {
  const deadline = new Deadline(10);
  let told = false;
  deadline.onExpire(() => (told = true))();
  pass(40);
  expect(told).toBe(false);
});

test("it stands still while paused, and counts from the start after restart", () => {
  const deadline = new Deadline(60);
  let told = false;
  deadline.onExpire(() => (told = true));
  deadline.pause();
  deadline.pause();
  pass(120);
  expect([deadline.expired, told]).toEqual([false, false]);
  deadline.restart();
  expect(deadline.remainingMs()).toBe(60);
  expect(deadline.totalMs).toBe(60);
  pass(120);
  expect([deadline.expired, told]).toEqual([true, true]);
});

test("a time beyond what a timer can hold does not fire at once", () => {
  const deadline = new Deadline(1e12);
  let told = false;
  const unsubscribe = deadline.onExpire(() => (told = true));
  pass(20);
  expect(told).toBe(false);
  unsubscribe();
});
