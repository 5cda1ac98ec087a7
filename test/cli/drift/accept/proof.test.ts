import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import typescript from "typescript";
import { candidatesIn, textsWith } from "../../../../src/cli/drift/accept/edit";
import { planOfStack, type StackPlan, writeProven } from "../../../../src/cli/drift/accept/proof";
import { ProjectFiles } from "../../../../src/cli/drift/accept/projectFiles";
import type { Target } from "../../../../src/cli/drift/accept/target";
import type { Pulumi, Run } from "../../../../src/cli/stack/pulumi";
import { UNKNOWN_VALUE } from "../../../../src/contract/hiddenKeys";
import { createdBy, IMPORT, planWith, targetOf } from "../../../support/editedPrograms";

let folder: string;
beforeEach(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), "accept-proof-")))));
afterEach(() => rmSync(folder, { recursive: true }));

const sized = (name: string, size: number | string = 2): string =>
  `new svc.ComputeEndpoint("${name}", { projectId: "prj-demo", branchId: "br-dev", size: ${size} });\n`;
const drifted = (name: string, found = 4): Target => targetOf([["size", 2, found]], { name });
const urnOf = (name: string): string => drifted(name).urn;
const BUCKET = "urn:pulumi:dev::proj::aws:s3/bucket:Bucket::files";

interface Scene {
  readonly text: string;
  readonly targets?: readonly Target[];
  /** The plan of a text. @default that of all resources that it creates */
  readonly plan?: (text: string, run: number) => StackPlan;
}

const planOf = (text: string): StackPlan =>
  planWith([...createdBy(text)].map(([name, args]) => [urnOf(name), args] as const));

async function proven({ text, targets = [drifted("api")], plan = planOf }: Scene) {
  const path = join(folder, "index.ts");
  writeFileSync(path, text);
  const { candidates, told } = await candidatesIn(typescript, new Map([["index.ts", text]]), targets);
  expect(told).toEqual([]);
  const seen: string[] = [];
  const planned = async (): Promise<StackPlan> => {
    seen.push(readFileSync(path, "utf8"));
    return Promise.resolve(plan(seen.at(-1) ?? "", seen.length));
  };
  const files = new ProjectFiles(folder, folder, typescript);
  const dropped = await writeProven(candidates, { planned, files }).catch((error: Error) => error.message);
  const kept = candidates.filter(({ target }) => typeof dropped !== "string" && !dropped.has(target.urn));
  const now = readFileSync(path, "utf8");
  // What is reported is what the file has.
  if (typeof dropped !== "string") expect(now).toBe(textsWith(kept).get("index.ts") ?? text);
  const reasons = typeof dropped === "string" ? dropped : Object.fromEntries(dropped);
  return { reasons, text: now, seen };
}

const API = IMPORT + sized("api");

test("an edit stays that the plan shows, and that changes nothing else", async () => {
  const { reasons, text, seen } = await proven({ text: API + sized("jobs") });
  const after = IMPORT + sized("api", 4) + sized("jobs");
  expect([reasons, text, seen]).toEqual([{}, after, [API + sized("jobs"), after]]);
});

describe("an edit is taken back", () => {
  test.each<[what: string, plan: (text: string, run: number) => StackPlan, reason: RegExp]>([
    ["the plan still shows the declared value", () => planOf(API), /still shows another value, so the edit was undone/],
    [
      "the resource is gone",
      (text, run) => (run === 1 ? planOf(text) : new Map()),
      /still shows another value, so the edit was undone/,
    ],
    [
      "the plan of another resource changes",
      (text) =>
        planWith([...planOf(text), ["jobs", createdBy(text).get("api")]].map(([urn, one]) => inputsOf(urn, one))),
      /^an edit here also changes the plan of "jobs", so it was undone$/,
    ],
    [
      "another resource is created",
      (text, run) => new Map([...planOf(text), ...(run === 1 ? [] : planOf(sizedAlone("new")))]),
      /also changes the plan of "new"/,
    ],
    [
      "another resource is no longer declared",
      (text, run) => new Map([...planOf(text), ...(run > 1 ? [] : planOf(sizedAlone("old")))]),
      /also changes the plan of "old"/,
    ],
    [
      "another argument of the resource changes",
      (text, run) => planWith([[urnOf("api"), { ...createdBy(text).get("api"), name: `n${run}` }]]),
      /^an edit here also changes other arguments of "api", so it was undone$/,
    ],
    [
      "a resource of another package has to be updated",
      (text, run) => new Map([...planOf(text), [BUCKET, step(run === 1 ? "same" : "update")]]),
      /also changes the plan of "files"/,
    ],
    [
      "the stack has no plan with it",
      (text) => (text === API ? planOf(text) : failing()),
      /^with an edit here the stack has no plan, so the edit was undone: pulumi preview failed: no way$/,
    ],
  ])("where %s", async (_what, plan, reason) => {
    const { reasons, text } = await proven({ text: API, plan });
    expect([reasons, text]).toEqual([{ [urnOf("api")]: expect.stringMatching(reason) }, API]);
  });
});

