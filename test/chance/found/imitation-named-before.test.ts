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
        ignoreChanges: ["size"],
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
      do: "edit",
      edits: [
        {
          edit: "rename",
          which: 1,
          aliased: true,
        },
        {
          edit: "move",
          which: 0,
          aliased: false,
        },
      ],
    },
    {
      do: "command",
      command: {
        run: "refresh",
      },
    },
    {
      do: "command",
      command: {
        run: "state rename",
        which: 0,
      },
    },
    {
      do: "edit",
      edits: [
        {
          edit: "options",
          which: 7,
          options: {},
        },
        {
          edit: "argument",
          which: 7,
          argument: 1,
          to: "other",
        },
      ],
    },
    {
      do: "command",
      command: {
        run: "up",
        seed: 0,
      },
    },
  ],
} as const;

test("step 5 (up): what is destroyed was named by the plan: integrations 579ff2fa-92f8-4dea-b4ed-12bf2fd2efb4 was removed", () =>
  expectToHold(startImitated, CASE));
