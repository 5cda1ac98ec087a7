import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { ROOT } from "../support/cli";
import { exampleStack } from "../support/example";

import { holdings, type Stack } from "../support/Stack";

/** The example with the stack of its application deployed. Pull request 7 is what `isOpen` says, in turn; the last one stays. */
async function repository(): Promise<{ stack: Stack; preview: (isOpen: string, ...args: string[]) => Promise<Ended> }> {
  const stack = await exampleStack("preview", {}, { configured: false });
  const { apiKey, baseUrl } = stack.service.emulator;
  Object.assign(stack.env, { SVC_API_KEY: apiKey, SVC_BASE_URL: baseUrl });
  const program = join(stack.folder, "program");
  cpSync(join(ROOT, "examples", "preview", "scripts"), join(program, "scripts"), { recursive: true });
  const asked = join(stack.folder, "is-open");
  const answers = `${asked}.answers`;
  const next = `code=$(head -n 1 "${answers}"); [ "$(wc -l < "${answers}")" -eq 1 ] || sed -i 1d "${answers}"; exit "$code"`;
  writeFileSync(asked, `#!/bin/sh\n[ "$1" = 7 ] || exit 2\n${next}\n`, { mode: 0o755 });
  Object.assign(stack.env, { PREVIEW_IS_OPEN: asked, PREVIEW_BRANCH_ID: "br-dev" });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const preview = async (isOpen: string, ...args: string[]): Promise<Ended> => {
    writeFileSync(answers, isOpen.replaceAll(" ", "\n") + "\n");
    const { ended, written } = await stack.served(stack.env, (env) => run(program, args, env));
    stack.said += ended.text + written;
    return ended;
  };
  return { stack, preview };
}

interface Ended {
  readonly code: number;
  readonly text: string;
}

function run(program: string, args: readonly string[], env: Record<string, string>): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(join(program, "scripts", "preview.sh"), args, { cwd: program, env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, text: stdout + stderr }),
    );
  });
}

const [OPEN, CLOSED, UNKNOWN, FAILED] = ["0", "3", "2", "1"];

test("examples/preview makes a preview, updates it, and leaves nothing behind, whenever its pull request is closed", async () => {
  const { stack, preview } = await repository();
  const { service } = stack;
  const held = async (): Promise<unknown> => holdings(await service.state());
  const before = await held();
  const site = (n: number): string => `https://pr-7-${n}.example.com`;
  const named = async (): Promise<unknown[]> => (await service.endpoints()).filter(({ name }) => name === "pr-7");
  const domains = async (): Promise<unknown> => (await service.state()).projects[0]?.["domains"];

  // Nobody knows whether it is open, or it is closed: nothing is made.
  for (const unknown of [UNKNOWN, FAILED])
    expect(await preview(unknown, "up", "7", site(1))).toMatchObject({
      code: 1,
      text: expect.stringContaining("cannot tell whether pull request 7 is open"),
    });
  expect(await preview(CLOSED, "up", "7", site(1))).toMatchObject({
    code: 0,
    text: expect.stringContaining("there is no stack pr-7"),
  });
  expect(await held()).toEqual(before);

  expect(await preview(OPEN, "up", "7", site(1))).toMatchObject({ code: 0 });
  const [first] = await named();
  expect(first).toMatchObject({ branch_id: "br-dev" });
  expect(await domains()).toMatchObject([{ domain: site(1) }]);

  expect(await preview(OPEN, "up", "7", site(2))).toMatchObject({ code: 0 });
  expect(await named()).toEqual([first]);
  expect(await domains()).toMatchObject([{ domain: site(2) }]);

  // A command that fails after the deployment says nothing, and destroys nothing.
  expect(await preview(`${OPEN} ${FAILED}`, "up", "7", site(2))).toMatchObject({ code: 1 });
  expect(await named()).toEqual([first]);

  // Closed during the deployment.
  expect(await preview(`${OPEN} ${CLOSED}`, "up", "7", site(3))).toMatchObject({
    code: 0,
    text: expect.stringContaining("was closed meanwhile"),
  });
  expect(await held()).toEqual(before);
  expect(await preview(CLOSED, "down", "7")).toMatchObject({ code: 0, text: "there is no stack pr-7\n" });
});

test.each([
  ["OPEN", 0],
  ["CLOSED", 3],
  ["MERGED", 3],
  ["", 2],
])("on GitHub a pull request that is %p ends is-open-github.sh with %d", async (state, code) => {
  const folder = mkdtempSync(join(tmpdir(), "is-open-"));
  const isOpen = (gh: string): Promise<number> => {
    writeFileSync(join(folder, "gh"), `#!/bin/sh\n${gh}\n`, { mode: 0o755 });
    const env = { PATH: [folder, process.env["PATH"]].join(delimiter) };
    const script = join(ROOT, "examples", "preview", "scripts", "is-open-github.sh");
    return new Promise((resolve) => {
      const child = execFile(script, ["7"], { env }, () => resolve(child.exitCode ?? -1));
    });
  };
  expect([await isOpen(`echo ${state}`), await isOpen(`echo ${state}; exit 1`)]).toEqual([code, 2]);
  rmSync(folder, { recursive: true });
});

test.each([[[]], [["up", "7"]], [["down", "seven"]], [["remove", "7"]]])(
  "%j is refused with the usage",
  async (args) => {
    const folder = join(ROOT, "examples", "preview");
    const ended = await run(folder, args, { PATH: process.env["PATH"] ?? "" });
    expect(ended).toMatchObject({ code: 2, text: expect.stringContaining("usage: scripts/preview.sh up <number>") });
  },
);
