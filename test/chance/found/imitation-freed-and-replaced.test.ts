import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/**
 * The state protects a compute that the program has freed. Its replacement is created, and a failure leaves its own
 * deletion to the next command, whose program has another name for it.
 */
const CASE = {
  program: [
    { kind: "AuthIntegration", name: "one", args: { projectId: "prj-demo" }, options: {} },
    {
      kind: "ComputeEndpoint",
      name: "two",
      args: { projectId: "prj-demo", branchId: "br-dev" },
      options: { protect: true },
    },
    {
      kind: "AuthOwnershipTransfer",
      name: "three",
      args: { projectId: { $output: ["one", "projectId"] } },
      options: { protect: true },
    },
  ],
  environment: {},
  steps: [
    { do: "command", command: { run: "up", seed: 0 } },
    {
      do: "edit",
      edits: [
        { edit: "options", which: 1, options: {} },
        { edit: "argument", which: 1, argument: 1, to: "other" },
        { edit: "argument", which: 2, argument: 0, to: "other" },
      ],
    },
    { do: "command", command: { run: "up", seed: 0 } },
    {
      do: "edit",
      edits: [
        { edit: "rename", which: 1, aliased: false, adopts: true },
        { edit: "options", which: 2, options: {} },
      ],
    },
    { do: "command", command: { run: "up", seed: 0 } },
  ],
} as const;

test("what a replacement has left to delete is no longer protected", () => expectToHold(startImitated, CASE));
