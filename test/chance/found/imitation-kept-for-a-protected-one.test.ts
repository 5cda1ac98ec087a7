import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/** A resource without a new target depends on the old of two entries for one object, and is protected. */
const CASE = {
  program: [
    { kind: "AuthIntegration", name: "one", args: { projectId: "prj-demo" }, options: {} },
    {
      kind: "ComputeEndpoint",
      name: "two",
      args: { projectId: "prj-demo", branchId: "br-dev", type: "read_only" },
      options: { protect: true, dependsOn: ["one"] },
    },
  ],
  environment: {},
  steps: [
    { do: "command", command: { run: "up", seed: 0 } },
    { do: "edit", edits: [{ edit: "rename", which: 0, aliased: false, adopts: true }] },
    { do: "command", command: { run: "up", target: 0, seed: 0 } },
    { do: "command", command: { run: "destroy", excludeProtected: true } },
  ],
} as const;

test("of two entries for one object, a destroy keeps what a protected resource depends on", () =>
  expectToHold(startImitated, CASE));
