/** `pulumi-svc sweep` beside an `up` that has begun and changed nothing yet: it adopts what no state names. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

/** An `up` waits before its second declaration while a file `hold` exists. */
const program = (adopts: boolean): string => `
const { existsSync, writeFileSync } = require("node:fs");
module.exports = async () => {
  new svc.ComputeEndpoint("main", { projectId: "prj-demo", branchId: "br-dev" });
  if (!pulumi.runtime.isDryRun()) writeFileSync("began", "");
  while (!pulumi.runtime.isDryRun() && existsSync("hold")) await new Promise((resolve) => setTimeout(resolve, 50));
  ${adopts ? `new svc.ComputeEndpoint("old", { projectId: "prj-demo", branchId: "br-pr-1", type: "read_only", adopt: "ep-left-1" });` : ""}
};`;

test("what an up is about to adopt is not swept: the lock shows it before any state does", async () => {
  const stack = await Stack.create({ program: program(false) });
  const { service } = stack;
  expect(await stack.up()).toMatchObject({ code: 0 });
  await service.edit({ kind: "branch", create: { id: "br-pr-1", name: "preview/pr-1" } });
  await service.edit({
    kind: "endpoint",
    create: { id: "ep-left-1", branch_id: "br-pr-1", type: "read_only", created_at: "2026-01-02T03:04:05Z" },
  });
  const sweep = (...args: string[]) => svc(stack, ["sweep", "--match", "preview/*", ...args]);
  expect(await sweep("--dry-run", "--json")).toMatchObject({
    code: 8,
    stdout: expect.stringMatching(/"locksNotSeen": null/),
  });

  const inProgram = (file: string): string => join(stack.folder, "program", file);
  stack.program(program(true));
  stack.write("hold", "");
  rmSync(inProgram("began"));
  const up = stack.up();
  for (const end = Date.now() + 120_000; !existsSync(inProgram("began"));) {
    if (Date.now() > end) throw new Error("it did not begin");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await stack.exported()).not.toMatch(/"pending_operations":\s*\[/);
  await service.clearRequests();
  expect(await sweep("--yes")).toMatchObject({
    code: 11,
    stderr: expect.stringMatching(
      /nothing was deleted: the stack organization\/proj\/dev is locked: an update of it runs/,
    ),
  });
  expect(await service.mutations()).toEqual([]);
  rmSync(inProgram("hold"));
  expect(await up).toMatchObject({ code: 0 });
  const after = await sweep("--yes", "--json");
  expect(after).toMatchObject({ code: 0 });
  expect(JSON.parse(after.stdout)).toMatchObject({ leftBehind: [], kept: [{ id: "prj-demo/ep-left-1" }] });
  expect((await service.endpoints()).map(({ id }) => id)).toContain("ep-left-1");
});
