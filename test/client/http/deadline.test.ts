import { Deadline, withDeadline } from "../../../src/client";
import { fakeClock } from "../../support/fakeClock";

// A clock that only the tests move: this is about times, and a slow machine has its own.
fakeClock();

const pass = (ms: number): void => jest.advanceTimersByTime(ms);

test("it expires once its time is over, and notifies every listener once", () => {
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

test("a listener that is added after it has expired is notified soon", async () => {
  const deadline = new Deadline(0);
  const told = new Promise<string>((resolve) => deadline.onExpire(() => resolve("told")));
  pass(1);
  await expect(told).resolves.toBe("told");
});

test("a listener that unsubscribes is not notified", () => {
  const deadline = new Deadline(10);
  let told = false;
  deadline.onExpire(() => (told = true))();
  pass(40);
  expect(told).toBe(false);
});

test("it is stopped until everybody who paused it continues, and then counts the rest", () => {
  const deadline = new Deadline(60);
  let told = false;
  deadline.onExpire(() => (told = true));
  pass(20);
  const first = deadline.pause();
  const second = deadline.pause();
  pass(120);
  first();
  // Once more changes nothing: the other one still holds it.
  first();
  pass(120);
  expect([deadline.expired, told, deadline.remainingMs()]).toEqual([false, false, 40]);
  second();
  pass(30);
  expect([deadline.expired, told, deadline.remainingMs()]).toEqual([false, false, 10]);
  pass(10);
  expect([deadline.expired, told, deadline.totalMs]).toEqual([true, true, 60]);
});

test("what is waited for ends with the deadline, which stands still while it is paused", async () => {
  const deadline = new Deadline(60);
  const goOn = deadline.pause();
  const late = withDeadline(
    deadline,
    new Promise(() => undefined),
    ({ totalMs }) => new Error(`late after ${totalMs}`),
  );
  const outcome = late.catch(String);
  pass(600);
  goOn();
  pass(59);
  expect(deadline.expired).toBe(false);
  pass(1);
  await expect(outcome).resolves.toBe("Error: late after 60");
});

test("a time beyond what a timer can hold does not fire at once", () => {
  const deadline = new Deadline(1e12);
  let told = false;
  const unsubscribe = deadline.onExpire(() => (told = true));
  pass(20);
  expect(told).toBe(false);
  unsubscribe();
});

test("a read of up to 30 s makes its attempts as usual, one with more time gives each a third of it", () => {
  const attempts = [2_000, 30_000, 60_000].map((ms) => Deadline.ofRead(ms).attemptMs);
  expect(attempts).toEqual([undefined, undefined, 20_000]);
});

test("it becomes longer for a read that was given more time, counted from then on, and for no other", () => {
  const shared = new Deadline(30_000);
  let told = false;
  shared.onExpire(() => (told = true));
  pass(20_000);
  shared.lengthenFor(new Deadline(600_000));
  expect(shared.remainingMs()).toBe(10_000);
  shared.lengthenFor(Deadline.ofRead(60_000));
  expect([shared.remainingMs(), shared.totalMs, shared.attemptMs]).toEqual([60_000, 80_000, 20_000]);
  shared.lengthenFor(Deadline.ofRead(45_000));
  expect([shared.remainingMs(), shared.totalMs, shared.attemptMs]).toEqual([60_000, 80_000, 20_000]);
  pass(59_999);
  expect(told).toBe(false);
  pass(1);
  expect([told, shared.expired]).toEqual([true, true]);
});

test("one that is paused becomes longer as well", () => {
  const shared = new Deadline(30_000);
  const goOn = shared.pause();
  shared.lengthenFor(Deadline.ofRead(60_000));
  pass(100_000);
  goOn();
  expect(shared.remainingMs()).toBe(60_000);
});

test("an interruption ends it, also while it is paused, and it stays ended", () => {
  const deadline = new Deadline(60_000);
  let told = 0;
  const goOn = deadline.pause();
  deadline.onExpire(() => (told += 1));
  deadline.interrupt();
  pass(1);
  expect([told, deadline.expired]).toEqual([1, true]);
  goOn();
  deadline.pause()();
  expect(deadline.remainingMs()).toBe(0);
  deadline.interrupt();
  pass(60_000);
  expect(told).toBe(1);
});

test("an interruption before anything is stored waits for a change that was sent, unless that had no effect", () => {
  const deadline = new Deadline(60_000);
  let told = 0;
  deadline.onExpire(() => (told += 1));
  const hadNoEffect = deadline.changeSent();
  deadline.interrupt(false);
  pass(1);
  expect([told, deadline.expired, deadline.isInterrupted]).toEqual([0, false, false]);
  hadNoEffect();
  pass(1);
  expect([told, deadline.expired, deadline.isInterrupted]).toEqual([1, true, true]);
  const stored = new Deadline(60_000);
  stored.changeSent();
  stored.interrupt();
  expect(stored.expired).toBe(true);
});
