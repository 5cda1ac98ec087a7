import { spawnSync } from "node:child_process";
import fs from "node:fs";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { NotKnownError, requireGranted } from "../../src/client";
import { RunFolder } from "../../src/contract/runFolder";
import { RunMemory } from "../../src/runtime/run/memory";
import { type Doing, NOBODY, OTHER_ENTRY } from "../../src/runtime/run/others";
import { ManagedElsewhereError } from "../../src/runtime/run/ownership";
import { OtherProcesses } from "../../src/runtime/run/otherProcesses";
import type { Act, ProcessList, Shown } from "../../src/runtime/run/processList";

const OBJECT = "compute prj-1/ep-1";
const CLAIM = { object: OBJECT, what: "the compute" };
const urn = (name: string): string => `urn:pulumi:dev::proj::type::${name}`;
const ADDRESS = "https://api.example.com/v2";

let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "others-"));
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(temporary, { recursive: true });
});

/** The processes of one machine, of which each shows what it does. In a test they are all in this one. */
class List implements ProcessList {
  readonly acts = new Set<Act>();
  pid = process.pid;
  isShown = true;

  constructor(
    private readonly all: List[],
    private readonly run: string,
  ) {
    all.push(this);
  }

  show(act: Act): void {
    this.acts.add(act);
  }

  servesWholeDestroy(): boolean {
    return false;
  }

  others(): Shown[] | undefined {
    if (!this.isShown) return undefined;
    const others = this.all.filter((one) => one !== this && one.run === this.run && one.acts.size > 0);
    return others.map(({ pid, acts }) => ({ pid, acts: [...acts] }));
  }
}

/** What begins processes on one machine: the memory of each, with its entry in the list. */
function machine() {
  const all: List[] = [];
  return ({ run = "run", address = ADDRESS } = {}): { memory: RunMemory; list: List } => {
    const list = new List(all, run);
    const memory = new RunMemory();
    memory.meet(new OtherProcesses({ run, address, list }, (begin) => RunFolder.join(run, begin, temporary)));
    return { memory, list };
  };
}

const folder = (): string => join(temporary, readdirSync(temporary)[0] ?? "");
/** The files of all runs. */
const files = (): string[] => readdirSync(folder()).map((name) => join(folder(), name));
const fileWith = (text: string): string => files().find((file) => readFileSync(file, "utf8").includes(text)) ?? "";

/** As if the process of this file had ended. Returns its new name. */
function dead(file: string, list?: List): string {
  list?.acts.clear();
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const name = file.replace(`-${process.pid}-`, `-${pid}-`);
  renameSync(file, name);
  return name;
}

/** What a process answers to each question about an object: the error, or nothing. It asks when the answer is read. */
function verdicts({ memory }: { memory: RunMemory }, object = OBJECT, name = "b"): Record<Doing, unknown> {
  const thrown = (work: () => void): unknown => {
    try {
      work();
      return undefined;
    } catch (error) {
      return error;
    }
  };
  return {
    get changes() {
      return thrown(() => memory.ownership.checkNotTakenOver([object], urn(name)));
    },
    get deletes() {
      return thrown(() =>
        requireGranted(memory.ownership.mayDelete([object], { urn: urn(name), by: urn(name), claims: [] })),
      );
    },
    get "takes-over"() {
      return thrown(() => memory.ownership.takeOver(object, urn(name)));
    },
  };
}

/** What the program has declared is not known, and so who else of it may hold the object of an entry. */
function expectToGoOn(one: { memory: RunMemory }, why: RegExp): void {
  const { deletes, ...rest } = verdicts(one);
  expect(Object.values(rest)).toEqual([undefined, undefined]);
  const message = String((deletes as Error).message);
  expect(message).toMatch(/^it is not known whether the program declares the same object under another name: /);
  expect(message).toMatch(why);
  one.memory.claims.declare(urn("compared"), []);
  expect(verdicts(one, "compute prj-1/ep-4", "compared").deletes).toBeUndefined();
}

const LEAVING = /is being deleted or moved away in this run/;

