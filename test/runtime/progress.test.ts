import type { LogLine } from "../../src/runtime/progress";
import { Progress } from "../../src/runtime/progress";
import { URN } from "../support/toy";

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const started = () => {
  const lines: LogLine[] = [];
  return { progress: new Progress((line) => lines.push(line), URN, false), lines };
};

test("a text that comes too soon is shown once two seconds have passed, unless a later one takes its place", () => {
  const { progress, lines } = started();
  progress.show("init");
  jest.advanceTimersByTime(100);
  progress.show("starting");
  jest.advanceTimersByTime(1_800);
  progress.show("active");
  expect(lines.map(({ message }) => message)).toEqual(["init"]);
  jest.advanceTimersByTime(100);
  expect(lines.map(({ message }) => message)).toEqual(["init", "active"]);
});

test("a text that is shown already is not shown again", () => {
  const { progress, lines } = started();
  progress.show("waiting");
  jest.advanceTimersByTime(5_000);
  progress.show("waiting");
  jest.advanceTimersByTime(5_000);
  expect(lines.map(({ message }) => message)).toEqual(["waiting"]);
});

test("nothing is shown to who wants quiet, nor without a URN", () => {
  const lines: LogLine[] = [];
  for (const [urn, quiet] of [
    [URN, true],
    [undefined, false],
  ] as const) {
    const progress = new Progress((line) => lines.push(line), urn, quiet);
    progress.show("waiting");
    progress.end();
  }
  jest.advanceTimersByTime(5_000);
  expect(lines).toEqual([]);
});

test("texts in quick succession show the first, and the end clears it", () => {
  const { progress, lines } = started();
  progress.show("adding domain 1 of 2");
  jest.advanceTimersByTime(100);
  progress.show("adding domain 2 of 2");
  progress.end();
  expect(lines.map(({ message }) => message)).toEqual(["adding domain 1 of 2", ""]);
});
