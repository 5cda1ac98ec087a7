import type { LogLine } from "../../src/dynamic/engineLog";
import { Progress } from "../../src/dynamic/progress";
import { URN } from "./toy";

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const started = () => {
  const lines: LogLine[] = [];
  return { progress: new Progress((line) => lines.push(line), URN, false), lines };
};

test("a text that comes two seconds after the last one is shown, even a little early", () => {
  const { progress, lines } = started();
  progress.show("init");
  jest.advanceTimersByTime(1_950);
  progress.show("active");
  expect(lines.map(({ message }) => message)).toEqual(["init", "active"]);
});

test("texts in quick succession show the first, and the end clears it", () => {
  const { progress, lines } = started();
  progress.show("adding domain 1 of 2");
  jest.advanceTimersByTime(100);
  progress.show("adding domain 2 of 2");
  progress.end();
  expect(lines.map(({ message }) => message)).toEqual(["adding domain 1 of 2", ""]);
});
