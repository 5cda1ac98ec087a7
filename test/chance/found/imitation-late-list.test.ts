import { startImitated } from "../imitated";
import { expectToHold } from "../search";

/** A deletion is answered without a body and not executed, and a list that is older than the creation lacks it. */
const CASE = {
  program: [
    {
      kind: "Group",
      name: "one",
      args: {},
      options: {},
    },
    {
      kind: "ComputeEndpoint",
      name: "two",
      args: {
        projectId: "prj-demo",
        branchId: "br-dev",
        type: "read_only",
      },
      options: {
        customTimeouts: true,
      },
    },
  ],
  environment: {
    CHANCE_SECRET_ONE: "canary-chance-environment-chance_secret_one",
    CHANCE_SECRET_TWO: "canary-chance-environment-chance_secret_two",
  },
  steps: [
    {
      do: "command",
      command: {
        run: "up",
        seed: 0,
      },
    },
    {
      do: "command",
      command: {
        run: "destroy",
      },
      trouble: {
        faults: [
          {
            on: "changes",
            at: 0,
            how: "empty 200",
          },
        ],
      },
    },
  ],
  lateLists: true,
} as const;

test("a compute whose deletion was not executed stays in the state", () => expectToHold(startImitated, CASE));
