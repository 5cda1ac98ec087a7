import { endpointId } from "../support/computeCases";
import { COMPUTE, computeScene, computesOf, ENDPOINT, recordsOf } from "../support/rules/mutations";
import { up, wordsOf } from "../support/rules/steps";

/** What goes on after a change that failed (docs/design/rules.md, 1). */

describe("a failed resize whose followers were cancelled", () => {
  test("is not done while none of its operations has ended well: the compute is active with its old size", async () => {
    const { given } = await computeScene({ restartToApply: true });
    const first = await given.create(COMPUTE);
    const program = { ...COMPUTE, size: 4 };
    await given.fault({ operation: { action: "apply_config", status: "failed", error: "no capacity left" } });
    const broken = await up(given, first, program);
    expect(wordsOf(broken.outcome)).toMatch(/apply_config failed: no capacity left/);
    const before = await recordsOf(given, "operations");
    expect(before.slice(-3).map(({ status }) => status)).toEqual(["failed", "cancelled", "cancelled"]);
    const again = await up(given, broken.state, program);
    expect(again.outcome).toMatchObject({ ended: "well" });
    // The service begins none for values that it stores already, so it was restarted.
    const since = (await recordsOf(given, "operations")).slice(before.length);
    expect(since.map(({ action, status }) => [action, status])).toEqual([
      ["suspend_compute", "finished"],
      ["start_compute", "finished"],
    ]);
    expect(again.state?.outs).not.toHaveProperty("__unfinished");
  });
});