test("what one process takes over, another one neither deletes nor changes nor takes over, until it is forgotten", () => {
  const start = machine();
  const [{ memory: one }, { memory: two }] = [start(), start()];
  one.ownership.takeOver(OBJECT, urn("a"));
  const deletion = () => verdicts({ memory: two }).deletes;
  expect(deletion()).toMatchObject({ message: expect.stringContaining('managed by "a" of this program') });
  expect(() => two.ownership.checkNotTakenOver([OBJECT], urn("b"))).toThrow(/"a" of this program took over/);
  expect(() => two.ownership.takeOver(OBJECT, urn("b"))).toThrow(/is already managed by "a"/);
  one.objects.forgetOwner(OBJECT);
  expect(deletion()).toBeUndefined();
  two.ownership.takeOver(OBJECT, urn("b"));
  expect(one.ownership.otherOwner(OBJECT, urn("a"))).toBe(urn("b"));
});

test("what one process deletes, another one does not take over meanwhile, and knows afterwards", async () => {
  const start = machine();
  const [{ memory: one }, { memory: two }] = [start(), start()];
  let end = (): void => undefined;
  const work = () => new Promise<void>((resolve) => (end = resolve));
  const deleting = one.objects.whileReleasing({ objects: [OBJECT], by: urn("a"), deletes: true }, work);
  await Promise.resolve();
  expect(() => two.ownership.takeOver(OBJECT, urn("b"))).toThrow(LEAVING);
  expect(verdicts({ memory: one }, OBJECT, "a").deletes).toBeUndefined();
  end();
  await deleting;
  expect(two.objects.wasDeleted(OBJECT)).toBe(true);
  two.ownership.takeOver(OBJECT, urn("b"));
});

test("what a resource of another process declares and has in its state counts, but for the same URN", () => {
  const start = machine();
  const [{ memory: one }, { memory: two }] = [start(), start()];
  one.claims.declare(urn("a"), [CLAIM]);
  expect(two.claims.declare(urn("a"), [CLAIM])).toEqual([]);
  expect(two.claims.declare(urn("b"), [CLAIM])).toEqual([{ what: "the compute", urn: urn("a") }]);
  expect(start().memory.claims.declare(urn("a"), [{ ...CLAIM, shared: true }])).toHaveLength(1);
  one.ownership.setStored(urn("a"), [OBJECT], urn("was a"));
  expect(two.ownership.otherOwner(OBJECT, urn("b"))).toBe(urn("a"));
  expect(two.ownership.otherOwner(OBJECT, urn("was a"))).toBeUndefined();
  one.ownership.removeStored([OBJECT], urn("a"));
  expect(two.ownership.otherOwner(OBJECT, urn("b"))).toBeUndefined();
});

test("another run and a line on its way do not count", () => {
  const start = machine();
  const [{ memory: one }, { memory: two }] = [start(), start()];
  start({ run: "another" }).memory.ownership.takeOver(OBJECT, urn("x"));
  expect(two.ownership.otherOwner(OBJECT, urn("b"))).toBeUndefined();
  one.ownership.takeOver(OBJECT, urn("a"));
  const file = fileWith(urn("a"));
  const [line = ""] = readFileSync(file, "utf8")
    .split("\n")
    .filter((text) => text.startsWith('["state"'));
  appendFileSync(file, line.slice(0, 12));
  expect(two.ownership.otherOwner(OBJECT, urn("b"))).toBe(urn("a"));
  appendFileSync(file, `${line.slice(12).replace(urn("a"), urn("c"))}\n`);
  expect(two.ownership.otherOwner(OBJECT, urn("b"))).toBe(urn("c"));
});

test("what a process has taken over or has in its state is in doubt once it has ended, and nothing else", () => {
  const start = machine();
  const [{ memory: one, list }, two] = [start(), start()];
  one.ownership.takeOver(OBJECT, urn("a"));
  one.claims.declare(urn("a"), [CLAIM]);
  one.ownership.setStored(urn("d"), ["compute prj-1/ep-2"]);
  dead(fileWith(urn("a")), list);
  const question =
    /^it is not known whether "a" of this program manages compute prj-1\/ep-1: the process of its Provider/;
  for (const error of Object.values(verdicts(two))) {
    expect(error).toBeInstanceOf(NotKnownError);
    expect(String((error as Error).message)).toMatch(question);
  }
  expect(verdicts(two, "compute prj-1/ep-2")).toEqual({
    changes: undefined,
    deletes: expect.any(NotKnownError),
    "takes-over": expect.any(NotKnownError),
  });
  expect(Object.values(verdicts(two, "compute prj-1/ep-3"))).toEqual([undefined, undefined, undefined]);
  // A process that begins later knows it, too.
  expect(verdicts(start())).toMatchObject({ deletes: expect.any(NotKnownError) });
  expect(two.memory.claims.declare(urn("b"), [CLAIM])).toEqual([]);
});

