import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plannedArguments, writtenIfProven } from "../../../../src/cli/drift/accept/proof";
import type { Pulumi, Run } from "../../../../src/cli/stack/pulumi";
import { targetOf } from "../../../support/editedPrograms";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "accept-proof-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const target = targetOf([["size", 2, 4]], { place: { file: "index.ts", line: 2, column: 1 } });
const searched = { ...target, place: undefined };
const accepted = { urn: target.urn, name: "api", path: "size", file: "index.ts", line: 2, isEdited: true };

/** An edit from "before" to "after". `meanwhile`: what happens to the file while the plan is made. */
function edited(
  plan: (text: string) => object | null,
  { meanwhile, ...asked }: { meanwhile?: string; isEdited?: boolean; target?: typeof target | typeof searched } = {},
) {
  const { isEdited = true, target: own = target } = asked;
  const path = join(folder, "index.ts");
  writeFileSync(path, "before");
  const seen: string[] = [];
  const files = [{ name: "index.ts", path, before: "before", after: "after" }];
  const disproved = writtenIfProven(files, [{ ...accepted, isEdited }], {
    targets: [own],
    planned: (urns) => {
      const text = readFileSync(path, "utf8");
      seen.push(...urns, text);
      if (meanwhile !== undefined) writeFileSync(path, meanwhile);
      const args = plan(text);
      return Promise.resolve(new Map(args === null ? [] : [[target.urn, args as Record<string, unknown>]]));
    },
  });
  return { disproved, seen, text: () => readFileSync(path, "utf8") };
}

test("an edit that the plan shows stays", async () => {
  const { disproved, seen, text } = edited(() => ({ size: 4 }));
  expect([...(await disproved), text()]).toEqual(["after"]);
  expect(seen).toEqual([target.urn, "after"]);
});

test.each([
  ["the declared value", { size: 2 }],
  ["none", {}],
  ["no such resource", null],
])("an edit is taken back where the plan shows %s", async (_what, args) => {
  const { disproved, text } = edited(() => args);
  expect([...(await disproved), text()]).toEqual([[target.urn, expect.stringMatching(/undone/)], "before"]);
});

describe("where the place was found by a name, which another stack may have,", () => {
  test("a value that the plan shows without the edit is no proof of it: nothing is written", async () => {
    const { disproved, seen, text } = edited(() => ({ size: 4 }), { target: searched });
    expect([...(await disproved), text()]).toEqual([[target.urn, expect.stringMatching(/without an edit/)], "before"]);
    expect(seen).toEqual([target.urn, "before"]);
  });

  test("an edit stays that changes the plan", async () => {
    const plan = (now: string) => ({ size: now === "after" ? 4 : 2 });
    const { disproved, seen, text } = edited(plan, { target: searched });
    expect([...(await disproved), text()]).toEqual(["after"]);
    expect(seen).toEqual([target.urn, "before", target.urn, "after"]);
  });

  test("what the text has already needs no other plan", async () => {
    const { disproved, seen } = edited(() => ({ size: 4 }), { target: searched, isEdited: false });
    expect([...(await disproved)]).toEqual([]);
    expect(seen).toEqual([target.urn, "after"]);
  });

  test("without a plan nothing is written", async () => {
    const { disproved, seen, text } = edited(failing, { target: searched });
    await expect(disproved).rejects.toThrow(/^nothing was edited, because the plan .*: no way$/);
    expect([...seen, text()]).toEqual([target.urn, "before", "before"]);
  });
});

const failing = (): never => {
  throw new Error("pulumi preview failed: no way");
};

test("without a plan nothing is edited, and the words of the CLI say why", async () => {
  const { disproved, text } = edited(failing);
  await expect(disproved).rejects.toThrow(/^nothing was edited, because the plan .* pulumi preview failed: no way$/);
  expect(text()).toBe("before");
});

test.each([[failing], [() => ({ size: 2 })]])(
  "what somebody else has written meanwhile stays, and is reported",
  async (plan) => {
    const { disproved, text } = edited(plan, { meanwhile: "theirs" });
    await expect(disproved).rejects.toThrow(
      /a wrong edit could not be undone\. Check index\.ts: .*it changed while the command ran/,
    );
    expect(text()).toBe("theirs");
  },
);

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
    expect(await plannedArguments(pulumi({ stdout }, asked), ["a", "b"])).toEqual(
      new Map([
        ["b", { size: 2 }],
        ["a", { size: 3 }],
        ["d", { size: 6 }],
      ]),
    );
    expect(asked).toEqual(["preview", "--refresh", "--json", "--show-sames", "--target", "a", "--target", "b"]);
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
    [thrown(SECRET), "pulumi preview failed: [the Pulumi CLI's message repeats a secret]"],
  ])("is missing after %j", async (run, message) => {
    process.env["SVC_API_KEY"] = SECRET;
    try {
      await expect(plannedArguments(pulumi(run), ["a"])).rejects.toThrow(new Error(message));
    } finally {
      delete process.env["SVC_API_KEY"];
    }
  });
});
