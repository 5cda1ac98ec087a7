import { inParallel } from "../../../src/cli/fleet/inParallel";
import { ProgressLine } from "../../../src/cli/fleet/progress";

/** What is written to standard error. */
function written(isTerminal: boolean, work: (line: ProgressLine) => void): string[] {
  const before = Object.getOwnPropertyDescriptor(process.stderr, "isTTY");
  Object.defineProperty(process.stderr, "isTTY", { value: isTerminal, configurable: true });
  const chunks: string[] = [];
  const write = jest.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    chunks.push(String(chunk));
    return true;
  });
  try {
    work(new ProgressLine());
  } finally {
    write.mockRestore();
    if (before === undefined) Reflect.deleteProperty(process.stderr, "isTTY");
    else Object.defineProperty(process.stderr, "isTTY", before);
  }
  return chunks;
}

const work = (line: ProgressLine): void => {
  line.begin("states read", 2);
  line.step();
  line.show("the service asks to\u001B[2J wait");
  line.end();
};

test("progress is one line of a terminal, which is empty at the end, and nothing elsewhere", () => {
  expect(written(true, work).map((chunk) => chunk.replaceAll("\r\u001B[K", "|"))).toEqual([
    "|states read: 0 of 2",
    "|states read: 1 of 2",
    String.raw`|states read: 1 of 2, the service asks to\u{1b}[2J wait`,
    "|",
  ]);
  expect(written(false, work)).toEqual([]);
});

test("so many run at a time, the order stays, and a failure ends no other", async () => {
  let running = 0;
  let most = 0;
  const results = await inParallel(3, [5, 1, 4, 2, 3], async (ms) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, ms));
    running -= 1;
    return ms === 4 ? Promise.reject(new Error("four")).catch((error: Error) => error.message) : ms;
  });
  expect([results, most]).toEqual([[5, 1, "four", 2, 3], 3]);
  const ended: number[] = [];
  const failing = inParallel(1, [1, 2, 3], async (one) => {
    ended.push(one);
    if (one === 2) throw new Error("two");
  });
  await expect(failing).rejects.toThrow("two");
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toEqual([1, 2, 3]);
});