test("a process that has ended in the middle of a line has not told all", () => {
  const start = machine();
  const [{ memory: one, list }, { memory: two }] = [start(), start()];
  one.ownership.setStored(urn("a"), []);
  two.ownership.setStored(urn("b"), []);
  const file = fileWith(urn("a"));
  appendFileSync(file, '["state"');
  dead(file, list);
  expect(verdicts(start()).deletes).toMatchObject({ message: expect.stringContaining("is damaged") });
});

test("an object whose deletion a process had begun when it ended is not taken over", () => {
  const start = machine();
  const [{ memory: one }, two] = [start(), start()];
  void one.objects.whileReleasing(
    { objects: [OBJECT], by: urn("a"), deletes: true },
    () => new Promise(() => undefined),
  );
  dead(fileWith('"isLeaving":true'));
  expect(() => two.memory.ownership.takeOver(OBJECT, urn("b"))).toThrow(
    /^it is not known whether compute prj-1\/ep-1 is being deleted or moved away/,
  );
});

test("what ended processes have left goes an hour later, unless their run goes on, and that of other machines stays", () => {
  const start = machine();
  start({ run: "over" }).memory.ownership.takeOver(OBJECT, urn("a"));
  const over = dead(fileWith(urn("a")));
  start({ run: "going on" }).memory.ownership.takeOver(OBJECT, urn("b"));
  const goesOn = dead(fileWith(urn("b")));
  start({ run: "going on" });
  const elsewhere = join(dirname(over), "other-run-1-1");
  writeFileSync(elsewhere, "");
  const left = () => {
    start({ run: "the next one" });
    return [over, goesOn, elsewhere].map((path) => existsSync(path));
  };
  expect(left()).toEqual([true, true, true]);
  const old = Date.now() / 1000 - 3_700;
  for (const file of [over, goesOn, elsewhere]) utimesSync(file, old, old);
  expect(left()).toEqual([false, true, true]);
});

test("the files can be read by this user alone, and show no object", () => {
  machine()().memory.ownership.takeOver(OBJECT, urn("a"));
  expect(
    files()
      .map((file) => readFileSync(file, "utf8"))
      .join(""),
  ).not.toMatch(/prj-1|ep-1|the compute/);
  if (process.platform === "win32") return;
  for (const path of [folder(), ...files()]) expect(statSync(path).mode & 0o077).toBe(0);
});

test("a resource of the other kind of provider is known in both orders, while its process lives and in its run", () => {
  const [native, dynamic] = ["svc:index:", "pulumi-nodejs:dynamic/svc:"].map(
    (begin) => (name: string) => `urn:pulumi:dev::proj::my:index:Group$${begin}ComputeEndpoint::${name}`,
  );
  if (native === undefined || dynamic === undefined) throw new Error("unreachable");
  const start = machine();
  const { memory: one } = start();
  one.claims.declare(native("a"), []);
  expect(one.claims.ofOtherProtocol(native("a"))).toBeUndefined();
  const { memory: two } = start();
  expect(two.claims.ofOtherProtocol(native("c"))).toBeUndefined();
  two.claims.declare(dynamic("b"), [CLAIM]);
  expect(two.claims.ofOtherProtocol(dynamic("b"))).toBe(native("a"));
  expect(one.claims.ofOtherProtocol(native("a"))).toBe(dynamic("b"));
  expect(start({ run: "the next one" }).memory.claims.ofOtherProtocol(native("a"))).toBeUndefined();
  for (const file of files()) dead(file);
  expect(start().memory.claims.ofOtherProtocol(native("a"))).toBeUndefined();
});

