import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Granted, requireGranted } from "../../src/client";
import { RunMemory } from "../../src/host/memory";
import { OtherProcesses } from "../../src/host/otherProcesses";

const OBJECT = "compute prj-1/ep-1";
const CLAIM = { object: OBJECT, what: "the compute" };
const urn = (name: string): string => `urn:pulumi:dev::proj::type::${name}`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "others-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The files of all runs. */
const files = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

/** The memory of one process of a run. */
function memory(run = "run"): RunMemory {
  const others = OtherProcesses.of(run, folder);
  if (others === undefined) throw new Error("they cannot be met");
  const one = new RunMemory();
  one.meet(others);
  return one;
}

const LEAVING = /is being deleted or moved away in this run/;

test("what one process takes over, another one neither deletes nor changes nor takes over, until it is forgotten", () => {
  const [one, two] = [memory(), memory()];
  one.takeOver(OBJECT, urn("a"));
  expect(two.deletionBlocker(OBJECT, urn("b"))).toBe(urn("a"));
  expect(() => requireGranted(two.mayDelete([OBJECT], urn("b")))).toThrow(/managed by "a" of this program/);
  expect(() => two.checkNotTakenOver([OBJECT], urn("b"))).toThrow(/"a" of this program took over/);
  expect(() => two.takeOver(OBJECT, urn("b"))).toThrow(/is already managed by "a"/);
  one.forgetOwner(OBJECT);
  expect(two.mayDelete([OBJECT], urn("b"))).toBeInstanceOf(Granted);
  two.takeOver(OBJECT, urn("b"));
  expect(one.otherOwner(OBJECT, urn("a"))).toBe(urn("b"));
});

test("what one process deletes, another one does not take over meanwhile, and knows afterwards", async () => {
  const [one, two] = [memory(), memory()];
  let end = (): void => undefined;
  const work = () => new Promise<void>((resolve) => (end = resolve));
  const deleting = one.whileReleasing({ objects: [OBJECT], urn: urn("a"), deletes: true }, work);
  await Promise.resolve();
  expect(() => two.takeOver(OBJECT, urn("b"))).toThrow(LEAVING);
  expect(one.deletionBlocker(OBJECT, urn("a"))).toBeUndefined();
  end();
  await deleting;
  expect(two.wasDeleted(OBJECT)).toBe(true);
  two.takeOver(OBJECT, urn("b"));
});

test("what a resource of another process declares and has in its state counts, but for the same URN", () => {
  const [one, two] = [memory(), memory()];
  one.declare(urn("a"), [CLAIM]);
  expect(two.declare(urn("a"), [CLAIM])).toEqual([]);
  expect(two.declare(urn("b"), [CLAIM])).toEqual([{ what: "the compute", urn: urn("a") }]);
  expect(memory().declare(urn("a"), [{ ...CLAIM, shared: true }])).toHaveLength(1);
  one.setStored(urn("a"), [OBJECT], urn("was a"));
  expect(two.otherOwner(OBJECT, urn("b"))).toBe(urn("a"));
  expect(two.otherOwner(OBJECT, urn("was a"))).toBeUndefined();
  one.removeStored([OBJECT], urn("a"));
  expect(two.otherOwner(OBJECT, urn("b"))).toBeUndefined();
});

test("another run, a process that has ended and a line on its way do not count", () => {
  const [one, two] = [memory(), memory()];
  memory("another run").takeOver(OBJECT, urn("x"));
  expect(two.otherOwner(OBJECT, urn("b"))).toBeUndefined();
  one.takeOver(OBJECT, urn("a"));
  const file = files().find((path) => readFileSync(path, "utf8").includes(urn("a"))) ?? "";
  const [line = ""] = readFileSync(file, "utf8")
    .split("\n")
    .filter((text) => text.startsWith('["state"'));
  appendFileSync(file, line.slice(0, 12));
  expect(two.otherOwner(OBJECT, urn("b"))).toBe(urn("a"));
  appendFileSync(file, `${line.slice(12).replace(urn("a"), urn("c"))}\n`);
  expect(two.otherOwner(OBJECT, urn("b"))).toBe(urn("c"));

  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const dead = file.replace(`-${process.pid}-`, `-${pid}-`);
  renameSync(file, dead);
  expect(two.otherOwner(OBJECT, urn("b"))).toBeUndefined();

  // It goes with the next process. What another machine or container has there stays: its ids mean other processes.
  const elsewhere = join(dirname(dead), `other-run-${pid}-1`);
  writeFileSync(elsewhere, "");
  memory("the next run");
  expect([dead, elsewhere].map((path) => existsSync(path))).toEqual([false, true]);
});

test("processes that start while others sweep hear each other", () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const first = memory();
  const [file = ""] = files();
  for (let i = 0; i < 20; i++) {
    writeFileSync(file.replace(`-${process.pid}-`, `-${pid}-${i}-`), "");
    memory("another run");
  }
  const second = memory();
  second.takeOver(OBJECT, urn("b"));
  expect(first.otherOwner(OBJECT, urn("a"))).toBe(urn("b"));
});

test("the files can be read by this user alone, and a folder of others is not used", () => {
  memory().takeOver(OBJECT, urn("a"));
  expect(
    files()
      .map((file) => readFileSync(file, "utf8"))
      .join(""),
  ).not.toMatch(/prj-1|ep-1|the compute/);
  if (process.platform === "win32") return;
  const script = `find "${folder}" -mindepth 1 -perm /077`;
  expect(spawnSync("sh", ["-c", script], { encoding: "utf8" }).stdout).not.toContain(readdirSync(folder)[0] + "\n");
  chmodSync(join(folder, readdirSync(folder)[0] ?? ""), 0o777);
  expect(OtherProcesses.of("run", folder)).toBeUndefined();
});

test("a resource of the other kind of provider is known in both orders, while its process lives and in its run", () => {
  const [native, dynamic] = ["svc:index:", "pulumi-nodejs:dynamic/svc:"].map(
    (begin) => (name: string) => `urn:pulumi:dev::proj::my:index:Group$${begin}ComputeEndpoint::${name}`,
  );
  if (native === undefined || dynamic === undefined) throw new Error("unreachable");
  const one = memory();
  one.declare(native("a"), []);
  expect(one.ofOtherDoor(native("a"))).toBeUndefined();
  const two = memory();
  expect(two.ofOtherDoor(native("c"))).toBeUndefined();
  two.declare(dynamic("b"), [CLAIM]);
  expect(two.ofOtherDoor(dynamic("b"))).toBe(native("a"));
  expect(one.ofOtherDoor(native("a"))).toBe(dynamic("b"));
  expect(memory("the next run").ofOtherDoor(native("a"))).toBeUndefined();

  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  for (const file of files()) renameSync(file, file.replace(`-${process.pid}-`, `-${pid}-`));
  expect(memory().ofOtherDoor(native("a"))).toBeUndefined();
});