const sizedAlone = (name: string): string => IMPORT + sized(name);
const step = (op: string) => ({ op, inputs: { at: Math.random() } });
const inputsOf = (key: unknown, one: unknown): readonly [string, object] => {
  const inputs = typeof one === "object" && one !== null && "inputs" in one ? (one.inputs as object) : (one as object);
  return [String(key).startsWith("urn") ? String(key) : urnOf(String(key)), inputs];
};
const failing = (): never => {
  throw new Error("pulumi preview failed: no way");
};

describe("an edit stays", () => {
  test.each<[what: string, plan: (text: string, run: number) => StackPlan]>([
    [
      "other edits are pending",
      (text) => planWith([...planOf(text), [urnOf("jobs"), { size: 8 }]].map(([urn, one]) => inputsOf(urn, one))),
    ],
    [
      "a value is known only with it",
      (text, run) =>
        planWith([
          [urnOf("api"), createdBy(text).get("api") ?? {}],
          [
            urnOf("jobs"),
            { size: 2, name: run === 1 ? UNKNOWN_VALUE : "of api", list: [run === 1 ? UNKNOWN_VALUE : 1] },
          ],
        ]),
    ],
    [
      "a resource of another package has other arguments in each run, or is no longer updated",
      (text, run) =>
        new Map([...planOf(text), [BUCKET, step(run === 1 ? "update" : "same")], [`${BUCKET}2`, step("update")]]),
    ],
  ])("where %s", async (_what, plan) => {
    expect((await proven({ text: API, plan })).reasons).toEqual({});
  });
});

test("of several edits those stay that hold, and each of the others is named", async () => {
  const text = `${IMPORT}
for (const name of ["a", "b", "c"]) ${sized("loop").replace('"loop"', "name")}${sized("api")}${sized("jobs")}`;
  // Who has the other value is seen in the plan.
  const place = { file: "index.ts", line: 3, column: 38 };
  const targets = [drifted("api"), ...["a", "b"].map((name) => ({ ...drifted(name), place })), drifted("jobs")];
  const { reasons, text: after } = await proven({ text, targets });
  const also = (...names: string[]): string =>
    `an edit here also changes ${names.map((name) => `the plan of "${name}"`).join(", ")}, so it was undone`;
  expect(reasons).toEqual({ [urnOf("a")]: also("c"), [urnOf("b")]: also("a", "c") });
  expect(after).toBe(text.replace(sized("api"), sized("api", 4)).replace(sized("jobs"), sized("jobs", 4)));
});

test("what a loop creates is edited where all of it differs in the same way", async () => {
  const text = `${IMPORT}for (const name of ["a", "b"]) ${sized("loop").replace('"loop"', "name")}`;
  const place = { file: "index.ts", line: 2, column: 32 };
  const targets = ["a", "b"].map((name) => ({ ...drifted(name), place }));
  const { reasons, text: after, seen } = await proven({ text, targets });
  expect([reasons, after, seen.length]).toEqual([{}, text.replace("size: 2", "size: 4"), 2]);
});

test("a value that the plan shows without the edit is no proof of it: nothing is written", async () => {
  const plan = (): StackPlan => planOf(IMPORT + sized("api", 4));
  const { reasons, text, seen } = await proven({ text: API, plan });
  expect([reasons, text, seen]).toEqual([
    { [urnOf("api")]: expect.stringMatching(/without an edit here/) },
    API,
    [API],
  ]);
});

test("what the text has already is accepted where the plan shows it", async () => {
  const text = IMPORT + sized("api", 4);
  expect(await proven({ text })).toEqual({ reasons: {}, text, seen: [text] });
  const { reasons } = await proven({ text, plan: () => planOf(API) });
  expect(reasons).toEqual({ [urnOf("api")]: expect.stringMatching(/^the text has the value here, but the plan/) });
});

test("without a plan of the program nothing is written, and the words of the CLI say why", async () => {
  const { reasons, text, seen } = await proven({ text: API, plan: failing });
  expect(reasons).toMatch(/^nothing was edited, because the plan .* pulumi preview failed: no way$/);
  expect([text, seen]).toEqual([API, [API]]);
});

