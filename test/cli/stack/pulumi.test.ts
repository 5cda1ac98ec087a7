import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pulumiIn } from "../../../src/cli/stack/pulumi";
import { exportedState, StackState } from "../../../src/cli/stack/state";

const before = { ...process.env };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-runner-"));
});
afterEach(() => {
  process.env = { ...before };
  rmSync(folder, { recursive: true });
});

/** The first `pulumi` on PATH runs this text. */
function fakePulumi(script: string): void {
  writeFileSync(join(folder, "pulumi"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  process.env["PATH"] = `${folder}${delimiter}${process.env["PATH"] ?? ""}`;
}

test("a failure has the errors of the CLI, and its first line where it reports none", async () => {
  fakePulumi("echo 'warning: old' >&2; echo 'error: no login' >&2; echo 'error: no stack' >&2; exit 1");
  expect(await pulumiIn(folder, undefined)(["stack"])).toEqual({
    ok: false,
    stdout: "",
    errors: ["no login", "no stack"],
    reason: "no login",
  });
  fakePulumi("echo >&2; echo 'panic: nil' >&2; exit 2");
  expect(await pulumiIn(folder, undefined)(["stack"])).toMatchObject({ ok: false, errors: [], reason: "panic: nil" });
  fakePulumi("exit 3");
  expect(await pulumiIn(folder, undefined)(["stack"])).toMatchObject({ ok: false, reason: "it gave no reason" });
});

test("a CLI that is missing is a failure with what to do", async () => {
  process.env["PATH"] = folder;
  for (const isLong of [false, true])
    expect(await pulumiIn(folder, undefined)(["stack"], { isLong })).toMatchObject({
      ok: false,
      reason: "the Pulumi CLI was not found: install it, and put its folder on PATH",
    });
});

test.each([
  ["https://canary:canary@state.test/a", "[address]"],
  ["https://state.test/a?sig=canary", "[address]"],
  ["https://state.test/a", "https://state.test/a"],
  ["canary-token", "[secret]"],
])("of %s a failure shows %s", async (text, shown) => {
  process.env["PULUMI_ACCESS_TOKEN"] = "canary-token";
  fakePulumi(`echo 'error: cannot open ${text} now' >&2; exit 1`);
  expect((await pulumiIn(folder, undefined)(["stack"])).reason).toBe(`cannot open ${shown} now`);
});

test("the stack is named where one is asked for, and nothing is confirmed for the user", async () => {
  process.env["PULUMI_SKIP_CONFIRMATIONS"] = "true";
  fakePulumi('echo "$* [$PULUMI_SKIP_CONFIRMATIONS]"');
  const [selected, named] = await Promise.all(
    [undefined, "prod"].map((stack) => pulumiIn(folder, stack)(["config", "--json"])),
  );
  expect([selected?.stdout, named?.stdout]).toEqual([
    "config --json --non-interactive []",
    "config --json --non-interactive --stack prod []",
  ]);
});

test.each(["canary", '{"canary', '{"secret":"canary"}', '{"deployment":{"resources":[{"id":"canary"}]}}'])(
  "an export that is none is refused without its text: %s",
  async (text) => {
    fakePulumi(`echo '${text}'`);
    await expect(exportedState(pulumiIn(folder, undefined), false)).rejects.toThrow(
      /^it is not what pulumi stack export writes$/,
    );
  },
);

test("a stack that holds nothing has a state without resources", () => {
  expect(new StackState('{"version":3,"deployment":{"manifest":{}}}').resources).toEqual([]);
});