test("an entry whose URN a resource of the program has by now is not named by that URN in what removes it", () => {
  const memory = new RunMemory();
  const program = [{ urn: urn("renamed"), shared: false }];
  memory.meet({ ...NOBODY, declaredByProgram: () => program, isOfProgram: () => true });
  const options = { ignored: [], retains: false, deletesFirst: undefined };
  const checked = { oldInputs: { adopt: true }, isReplacement: false, isPreview: false, newInputs: undefined };
  memory.claims.checked.set(urn("a"), { ...checked, ...options });
  memory.ownership.setStored(urn("a"), []);
  const by = memory.ownership.deleterOf(urn("a"), [OBJECT]);
  expect(by).toBe(OTHER_ENTRY);
  const permission = memory.ownership.mayDelete([OBJECT], { urn: urn("a"), by, claims: [] });
  expect(permission).toMatchObject({
    error: { message: expect.stringContaining("pulumi state delete '<its URN>'") },
  });
});

test("an entry that the program has may be another one's of before an alias, but not if all is destroyed", () => {
  const verdictIn = (isWholeDestroy: boolean) => {
    const memory = new RunMemory();
    const program = [{ urn: urn("a"), shared: false }];
    const known = { declaredByProgram: () => program, isOfProgram: () => true, isWholeDestroy: () => isWholeDestroy };
    memory.meet({ ...NOBODY, ...known });
    return memory.ownership.mayDelete([OBJECT], { urn: urn("a"), by: urn("a"), claims: [] });
  };
  expect(verdictIn(false)).toMatchObject({ error: { message: expect.stringContaining("before an alias") } });
  expect(() => requireGranted(verdictIn(true))).not.toThrow();
});

describe("two services", () => {
  const start = machine();
  const both = (one: string, other: string) => {
    const holder = start({ address: one });
    holder.memory.claims.declare(urn("a"), [CLAIM]);
    holder.memory.ownership.setStored(urn("a"), [OBJECT]);
    return start({ address: other });
  };

  test("at two ports of one host are told apart", () => {
    const other = both("http://127.0.0.1:8787/v2", "http://127.0.0.1:8788/v2");
    expect(other.memory.claims.declare(urn("b"), [CLAIM])).toEqual([]);
    expect(Object.values(verdicts(other))).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    ["names of one machine", "http://localhost:8787/v2", "http://[::1]:8787/v2"],
    ["spellings", "https://api.example.com/v2", "HTTP://API.example.com.:80/v2/"],
  ])("that are two %s are one", (_, one, other) => {
    const second = both(one, other);
    expect(second.memory.claims.declare(urn("b"), [CLAIM])).toHaveLength(1);
    expect(verdicts(second)).toMatchObject({
      deletes: expect.any(ManagedElsewhereError),
      "takes-over": expect.objectContaining({ message: expect.stringContaining('already managed by "a"') }),
    });
  });

  test("that may be one, nothing is deleted in either that the other one manages", () => {
    const other = both("https://api.example.com/v2", "https://gateway.example.com/v2");
    // Certainly not the same would be needed to take it for an error of the program.
    expect(other.memory.claims.declare(urn("b"), [CLAIM])).toEqual([]);
    const { changes, ...refused } = verdicts(other);
    expect(changes).toBeUndefined();
    for (const error of Object.values(refused))
      expect(error).toMatchObject({
        message: expect.stringMatching(
          /its Provider uses https:\/\/api\.example\.com\/v2, and this one https:\/\/gateway\.example\.com\/v2, which may be the same service\. .*the same address.*destroy --target$/,
        ),
      });
    expect(Object.values(verdicts(other, "compute prj-1/ep-2"))).toEqual([undefined, undefined, undefined]);
  });
});

