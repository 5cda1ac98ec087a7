import { Deadline } from "../../src/client";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test("it expires once its time is over, and tells every listener once", async () => {
  const deadline = new Deadline(30);
  let told = 0;
  deadline.onExpire(() => (told += 1));
  deadline.onExpire(() => (told += 1));
  expect(deadline.expired).toBe(false);
  await sleep(80);
  expect(deadline.expired).toBe(true);
  expect(deadline.remainingMs()).toBe(0);
  expect(told).toBe(2);
});

test("who listens after it has expired is told soon", async () => {
  const deadline = new Deadline(0);
  const told = new Promise<string>((resolve) => deadline.onExpire(() => resolve("told")));
  await expect(told).resolves.toBe("told");
});

test("who unsubscribes is not told", async () => {
  const deadline = new Deadline(10);
  let told = false;
  deadline.onExpire(() => (told = true))();
  await sleep(40);
  expect(told).toBe(false);
});

test("it stands still while paused, and counts from the start after restart", async () => {
  const deadline = new Deadline(60);
  let told = false;
  deadline.onExpire(() => (told = true));
  deadline.pause();
  deadline.pause();
  await sleep(120);
  expect([deadline.expired, told]).toEqual([false, false]);
  deadline.restart();
  expect(deadline.remainingMs()).toBeGreaterThan(40);
  expect(deadline.totalMs).toBe(60);
  await sleep(120);
  expect([deadline.expired, told]).toEqual([true, true]);
});

test("a time beyond what a timer can hold does not fire at once", async () => {
  const deadline = new Deadline(1e12);
  let told = false;
  const unsubscribe = deadline.onExpire(() => (told = true));
  await sleep(20);
  expect(told).toBe(false);
  unsubscribe();
});