test("a plan that fails without an edit, too, ends the command, and nothing stays written", async () => {
  const text = API + sized("jobs") + sized("web");
  const targets = ["api", "jobs", "web"].map((name) => drifted(name));
  // The edit of "api" alone has a plan.
  const plan = (now: string, run: number): StackPlan => (run === 1 || run === 3 ? planOf(now) : failing());
  const { reasons, text: after, seen } = await proven({ text, plan, targets });
  expect(reasons).toMatch(/^nothing was edited, because the plan .* pulumi preview failed: no way$/);
  expect([after, seen.length]).toEqual([text, 6]);
});

test("a signal ends the command, and nothing stays written", async () => {
  const text = API + sized("jobs");
  const plan = (now: string, run: number): StackPlan => {
    // The edit of "api" alone has a plan.
    if (run === 2) return failing();
    if (run === 4) process.emit("SIGTERM", "SIGTERM");
    return run === 4 ? failing() : planOf(now);
  };
  const { reasons, text: after, seen } = await proven({ text, plan, targets: [drifted("api"), drifted("jobs")] });
  expect(reasons).toMatch(/^nothing was edited/);
  expect([after, seen.length]).toEqual([text, 4]);
});

test.each<[string, (text: string, run: number) => StackPlan]>([
  ["the plan fails", (text, run) => (run === 1 ? planOf(text) : failing())],
  ["the plan shows another value", () => planOf(API)],
])("what somebody else has written meanwhile stays, and is reported: %s", async (_what, plan) => {
  const { reasons, text } = await proven({
    text: API,
    plan: (now, run) => {
      if (run === 2) writeFileSync(join(folder, "index.ts"), "theirs");
      return plan(now, run);
    },
  });
  expect(reasons).toMatch(/a wrong edit could not be undone\. Check index\.ts: .*it changed while the command ran/);
  expect(text).toBe("theirs");
});

describe("the plan", () => {
  const SECRET = "canary-of-an-environment";
  const pulumi =
    (run: Partial<Run>, asked: string[] = []): Pulumi =>
    (args) => {
      asked.push(...args);
      return Promise.resolve({ ok: true, stdout: "", errors: [], reason: "it gave no reason", ...run });
    };

  test("returns what the program declares: neither what was refreshed nor what is deleted", async () => {
    const stdout = JSON.stringify({
      config: {},
      steps: [
        { op: "refresh", urn: "a", newState: { inputs: { size: 1 } } },
        { op: "same", urn: "b", newState: { inputs: { size: 2 } } },
        { op: "update", urn: "a", newState: { inputs: { size: 3 } } },
        { op: "refresh", urn: "c", newState: { inputs: { size: 4 } } },
        { op: "delete", urn: "c", oldState: { inputs: { size: 5 } } },
        { op: "create-replacement", urn: "d", newState: { inputs: { size: 6 } } },
        { op: "delete-replaced", urn: "d", oldState: {}, newState: null },
      ],
    });
    const asked: string[] = [];
    expect(await planOfStack(pulumi({ stdout }, asked))).toEqual(
      new Map([
        ["b", { op: "same", inputs: { size: 2 } }],
        ["a", { op: "update", inputs: { size: 3 } }],
        ["d", { op: "create-replacement", inputs: { size: 6 } }],
      ]),
    );
    expect(asked).toEqual(["preview", "--refresh", "--json", "--show-sames"]);
  });

  const thrown = (text: string): object => {
    const what = "error: Running program 'x' failed with an unhandled exception";
    const message = `${what}:\n\u{1b}[90mError: ${text}\u{1b}[39m\n    at x`;
    const diagnostics = [
      { severity: "info", message: "fine" },
      { severity: "error", message },
    ];
    return { ok: false, stdout: JSON.stringify({ diagnostics }) };
  };
  test.each([
    [{ ok: false, reason: "no stack selected" }, "pulumi preview failed: no stack selected"],
    [{ ok: true, stdout: "no JSON" }, "pulumi preview --json printed no plan"],
    [
      thrown("no such domain"),
      "pulumi preview failed: Running program 'x' failed with an unhandled exception: Error: no such domain",
    ],
    [thrown("postgres://u:canary@h/db"), "pulumi preview failed: its message may hold a secret"],
    [thrown(SECRET), "pulumi preview failed: [the Pulumi CLI's message repeats a secret]"],
  ])("is missing after %j", async (run, message) => {
    process.env["SVC_API_KEY"] = SECRET;
    try {
      await expect(planOfStack(pulumi(run))).rejects.toThrow(new Error(message));
    } finally {
      delete process.env["SVC_API_KEY"];
    }
  });
});