/** What goes wrong while two processes run: what is done to the file of the first one, which has told something. */
const TROUBLES: [how: string, spoil: (file: string) => void, why: RegExp][] = [
  ["its file is removed", (file) => rmSync(file), /the provider process \d+ of this run has no file in/],
  ["the folder is removed", (file) => rmSync(dirname(file), { recursive: true }), /were removed during this run/],
  ["others may open the folder", (file) => chmodSync(dirname(file), 0o755), /its mode is 755\)\. Run chmod 700 \S+/],
  ["its file has become empty", (file) => truncateSync(file), /a provider process of this run could not write/],
  ["its file has become shorter", (file) => truncateSync(file, 60), /a provider process of this run could not write/],
  ["a line of its file is no line", (file) => appendFileSync(file, "[\n"), /is damaged\. Remove \S+,/],
  ["a line of its file is unknown", (file) => appendFileSync(file, '["x"]\n'), /is damaged/],
  [
    "its file cannot be read",
    (file) => {
      rmSync(file);
      mkdirSync(file);
    },
    /has a file that cannot be read|belongs to another user/,
  ],
  [
    "its file is a link",
    (file) => {
      renameSync(file, join(temporary, "moved"));
      symlinkSync(join(temporary, "moved"), file);
    },
    /has a file that cannot be read \(ELOOP\)/,
  ],
  [
    "reading it fails",
    () => {
      jest.spyOn(fs, "readSync").mockImplementation(() => {
        throw Object.assign(new Error("i/o error"), { code: "EIO" });
      });
    },
    /has a file that cannot be read \(EIO\)/,
  ],
  [
    "the folder cannot be listed",
    () => {
      jest.spyOn(fs, "readdirSync").mockImplementation(() => {
        throw Object.assign(new Error("permission denied"), { code: "EACCES" });
      });
    },
    /cannot be read \(EACCES\)\. Set TMPDIR to a folder of your own/,
  ],
];

describe.each(TROUBLES)("if %s", (_how, spoil, why) => {
  test("what the other Provider does is not known from then on", () => {
    const start = machine();
    const [first, second] = [start(), start()];
    first.memory.ownership.setStored(urn("a"), ["compute prj-1/ep-2"]);
    expect(second.memory.ownership.otherOwner("compute prj-1/ep-2", urn("b"))).toBe(urn("a"));
    spoil(fileWith(urn("a")));
    for (let time = 0; time < 2; time += 1) {
      const { changes, ...refused } = verdicts(second);
      expect(changes).toBeUndefined();
      for (const error of Object.values(refused)) {
        expect(error).toBeInstanceOf(NotKnownError);
        expect(String((error as Error).message)).toMatch(why);
      }
      expect(refused["takes-over"]).toMatchObject({
        message: expect.stringMatching(/this run has more than one Provider, and /),
      });
      jest.restoreAllMocks();
      if (existsSync(folder())) chmodSync(folder(), 0o700);
    }
    // What the first one had told may have been withdrawn since.
    expect(verdicts(second, "compute prj-1/ep-2").deletes).toBeInstanceOf(NotKnownError);
    // What could not be taken over is free.
    expect(second.memory.ownership.otherOwner(OBJECT, urn("a"))).toBeUndefined();
    first.list.show("takes-over");
    expect(verdicts(second).changes).toBeInstanceOf(NotKnownError);
  });

  test("a run with one Provider goes on, and deletes only what it has compared", () => {
    const start = machine();
    // Of a process that has told nothing of its own, as one that only refreshes.
    start();
    const [file = ""] = files();
    const second = start();
    appendFileSync(file, `["stored","${urn("a")}",{"stateUrn":"","objects":[]}]\n`);
    expect(second.memory.ownership.otherOwner(OBJECT, urn("b"))).toBeUndefined();
    spoil(file);
    expectToGoOn(second, why);
  });
});

/** What is wrong before the processes begin. */
const SPOILT: [how: string, spoil: (folder: string) => void, why: RegExp][] = [
  ["others may open the folder", (path) => chmodSync(path, 0o775), /its mode is 775\)\. Run chmod 700/],
  [
    "the folder is a file",
    (path) => {
      rmSync(path, { recursive: true });
      writeFileSync(path, "");
    },
    /is not a folder\. Remove \S+,/,
  ],
  [
    "the folder is a link",
    (path) => {
      renameSync(path, `${path}-moved`);
      symlinkSync(`${path}-moved`, path);
    },
    /is not a folder\. Remove \S+,/,
  ],
  [
    "the folder belongs to somebody else",
    (path) => {
      const uid = process.getuid?.() ?? 0;
      const { lstatSync } = fs;
      jest.spyOn(fs, "lstatSync").mockImplementation(((...args: Parameters<typeof lstatSync>) => {
        const found = Reflect.apply(lstatSync, fs, args) as fs.Stats;
        return args[0] === path ? Object.assign(found, { uid: uid + 1 }) : found;
      }) as typeof lstatSync);
    },
    /is not used, because it belongs to another user\. Remove \S+, or set TMPDIR to a folder of your own/,
  ],
  [
    "nothing can be written there",
    () => {
      jest.spyOn(fs, "writeFileSync").mockImplementation(() => {
        throw Object.assign(new Error("read-only"), { code: "EROFS" });
      });
    },
    /cannot be used \(EROFS\)\. Set TMPDIR to a folder of your own that can be written to/,
  ],
  [
    "the disk is full",
    () => {
      jest.spyOn(fs, "writeSync").mockImplementation(() => {
        throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
      });
    },
    /cannot be written to \(ENOSPC\)\. Free some space on that disk, or set TMPDIR/,
  ],
  [
    "half of a line can be written",
    () => {
      jest.spyOn(fs, "writeSync").mockImplementation(() => 3);
    },
    /cannot be written to \(ENOSPC\)/,
  ],
];

