import { startImitated } from "../imitated";
import { expectToHold } from "../search";

const CASE = {
  program: [
    {
      kind: "Group",
      name: "one",
      args: {},
      options: {},
    },
    {
      kind: "AuthIntegration",
      name: "two",
      args: {
        projectId: "prj-demo",
        branchId: "br-main",
      },
      options: {
        deleteBeforeReplace: true,
      },
    },
    {
      kind: "AuthKeys",
      name: "three",
      args: {
        projectId: {
          $output: ["two", "projectId"],
        },
        authProvider: "supported_provider",
        rotationTriggers: ["2025-11"],
      },
      options: {},
    },
    {
      kind: "AuthKeys",
      name: "four",
      args: {
        projectId: {
          $output: ["two", "projectId"],
        },
      },
      options: {
        transform: "clientId",
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
    },
    {
      do: "command",
      command: {
        run: "up",
        replace: 0,
        seed: 0,
      },
      trouble: {
        faults: [
          {
            on: "reads",
            at: 0,
            how: "423",
          },
        ],
      },
    },
    {
      do: "command",
      command: {
        run: "preview",
      },
    },
    {
      do: "environment",
      name: "CHANCE_SECRET_ONE",
      value: null,
    },
  ],
} as const;

test("step 2 (up): a request that took effect is not sent again: http://127.0.0.1:33011/api/v2/projects/auth/keys", () =>
  expectToHold(startImitated, CASE));