describe.each(SPOILT)("if %s from the start", (_how, spoil, why) => {
  beforeEach(() => {
    machine()();
    spoil(folder());
  });

  test("neither of two Providers takes over or deletes, and a plan says so", () => {
    const start = machine();
    const [first, second] = [start(), start()];
    first.memory.claims.declare(urn("a"), [CLAIM]);
    second.memory.claims.declare(urn("b"), []);
    expect(second.memory.unheard()).toMatchObject({ why: expect.stringMatching(/more than one Provider/) });
    for (const one of [first, second]) {
      expect(verdicts(one).changes).toBeUndefined();
      expect(verdicts(one).deletes).toMatchObject({ message: expect.stringMatching(why) });
    }
    for (const one of [first, second])
      expect(verdicts(one)["takes-over"]).toMatchObject({ message: expect.stringMatching(why) });
  });

  test("one that took over before the other one began keeps what it has", () => {
    const start = machine();
    const first = start();
    first.memory.ownership.takeOver(OBJECT, urn("a"));
    const second = start();
    expect(Object.values(verdicts(second))).toEqual(new Array(3).fill(expect.any(NotKnownError)));
  });

  test("a destroy deletes nothing, since it may be a part of an up", () => {
    const start = machine();
    for (const one of [start(), start()])
      expect(verdicts(one).deletes).toMatchObject({ message: expect.stringMatching(why) });
  });

  test("a run with one Provider goes on, if the list of processes shows that it is one, and deletes only what it has compared", () => {
    const one = machine()();
    one.memory.claims.declare(urn("a"), [CLAIM]);
    expect(one.memory.unheard()).toBeUndefined();
    expectToGoOn(one, why);
    one.list.isShown = false;
    expect(Object.values(verdicts(one, "compute prj-1/ep-2"))).toEqual(new Array(3).fill(expect.any(NotKnownError)));
    expect(one.memory.unheard()?.why).toMatch(
      /^the list of processes does not show whether this run has more than one Provider, and /,
    );
  });
});

describe("one process that cannot tell the others", () => {
  test.each([
    ["at its start", true],
    ["later", false],
  ])("%s: they know", (_, atStart) => {
    const start = machine();
    const second = start();
    const full = () =>
      jest.spyOn(fs, "writeSync").mockImplementationOnce(() => {
        throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
      });
    if (atStart) full();
    const first = start();
    if (!atStart) full();
    first.memory.ownership.setStored(urn("a"), [OBJECT]);
    expect(verdicts(second).deletes).toMatchObject({
      message: expect.stringMatching(/a provider process of this run could not write to its file in \S+\. /),
    });
  });

  test("and has no file at all: the list of processes shows it", () => {
    const start = machine();
    const [first, second] = [start(), start()];
    rmSync(folder(), { recursive: true });
    const third = start();
    first.list.pid = 1;
    first.memory.ownership.takeOver(OBJECT, urn("a"));
    expect(verdicts(third).deletes).toMatchObject({
      message: expect.stringMatching(/the provider process 1 of this run has no file in \S+\. Let nothing clean/),
    });
    expect(verdicts(second).deletes).toBeInstanceOf(NotKnownError);
  });

  test("because it is of another version", () => {
    const start = machine();
    const [first, second] = [start(), start()];
    for (const file of files()) writeFileSync(file, readFileSync(file, "utf8").replace(/"begin",\d+/, '"begin",99'));
    first.memory.ownership.setStored(urn("a"), [OBJECT]);
    expect(verdicts(second).deletes).toMatchObject({
      message: expect.stringContaining("another provider process uses another version of pulumi-svc. Make"),
    });
  });
});
